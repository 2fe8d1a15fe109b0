//! Requests. Its parent names the room `contract`, so that it can be built without the others. Must
//! not answer anything: it panics when a promise is broken.

use std::sync::{Arc, LazyLock};

use serde_json::Value;

use super::contract::canonical::canonical_json;
use super::contract::{Contract, ErrorCode, Request, Skill, json};

static CONTRACT: LazyLock<Arc<Contract>> = LazyLock::new(|| Contract::v3_0().unwrap());

/// Bytes become a request of each skill, or are refused in a way that a caller can use.
pub fn request(bytes: &[u8]) {
    let Ok(document) = json::read(bytes) else {
        return;
    };
    assert!(
        serde_json::from_slice::<Value>(bytes).is_ok(),
        "read what is no JSON"
    );
    let canonical = canonical_json(&document);
    let again: Value = serde_json::from_str(&canonical).unwrap();
    assert_eq!(
        canonical_json(&again),
        canonical,
        "canonical text is its own canonical text"
    );
    for skill in Skill::ALL {
        match CONTRACT.validate(skill, document.clone()) {
            Ok(typed) => accepted(skill, &typed, &document),
            Err(error) => {
                assert_ne!(error.code, ErrorCode::InternalError, "{:?}", error.cause);
                let sent = error.to_value("e", "2026-10-24T15:00:00Z");
                assert_eq!(CONTRACT.check_document("error", &sent), Ok(()), "{sent}");
                let problems = error.details["errors"].as_array().unwrap();
                assert!(
                    (1..=220).contains(&problems.len()),
                    "{} problems",
                    problems.len()
                );
            }
        }
    }
}

/// What was accepted names its skill, and a lead's payload is accepted again and means the same.
fn accepted(skill: Skill, typed: &Request, document: &Value) {
    assert_eq!(typed.skill(), skill);
    assert_eq!(document["type"], skill.request_type());
    if let Request::LeadSubmit(lead) = typed {
        assert_eq!(
            canonical_json(&lead.payload),
            canonical_json(document),
            "numbers keep their values"
        );
        assert!(CONTRACT.validate(skill, lead.payload.clone()).is_ok());
    }
}
