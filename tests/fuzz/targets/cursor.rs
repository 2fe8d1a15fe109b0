//! Cursors as a client brings them back.

use std::collections::BTreeSet;

use forecourt::contract::request::SearchRequest;
use forecourt::inventory::{InventoryError, Page};
use serde_json::json;

use super::shop::{Shop, shop};

fn search(
    shop: &Shop,
    caller: &str,
    limit: u8,
    cursor: Option<&str>,
) -> Result<Page, InventoryError> {
    let request = json!({ "pagination": { "limit": limit, "cursor": cursor } });
    let request: SearchRequest = serde_json::from_value(request).unwrap();
    shop.deployment
        .inventory
        .as_ref()
        .unwrap()
        .search(&request, caller)
}

fn names(page: &Page) -> BTreeSet<String> {
    page.vehicles
        .found()
        .iter()
        .map(|found| found.listing.vehicle_id.clone())
        .collect()
}

/// A text of the client's own, or a true cursor with bytes changed: only the true one goes on, only for its own
/// caller and page size, and what follows was not shown before.
pub fn cursor(bytes: &[u8]) {
    let shop = shop();
    let (limit, rest) = match bytes {
        [limit, rest @ ..] => (limit % 12 + 1, rest),
        [] => (1, bytes),
    };
    let first = search(&shop, "", limit, None).unwrap();
    let good = first.next_cursor.clone().unwrap();
    let text = match rest {
        [0, edits @ ..] => {
            let mut altered = good.clone().into_bytes();
            for edit in edits.chunks_exact(2) {
                let at = usize::from(edit[0]) % altered.len();
                altered[at] = edit[1];
            }
            String::from_utf8_lossy(&altered).into_owned()
        }
        own => String::from_utf8_lossy(own).into_owned(),
    };
    let refused =
        |page: Result<Page, InventoryError>| matches!(page, Err(InventoryError::InvalidCursor));
    assert!(
        refused(search(&shop, "another", limit, Some(&good))),
        "another caller's"
    );
    assert!(
        refused(search(&shop, "", limit + 1, Some(&good))),
        "another page size"
    );
    let next = search(&shop, "", limit, Some(&text));
    if text != good {
        assert!(refused(next), "{text}");
        return;
    }
    let next = next.unwrap();
    assert_eq!(next.total, first.total);
    assert!(!next.vehicles.found().is_empty() && next.vehicles.found().len() <= usize::from(limit));
    assert!(names(&first).is_disjoint(&names(&next)), "shown twice");
}
