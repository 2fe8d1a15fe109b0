//! What a search offers, and how the rest is refused.

use serde_json::{Value, json};

use super::*;

pub(super) fn offered() -> Capabilities {
    let supplied = [
        "make",
        "model",
        "price",
        "status",
        "year",
        "rooftop",
        "feature_evidence",
    ];
    let options = crate::contract::capabilities::SearchOptions {
        scope: crate::contract::capabilities::Scope::Dealer,
        default_sort: serde_json::from_value(json!({"field": "price", "order": "asc"})).unwrap(),
        default_limit: 20,
        max_limit: 50,
        offset: false,
        has_facets: true,
        has_search: true,
    };
    Capabilities::compile(
        &supplied.iter().map(|s| (*s).to_owned()).collect(),
        true,
        &options,
    )
    .unwrap()
}

fn typed_search(payload: Value) -> request::SearchRequest {
    let Request::InventorySearch(request) = contract()
        .validate(Skill::InventorySearch, payload)
        .unwrap()
    else {
        panic!("not a search")
    };
    request
}

// AAP-027 AAP-386 AAP-387 AAP-539: what is known but not offered is refused by its own code and place.
#[test]
fn what_is_not_offered_is_refused() {
    let capabilities = offered();
    let body = typed_search(search(json!({"body": ["SUV"], "make": ["Honda"]})));
    let error = capabilities.check_search(&body).unwrap_err();
    assert_eq!(error.code, ErrorCode::UnsupportedFilter);
    assert_eq!(
        error.details["errors"][0]["instanceLocation"],
        "/filters/body"
    );
    assert_eq!(error.details["errors"].as_array().unwrap().len(), 1);
    assert!(error.details.contains_key("hint"));
    let sort =
        json!({"type": "inventory.search.request", "sort": {"field": "msrp", "order": "asc"}});
    let error = capabilities.check_search(&typed_search(sort)).unwrap_err();
    assert_eq!(error.code, ErrorCode::UnsupportedSort);
}

// AAP-421 AAP-422: page size and offset are refused, never clamped.
#[test]
fn a_page_that_is_too_large_is_refused() {
    for (page, place) in [
        (json!({"limit": 51}), "/pagination/limit"),
        (json!({"skip": 0}), "/pagination/skip"),
    ] {
        let payload = json!({"type": "inventory.search.request", "pagination": page});
        let error = offered().check_search(&typed_search(payload)).unwrap_err();
        assert_eq!(error.code, ErrorCode::SchemaValidationFailed);
        assert_eq!(error.details["errors"][0]["instanceLocation"], place);
        assert!(error.details.contains_key("hint"));
    }
}

// AAP-025 AAP-026 AAP-392 AAP-404: capabilities that would mislead do not compile or leave the filter out.
#[test]
fn capabilities_are_compiled_from_what_is_supplied() {
    let capabilities = offered();
    let document = serde_json::to_value(&capabilities).unwrap();
    assert_eq!(
        contract().check_document("inventory-capabilities", &document),
        Ok(())
    );
    assert!(capabilities.filters.iter().any(|f| f == "features_all"));
    assert!(capabilities.sort_fields.iter().any(|f| f == "distance_mi"));
    let options = crate::contract::capabilities::SearchOptions {
        scope: crate::contract::capabilities::Scope::Aggregate,
        default_sort: serde_json::from_value(json!({"field": "distance_mi", "order": "asc"}))
            .unwrap(),
        default_limit: 60,
        max_limit: 50,
        offset: true,
        has_facets: false,
        has_search: true,
    };
    let supplied = ["rooftop", "feature_evidence"]
        .iter()
        .map(|s| (*s).to_owned())
        .collect();
    let faults = Capabilities::compile(&supplied, true, &options).unwrap_err();
    assert_eq!(faults.len(), 2, "{faults:?}");
    let options = crate::contract::capabilities::SearchOptions {
        default_sort: serde_json::from_value(json!({"field": "price", "order": "asc"})).unwrap(),
        default_limit: 5,
        ..options
    };
    let supplied = ["price", "rooftop", "feature_evidence"]
        .iter()
        .map(|s| (*s).to_owned())
        .collect();
    let aggregate = Capabilities::compile(&supplied, true, &options).unwrap();
    assert_eq!(aggregate.filters, ["price_min", "price_max", "near"]);
}

// AAP-363 AAP-392 AAP-404
#[test]
fn capabilities_name_what_the_mapping_can_answer() {
    use crate::contract::capabilities::{Scope, SearchOptions};
    let compile = |scope, left_out: &str, everything: bool| {
        let mut fields = Capabilities::fields();
        fields.remove(left_out);
        if !everything {
            fields.remove("feature_evidence");
        }
        let facets = everything.then_some(Skill::InventoryFacets);
        let skills: Vec<_> = facets.into_iter().chain([Skill::InventorySearch]).collect();
        let options = SearchOptions::new(scope, &skills);
        Capabilities::compile(&fields, everything, &options).unwrap()
    };
    let dealer = compile(Scope::Dealer, "trim", false);
    for absent in ["trim", "near", "features_all"] {
        assert!(
            !dealer.filters.iter().any(|filter| filter == absent),
            "{absent}"
        );
    }
    assert!(dealer.filters.contains(&"rooftops".to_owned()));
    assert!(!dealer.sort_fields.contains(&"distance_mi".to_owned()));
    let aggregate = compile(Scope::Aggregate, "", true);
    assert!(!aggregate.filters.contains(&"rooftops".to_owned()));
    let all = compile(Scope::Dealer, "", true);
    assert_eq!((all.filters.len(), all.sort_fields.len()), (30, 10));
}

// AAP-364 AAP-365: without search there is no filter to use, none to advertise, and no fault of an order that
// nothing asks for.
#[test]
fn facets_alone_offer_no_filter() {
    use crate::contract::capabilities::{Scope, SearchOptions};
    let mut options = SearchOptions::new(Scope::Dealer, &[Skill::InventoryFacets]);
    options.default_sort =
        serde_json::from_value(json!({"field": "price", "order": "asc"})).unwrap();
    let capabilities = Capabilities::compile(&Capabilities::fields(), true, &options).unwrap();
    assert!(capabilities.filters.is_empty() && capabilities.sort_fields.is_empty());
    for (name, value) in search(super::members::documents("filters").remove(0))["filters"]
        .as_object()
        .unwrap()
    {
        let filters = serde_json::from_value(json!({ name: value })).unwrap();
        let error = capabilities.check_filters(&filters).unwrap_err();
        assert_eq!(error.code, ErrorCode::UnsupportedFilter, "{name}");
        let place = &error.details["errors"][0]["instanceLocation"];
        assert_eq!(*place, format!("/filters/{name}"));
    }
    assert!(
        capabilities
            .check_filters(&request::Filters::default())
            .is_ok()
    );
}
