//! What a buyer's agent wrote never comes back in an error: a canary in every text of a request.

use serde_json::{Value, json};

use super::members::{documents, places, wrongs};
use super::*;

const CANARY: &str = "kanarienvogel";

/// Puts the canary into every text of `value`, and a text where there is none.
fn sung(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(format!("{text}{CANARY}")),
        Value::Array(items) => items.iter().map(sung).collect(),
        Value::Object(members) => {
            let sung = members
                .iter()
                .map(|(name, value)| (name.clone(), sung(value)));
            Value::Object(sung.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => json!(CANARY),
    }
}

/// The public text of the refusal, when there is one.
fn told(skill: Skill, payload: Value) -> Option<String> {
    let error = contract().validate(skill, payload).err()?;
    Some(error.to_value("e", "2026-10-24T15:00:00Z").to_string())
}

// AAP-105 AAP-531 AAP-532: no text, number or list of a request comes back, however it is wrong, and each
// problem says what to do.
#[test]
fn no_value_of_a_request_comes_back_in_its_error() {
    let mut refused = 0;
    for skill in Skill::ALL {
        let name = format!("{}-request", skill.stem());
        for document in documents(&name) {
            let mut found = Vec::new();
            places(&name, &document, "", &mut found);
            for place in found {
                let value = document.pointer(&place.pointer).unwrap();
                let wrong = wrongs(&place.member.kind, value)
                    .into_iter()
                    .map(|(wrong, ..)| wrong);
                for wrong in wrong.chain([value.clone()]) {
                    let mut payload = document.clone();
                    *payload.pointer_mut(&place.pointer).unwrap() = sung(&wrong);
                    let Some(text) = told(skill, payload) else {
                        continue;
                    };
                    assert!(!text.contains(CANARY), "{} {}: {text}", name, place.pointer);
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 2_000, "{refused}");
}

// AAP-105 AAP-531 AAP-532: nor where everything is wrong at once, and what is told is a correction.
#[test]
fn a_request_of_canaries_alone_is_told_nothing_of_itself() {
    for skill in Skill::ALL {
        let name = format!("{}-request", skill.stem());
        for document in documents(&name) {
            let mut payload = sung(&document);
            payload["type"] = document["type"].clone();
            // any text is a dealer's id
            let Err(error) = contract().validate(skill, payload) else {
                assert_eq!(skill, Skill::DealerInformation);
                continue;
            };
            let text = error.to_value("e", "t").to_string();
            assert!(!text.contains(CANARY), "{text}");
            for problem in error.details["errors"].as_array().unwrap() {
                let words = problem["error"].as_str().unwrap();
                assert!(
                    words.ends_with('.') && words.split(' ').count() >= 3,
                    "{words}"
                );
                assert_ne!(words, "Does not satisfy the contract's schema.");
            }
        }
    }
}

// AAP-192 AAP-531: a hundred thousand problems make a short answer.
#[test]
fn an_answer_stays_small_however_much_is_wrong() {
    let mut payload = json!({"type": "inventory.search.request"});
    for index in 0..100_000 {
        payload[format!("m{index}")] = json!(1);
    }
    let error = contract()
        .validate(Skill::InventorySearch, payload)
        .unwrap_err();
    assert_eq!(error.code, ErrorCode::SchemaValidationFailed);
    assert_eq!(error.details["errors"].as_array().unwrap().len(), 200);
    assert!(error.to_value("e", "t").to_string().len() < 64 * 1024);
}

// AAP-388 AAP-405 AAP-432 AAP-532: what was probably meant is named, wherever it belongs.
#[test]
fn an_unknown_name_gets_the_name_that_was_meant() {
    let search = |place: &str, name: &str| {
        let mut payload = json!({"type": "inventory.search.request", "filters": {
            "near": {"latitude": 1, "longitude": 1, "radius_mi": 1}}, "pagination": {},
            "sort": {"field": "price", "order": "asc"}, "privacy": {}});
        payload.pointer_mut(place).unwrap()[name] = json!(1);
        let (code, problems) = refused(Skill::InventorySearch, payload);
        assert_eq!(code, ErrorCode::SchemaValidationFailed);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(problems[0].0, format!("{place}/{name}"));
        problems[0].2.clone()
    };
    for (place, name, meant) in [
        ("/filters/near", "lat", "`latitude`"),
        ("/filters/near", "lng", "`longitude`"),
        ("/filters/near", "radius", "`radius_mi`"),
        ("/filters", "makes", "`make`"),
        ("/filters", "max_price", "`price_max`"),
        ("/filters", "minYear", "`year_min`"),
        ("/filters", "price-max", "`price_max`"),
        ("/filters", "Drivetrain", "`driveline`"),
        ("/filters", "latitude", "`near.latitude`"),
        ("/filters", "keywords", "`query`"),
        ("/pagination", "page_size", "`limit`"),
        ("/pagination", "offset", "`skip`"),
        ("/sort", "direction", "`order`"),
        ("/privacy", "anonymus", "`anonymous`"),
        ("", "filter", "`filters`"),
        ("", "limit", "`pagination.limit`"),
        ("", "price_max", "`filters.price_max`"),
    ] {
        let words = search(place, name);
        assert!(words.contains(meant), "{place}/{name}: {words}");
    }
    assert!(search("/filters", "zzz").contains("Known here: make, model"));
    for (place, name, meant) in [
        ("/customer", "firstName", "`first_name`"),
        ("/customer", "telephone", "`phone`"),
        ("/customer", "zip", "`address.zip`"),
        ("/consent", "channels", "`allowed_channels`"),
        ("/source_agent", "Name", "`name`"),
    ] {
        let mut payload = lead();
        payload["customer"]["address"] = json!({});
        payload.pointer_mut(place).unwrap()[name] = json!("x");
        let (_, problems) = refused(Skill::LeadSubmit, payload);
        assert!(problems[0].2.contains(meant), "{problems:?}");
    }
}
