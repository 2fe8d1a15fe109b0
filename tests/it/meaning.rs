//! What answers mean, through the real server and over both open bindings at once: filters, places, prices,
//! statuses, evidence, errors.

use std::time::{Duration, Instant};

use forecourt::contract::Skill;
use forecourt::profile::{Profile, Rooftop};
use serde_json::{Map, Value, json};

use crate::a2a_probes::{send, settled, typed};
use crate::edge::{Edge, Plan, held, lead};

const CANARY: &str = "kanarienvogel";

/// The answer to a request, the same over MCP and A2A.
pub(crate) fn ask(edge: &Edge, request: &Value) -> Value {
    let id = request["type"]
        .as_str()
        .unwrap()
        .strip_suffix(".request")
        .unwrap();
    let tool = Skill::from_id(id).unwrap().tool_name();
    let over_mcp = edge.call(tool, request.clone()).send().payload();
    let answer = send(edge, request.clone()).send();
    let over_a2a = match answer.json().get("error") {
        Some(_) => typed(&answer),
        None => answer.json()["result"]["message"]["parts"][0]["data"].clone(),
    };
    held(&over_a2a);
    // a page that goes on has a cursor of its own each time
    let settled = |answer: &Value| {
        let mut answer = settled(answer.clone());
        if let Some(cursor) = answer
            .pointer_mut("/data/next_cursor")
            .filter(|c| c.is_string())
        {
            *cursor = json!("more");
        }
        answer
    };
    assert_eq!(settled(&over_mcp), settled(&over_a2a), "{request}");
    over_mcp
}

pub(crate) fn search(edge: &Edge, filters: impl Into<Value>) -> Value {
    ask(
        edge,
        &json!({"type": "inventory.search.request", "filters": filters.into()}),
    )
}

/// The ids of a page, in its order.
pub(crate) fn ids(answer: &Value) -> Vec<&str> {
    let vehicles = answer["data"]["vehicles"]
        .as_array()
        .unwrap_or_else(|| panic!("{answer}"));
    vehicles
        .iter()
        .map(|car| car["vehicle_id"].as_str().unwrap())
        .collect()
}

/// The code of an error and the places of its problems.
pub(crate) fn code(answer: &Value) -> (&str, Vec<&str>) {
    let problems = answer["details"]["errors"].as_array().into_iter().flatten();
    let places = problems
        .map(|p| p["instanceLocation"].as_str().unwrap())
        .collect();
    (
        answer["code"]
            .as_str()
            .unwrap_or_else(|| panic!("{answer}")),
        places,
    )
}

fn detail(edge: &Edge, id: &str) -> Value {
    ask(
        edge,
        &json!({"type": "inventory.vehicle.request", "vehicle_id": id}),
    )["data"]
        .take()
}

fn facets(edge: &Edge, filters: impl Into<Value>) -> Value {
    ask(
        edge,
        &json!({"type": "inventory.facets.request", "filters": filters.into()}),
    )["data"]
        .take()
}

fn evidence(status: &str) -> Value {
    json!([{"code": "heated_front_seats", "label": "Heated front seats", "status": status,
            "source": "inventory", "text": "As the equipment record says."}])
}

