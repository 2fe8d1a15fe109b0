//! Cursors: sealed, so that they cannot be altered; bound to endpoint, caller, filters, sort and page size;
//! expiring. They hold a place in an order and nothing of a customer (AAP-423, AAP-424). Must not grant
//! anything: every request is checked anew.

use aws_lc_rs::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

use super::InventoryError;
use super::text::{fold, tokens};
use crate::contract::request::{AskedFilters, Filters, Sort};
use crate::seal::KeyRing;

/// What cursors are sealed for.
const PURPOSE: &str = "cursor";
/// A longer text is no cursor of ours.
const MOST_BYTES: usize = 64 * 1024;

/// Where a page ended: the value that the last unit was ordered by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Place {
    #[serde(rename = "m")]
    Missing,
    #[serde(rename = "n")]
    Number(i64),
    #[serde(rename = "t")]
    Text(String),
    /// The bits of the unrounded distance.
    #[serde(rename = "d")]
    Distance(u64),
}

/// What a cursor carries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cursor {
    /// Seconds since 1970 after which it is refused.
    #[serde(rename = "e")]
    pub(super) expires_s: i64,
    /// Seconds since 1970 when the traversal began.
    #[serde(rename = "b")]
    pub(super) began_s: i64,
    /// The reading that the traversal began with, nanoseconds since 1970.
    #[serde(rename = "r")]
    pub(super) read_at: i64,
    #[serde(rename = "p")]
    pub(super) place: Place,
    /// The last unit's seller, in aggregate scope, and its id.
    #[serde(rename = "s")]
    pub(super) dealer: Option<String>,
    #[serde(rename = "i")]
    pub(super) id: String,
}

/// What a cursor is bound to, as a digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Binding(Vec<u8>);

impl Binding {
    /// The binding of one request, by its [`meaning`].
    pub(super) fn new(deployment: &str, caller_scope: &str, meaning: &str) -> Self {
        // Texts can always be written.
        let bound = serde_json::to_string(&(deployment, caller_scope, meaning)).unwrap_or_default();
        Self(digest(&SHA256, bound.as_bytes()).as_ref().to_vec())
    }
}

/// One text for all requests that mean the same page: leaving out what equals a default changes nothing.
pub(super) fn meaning(filters: Option<&AskedFilters>, sort: Sort, limit: u32) -> String {
    let filters = meaning_of(filters);
    let sort = serde_json::to_string(&sort).unwrap_or_default();
    format!("[{filters},{sort},{limit}]")
}

/// One text for all filters that leave the same.
pub(super) fn meaning_of(filters: Option<&AskedFilters>) -> &str {
    // Filters, like orders, are text and numbers, which can always be written.
    let normal =
        |filters: &Filters| serde_json::to_string(&normalised(filters)).unwrap_or_default();
    filters.map_or("{}", |filters| filters.meaning(normal))
}

/// Equal for filters that mean the same: sets in order, free text folded, a query as its tokens.
fn normalised(filters: &Filters) -> Filters {
    let mut filters = filters.clone();
    let folded = [
        &mut filters.make,
        &mut filters.model,
        &mut filters.trim,
        &mut filters.body,
        &mut filters.transmission,
        &mut filters.fuel,
        &mut filters.driveline,
        &mut filters.charge_port,
        &mut filters.exterior_color,
        &mut filters.interior_color,
    ];
    for values in folded.into_iter().flatten() {
        for value in values.iter_mut() {
            *value = fold(value);
        }
        as_set(values);
    }
    let exact = [
        &mut filters.condition,
        &mut filters.vehicle_type,
        &mut filters.status,
        &mut filters.features_all,
        &mut filters.features_any,
        &mut filters.rooftops,
    ];
    for values in exact.into_iter().flatten() {
        as_set(values);
    }
    if let Some(query) = &mut filters.query {
        let mut folded: Vec<String> = tokens(query).iter().map(|token| fold(token)).collect();
        as_set(&mut folded);
        *query = folded.join(" ");
    }
    filters
}

fn as_set(values: &mut Vec<String>) {
    values.sort_unstable();
    values.dedup();
}

impl Cursor {
    /// The sealed text.
    pub(super) fn seal(&self, keys: &KeyRing, binding: &Binding) -> Result<String, InventoryError> {
        let failed = |error: String| InventoryError::Source(error);
        let plain = serde_json::to_vec(self).map_err(|error| failed(error.to_string()))?;
        keys.seal(PURPOSE, &binding.0, &plain)
            .map_err(|error| failed(error.to_string()))
    }

    /// Opens a text for the same binding, not later than it permits; every failure is the same error, so
    /// that it tells nothing of a foreign cursor (AAP-427).
    pub(super) fn open(
        keys: &KeyRing,
        binding: &Binding,
        text: &str,
        now_s: i64,
    ) -> Result<Self, InventoryError> {
        if text.len() > MOST_BYTES {
            return Err(InventoryError::InvalidCursor);
        }
        let plain = keys.open(PURPOSE, &binding.0, text);
        let plain = plain.ok_or(InventoryError::InvalidCursor)?;
        let cursor: Self =
            serde_json::from_slice(&plain).map_err(|_| InventoryError::InvalidCursor)?;
        if now_s >= cursor.expires_s {
            return Err(InventoryError::InvalidCursor);
        }
        Ok(cursor)
    }
}
