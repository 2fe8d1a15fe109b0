//! The engine against the oracle, on random inventories and random requests.

use proptest::collection::vec;
use proptest::option::{of, weighted};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

use super::fixture::{World, facets, ids, runtime, search};
use super::oracle::{Oracle, lower};
use crate::contract::capabilities::Scope;

const MAKES: [&str; 7] = [
    "Toyota",
    "TOYOTA",
    "ŠKODA",
    "Škoda",
    "ΣΊΓΜΑΣ",
    "σίγμας",
    "Ben z",
];
const COLORS: [&str; 4] = ["Grün", "GRÜN", "red", "İris"];
const ROOFTOPS: [&str; 5] = ["North", "north", "Pole", "Date Line", "Nowhere"];
const CODES: [&str; 4] = ["heated_seats", "sunroof", "tow_hitch", "never_seen"];
const POINTS: [(f64, f64); 8] = [
    (40.0, -75.0),
    (40.2, -75.3),
    (90.0, 10.0),
    (-90.0, 0.0),
    (10.0, 179.95),
    (10.0, -179.95),
    (0.0, 0.0),
    (0.0, -180.0),
];
const VINS: [&str; 3] = [
    "1HGCM82633A004352",
    "1HGCM82633A004353",
    "JT000000000000001",
];
const STOCKS: [&str; 5] = ["A1", "a1", "A10", "B-2", "Ä9"];
const TIMES: [&str; 4] = [
    "2026-11-01T00:00:00Z",
    "2026-11-01T01:00:00+01:00",
    "2026-10-31T20:00:00.5-04:00",
    "2026-11-02T00:00:00Z",
];

fn member<T: Into<Value> + Clone + std::fmt::Debug + 'static>(
    values: &'static [T],
) -> impl Strategy<Value = Option<Value>> {
    weighted(0.8, select(values).prop_map(Into::into))
}

fn evidence() -> impl Strategy<Value = Option<Value>> {
    let one = (
        select(&CODES[..3]),
        select(&["present", "absent", "unknown"][..]),
    );
    let one = one.prop_map(|(code, status)| json!({"code": code, "label": code, "status": status}));
    of(vec(one, 0..3).prop_map(Value::from))
}

fn listing() -> impl Strategy<Value = Map<String, Value>> {
    let terms = (
        member(&MAKES),
        member(&["Civic", "CIVIC", "Corolla"]),
        member(&["LE", "le", "Sport +"]),
        member(&["new", "used", "cpo"]),
        member(&["car", "motorcycle", "other"]),
        select(&["available", "intransit", "pending"][..]),
        member(&COLORS),
        member(&COLORS),
        member(&ROOFTOPS),
        weighted(0.5, any::<bool>()),
    );
    let more = (
        member(&["SUV", "suv", "Sedan"]),
        member(&["Gas", "Electric"]),
        member(&["CVT", "Manual"]),
        member(&["AWD", "awd", "FWD"]),
        member(&["CCS", "NACS"]),
        of(subsequence(
            &["Heated seats", "Schiebedach ẞ", "A1 sound"][..],
            0..3,
        )),
        evidence(),
    );
    let numbers = (
        of(2018..2024_i64),
        of(select(&[19_999_i64, 20_000, 20_001, 30_000][..])),
        of(select(&[20_000_i64, 21_000][..])),
        of(select(&[25_000_i64, 26_000][..])),
        of(select(&[0_i64, 10, 5_000][..])),
        of(select(&[600_i64, 1_000][..])),
        of(select(&[250.0, 250.5, 300.0][..])),
    );
    let identity = (member(&VINS), member(&STOCKS), select(&TIMES[..]));
    (terms, more, numbers, identity).prop_map(|(t, m, n, i)| {
        let mut listing = Map::new();
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                listing.insert(name.into(), value);
            }
        };
        put("make", t.0);
        put("model", t.1);
        put("trim", t.2);
        put("condition", t.3);
        put("vehicle_type", t.4);
        put("status", Some(t.5.into()));
        put("exterior_color", t.6);
        put("interior_color", t.7);
        put("rooftop", t.8);
        put("dc_fast_charge", t.9.map(Value::from));
        put("body", m.0);
        put("fuel", m.1);
        put("transmission", m.2);
        put("driveline", m.3);
        put("charge_port", m.4);
        put("features", m.5.map(Value::from));
        put("feature_evidence", m.6);
        put("year", n.0.map(Value::from));
        put("price", n.1.map(Value::from));
        put("list_price", n.2.map(Value::from));
        put("msrp", n.3.map(Value::from));
        put("mileage", n.4.map(Value::from));
        put("displacement_cc", n.5.map(Value::from));
        put("electric_range_mi", n.6.map(Value::from));
        put("vin", i.0);
        put("stock", i.1);
        put("updated_at", Some(i.2.into()));
        listing
    })
}