/// A dealer of three rooftops, one of which stands nobody knows where, and three vehicles: a car with all its
/// numbers, a car without a price, a motorcycle a degree further north.
fn plan() -> Plan {
    let rooftop = |name: &str, geo: Option<(f64, f64)>| {
        let mut public = Map::new();
        public.insert("name".into(), name.into());
        public.insert("capabilities".into(), json!(["sales", "parts"]));
        public.insert(
            "fees".into(),
            json!([{"name": "Documentation fee", "amount": 350}]),
        );
        let hours = json!({"monday": {"open": "08:00", "close": "17:30"}, "sunday": null});
        public.insert(
            "schedules".into(),
            json!([
                {"name": "sales", "value": hours}, {"name": "Tyre hotel", "value": {}},
            ]),
        );
        Rooftop {
            name: name.into(),
            geo,
            timezone: None,
            public,
        }
    };
    let dealer = Profile {
        dealer_id: Some("dealer-1".into()),
        name: "Example Motors".into(),
        welcome_message: None,
        rooftops: vec![
            rooftop("Main Street", Some((41.9, -87.6))),
            rooftop("North", Some((42.9, -87.6))),
            rooftop("Harbor", None),
        ],
    };
    let car = json!({
        "vehicle_id": "car", "vin": "1HGCV1F30KA000001", "stock": "A1", "status": "available",
        "updated_at": "2026-11-29T00:00:00Z", "year": 2024, "make": "Toyota", "model": "RAV4", "trim": "Heated",
        "condition": "used", "price": 30_000, "list_price": 29_000, "msrp": 35_000, "rooftop": "Main Street",
        "fees": [{"name": "Documentation fee", "amount": 500}], "feature_evidence": evidence("present"),
        "other_attributes": {"price": "1", "make": "Lada"}, "title_status": "clean",
    });
    let unpriced = json!({
        "vehicle_id": "unpriced", "status": "intransit", "updated_at": "2026-11-28T00:00:00Z",
        "year": 2023, "make": "Honda", "model": "Civic", "list_price": 20_000, "rooftop": "Harbor",
        "fees": [{"name": "Documentation fee", "amount": 500}], "feature_evidence": evidence("unknown"),
    });
    let motorcycle = json!({
        "vehicle_id": "motorcycle", "status": "pending", "updated_at": "2026-11-27T00:00:00Z",
        "vehicle_type": "motorcycle", "make": "Honda", "model": "Rebel", "price": 7_000, "rooftop": "North",
        "feature_evidence": evidence("absent"),
    });
    Plan {
        cars: vec![car, unpriced, motorcycle],
        features: vec![("heated_front_seats".into(), "Heated front seats".into())],
        profiles: vec![dealer],
        ..Plan::default()
    }
}

// AAP-364 AAP-365 AAP-386
#[test]
fn facets_alone_count_everything_and_refuse_every_filter() {
    let edge = Edge::with(Plan {
        skills: vec![Skill::InventoryFacets],
        ..plan()
    });
    let request = |filters: Value| json!({"type": "inventory.facets.request", "filters": filters});
    let all = ask(&edge, &json!({"type": "inventory.facets.request"}));
    assert_eq!(all["data"]["makes"].as_array().unwrap().len(), 2, "{all}");
    assert_eq!(ask(&edge, &request(json!({}))), all);
    for (filters, places) in [
        (json!({"make": ["Toyota"]}), vec!["/filters/make"]),
        (json!({"vin": "1HGCV1F30KA000001"}), vec!["/filters/vin"]),
        (
            json!({"status": ["available"], "query": "x"}),
            vec!["/filters/status", "/filters/query"],
        ),
        (
            json!({"features_all": ["heated_front_seats"]}),
            vec!["/filters/features_all"],
        ),
        (
            json!({"near": {"latitude": 1, "longitude": 1, "radius_mi": 1}}),
            vec!["/filters/near"],
        ),
    ] {
        assert_eq!(
            code(&ask(&edge, &request(filters))),
            ("UNSUPPORTED_FILTER", places)
        );
    }
    let unknown = ask(&edge, &request(json!({"colour": "red"})));
    assert_eq!(
        code(&unknown),
        ("SCHEMA_VALIDATION_FAILED", vec!["/filters/colour"])
    );
    let tools = edge.probe("tools/list", json!({})).send().json();
    let tools = tools["result"]["tools"].as_array().unwrap();
    assert_eq!(
        (tools.len(), &tools[0]["name"]),
        (1, &json!("aap_inventory_facets"))
    );
    let document = |path: &str| edge.search().verb("GET").path(path).text("").send().text;
    for text in [
        tools[0].to_string(),
        document("/.well-known/agent-card.json"),
    ] {
        assert!(
            !text.contains("sort_fields"),
            "search is advertised: {text}"
        );
    }
}

// AAP-370 AAP-371 AAP-372
#[test]
fn a_filter_changes_counts_and_no_code() {
    let edge = Edge::with(plan());
    let features = |filters: Value| facets(&edge, filters)["features"].take();
    let all = features(json!({}));
    assert_eq!(
        all,
        json!([{"code": "heated_front_seats", "label": "Heated front seats", "count": 1}])
    );
    let none = features(json!({"make": ["honda"]}));
    assert_eq!(
        none,
        json!([{"code": "heated_front_seats", "label": "Heated front seats", "count": 0}])
    );
}

