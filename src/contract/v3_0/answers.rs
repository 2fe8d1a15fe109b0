//! What a response of 3.0 must hold beyond its schema: names and codes that are unique, ranges that are not
//! inverted, and a page that keeps what it says was applied. Must not know the request.

use std::collections::HashSet;

use serde_json::Value;

use super::documents::{items, texts};
use crate::contract::Problem;

/// Adds every broken rule of a document that has the schema `name`.
pub(super) fn check(name: &str, document: &Value, found: &mut Vec<Problem>) {
    match name {
        "dealer-information" => dealer(document, "", found),
        "dealer-information-response" => dealer_of(document, found),
        "facets" => facets(document, "", found),
        "inventory-facets-response" => facets_of(document, "/data", found),
        "inventory-listing" => vehicle(document, "", found),
        "vehicle-detail-response" => {
            if let Some(listing) = document.get("data") {
                vehicle(listing, "/data", found);
            }
        }
        "inventory-search-response" => {
            facets_of(document, "/data/facets", found);
            for (index, listing) in items(document, "/data/vehicles").enumerate() {
                vehicle(listing, &format!("/data/vehicles/{index}"), found);
            }
            page(document, found);
        }
        _ => {}
    }
}

fn dealer_of(answer: &Value, found: &mut Vec<Problem>) {
    if let Some(data) = answer.get("data") {
        dealer(data, "/data", found);
    }
}

fn facets_of(answer: &Value, place: &str, found: &mut Vec<Problem>) {
    if let Some(data) = answer.pointer(place) {
        facets(data, place, found);
    }
}

/// Fee names (AAP-521) and feature codes of one vehicle are unique.
fn vehicle(vehicle: &Value, place: &str, found: &mut Vec<Problem>) {
    unique(vehicle, place, "fees", "name", found);
    unique(vehicle, place, "feature_evidence", "code", found);
}

/// Rooftop names (AAP-355) and the fee names of each rooftop are unique.
fn dealer(data: &Value, place: &str, found: &mut Vec<Problem>) {
    unique(data, place, "rooftops", "name", found);
    for (index, rooftop) in items(data, "/rooftops").enumerate() {
        unique(
            rooftop,
            &format!("{place}/rooftops/{index}"),
            "fees",
            "name",
            found,
        );
    }
}

/// Ranges are not inverted (AAP-367) and feature codes are unique (AAP-373).
fn facets(data: &Value, place: &str, found: &mut Vec<Problem>) {
    for (name, facet) in data.as_object().into_iter().flatten() {
        let bound = |key: &str| facet.get(key).and_then(Value::as_f64);
        if bound("min")
            .zip(bound("max"))
            .is_some_and(|(min, max)| min > max)
        {
            let place = format!("{place}/{name}/min");
            found.push(Problem::new(place, "maximum", "Must not exceed max."));
        }
    }
    unique(data, place, "features", "code", found);
}

/// No two items of the array `list` of `owner` have the same `key`.
fn unique(owner: &Value, place: &str, list: &str, key: &str, found: &mut Vec<Problem>) {
    let mut seen = HashSet::new();
    for (index, item) in items(owner, &format!("/{list}")).enumerate() {
        let Some(name) = item.get(key).and_then(Value::as_str) else {
            continue;
        };
        if !seen.insert(name) {
            let place = format!("{place}/{list}/{index}/{key}");
            let words = format!("Each {key} in {list} must be unique; merge or rename.");
            found.push(Problem::new(place, "uniqueItems", words));
        }
    }
}

/// A page holds what its own `limit`, `total` and `applied_filters` say.
fn page(answer: &Value, found: &mut Vec<Problem>) {
    let count = items(answer, "/data/vehicles").count();
    let number = |place: &str| answer.pointer(place).and_then(Value::as_u64);
    for (place, words) in [
        (
            "/data/limit",
            "Fewer than the vehicles of this page (AAP-412).",
        ),
        (
            "/data/total",
            "Fewer than the vehicles of this page (AAP-411).",
        ),
    ] {
        if number(place).is_some_and(|number| number < count as u64) {
            found.push(Problem::new(place, "minimum", words));
        }
    }
    let has = |place: &str| answer.pointer(place).is_some();
    if has("/data/query_terms") != has("/data/applied_filters/query") {
        let words = "Stands beside applied_filters.query, and only then (AAP-408).";
        found.push(Problem::new(
            "/data/query_terms",
            "dependentRequired",
            words,
        ));
    }
    let near = has("/data/applied_filters/near");
    for (index, vehicle) in items(answer, "/data/vehicles").enumerate() {
        let place = format!("/data/vehicles/{index}");
        if near && vehicle.get("distance_mi").is_none() {
            let place = format!("{place}/distance_mi");
            found.push(Problem::new(
                place,
                "required",
                "A search near a place tells each distance (AAP-402).",
            ));
        }
        if !has_evidence(answer, vehicle) {
            let words = "Lacks evidence of presence for a feature that was asked for (AAP-397).";
            found.push(Problem::new(
                format!("{place}/feature_evidence"),
                "contains",
                words,
            ));
        }
    }
}

/// Whether the vehicle proves all of `features_all` and one of `features_any`.
fn has_evidence(answer: &Value, vehicle: &Value) -> bool {
    let is_present = |code: &str| {
        items(vehicle, "/feature_evidence").any(|evidence| {
            let member = |name: &str| evidence.get(name).and_then(Value::as_str);
            member("code") == Some(code) && member("status") == Some("present")
        })
    };
    let mut all = texts(answer, "/data/applied_filters/features_all");
    let any: Vec<_> = texts(answer, "/data/applied_filters/features_any").collect();
    all.all(is_present) && (any.is_empty() || any.into_iter().any(is_present))
}
