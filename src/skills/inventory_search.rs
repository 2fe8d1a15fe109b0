//! `inventory.search`: one page of the matching set, put together from finished fragments. Must not
//! serialise a vehicle.

use serde::Serialize;

use super::fault;
use crate::contract::request::{AskedFilters, SearchRequest};
use crate::contract::{AapError, Answer, Caller};
use crate::deployment::Deployment;
use crate::inventory::Page;

pub(super) fn run(
    deployment: &Deployment,
    caller: &Caller,
    request: &SearchRequest,
) -> Result<Answer, AapError> {
    let inventory = super::inventory(deployment)?;
    inventory.capabilities().check_search(request)?;
    let page = inventory
        .search(request, &caller.scope())
        .map_err(|error| fault::inventory(error, ""))?;
    let applied = request.filters.as_ref().map_or("{}", AskedFilters::json);
    Ok(assemble(&page, applied))
}

/// Writes the response around the listings' finished JSON (contract section 3.3).
fn assemble(page: &Page, applied_filters: &str) -> Answer {
    let mut answer = Answer::new();
    answer.push(r#"{"type":"inventory.search.response","data":{"total":"#);
    answer.push_value(&page.total);
    push_member(&mut answer, "limit", &page.limit);
    push_member(&mut answer, "next_cursor", &page.next_cursor);
    answer.push(r#","applied_filters":"#);
    answer.push(applied_filters);
    push_member(&mut answer, "sort", &page.sort);
    if let Some(terms) = &page.query_terms {
        push_member(&mut answer, "query_terms", terms);
    }
    answer.push(r#","vehicles":["#);
    page.vehicles.write(&mut answer);
    answer.push("]");
    if let Some(facets) = &page.facets {
        answer.push(r#","facets":"#);
        answer.push_fragment(facets);
    }
    answer.push("}}");
    answer
}

fn push_member(answer: &mut Answer, name: &str, value: &impl Serialize) {
    answer.push(",\"");
    answer.push(name);
    answer.push("\":");
    answer.push_value(value);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use crate::contract::request::{Sort, SortField, SortOrder};
    use crate::contract::{Fragment, Rope};
    use crate::inventory::{Found, Listing};

    fn page(vehicles: Vec<Found>) -> Page {
        Page {
            total: 41,
            limit: 20,
            next_cursor: Some("c\"1".into()),
            sort: Sort {
                field: SortField::Price,
                order: SortOrder::Asc,
            },
            query_terms: None,
            vehicles: vehicles.into(),
            facets: None,
        }
    }

    fn found(json: &str, distance_mi: Option<f64>) -> Found {
        let value: Value = serde_json::from_str(&format!("{json}}}")).unwrap();
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        Found {
            listing: Arc::new(Listing {
                open_json: Arc::new(Fragment::new(json)),
                dealer_id: None,
                vehicle_id: text("vehicle_id").unwrap(),
                vin: None,
                stock: None,
            }),
            distance_mi,
        }
    }

    // AAP-491: total, limit, next_cursor, effective filters and order stand on every page.
    #[test]
    fn a_page_is_one_json_object_with_all_its_members() {
        let near = found(r#"{"vehicle_id":"a","notes":"say \"hi\"""#, Some(3.125));
        let far = found(r#"{"vehicle_id":"b""#, None);
        let answer = assemble(&page(vec![near, far]), r#"{"make":["Toyota"]}"#);
        let value: Value = serde_json::from_str(&answer.to_json()).unwrap();
        assert_eq!(
            value,
            json!({
                "type": "inventory.search.response",
                "data": {
                    "total": 41, "limit": 20, "next_cursor": "c\"1",
                    "applied_filters": {"make": ["Toyota"]},
                    "sort": {"field": "price", "order": "asc"},
                    "vehicles": [
                        {"vehicle_id": "a", "notes": "say \"hi\"", "distance_mi": 3.125},
                        {"vehicle_id": "b"},
                    ],
                },
            })
        );
    }

    // AAP-095: the escaped copy is the same text.
    #[test]
    fn the_text_copy_of_a_page_is_its_json() {
        let answer = assemble(&page(vec![found(r#"{"vehicle_id":"é\\\"""#, None)]), "{}");
        let mut quoted = Rope::from("\"".to_owned());
        answer.write_escaped(&mut quoted);
        quoted.push("\"");
        let text: String = serde_json::from_slice(&quoted.into_bytes()).unwrap();
        assert_eq!(text, answer.to_json());
    }

    // AAP-491: an exhausted search says so with null.
    #[test]
    fn the_last_page_has_a_null_cursor_and_no_vehicle_is_an_empty_list() {
        let last = Page {
            next_cursor: None,
            query_terms: Some(vec!["red".into()]),
            ..page(Vec::new())
        };
        let answer = assemble(&last, "{}");
        let value: Value = serde_json::from_str(&answer.to_json()).unwrap();
        assert_eq!(value["data"]["next_cursor"], Value::Null);
        assert_eq!(value["data"]["vehicles"], json!([]));
        assert_eq!(value["data"]["query_terms"], json!(["red"]));
    }
}