// AAP-391 AAP-409 AAP-410 AAP-412 AAP-508 AAP-509
#[test]
fn defaults_are_the_advertised_ones_and_add_no_constraint() {
    let edge = Edge::with(plan());
    let tools = edge.probe("tools/list", json!({})).send().json();
    let offered =
        &tools["result"]["tools"][2]["_meta"]["autoagentprotocol.org/aap"]["capabilities"];
    let answer = ask(&edge, &json!({"type": "inventory.search.request"}));
    assert_eq!(answer["data"]["limit"], offered["default_limit"]);
    assert_eq!(answer["data"]["sort"], offered["default_sort"]);
    assert_eq!(answer["data"]["applied_filters"], json!({}));
    assert_eq!(ids(&answer), ["car", "unpriced", "motorcycle"]);
    // a listing without a type is a car, a search without one asks for all
    let cars = search(&edge, json!({"vehicle_type": ["car"]}));
    assert_eq!(ids(&cars), ["car", "unpriced"]);
    assert_eq!(
        cars["data"]["applied_filters"],
        json!({"vehicle_type": ["car"]})
    );
    assert!(answer["data"]["vehicles"][1].get("price").is_none());
}

// AAP-376 AAP-432 AAP-494
#[test]
fn no_place_is_guessed_from_a_text() {
    let edge = Edge::with(plan());
    let named = search(&edge, json!({"near": "Chicago"}));
    assert_eq!(
        code(&named),
        ("SCHEMA_VALIDATION_FAILED", vec!["/filters/near"])
    );
    for query in ["Chicago", "cars near Main Street", "60601"] {
        let answer = search(&edge, json!({ "query": query }));
        assert_eq!(answer["data"]["applied_filters"], json!({ "query": query }));
        assert_eq!(ids(&answer), Vec::<&str>::new(), "{query}");
    }
    let plain = search(&edge, json!({"query": "rav4"}));
    assert!(plain["data"]["vehicles"][0].get("distance_mi").is_none());
}

// AAP-400 AAP-401 AAP-402 AAP-403 AAP-494 AAP-555
#[test]
fn distance_is_from_the_given_point_to_the_rooftop() {
    let edge = Edge::with(plan());
    // one degree of a great circle
    let degree = 3958.7613 * std::f64::consts::PI / 180.0;
    let within = |radius_mi: f64, order: &str| {
        ask(
            &edge,
            &json!({"type": "inventory.search.request",
            "filters": {"near": {"latitude": 41.9, "longitude": -87.6, "radius_mi": radius_mi}},
            "sort": {"field": "distance_mi", "order": order}}),
        )
    };
    let both = within(degree * (1.0 + 1e-12), "asc");
    assert_eq!(
        ids(&both),
        ["car", "motorcycle"],
        "the radius is inclusive, and Harbor is nowhere"
    );
    assert_eq!(ids(&within(100.0, "desc")), ["motorcycle", "car"]);
    let distance = |index: usize| {
        both["data"]["vehicles"][index]["distance_mi"]
            .as_f64()
            .unwrap()
    };
    assert!(distance(0).abs() < 0.001);
    assert!((distance(1) - degree).abs() <= 0.001, "{}", distance(1));
    assert_eq!(ids(&within(degree * (1.0 - 1e-9), "asc")), ["car"]);
    let far = search(
        &edge,
        json!({"near": {"latitude": 0, "longitude": 0, "radius_mi": 13_000}}),
    );
    assert!(
        far["data"]["vehicles"]
            .as_array()
            .unwrap()
            .iter()
            .all(|car| car["distance_mi"].is_number())
    );
}

