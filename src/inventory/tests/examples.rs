//! Single rules, each on the smallest inventory that shows it.

use serde_json::{Value, json};

use super::fixture::{World, car, facets, ids, runtime, search, try_search};
use crate::contract::capabilities::Scope;
use crate::contract::request::VehicleRequest;
use crate::contract::{Answer, Rope};
use crate::inventory::{Inventory, InventoryError, Unit};

fn vehicle(inventory: &Inventory, request: Value) -> Result<String, InventoryError> {
    let request: VehicleRequest = serde_json::from_value(request).unwrap();
    let found = runtime().block_on(inventory.vehicle(&request))?;
    Ok(found.vehicle_id.clone())
}

fn pointers(result: Result<String, InventoryError>) -> Vec<String> {
    match result {
        Err(InventoryError::Ambiguous(problems)) => {
            problems.into_iter().map(|p| p.instance_location).collect()
        }
        other => panic!("not ambiguous: {other:?}"),
    }
}

// AAP-400 AAP-401
#[test]
fn the_radius_is_inclusive_and_unrounded() {
    let listings = vec![car("a", json!({"rooftop": "North"}))];
    let world = World::new(listings).profile(None, &[("North", Some((0.0, 1.0)))]);
    let inventory = runtime().block_on(world.start());
    // One degree on the sphere of the rules, the last digit found by its neighbours below.
    let degree = 3958.7613 * std::f64::consts::PI / 180.0;
    let total = |radius: f64| {
        let near = json!({"latitude": 0.0, "longitude": 0.0, "radius_mi": radius});
        search(&inventory, json!({"filters": {"near": near}})).total
    };
    assert_eq!(total(degree + 1e-9), 1);
    assert_eq!(
        total(degree - 1e-9),
        0,
        "rounding to a thousandth would have let it in"
    );
    let near = json!({"latitude": 0.0, "longitude": 0.0, "radius_mi": 70});
    let page = search(&inventory, json!({"filters": {"near": near}}));
    assert_eq!(page.vehicles.found()[0].distance_mi, Some(69.093));

    // At the antipode the formula is exact: half of the great circle.
    let half_circle = 2.0 * 3958.7613 * std::f64::consts::FRAC_PI_2;
    let total = |radius: f64| {
        let near = json!({"latitude": 0.0, "longitude": -179.0, "radius_mi": radius});
        search(&inventory, json!({"filters": {"near": near}})).total
    };
    assert_eq!(total(half_circle), 1, "the bound itself is inside");
    assert_eq!(total(half_circle.next_down()), 0);
}

// A page that others ask for again is written once; nothing may change by that.
#[test]
fn a_page_says_the_same_however_often_it_is_asked_for() {
    let listings = ["a", "b", "c"].map(|id| car(id, json!({"rooftop": "North", "notes": "\"é\""})));
    let world = World::new(listings.to_vec()).profile(None, &[("North", Some((0.0, 1.0)))]);
    let inventory = runtime().block_on(world.start());
    let near = json!({"latitude": 0.0, "longitude": 0.0, "radius_mi": 70});
    for request in [
        json!({}),
        json!({"filters": {"near": near}}),
        json!({"pagination": {"limit": 2}}),
        json!({"filters": {"make": ["nobody"]}}),
    ] {
        let said = || {
            let page = search(&inventory, request.clone());
            let mut answer = Answer::new();
            answer.push("[");
            page.vehicles.write(&mut answer);
            answer.push("]");
            let mut escaped = Rope::default();
            answer.write_escaped(&mut escaped);
            let all: Vec<Value> = serde_json::from_str(&answer.to_json()).unwrap();
            assert_eq!(all.len(), ids(&page).len());
            for (found, said) in page.vehicles.found().iter().zip(&all) {
                assert_eq!(said["vehicle_id"], found.listing.vehicle_id.as_str());
                assert_eq!(said["distance_mi"].as_f64(), found.distance_mi);
            }
            (answer.to_json(), escaped.into_bytes())
        };
        let first = said();
        for _ in 0..3 {
            assert_eq!(said(), first);
        }
    }
}

// AAP-375 AAP-395
#[test]
fn unknown_feature_codes_are_all_named_with_their_place() {
    let world = World::new(vec![car("a", json!({}))]).features(&["sunroof"]);
    let inventory = runtime().block_on(world.start());
    let filters = json!({"features_all": ["sunroof", "jet"], "features_any": ["wings"]});
    match try_search(&inventory, json!({"filters": filters})) {
        Err(InventoryError::UnknownFeature(problems)) => {
            let places: Vec<&str> = problems
                .iter()
                .map(|p| p.instance_location.as_str())
                .collect();
            assert_eq!(
                places,
                ["/filters/features_all/1", "/filters/features_any/0"]
            );
        }
        other => panic!("{other:?}"),
    }
}

