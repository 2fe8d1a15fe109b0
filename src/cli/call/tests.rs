//! What is typed out of an answer, and what the transcript never shows.

use serde_json::json;

use super::*;

#[test]
fn the_payload_is_found_wherever_its_binding_puts_it() {
    let response = json!({ "type": "inventory.search.response", "data": {} });
    let error = json!({ "type": "aap.error", "code": "VEHICLE_NOT_FOUND" });
    for answer in [
        response.clone(),
        json!({ "result": { "structuredContent": response } }),
        json!({ "result": { "message": { "parts": [{ "data": response }] } } }),
    ] {
        assert_eq!(typed(&answer), Some(response.clone()));
    }
    let a2a = json!({ "error": { "data": [{ "@type": "x" }, { "value": error }] } });
    assert_eq!(typed(&a2a), Some(error));
    assert_eq!(typed(&json!({ "error": "invalid_token" })), None);
}

#[test]
fn only_an_endpoint_has_a_path() {
    assert!(has_path("https://dealer.example/mcp"));
    assert!(!has_path("https://dealer.example"));
    assert!(!has_path("http://127.0.0.1:8080"));
}
