//! Whether a listing may enter a snapshot. Must not repair what it says.

use serde_json::{Map, Value};

use super::facts::id;
use crate::contract::Problem;
use crate::contract::capabilities::Scope;

/// What decides whether a listing may be published: `Contract::check_listing`.
pub type Check = dyn Fn(&Value) -> Result<(), Vec<Problem>> + Send + Sync;

/// The listing as it enters, or why it does not, in words without a value of it.
pub(super) fn admit(
    mut listing: Map<String, Value>,
    check: &Check,
    scope: Scope,
) -> Result<Map<String, Value>, String> {
    // A distance is of one search, never of a listing.
    listing.shift_remove("distance_mi");
    let value = Value::Object(listing);
    if let Err(problems) = check(&value) {
        let first = problems.first();
        let reason = first.map(|p| format!("{} at {}", p.keyword, p.instance_location));
        return Err(reason.unwrap_or_else(|| "not a listing".into()));
    }
    let Value::Object(listing) = value else {
        return Err("not an object".into());
    };
    // AAP-385: nothing else is ever visible, whatever a check permits.
    if !matches!(
        listing.get("status").and_then(Value::as_str),
        Some("available" | "intransit" | "pending")
    ) {
        return Err("status is not one that may be shown".into());
    }
    if id(&listing, "vehicle_id").is_none() && scope == Scope::Aggregate {
        return Err("required at /vehicle_id".into());
    }
    if id(&listing, "dealer_id").is_none() && scope == Scope::Aggregate {
        return Err("required at /dealer_id".into());
    }
    Ok(listing)
}