/// Unique ids in no order, and two sellers in aggregate scope.
fn inventory(aggregate: bool) -> impl Strategy<Value = Vec<Value>> {
    vec((listing(), any::<bool>()), 0..40).prop_map(move |listings| {
        let numbered = listings.into_iter().enumerate();
        numbered
            .map(|(at, (mut listing, first))| {
                listing.insert("vehicle_id".into(), format!("v{}", at * 7 % 41).into());
                if aggregate {
                    listing.insert("dealer_id".into(), if first { "d1" } else { "d2" }.into());
                }
                Value::Object(listing)
            })
            .collect()
    })
}

fn some_of(values: &'static [&'static str]) -> impl Strategy<Value = Value> {
    subsequence(values, 1..=values.len()).prop_map(|v| json!(v))
}

fn filter() -> impl Strategy<Value = (&'static str, Value)> {
    let near = (
        select(&POINTS[..]),
        select(&[0.5, 5.0, 12.0, 25.0, 100.0, 7000.0, 12500.0][..]),
    );
    prop_oneof![
        some_of(&["toyota", "škoda", "ΣΊΓΜΑΣ", "BEN Z", "none"]).prop_map(|v| ("make", v)),
        some_of(&["civic", "COROLLA"]).prop_map(|v| ("model", v)),
        some_of(&["Le", "sport +"]).prop_map(|v| ("trim", v)),
        some_of(&["new", "used", "cpo"]).prop_map(|v| ("condition", v)),
        some_of(&["car", "motorcycle", "trailer"]).prop_map(|v| ("vehicle_type", v)),
        some_of(&["available", "pending"]).prop_map(|v| ("status", v)),
        some_of(&["grün", "RED", "i̇ris"]).prop_map(|v| ("exterior_color", v)),
        some_of(&["GRüN", "red"]).prop_map(|v| ("interior_color", v)),
        some_of(&["SUV", "van"]).prop_map(|v| ("body", v)),
        some_of(&["electric"]).prop_map(|v| ("fuel", v)),
        some_of(&["cvt", "manual"]).prop_map(|v| ("transmission", v)),
        some_of(&["AWD"]).prop_map(|v| ("driveline", v)),
        some_of(&["ccs"]).prop_map(|v| ("charge_port", v)),
        any::<bool>().prop_map(|v| ("dc_fast_charge", json!(v))),
        (2017..2025).prop_map(|v| ("year_min", json!(v))),
        (2017..2025).prop_map(|v| ("year_max", json!(v))),
        select(&[0, 20_000, 20_001, 40_000][..]).prop_map(|v| ("price_min", json!(v))),
        select(&[0, 19_999, 20_000, 40_000][..]).prop_map(|v| ("price_max", json!(v))),
        select(&[0, 9, 10][..]).prop_map(|v| ("mileage_max", json!(v))),
        select(&[250, 251][..]).prop_map(|v| ("electric_range_mi_min", json!(v))),
        select(&[249, 250, 251][..]).prop_map(|v| ("electric_range_mi_max", json!(v))),
        select(&[600, 601][..]).prop_map(|v| ("displacement_cc_min", json!(v))),
        select(&[599, 600][..]).prop_map(|v| ("displacement_cc_max", json!(v))),
        select(&VINS[..]).prop_map(|v| ("vin", json!(v))),
        select(&STOCKS[..]).prop_map(|v| ("stock", json!(v))),
        select(
            &[
                "toy",
                " a1\tLE ",
                "ίγμας",
                "schiebedach",
                "1hgcm82633a004352",
                "ß",
                "3 1",
                "\""
            ][..]
        )
        .prop_map(|v| ("query", json!(v))),
        some_of(&CODES).prop_map(|v| ("features_all", v)),
        some_of(&CODES).prop_map(|v| ("features_any", v)),
        some_of(&ROOFTOPS).prop_map(|v| ("rooftops", v)),
        near.prop_map(|((lat, lon), r)| (
            "near",
            json!({"latitude": lat, "longitude": lon, "radius_mi": r})
        )),
    ]
}

fn request() -> impl Strategy<Value = (Value, Value, usize)> {
    const FIELDS: [&str; 10] = [
        "price",
        "list_price",
        "msrp",
        "mileage",
        "year",
        "make",
        "model",
        "stock",
        "updated_at",
        "distance_mi",
    ];
    let sort = (select(&FIELDS[..]), select(&["asc", "desc"][..]));
    (vec(filter(), 0..4), sort, 1..12_usize).prop_map(|(filters, (field, order), limit)| {
        let filters: Map<String, Value> = filters
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        let field = if field == "distance_mi" && !filters.contains_key("near") {
            "price"
        } else {
            field
        };
        (
            Value::Object(filters),
            json!({"field": field, "order": order}),
            limit,
        )
    })
}

