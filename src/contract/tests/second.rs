//! Room for another contract: a second release beside the first, made of values only.

use serde_json::{Value, json};

use super::*;
use crate::contract::release::Release;

/// A release that never was: its requests take any member, and what it finds wrong it says in one code.
const OTHER: Release = Release {
    version: "9.1.0",
    extension_uri: "https://autoagentprotocol.org/extensions/aap/v9.1",
    pap_version: "9.1",
    schema_base_url: "https://autoagentprotocol.org/v9.1/schemas/",
    files: &[
        ("error", OPEN),
        ("dealer-information-request", OPEN),
        ("dealer-information-response", OPEN),
        ("inventory-facets-request", OPEN),
        ("inventory-facets-response", OPEN),
        ("inventory-search-request", PAGES),
        ("inventory-search-response", OPEN),
        ("inventory-listing", OPEN),
        ("vehicle-detail-request", OPEN),
        ("vehicle-detail-response", OPEN),
        ("lead-submit-request", OPEN),
        ("lead-submit-response", OPEN),
    ],
    further: |_, _, _| {},
    verdict: |_, _, problems| {
        AapError::new(ErrorCode::MissingRequiredField, "As 9.1 says it.").with_problems(problems)
    },
    between: |_, _, _| {},
};

const OPEN: &str =
    r#"{"type": "object", "required": ["type"], "properties": {"type": {"type": "string"}}}"#;
const PAGES: &str = r#"{"type": "object", "required": ["type"], "properties": {"type": {"type": "string"},
    "pagination": {"type": "object", "properties": {"limit": {"type": "integer", "maximum": 1000}}}}}"#;

// AAP-005 AAP-581: each contract has its own identity, schemas and verdicts, and the first is not touched by
// the second.
#[test]
fn a_second_release_stands_beside_the_first() {
    let (first, second) = (contract(), Contract::of(OTHER).unwrap());
    assert_ne!(first.extension_uri(), second.extension_uri());
    assert_eq!(second.version(), "9.1.0");
    assert_eq!((first.pap_version(), second.pap_version()), ("0.3", "9.1"));
    let url = second.request_schema_url(Skill::LeadSubmit);
    assert_eq!(
        url,
        "https://autoagentprotocol.org/v9.1/schemas/lead-submit-request.schema.json"
    );
    let page =
        |limit: u32| json!({"type": "inventory.search.request", "pagination": {"limit": limit}});
    assert!(first.validate(Skill::InventorySearch, page(500)).is_err());
    let Request::InventorySearch(typed) =
        second.validate(Skill::InventorySearch, page(500)).unwrap()
    else {
        panic!("not a search")
    };
    assert_eq!(typed.pagination.limit, Some(500));
    let error = second
        .validate(Skill::InventorySearch, page(5_000))
        .unwrap_err();
    assert_eq!(
        (error.code, error.message.as_str()),
        (ErrorCode::MissingRequiredField, "As 9.1 says it.")
    );
    let input = second.input_schema(Skill::InventorySearch);
    assert_eq!(
        input.pointer("/properties/pagination/properties/limit/maximum"),
        Some(&json!(1000))
    );
    assert_eq!(second.check_listing(&json!({"type": "x"})), Ok(()));
    assert!(second.check_listing(&Value::Null).is_err());
}
