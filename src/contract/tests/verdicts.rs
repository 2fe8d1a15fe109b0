//! Which code a wrong request gets, where, and in which words.

use serde_json::{Value, json};

use super::*;

// AAP-388 AAP-405 AAP-432: unknown keys are refused wherever they stand, with the right name.
#[test]
fn an_unknown_key_is_refused_with_its_correction() {
    let near = json!({"lat": 45.5, "longitude": -122.6, "radius_mi": 10});
    let (code, problems) = refused(
        Skill::InventorySearch,
        search(json!({"near": near, "makes": ["a"]})),
    );
    assert_eq!(code, ErrorCode::SchemaValidationFailed);
    let text = |place: &str| {
        &problems
            .iter()
            .find(|p| p.0 == place && p.1 != "required")
            .unwrap()
            .2
    };
    assert!(text("/filters/near/lat").contains("`latitude`"));
    assert!(text("/filters/makes").contains("`make`"));
    assert!(
        problems
            .iter()
            .any(|p| p.0 == "/filters/near/latitude" && p.1 == "required")
    );
    for (place, payload) in [
        ("/x", json!({"type": "inventory.search.request", "x": 1})),
        (
            "/pagination/x",
            json!({"type": "inventory.search.request", "pagination": {"x": 1}}),
        ),
        (
            "/privacy/x",
            json!({"type": "inventory.search.request", "privacy": {"x": 1}}),
        ),
        (
            "/sort/x",
            json!({"type": "inventory.search.request",
                   "sort": {"field": "price", "order": "asc", "x": 1}}),
        ),
    ] {
        let (code, found) = places(Skill::InventorySearch, payload);
        assert_eq!(
            (code, found),
            (ErrorCode::SchemaValidationFailed, vec![place.to_owned()])
        );
    }
}

// AAP-192 AAP-503 AAP-529: all problems at once.
#[test]
fn every_problem_is_listed_at_once() {
    let payload = json!({"type": "inventory.search.request",
        "filters": {"year_min": "2020", "price_min": 9, "price_max": 3, "condition": [],
                    "body": ["SUV", "SUV"], "query": "  "},
        "pagination": {"limit": 0, "cursor": "c", "skip": 1}});
    let (code, mut found) = places(Skill::InventorySearch, payload);
    found.sort();
    assert_eq!(code, ErrorCode::SchemaValidationFailed);
    assert_eq!(
        found,
        [
            "/filters/body",
            "/filters/condition",
            "/filters/price_min",
            "/filters/query",
            "/filters/year_min",
            "/pagination",
            "/pagination/limit"
        ]
    );
}

// AAP-105 AAP-531: what the customer wrote is not in the error.
#[test]
fn no_customer_value_is_repeated() {
    let mut payload = lead();
    payload["customer"]["email"] = json!("not-an-address-canary");
    payload["customer"]["phone"] = json!("canary-5551234");
    payload["consent"]["granted_at"] = json!("canary-yesterday");
    payload["message"] = json!(7);
    let error = contract().validate(Skill::LeadSubmit, payload).unwrap_err();
    assert!(!error.to_value("e", "t").to_string().contains("canary"));
}

// AAP-461 AAP-540: missing consent and unusable consent have codes of their own.
#[test]
fn consent_has_its_own_codes() {
    let with = |change: &dyn Fn(&mut Value)| {
        let mut payload = lead();
        change(&mut payload);
        places(Skill::LeadSubmit, payload)
    };
    let none = with(&|p| drop(p.as_object_mut().unwrap().remove("consent")));
    assert_eq!(
        none,
        (
            ErrorCode::ContactConsentRequired,
            vec!["/consent".to_owned()]
        )
    );
    let sms = with(&|p| p["consent"]["allowed_channels"] = json!(["email", "sms"]));
    assert_eq!(
        sms,
        (
            ErrorCode::InvalidConsent,
            vec!["/customer/phone".to_owned()]
        )
    );
    let scope = with(&|p| p["consent"]["scope"] = json!(["marketing"]));
    assert_eq!(
        scope,
        (
            ErrorCode::InvalidConsent,
            vec!["/consent/scope/0".to_owned()]
        )
    );
    let preferred = with(&|p| {
        p["customer"]["phone"] = json!("+15035550142");
        p["customer"]["preferred_contact"] = json!("phone");
    });
    assert_eq!(preferred.0, ErrorCode::InvalidConsent);
    let order = with(&|p| p["consent"]["expires_at"] = p["consent"]["granted_at"].clone());
    assert_eq!(
        order,
        (
            ErrorCode::InvalidConsent,
            vec!["/consent/expires_at".to_owned()]
        )
    );
    let text = with(&|p| p["consent"] = json!("yes"));
    assert_eq!(
        text,
        (ErrorCode::InvalidConsent, vec!["/consent".to_owned()])
    );
    let both = with(&|p| {
        p["consent"]["scope"] = json!([]);
        p["customer"]["first_name"] = json!(" ");
    });
    assert_eq!(both.0, ErrorCode::SchemaValidationFailed);
}