// AAP-366 AAP-369 AAP-370
#[test]
fn facets_are_written_as_the_contract_says() {
    let listings = vec![
        car(
            "a",
            json!({"make": "KIA", "dc_fast_charge": false, "electric_range_mi": 250.0, "year": 2024}),
        ),
        car(
            "b",
            json!({"make": "Kia", "dc_fast_charge": false, "electric_range_mi": 310.5}),
        ),
        car("c", json!({"make": "Kia"})),
    ];
    let inventory = runtime().block_on(World::new(listings).features(&["sunroof"]).start());
    let facets = facets(&inventory, json!({}));
    assert_eq!(facets["makes"], json!([{"value": "Kia", "count": 3}]));
    assert_eq!(
        facets["dc_fast_charge"],
        json!([{"value": false, "count": 2}])
    );
    assert_eq!(facets["years"], json!([{"value": 2024, "count": 1}]));
    assert_eq!(
        facets["vehicle_types"],
        json!([{"value": "car", "count": 3}])
    );
    assert_eq!(
        facets["electric_range_mi_range"].to_string(),
        r#"{"min":250,"max":310.5}"#
    );
    assert_eq!(facets.get("price_range"), None);
    assert_eq!(
        facets["features"],
        json!([{"code": "sunroof", "label": "SUNROOF", "count": 0}])
    );
}

// AAP-408 AAP-409 AAP-410 AAP-412
#[test]
fn a_page_tells_what_was_applied() {
    let world = World::new(vec![car("a", json!({"make": "Kia", "model": "Soul"}))]);
    let inventory = runtime().block_on(world.start());
    let page = search(&inventory, json!({"filters": {"query": " kia  SOUL kia "}}));
    assert_eq!(
        page.query_terms,
        Some(vec!["kia".to_owned(), "SOUL".to_owned()])
    );
    assert_eq!(
        json!(page.sort),
        json!({"field": "updated_at", "order": "desc"})
    );
    assert_eq!((page.total, page.limit, page.next_cursor), (1, 20, None));
    assert!(search(&inventory, json!({})).query_terms.is_none());
}

// AAP-385 AAP-486
#[test]
fn nothing_but_the_three_statuses_is_ever_visible() {
    let listings = vec![
        car("a", json!({})),
        car("b", json!({"status": "sold"})),
        car("c", json!({"status": null})),
    ];
    let inventory = runtime().block_on(World::new(listings).start());
    assert_eq!(ids(&search(&inventory, json!({}))), ["a"]);
    assert_eq!(inventory.status().rejected.total(), 2);
}

// AAP-417 AAP-438
#[test]
fn a_listing_keeps_its_text_and_gets_no_foreign_distance() {
    let listing = car(
        "a",
        json!({"price": 100, "x_extra": {"deep": [1, "ü\"\\"]}}),
    );
    let mut given = listing.clone();
    given["distance_mi"] = json!(3);
    let inventory = runtime().block_on(World::new(vec![given]).start());
    let page = search(&inventory, json!({}));
    assert_eq!(page.vehicles.found()[0].listing.to_value(), listing);
    assert_eq!(page.vehicles.found()[0].distance_mi, None);
}

// AAP-433 AAP-434 AAP-435 AAP-436 AAP-443
#[test]
fn identifiers_name_one_listing_or_each_is_a_problem() {
    let vin = "1HGCM82633A004352";
    let listings = vec![
        car("v1", json!({"vin": vin, "stock": "S"})),
        car("v2", json!({"stock": "S"})),
        car("v3", json!({"stock": "T"})),
    ];
    let inventory = runtime().block_on(World::new(listings).start());
    assert_eq!(vehicle(&inventory, json!({"vin": vin})).unwrap(), "v1");
    assert_eq!(vehicle(&inventory, json!({"stock": "T"})).unwrap(), "v3");
    assert_eq!(
        vehicle(&inventory, json!({"vin": vin, "stock": "S"})).unwrap(),
        "v1"
    );
    assert_eq!(
        vehicle(&inventory, json!({"vehicle_id": "v2", "stock": "S"})).unwrap(),
        "v2"
    );
    assert_eq!(
        pointers(vehicle(&inventory, json!({"stock": "S"}))),
        ["/stock"]
    );
    let conflict = json!({"vin": vin, "stock": "T"});
    assert_eq!(pointers(vehicle(&inventory, conflict)), ["/vin", "/stock"]);
    let one_unknown = json!({"vin": vin, "vehicle_id": "v9"});
    assert_eq!(
        pointers(vehicle(&inventory, one_unknown)),
        ["/vin", "/vehicle_id"]
    );
    let unknown = vehicle(&inventory, json!({"stock": "s", "vehicle_id": "V1"}));
    assert!(
        matches!(unknown, Err(InventoryError::NotFound)),
        "identifiers are exact"
    );
}