// AAP-374 AAP-396 AAP-397 AAP-398 AAP-493 AAP-555
#[test]
fn a_feature_is_what_evidence_shows_present() {
    let edge = Edge::with(plan());
    for filter in ["features_all", "features_any"] {
        let answer = search(&edge, json!({filter: ["heated_front_seats"]}));
        assert_eq!(ids(&answer), ["car"]);
        let shown = &answer["data"]["vehicles"][0]["feature_evidence"][0];
        assert_eq!(
            (&shown["status"], &shown["source"]),
            (&json!("present"), &json!("inventory"))
        );
        let unknown = search(&edge, json!({filter: ["heated_rear_seats"]}));
        let place = format!("/filters/{filter}/0");
        assert_eq!(code(&unknown), ("UNSUPPORTED_FILTER", vec![place.as_str()]));
    }
    // a trim of that name proves nothing
    assert_eq!(
        ids(&search(
            &edge,
            json!({"trim": ["heated"], "condition": ["new"]})
        )),
        Vec::<&str>::new()
    );
}

// AAP-406 AAP-407 AAP-408
#[test]
fn quotes_and_operators_are_letters_and_blanks_are_no_query() {
    let edge = Edge::with(plan());
    for (query, found) in [
        ("rav4", vec!["car"]),
        ("  TOYOTA\t rav ", vec!["car"]),
        ("\"rav4\"", vec![]),
        ("rav4 OR civic", vec![]),
        ("-civic", vec![]),
        ("civ*", vec![]),
        ("make:honda", vec![]),
    ] {
        let answer = search(&edge, json!({ "query": query }));
        assert_eq!(ids(&answer), found, "{query}");
        let terms: Vec<&str> = query.split_whitespace().collect();
        assert_eq!(answer["data"]["query_terms"], json!(terms));
    }
    for blank in ["", " ", "\t\n", "\u{a0}\u{2003}"] {
        let answer = search(&edge, json!({ "query": blank }));
        assert_eq!(
            code(&answer),
            ("SCHEMA_VALIDATION_FAILED", vec!["/filters/query"]),
            "{blank:?}"
        );
    }
}

// AAP-416 AAP-516 AAP-517 AAP-518 AAP-519 AAP-520 AAP-524
#[test]
fn a_price_is_the_price_and_nothing_is_made_of_its_parts() {
    let edge = Edge::with(plan());
    assert_eq!(
        ids(&search(&edge, json!({"price_min": 0}))),
        ["car", "motorcycle"]
    );
    // neither the list price, nor list price and fees, nor the reference price is the price
    for (least, most) in [(28_000, 29_999), (30_001, 35_000), (20_000, 20_500)] {
        let answer = search(&edge, json!({"price_min": least, "price_max": most}));
        assert_eq!(ids(&answer), Vec::<&str>::new(), "{least} to {most}");
    }
    assert_eq!(
        ids(&search(
            &edge,
            json!({"price_min": 30_000, "price_max": 30_000})
        )),
        ["car"]
    );
    let unpriced = detail(&edge, "unpriced");
    assert_eq!(
        (unpriced.get("price"), &unpriced["list_price"]),
        (None, &json!(20_000))
    );
    let car = detail(&edge, "car");
    assert_eq!(
        (&car["price"], &car["list_price"], &car["msrp"]),
        (&json!(30_000), &json!(29_000), &json!(35_000))
    );
    assert_eq!(
        car["fees"],
        json!([{"name": "Documentation fee", "amount": 500}])
    );
    assert_eq!(
        facets(&edge, json!({}))["price_range"],
        json!({"min": 7_000, "max": 30_000})
    );
    assert!(
        facets(&edge, json!({"model": ["Civic"]}))
            .get("price_range")
            .is_none()
    );
    for (order, expected) in [
        ("asc", ["motorcycle", "car", "unpriced"]),
        ("desc", ["car", "motorcycle", "unpriced"]),
    ] {
        let answer = ask(
            &edge,
            &json!({"type": "inventory.search.request", "sort": {"field": "price", "order": order}}),
        );
        assert_eq!(ids(&answer), expected);
    }
}

