//! A marketplace: several sellers behind one endpoint, each found again by the ids of its own listings; and
//! several deployments in one process, each its own world.

use std::sync::Arc;

use forecourt::contract::Skill;
use forecourt::deployment::DeploymentError;
use forecourt::profile::{Profile, Rooftop};
use serde_json::{Value, json};

use crate::edge::{Edge, Plan, lead};
use crate::meaning::{ask, code, ids, search};

const VIN: &str = "1HGCV1F30KA000001";

fn profile(dealer_id: Option<&str>, name: &str) -> Profile {
    let rooftop = format!("{name} Downtown");
    let public = json!({"name": rooftop, "website": "https://seller.example"});
    Profile {
        dealer_id: dealer_id.map(str::to_owned),
        name: name.into(),
        welcome_message: None,
        rooftops: vec![Rooftop {
            name: rooftop,
            geo: Some((41.9, -87.6)),
            timezone: None,
            public: public.as_object().unwrap().clone(),
        }],
    }
}

fn car(dealer_id: &str, vehicle_id: &str, rooftop: &str) -> Value {
    json!({"dealer_id": dealer_id, "vehicle_id": vehicle_id, "vin": VIN, "stock": "7", "status": "available",
           "updated_at": "2026-11-29T00:00:00Z", "make": "Honda", "model": "Civic", "rooftop": rooftop})
}

/// Two sellers offer what has one VIN and one stock number.
fn plan() -> Plan {
    Plan {
        profiles: vec![
            profile(None, "Example Market"),
            profile(Some("seller-1"), "North Cars"),
            profile(Some("seller-2"), "South Cars"),
        ],
        cars: vec![
            car("seller-1", "m-1", "North Cars Downtown"),
            car("seller-2", "m-2", "South Cars Downtown"),
        ],
        ..Plan::default()
    }
}

fn dealer(edge: &Edge, dealer_id: &str) -> Value {
    ask(
        edge,
        &json!({"type": "dealer.information.request", "dealer_id": dealer_id}),
    )
}

// AAP-343 AAP-346 AAP-347 AAP-348 AAP-349 AAP-350 AAP-351 AAP-356 AAP-393 AAP-394 AAP-556
#[test]
fn a_listings_ids_find_its_seller_and_nobody_else() {
    let edge = Edge::with(plan());
    let found = search(&edge, json!({}));
    assert_eq!(ids(&found), ["m-1", "m-2"]);
    for listing in found["data"]["vehicles"].as_array().unwrap() {
        let dealer_id = listing["dealer_id"].as_str().unwrap();
        let seller = dealer(&edge, dealer_id)["data"].take();
        assert_eq!(seller["dealer_id"], dealer_id);
        let name = if dealer_id == "seller-1" {
            "North Cars"
        } else {
            "South Cars"
        };
        assert_eq!(seller["name"], name);
        let rooftops = seller["rooftops"].as_array().unwrap();
        assert_eq!(
            (rooftops.len(), &rooftops[0]["name"]),
            (1, &listing["rooftop"])
        );
        let id = &listing["vehicle_id"];
        let detail = ask(
            &edge,
            &json!({"type": "inventory.vehicle.request", "vehicle_id": id}),
        );
        assert_eq!(
            (&detail["data"]["dealer_id"], &detail["data"]["vehicle_id"]),
            (&json!(dealer_id), id)
        );
    }
    for unknown in [
        "seller-3",
        "Seller-1",
        "seller-1 ",
        "North Cars",
        "Example Market",
    ] {
        let answer = dealer(&edge, unknown);
        assert_eq!(
            code(&answer),
            ("DEALER_NOT_FOUND", vec!["/dealer_id"]),
            "{unknown}"
        );
        assert!(!answer.to_string().contains("Example Market"), "{answer}");
    }
    let own = ask(&edge, &json!({"type": "dealer.information.request"}));
    assert_eq!(own["data"]["name"], "Example Market");
}

// AAP-392 AAP-435 AAP-437 AAP-556
#[test]
fn what_several_sellers_share_names_none_of_them() {
    let edge = Edge::with(plan());
    for by in [json!({ "vin": VIN }), json!({"stock": "7"})] {
        let mut request = json!({"type": "inventory.vehicle.request"});
        request
            .as_object_mut()
            .unwrap()
            .extend(by.as_object().unwrap().clone());
        assert_eq!(
            code(&ask(&edge, &request)).0,
            "SCHEMA_VALIDATION_FAILED",
            "{request}"
        );
    }
    let rooftops = search(&edge, json!({"rooftops": ["North Cars Downtown"]}));
    assert_eq!(
        code(&rooftops),
        ("UNSUPPORTED_FILTER", vec!["/filters/rooftops"])
    );
    let tools = edge.probe("tools/list", json!({})).send().json();
    let offered =
        &tools["result"]["tools"][2]["_meta"]["autoagentprotocol.org/aap"]["capabilities"];
    assert_eq!(offered["scope"], "aggregate");
    assert!(
        !offered["filters"]
            .as_array()
            .unwrap()
            .contains(&json!("rooftops"))
    );
}