/// The engine's facets in the oracle's form: counts by compared value.
fn by_key(facets: &Value) -> Value {
    let mut plain = json!({});
    for (name, facet) in facets.as_object().unwrap() {
        plain[name] = match facet {
            Value::Array(entries) => {
                let mut counts = Map::new();
                for entry in entries {
                    let folded = !["rooftops", "conditions"].contains(&name.as_str());
                    let key = match (&entry["value"], &entry["code"]) {
                        (Value::Null, code) => code.as_str().unwrap().to_owned(),
                        (Value::String(text), _) if folded => json!(lower(text)).to_string(),
                        (value, _) => value.to_string(),
                    };
                    let seen = counts.insert(key, entry["count"].clone());
                    assert!(seen.is_none(), "the same value twice in {name}");
                }
                let mut keys: Vec<_> = counts.into_iter().collect();
                keys.sort_by(|a, b| a.0.cmp(&b.0));
                Value::Object(keys.into_iter().collect())
            }
            range => json!({
                "min": range["min"].as_f64().unwrap(),
                "max": range["max"].as_f64().unwrap(),
            }),
        };
    }
    plain
}

fn compare(
    aggregate: bool,
    listings: Vec<Value>,
    points: &[usize],
    (filters, sort, limit): (Value, Value, usize),
) -> Result<(), TestCaseError> {
    let scope = if aggregate {
        Scope::Aggregate
    } else {
        Scope::Dealer
    };
    let mut world = World::in_scope(scope, listings.clone()).features(&CODES);
    world.settings.facets_in_search = true;
    let mut rooftops = Vec::new();
    for (dealer, shift) in [("d1", 0), ("d2", 1)] {
        let dealer = aggregate.then_some(dealer);
        let placed: Vec<(&str, Option<(f64, f64)>)> = ROOFTOPS[..4]
            .iter()
            .zip(points)
            .map(|(name, point)| (*name, Some(POINTS[(point + shift) % POINTS.len()])))
            .chain([(ROOFTOPS[4], None)])
            .collect();
        for (name, point) in &placed {
            if let Some((lat, lon)) = point {
                rooftops.push((json!(dealer), (*name).to_owned(), *lat, *lon));
            }
        }
        world = world.profile(dealer, &placed);
        if !aggregate {
            break;
        }
    }
    let oracle = Oracle {
        listings,
        rooftops,
        features: CODES.map(str::to_owned).into(),
        aggregate,
    };
    let expected = oracle.answer(&filters, &sort);
    prop_assume!(!expected.doubtful);

    let inventory = runtime().block_on(world.start());
    let mut got = Vec::new();
    let mut distances = Vec::new();
    let mut request = json!({"filters": filters, "sort": sort, "pagination": {"limit": limit}});
    loop {
        let page = search(&inventory, request.clone());
        prop_assert_eq!(page.total, expected.ids.len() as u64);
        let vehicles = page.vehicles.found();
        prop_assert!(vehicles.len() <= limit);
        let in_page = page.facets.as_ref().map(|facets| facets.json().to_owned());
        let facets: Value = serde_json::from_str(&in_page.unwrap()).unwrap();
        prop_assert_eq!(by_key(&facets), expected.facets.clone());
        got.extend(ids(&page));
        distances.extend(vehicles.iter().map(|found| found.distance_mi));
        match page.next_cursor {
            Some(cursor) => request["pagination"]["cursor"] = cursor.into(),
            None => break,
        }
        prop_assert!(got.len() <= expected.ids.len());
    }
    prop_assert_eq!(&got, &expected.ids);
    for (got, expected) in distances.iter().zip(&expected.distances) {
        let close = match (got, expected) {
            (Some(got), Some(expected)) => (got - expected).abs() <= 0.000_6,
            (None, None) => true,
            _ => false,
        };
        prop_assert!(close, "{got:?} is not {expected:?}");
    }
    let skip = expected.ids.len() / 2;
    let page = search(
        &inventory,
        json!({"filters": filters, "sort": sort, "pagination": {"limit": limit, "skip": skip}}),
    );
    let rest: Vec<String> = expected
        .ids
        .iter()
        .skip(skip)
        .take(limit)
        .cloned()
        .collect();
    prop_assert_eq!(ids(&page), rest);
    prop_assert_eq!(by_key(&facets_of(&inventory, &filters)), expected.facets);
    Ok(())
}

fn facets_of(inventory: &crate::inventory::Inventory, filters: &Value) -> Value {
    facets(inventory, filters.clone())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    // AAP-361 AAP-362 AAP-366 AAP-367 AAP-368 AAP-370 AAP-372 AAP-377 AAP-380 AAP-381 AAP-382 AAP-383
    // AAP-384 AAP-389 AAP-396 AAP-397 AAP-400 AAP-401 AAP-403 AAP-406 AAP-410 AAP-411 AAP-412 AAP-413
    // AAP-415 AAP-418 AAP-420 AAP-425 AAP-431 AAP-490 AAP-520
    #[test]
    fn a_dealers_search_equals_the_oracles(
        listings in inventory(false),
        points in vec(0..POINTS.len(), 4),
        request in request(),
    ) {
        compare(false, listings, &points, request)?;
    }

    // AAP-363 AAP-393 AAP-403 AAP-425
    #[test]
    fn an_aggregate_search_equals_the_oracles(
        listings in inventory(true),
        points in vec(0..POINTS.len(), 4),
        request in request(),
    ) {
        compare(true, listings, &points, request)?;
    }
}