// AAP-472 AAP-496: what every lead must have.
#[test]
fn absent_members_are_named() {
    for member in ["customer", "source_agent", "idempotency_key", "type"] {
        let mut payload = lead();
        payload.as_object_mut().unwrap().remove(member);
        let (code, found) = places(Skill::LeadSubmit, payload);
        assert_eq!(
            (code, found),
            (ErrorCode::MissingRequiredField, vec![format!("/{member}")])
        );
    }
}

// AAP-433 AAP-436: no member of several is specifically required, so none of them is a schema violation, in
// words that name them all.
#[test]
fn one_of_several_is_no_specific_member() {
    let (code, problems) = refused(
        Skill::InventoryVehicle,
        json!({"type": "inventory.vehicle.request"}),
    );
    assert_eq!(code, ErrorCode::SchemaValidationFailed);
    let (place, keyword, words) = &problems[0];
    assert_eq!(
        (problems.len(), place.as_str(), keyword.as_str()),
        (1, "", "anyOf")
    );
    assert_eq!(words, "Give at least one of: vin, stock, vehicle_id.");
    // without e-mail and phone the customer is incomplete, and the grant of e-mail has no address.
    let mut payload = lead();
    let customer = payload["customer"].as_object_mut().unwrap();
    customer.remove("email");
    customer.remove("phone");
    let (code, mut found) = places(Skill::LeadSubmit, payload);
    found.sort();
    assert_eq!(code, ErrorCode::SchemaValidationFailed);
    assert_eq!(found, ["/customer", "/customer/email"]);
}

// AAP-450 AAP-541: each vehicle has its own vocabulary of condition.
#[test]
fn a_condition_of_the_other_vocabulary_has_its_own_code() {
    for (vehicle, word, code) in [
        ("vehicle_of_interest", "good", ErrorCode::InvalidCondition),
        ("trade_in", "cpo", ErrorCode::InvalidCondition),
        ("trade_in", "mint", ErrorCode::SchemaValidationFailed),
    ] {
        let mut payload = lead();
        payload[vehicle] = json!({"condition": word});
        let found = places(Skill::LeadSubmit, payload);
        assert_eq!(found, (code, vec![format!("/{vehicle}/condition")]));
    }
    let (code, _) = places(
        Skill::InventorySearch,
        search(json!({"condition": ["good"]})),
    );
    assert_eq!(code, ErrorCode::SchemaValidationFailed);
}

// AAP-404: an order by distance needs an origin.
#[test]
fn distance_order_needs_near() {
    for extra in [json!({}), json!({"filters": {}})] {
        let mut payload = json!({"type": "inventory.search.request",
                                 "sort": {"field": "distance_mi", "order": "asc"}});
        payload
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        let (code, problems) = refused(Skill::InventorySearch, payload);
        assert_eq!(code, ErrorCode::SchemaValidationFailed);
        let found: Vec<_> = problems
            .iter()
            .map(|p| (p.0.as_str(), p.1.as_str()))
            .collect();
        assert_eq!(found, [("/filters/near", "required")]);
    }
}

// AAP-388 AAP-529: a member of the wrong type has that one problem and no other.
#[test]
fn a_wrong_type_is_one_problem() {
    let only = |skill, payload: Value, place: &str| {
        let (code, problems) = refused(skill, payload);
        let found: Vec<_> = problems
            .iter()
            .map(|p| (p.0.as_str(), p.1.as_str()))
            .collect();
        assert_eq!(
            (code, found),
            (ErrorCode::SchemaValidationFailed, vec![(place, "type")])
        );
    };
    for (name, wrong) in [
        ("pagination", json!(5)),
        ("sort", json!("price")),
        ("filters", json!([])),
        ("privacy", json!(0)),
    ] {
        let mut payload = json!({"type": "inventory.search.request"});
        payload[name] = wrong;
        only(Skill::InventorySearch, payload, &format!("/{name}"));
    }
    for name in [
        "vehicle_of_interest",
        "trade_in",
        "appointment",
        "source_agent",
    ] {
        let mut payload = lead();
        payload[name] = json!("x");
        only(Skill::LeadSubmit, payload, &format!("/{name}"));
    }
    only(Skill::InventoryVehicle, json!([]), "");
}

// AAP-093 AAP-270: the payload's type is the operation's.
#[test]
fn another_operations_type_is_refused() {
    let (code, problems) = refused(
        Skill::InventorySearch,
        json!({"type": "inventory.facets.request"}),
    );
    assert_eq!(code, ErrorCode::SchemaValidationFailed);
    assert_eq!(
        (problems[0].0.as_str(), problems[0].1.as_str()),
        ("/type", "const")
    );
}
