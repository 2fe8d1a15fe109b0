//! What one listing object says of itself, and its finished text. Must not repair or complete it.

use serde_json::{Map, Value};

use crate::contract::Fragment;

/// A nonempty identifier.
pub(super) fn id<'l>(listing: &'l Map<String, Value>, field: &str) -> Option<&'l str> {
    let id = listing.get(field)?.as_str()?;
    (!id.is_empty()).then_some(id)
}

/// The codes that the listing's own evidence calls present, each once (AAP-372, AAP-396).
pub(super) fn present_codes(listing: &Map<String, Value>) -> Vec<&str> {
    let evidence = listing.get("feature_evidence").and_then(Value::as_array);
    let mut codes: Vec<&str> = evidence
        .into_iter()
        .flatten()
        .filter(|one| one.get("status").and_then(Value::as_str) == Some("present"))
        .filter_map(|one| one.get("code")?.as_str())
        .collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// The texts of a list.
pub(super) fn texts(list: Option<&Value>) -> impl Iterator<Item = &str> {
    let list = list.and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str)
}

/// The listing's JSON without its closing brace: a distance may follow.
pub(super) fn open_json(listing: &Map<String, Value>) -> Fragment {
    let mut text = serde_json::to_string(listing).unwrap_or_else(|_| "{}".to_owned());
    text.pop();
    // Copied to its own length: what a text grew to while it was written is kept by the allocator, up to twice as much.
    Fragment::new(text.as_str())
}