// AAP-414 AAP-434
#[test]
fn a_unit_without_vehicle_id_answers_to_its_own_identifiers_only() {
    let mut listing = car("x", json!({"stock": "S1"}));
    listing.as_object_mut().unwrap().remove("vehicle_id");
    let inventory = runtime().block_on(World::new(vec![listing]).start());
    assert_eq!(vehicle(&inventory, json!({"stock": "S1"})).unwrap(), "S1");
    let by_id = vehicle(&inventory, json!({"vehicle_id": "S1"}));
    assert!(matches!(by_id, Err(InventoryError::NotFound)));
}

// AAP-393 AAP-437
#[test]
fn an_id_that_two_sellers_use_names_no_unit() {
    let listings = vec![
        car("same", json!({"dealer_id": "d1"})),
        car("same", json!({"dealer_id": "d2"})),
        car("own", json!({"dealer_id": "d2", "stock": "S"})),
        car("none", json!({})),
    ];
    let world = World::in_scope(Scope::Aggregate, listings);
    let inventory = runtime().block_on(world.start());
    assert_eq!(ids(&search(&inventory, json!({}))), ["own"]);
    let rejected = inventory.status().rejected;
    assert_eq!(rejected.by_reason["vehicle_id used by several sellers"], 2);
    assert_eq!(rejected.by_reason["required at /dealer_id"], 1);
    let page = search(&inventory, json!({}));
    assert_eq!(
        page.vehicles.found()[0].listing.dealer_id.as_deref(),
        Some("d2")
    );
}

// AAP-437
#[test]
fn a_vin_at_two_sellers_is_ambiguous_and_its_id_is_not() {
    let vin = "1HGCM82633A004352";
    let listings = vec![
        car("a", json!({"dealer_id": "d1", "vin": vin})),
        car("b", json!({"dealer_id": "d2", "vin": vin})),
    ];
    let inventory = runtime().block_on(World::in_scope(Scope::Aggregate, listings).start());
    assert_eq!(pointers(vehicle(&inventory, json!({"vin": vin}))), ["/vin"]);
    assert_eq!(
        vehicle(&inventory, json!({"vin": vin, "vehicle_id": "b"})).unwrap(),
        "b"
    );
}

// AAP-362 AAP-487
#[test]
fn of_the_same_unit_twice_the_newer_stays() {
    let listings = vec![
        car(
            "a",
            json!({"price": 1, "updated_at": "2026-11-02T00:00:00Z"}),
        ),
        car(
            "a",
            json!({"price": 2, "updated_at": "2026-11-03T00:00:00Z"}),
        ),
        car(
            "a",
            json!({"price": 3, "updated_at": "2026-11-01T00:00:00Z"}),
        ),
    ];
    let inventory = runtime().block_on(World::new(listings).start());
    let page = search(&inventory, json!({}));
    assert_eq!(page.total, 1);
    assert_eq!(page.vehicles.found()[0].listing.to_value()["price"], 2);
    assert_eq!(
        inventory.status().rejected.by_reason["the same unit twice"],
        2
    );
}

// AAP-502
#[test]
fn what_the_contract_refuses_is_left_out_and_counted() {
    let world = World::new(vec![car("a", json!({})), car("b", json!({"price": -1}))]);
    world
        .units
        .lock()
        .unwrap()
        .as_mut()
        .unwrap()
        .push(Unit::Rejected("column x: text".into()));
    let contract = crate::contract::Contract::v3_0().unwrap();
    let check = move |listing: &Value| contract.check_listing(listing);
    let inventory = runtime().block_on(Inventory::with_reader(
        world.settings.clone(),
        world.reader(),
        crate::inventory::Frame::new(Scope::Dealer, &[], Vec::new()),
        std::sync::Arc::new(check),
        std::sync::Arc::clone(&world.keys),
        world.clock.clone(),
    ));
    let status = inventory.unwrap().status();
    assert_eq!(status.vehicles, 1);
    assert_eq!(
        json!(status.rejected.by_reason),
        json!({"column x: text": 1, "minimum at /price": 1})
    );
}