// AAP-455 AAP-458 AAP-556
#[test]
fn a_lead_with_a_mismatched_seller_is_not_sent() {
    let edge = Edge::with(plan());
    let about = |key: &str, vehicle: Value| {
        let mut request = lead(key);
        request["vehicle_of_interest"] = vehicle;
        ask(&edge, &request)
    };
    let mismatched = about("k1", json!({"dealer_id": "seller-2", "vehicle_id": "m-1"}));
    assert_eq!(
        code(&mismatched),
        ("INVALID_CONSENT", vec!["/vehicle_of_interest/dealer_id"])
    );
    let nobody = about("k2", json!({"vin": VIN}));
    assert_eq!(
        code(&nobody),
        (
            "MISSING_REQUIRED_FIELD",
            vec![
                "/vehicle_of_interest/dealer_id",
                "/vehicle_of_interest/vehicle_id"
            ]
        )
    );
    let right = about("k1", json!({"dealer_id": "seller-1", "vehicle_id": "m-1"}));
    assert_eq!(
        right["data"]["status"], "received",
        "the refused one took no key: {right}"
    );
}

// AAP-346 AAP-352 AAP-394: a marketplace that could not tell its sellers apart does not start.
#[test]
fn a_marketplace_without_profiles_or_with_one_id_twice_does_not_compile() {
    let mistakes = Edge::refused;
    let without = Plan {
        skills: vec![Skill::InventorySearch, Skill::InventoryFacets],
        ..plan()
    };
    assert_eq!(mistakes(without), [DeploymentError::NoDealerInformation]);
    let mut twice = plan();
    twice
        .profiles
        .push(profile(Some("seller-1"), "Another Business"));
    assert_eq!(
        mistakes(twice),
        [DeploymentError::SameDealerId("seller-1".into())]
    );
    let mut nameless = plan();
    nameless.profiles.push(profile(None, "Nobody"));
    assert_eq!(
        mistakes(nameless),
        [DeploymentError::NoDealerId("Nobody".into())]
    );
}

// AAP-553: another deployment of the same process, with the same keys and the same store, is another world.
#[test]
fn neighbours_share_neither_listings_nor_cursors_nor_leads() {
    let car = |id: &str, make: &str| json!({"vehicle_id": id, "status": "available", "updated_at": "2026-11-29T00:00:00Z", "make": make});
    let (ours, theirs) = Edge::pair(
        Plan {
            cars: vec![car("a", "Honda"), car("b", "Honda")],
            ..Plan::default()
        },
        Plan {
            cars: vec![car("x", "Kia"), car("y", "Kia")],
            ..Plan::default()
        },
    );
    let page = |cursor: Option<&Value>| {
        let mut request = json!({"type": "inventory.search.request", "pagination": {"limit": 1}});
        if let Some(cursor) = cursor {
            request["pagination"]["cursor"] = cursor.clone();
        }
        request
    };
    let first = ask(&ours, &page(None));
    assert_eq!(ids(&first), ["a"]);
    assert_eq!(ids(&ask(&theirs, &page(None))), ["x"]);
    let cursor = &first["data"]["next_cursor"];
    assert_eq!(ids(&ask(&ours, &page(Some(cursor)))), ["b"]);
    assert_eq!(code(&ask(&theirs, &page(Some(cursor)))).0, "INVALID_CURSOR");
    let foreign = json!({"type": "inventory.vehicle.request", "vehicle_id": "a"});
    assert_eq!(code(&ask(&theirs, &foreign)).0, "VEHICLE_NOT_FOUND");
    let mut inquiry = lead("same-key");
    inquiry
        .as_object_mut()
        .unwrap()
        .remove("vehicle_of_interest");
    let sent = ours
        .call("aap_lead_submit", inquiry.clone())
        .send()
        .payload();
    let other = theirs.call("aap_lead_submit", inquiry).send().payload();
    assert_eq!(
        other["data"].get("replayed"),
        None,
        "the key is the neighbour's own: {other}"
    );
    assert_ne!(other["data"]["lead_id"], sent["data"]["lead_id"]);
}

// AAP-581 AAP-583: one host has one card; a second deployment there is refused, on a host of its own it is not.
#[test]
fn one_origin_has_one_default_card() {
    let [first, same, other] = Edge::deployments([
        ("one", "a.example"),
        ("two", "a.example"),
        ("two", "b.example"),
    ]);
    let mistakes = forecourt::server::Site::new(vec![Arc::clone(&first), same]).unwrap_err();
    assert!(
        mistakes
            .iter()
            .any(|m| m.to_string().contains("/.well-known/agent-card.json")),
        "{mistakes:?}"
    );
    assert!(forecourt::server::Site::new(vec![first, other]).is_ok());
}