// AAP-358 AAP-359 AAP-360 AAP-509 AAP-523
#[test]
fn a_rooftops_fees_and_departments_are_facts_of_the_profile_only() {
    let edge = Edge::with(plan());
    let profile = ask(&edge, &json!({"type": "dealer.information.request"}));
    let rooftop = &profile["data"]["rooftops"][0];
    assert_eq!(
        rooftop["fees"],
        json!([{"name": "Documentation fee", "amount": 350}])
    );
    let names: Vec<_> = rooftop["schedules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| &s["name"])
        .collect();
    assert_eq!(
        names,
        ["sales", "Tyre hotel"],
        "any department, and no parts hours although there is a parts desk"
    );
    let motorcycle = detail(&edge, "motorcycle");
    assert_eq!(
        (motorcycle.get("fees"), &motorcycle["price"]),
        (None, &json!(7_000))
    );
    assert_eq!(
        detail(&edge, "car")["fees"],
        json!([{"name": "Documentation fee", "amount": 500}])
    );
}

// AAP-441 AAP-486
#[test]
fn the_three_states_are_told_apart() {
    let edge = Edge::with(plan());
    let answer = search(&edge, json!({}));
    for (index, (id, status)) in [
        ("car", "available"),
        ("unpriced", "intransit"),
        ("motorcycle", "pending"),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(answer["data"]["vehicles"][index]["status"], status);
        assert_eq!(detail(&edge, id)["status"], status);
        assert_eq!(ids(&search(&edge, json!({"status": [status]}))), [id]);
    }
    let page = edge
        .search()
        .verb("GET")
        .path("/inventory")
        .text("")
        .send()
        .text;
    for word in ["available", "intransit", "pending"] {
        assert!(page.contains(word), "{word}: {page}");
    }
}

// AAP-389 AAP-442
#[test]
fn further_attributes_override_nothing() {
    let edge = Edge::with(plan());
    assert_eq!(
        ids(&search(&edge, json!({"price_max": 100}))),
        Vec::<&str>::new()
    );
    assert_eq!(
        ids(&search(&edge, json!({"make": ["Lada"]}))),
        Vec::<&str>::new()
    );
    let makes = facets(&edge, json!({}))["makes"].to_string();
    assert!(!makes.contains("Lada"), "{makes}");
    let car = detail(&edge, "car");
    assert_eq!(
        (&car["price"], &car["make"]),
        (&json!(30_000), &json!("Toyota"))
    );
    assert_eq!(
        (&car["other_attributes"]["price"], &car["title_status"]),
        (&json!("1"), &json!("clean"))
    );
}

// AAP-343 AAP-344 AAP-345 AAP-353 AAP-445 AAP-495
#[test]
fn reading_needs_no_customer_and_takes_none() {
    let edge = Edge::with(plan());
    for request in [
        json!({"type": "dealer.information.request"}),
        json!({"type": "inventory.facets.request"}),
        json!({"type": "inventory.search.request"}),
        json!({"type": "inventory.vehicle.request", "vehicle_id": "car"}),
    ] {
        assert_eq!(ask(&edge, &request).get("code"), None, "{request}");
        for (member, value) in [
            ("customer", json!({"email": "a@example.com"})),
            ("consent", json!(true)),
        ] {
            let mut more = request.clone();
            more[member] = value;
            let place = format!("/{member}");
            assert_eq!(
                code(&ask(&edge, &more)),
                ("SCHEMA_VALIDATION_FAILED", vec![place.as_str()])
            );
        }
    }
    let profile = |dealer_id: &str| {
        ask(
            &edge,
            &json!({"type": "dealer.information.request", "dealer_id": dealer_id}),
        )
    };
    assert_eq!(profile("dealer-1")["data"]["name"], "Example Motors");
    assert_eq!(profile("dealer-1")["data"]["dealer_id"], "dealer-1");
    for other in ["Dealer-1", "dealer-1 ", "dealer", "Example Motors"] {
        assert_eq!(
            code(&profile(other)),
            ("DEALER_NOT_FOUND", vec!["/dealer_id"]),
            "{other}"
        );
    }
    let own = ask(&edge, &json!({"type": "dealer.information.request"}));
    assert_eq!(
        (&own["data"]["name"], own["data"].get("dealer_id")),
        (&json!("Example Motors"), None)
    );
}

// AAP-433 AAP-434 AAP-435 AAP-436 AAP-439 AAP-488
#[test]
fn one_vehicle_is_named_by_its_vin_or_by_any_agreeing_identifiers() {
    let edge = Edge::with(plan());
    let named = |by: Value| {
        let mut request = json!({"type": "inventory.vehicle.request"});
        request
            .as_object_mut()
            .unwrap()
            .extend(by.as_object().unwrap().clone());
        ask(&edge, &request)
    };
    let vin = "1HGCV1F30KA000001";
    for by in [
        json!({ "vin": vin }),
        json!({"stock": "A1"}),
        json!({"vin": vin, "stock": "A1", "vehicle_id": "car"}),
    ] {
        let car = named(by)["data"].take();
        assert_eq!(
            (&car["vin"], &car["year"], &car["model"]),
            (&json!(vin), &json!(2024), &json!("RAV4"))
        );
    }
    let conflict = named(json!({"vin": vin, "vehicle_id": "motorcycle"}));
    assert_eq!(code(&conflict).0, "SCHEMA_VALIDATION_FAILED");
    assert!(code(&conflict).1.contains(&"/vehicle_id"), "{conflict}");
    assert_eq!(
        code(&named(json!({}))),
        ("SCHEMA_VALIDATION_FAILED", vec![""])
    );
    assert_eq!(code(&named(json!({"stock": "a1"}))).0, "VEHICLE_NOT_FOUND");
}

// AAP-449 AAP-497 AAP-500
#[test]
fn attribution_is_no_identity_and_partial_vehicles_are_enough() {
    let edge = Edge::with(plan());
    let mut first = lead("key-1");
    first["vehicle_of_interest"] = json!({"make": "Honda"});
    first["trade_in"] = json!({"year": 2015});
    assert_eq!(ask(&edge, &first)["data"]["status"], "received");
    // another name on the same key is another content, not another caller
    first["source_agent"] = json!({"name": "Somebody else", "url": "https://other.example"});
    assert_eq!(code(&ask(&edge, &first)).0, "IDEMPOTENCY_CONFLICT");
}

// AAP-530
#[test]
fn ids_of_errors_are_new_each_time_and_made_of_nothing() {
    let edge = Edge::with(plan());
    let request = json!({"type": "inventory.vehicle.request", "vehicle_id": CANARY});
    let error_id = || {
        ask(&edge, &request)["error_id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let (one, other) = (error_id(), error_id());
    assert_ne!(one, other);
    for id in [one, other] {
        let random = id.strip_prefix("err_").unwrap();
        assert!(
            random.len() == 32 && random.bytes().all(|b| b.is_ascii_hexdigit()),
            "{id}"
        );
    }
}

/// A lead that sings from every text, changed.
fn sung(change: impl FnOnce(&mut Value)) -> Value {
    let mut request = lead(&format!("{CANARY}-key"));
    for place in [
        "/customer/first_name",
        "/customer/last_name",
        "/consent/consent_text",
        "/message",
        "/source_agent/name",
    ] {
        *request.pointer_mut(place).unwrap() = json!(CANARY);
    }
    change(&mut request);
    request
}

fn without(member: &'static str) -> impl FnOnce(&mut Value) {
    move |request| drop(request.as_object_mut().unwrap().remove(member))
}

/// Asks what cannot be answered; nothing of it comes back.
fn quiet(edge: &Edge, expected: &str, request: Value) {
    let answer = ask(edge, &request);
    assert_eq!(code(&answer).0, expected, "{request}");
    assert!(!answer.to_string().contains(CANARY), "{answer}");
    let raw = send(edge, request).send().text;
    assert!(!raw.contains(CANARY), "{raw}");
}

// AAP-105 AAP-531
#[test]
fn no_value_of_a_read_comes_back_in_its_error() {
    let edge = Edge::with(plan());
    let vehicle = |by: &str| json!({"type": "inventory.vehicle.request", by: CANARY});
    let search =
        |member: &str, value: Value| json!({"type": "inventory.search.request", member: value});
    for (expected, request) in [
        ("VEHICLE_NOT_FOUND", vehicle("vehicle_id")),
        ("VEHICLE_NOT_FOUND", vehicle("stock")),
        ("SCHEMA_VALIDATION_FAILED", vehicle("vin")),
        (
            "DEALER_NOT_FOUND",
            json!({"type": "dealer.information.request", "dealer_id": CANARY}),
        ),
        (
            "INVALID_CURSOR",
            search("pagination", json!({"cursor": CANARY})),
        ),
        (
            "UNSUPPORTED_FILTER",
            search("filters", json!({"features_all": [CANARY]})),
        ),
        (
            "SCHEMA_VALIDATION_FAILED",
            search("sort", json!({"field": CANARY, "order": CANARY})),
        ),
    ] {
        quiet(&edge, expected, request);
    }
    // nor of what is not even JSON, or no tool
    for raw in [
        edge.search().text(format!("{{\"{CANARY}\": ")).send().text,
        edge.search()
            .text(format!("{{\"a\": 1, \"a\": \"{CANARY}\"}}"))
            .send()
            .text,
        edge.call(CANARY, json!({})).send().text,
        send(&edge, json!({"type": CANARY})).send().text,
    ] {
        assert!(!raw.contains(CANARY), "{raw}");
    }
}

// AAP-105 AAP-531
#[test]
fn no_value_of_a_lead_comes_back_in_its_error() {
    let edge = Edge::with(plan());
    let set =
        |place: &'static str, value: Value| sung(move |r| *r.pointer_mut(place).unwrap() = value);
    for (expected, request) in [
        (
            "VEHICLE_NOT_FOUND",
            set("/vehicle_of_interest", json!({"vehicle_id": CANARY})),
        ),
        (
            "DEALER_NOT_FOUND",
            set("/vehicle_of_interest", json!({"dealer_id": CANARY})),
        ),
        (
            "INVALID_CONSENT",
            set("/consent/granted_at", json!("2027-01-01T00:00:00Z")),
        ),
        (
            "INVALID_CONSENT",
            set("/consent/allowed_channels", json!(["sms"])),
        ),
        (
            "INVALID_CONDITION",
            set(
                "/vehicle_of_interest",
                json!({"condition": "good", "make": CANARY}),
            ),
        ),
        ("CONTACT_CONSENT_REQUIRED", sung(without("consent"))),
        ("MISSING_REQUIRED_FIELD", sung(without("customer"))),
        (
            "SCHEMA_VALIDATION_FAILED",
            set("/customer/email", json!(CANARY)),
        ),
        (
            "SCHEMA_VALIDATION_FAILED",
            sung(|r| r["customer"]["phone"] = json!(CANARY)),
        ),
        (
            "SCHEMA_VALIDATION_FAILED",
            sung(|r| r["submitted_at"] = json!(CANARY)),
        ),
    ] {
        quiet(&edge, expected, request);
    }
    // what was accepted once conflicts later, and is not told either
    let mut accepted = sung(without("vehicle_of_interest"));
    assert_eq!(ask(&edge, &accepted)["data"]["status"], "received");
    accepted["message"] = json!(format!("{CANARY} again"));
    quiet(&edge, "IDEMPOTENCY_CONFLICT", accepted);
}

/// Texts in the place of a payload that are no clean JSON text.
fn unclean() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("a name twice", br#"{"type": "a", "type": "a"}"#.to_vec()),
        (
            "a name twice, deep",
            br#"{"customer": {"address": {"zip": "1", "zip": "2"}}}"#.to_vec(),
        ),
        (
            "a name twice, once escaped",
            br#"{"type": "a", "\u0074ype": "a"}"#.to_vec(),
        ),
        ("a lone surrogate", br#"{"type": "\ud800"}"#.to_vec()),
        (
            "surrogates in the wrong order",
            br#"{"type": "\udc00\ud800"}"#.to_vec(),
        ),
        ("no UTF-8", b"{\"type\": \"\xff\"}".to_vec()),
        (
            "a surrogate in UTF-8",
            b"{\"type\": \"\xed\xa0\x80\"}".to_vec(),
        ),
        ("an overlong slash", b"{\"type\": \"\xc0\xaf\"}".to_vec()),
        ("no number", b"{\"limit\": NaN}".to_vec()),
        ("a number beyond all", b"{\"limit\": 1e999}".to_vec()),
        ("a leading zero", b"{\"limit\": 020}".to_vec()),
        ("a control character", b"{\"type\": \"\x01\"}".to_vec()),
        ("a comment", b"{/* */}".to_vec()),
        ("a trailing comma", b"{\"a\": 1,}".to_vec()),
    ]
}

// AAP-097 AAP-098 AAP-534
#[test]
fn what_is_no_clean_json_is_malformed_on_both_bindings() {
    let edge = Edge::with(plan());
    // the place of the payload in each envelope
    let mut over_a2a = send(&edge, json!({"type": "inventory.search.request"}));
    over_a2a.body["params"]["message"]["parts"][0]["data"] = json!("PAYLOAD");
    let over_mcp = edge.call("aap_inventory_search", json!("PAYLOAD"));
    for (name, payload) in unclean() {
        for probe in [&over_mcp, &over_a2a] {
            let envelope = probe.body.to_string();
            let (before, after) = envelope.split_once("\"PAYLOAD\"").unwrap();
            let text = [before.as_bytes(), &payload, after.as_bytes()].concat();
            let answer = probe.clone().text(text).send();
            assert_eq!(answer.code(), -32700, "{name}: {answer:?}");
            assert_eq!(answer.json()["id"], Value::Null, "{name}");
        }
    }
    // clean, but deeper than anything that the contract has
    let nested = json!("x").to_string();
    let nested = format!("{}{nested}{}", "[".repeat(70), "]".repeat(70));
    for probe in [over_mcp, over_a2a] {
        let envelope = probe.body.to_string().replace("\"PAYLOAD\"", &nested);
        let code = probe.text(envelope).send().code();
        assert!([-32600, -32700].contains(&code), "{code}");
    }
}

// AAP-011 AAP-548
#[test]
fn from_the_hostname_alone_a_search_is_done_within_a_minute() {
    let began = Instant::now();
    let edge = Edge::with(plan());
    let get = |path: &str| edge.search().verb("GET").path(path).text("").send();
    let card = get("/.well-known/agent-card.json").json();
    let mcp = card["capabilities"]["extensions"][0]["params"]["mcp"]["url"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(get("/llms.txt").text.contains(&mcp));
    let path = mcp
        .strip_prefix(&format!("http://{}", edge.address))
        .unwrap()
        .to_owned();
    let tools = edge
        .probe("tools/list", json!({}))
        .path(&path)
        .send()
        .json();
    let tool = &tools["result"]["tools"][2];
    let type_of = &tool["inputSchema"]["properties"]["type"]["const"];
    let name = tool["name"].as_str().unwrap();
    let found = edge
        .call(name, json!({ "type": type_of }))
        .path(&path)
        .send()
        .payload();
    assert_eq!(found["data"]["total"], 3);
    assert!(began.elapsed() < Duration::from_mins(1));
}

// AAP-579
#[test]
fn there_is_no_message_send_address() {
    let edge = Edge::with(plan());
    for path in [
        "/message:send",
        "/v1/message:send",
        "/a2a/message:send",
        "/a2a/v1/message:send",
        "/message/send",
    ] {
        let answer = edge.search().path(path).send();
        assert_eq!(answer.status, 404, "{path}");
    }
}

// AAP-005 AAP-580 AAP-585
#[test]
fn one_contract_is_announced_and_no_other_is_fallen_back_to() {
    let edge = Edge::with(plan());
    let get = |path: &str| edge.search().verb("GET").path(path).text("").send().text;
    let tools = edge.probe("tools/list", json!({})).send().text;
    for text in [
        get("/.well-known/agent-card.json"),
        get("/.well-known/poppy.json"),
        get("/llms.txt"),
        tools,
    ] {
        assert!(text.contains("3.0"), "{text}");
        for older in ["v2.", "2.1.0", "v1.", "aap/v3.1"] {
            assert!(!text.contains(older), "{older}: {text}");
        }
    }
    for other in ["v2.1", "v3.1", "v1.3"] {
        let uri = format!("https://autoagentprotocol.org/extensions/aap/{other}");
        let answer = send(&edge, lead("never"))
            .header("A2A-Extensions", uri)
            .send();
        assert_eq!(answer.code(), -32008, "{answer:?}");
    }
    let first = ask(&edge, &lead("never"));
    assert_eq!(
        first["data"].get("replayed"),
        None,
        "nothing had run before: {first}"
    );
}
