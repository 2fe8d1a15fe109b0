//! The error table, the error object, skill names, callers and answers.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::contract::*;

// AAP-527 AAP-528 AAP-529 AAP-545: members of the error object, and what some codes must carry.
#[test]
fn an_error_has_its_required_members() {
    let at = "2026-10-24T15:00:00Z";
    let plain = AapError::new(ErrorCode::VehicleNotFound, "No listing matches.").to_value("e1", at);
    assert_eq!(
        plain,
        json!({"type": "aap.error", "error_id": "e1", "code": "VEHICLE_NOT_FOUND",
               "message": "No listing matches.", "retryable": false, "created_at": at})
    );
    let problem = Problem::new("/filters/lat", "additionalProperties", "Use `latitude`.");
    let listed = AapError::new(ErrorCode::SchemaValidationFailed, "1 problem")
        .with_problems(&[problem])
        .to_value("e2", at);
    assert_eq!(
        listed["details"]["errors"],
        json!([{"instanceLocation": "/filters/lat", "keyword": "additionalProperties",
                "error": "Use `latitude`."}])
    );
    let throttled = AapError::rate_limited("Slow down.", 30_000).to_value("e3", at);
    assert_eq!(throttled["details"]["retry_after_ms"], 30_000);
}

// AAP-105 AAP-531: the private cause is nowhere in what goes out.
#[test]
fn the_cause_stays_private() {
    let error = AapError::internal("password 'hunter2' refused by 10.0.0.7");
    assert_eq!(error.code, ErrorCode::InternalError);
    let sent = error.to_value("e", "t").to_string() + &error.to_string();
    assert!(
        !sent.contains("hunter2") && !sent.contains("10.0.0.7"),
        "{sent}"
    );
}

// AAP-078: the five tool names.
#[test]
fn a_skill_is_found_by_its_names() {
    for skill in Skill::ALL {
        assert_eq!(Skill::from_id(skill.id()), Some(skill));
        assert_eq!(Skill::from_tool_name(skill.tool_name()), Some(skill));
        assert_eq!(
            skill.tool_name(),
            format!("aap_{}", skill.id().replace('.', "_"))
        );
    }
    assert_eq!(Skill::from_id("inventory.search.request"), None);
    assert_eq!(Skill::InventoryVehicle.stem(), "vehicle-detail");
}

// AAP-095: the text copy, once unescaped, is the same JSON.
#[test]
fn the_escaped_copy_is_the_same_text() {
    let mut answer = Answer::new();
    answer.push("{\"a\":");
    answer.push_fragment(&Arc::new(Fragment::new("\"caf\u{e9} \\\"x\\\" \\u0007\"")));
    answer.push("}");
    let mut quoted = Rope::from("\"".to_owned());
    answer.write_escaped(&mut quoted);
    quoted.push("\"");
    let copy: Value = serde_json::from_slice(&quoted.into_bytes()).unwrap();
    assert_eq!(copy, Value::from(answer.to_json()));
    let inner: Value = serde_json::from_str(&answer.to_json()).unwrap();
    assert_eq!(inner, json!({"a": "caf\u{e9} \"x\" \u{7}"}));
}

// AAP-473 AAP-474: only equal verified callers share a scope, however their names are cut.
#[test]
fn callers_do_not_run_together() {
    let pap = |c: &str, u: &str| {
        Caller::Pap {
            client_id: c.into(),
            user_id: u.into(),
        }
        .scope()
    };
    let oauth = |i: &str, s: &str| {
        Caller::OAuth {
            issuer: i.into(),
            subject: s.into(),
        }
        .scope()
    };
    assert_ne!(pap("a:b", "c"), pap("a", "b:c"));
    assert_ne!(pap("a", "b"), oauth("a", "b"));
    assert_ne!(oauth("a:1", "b"), oauth("a", "1:b"));
    assert_eq!(pap("a", "b"), pap("a", "b"));
    assert_eq!(Caller::Anonymous.scope(), "anonymous");
}
