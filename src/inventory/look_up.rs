//! The one listing that all given identifiers name. Must not prefer one of several, nor overlook an
//! identifier that names another unit or none (AAP-434, AAP-435).

use std::sync::Arc;

use super::gone::Gone;
use super::snapshot::Snapshot;
use super::{InventoryError, Listing};
use crate::contract::Problem;
use crate::contract::request::VehicleRequest;

/// The listing of `snapshot` that `request` names.
pub(super) fn in_snapshot(
    snapshot: &Snapshot,
    gone: &Gone,
    request: &VehicleRequest,
) -> Result<Arc<Listing>, InventoryError> {
    let sets: Vec<(&str, &[u32])> = [
        request
            .vin
            .as_deref()
            .map(|vin| ("vin", snapshot.rows_of_vin(vin))),
        request
            .stock
            .as_deref()
            .map(|stock| ("stock", snapshot.rows_of_stock(stock))),
        request
            .vehicle_id
            .as_deref()
            .map(|id| ("vehicle_id", snapshot.rows_of_vehicle_id(id))),
    ]
    .into_iter()
    .flatten()
    .collect();
    let Some((_, first)) = sets.first() else {
        return Err(InventoryError::NotFound);
    };
    let named = first.iter().filter(|row| {
        let mut others = sets.iter().skip(1);
        others.all(|(_, rows)| rows.contains(row))
    });
    let named: Vec<u32> = named.copied().collect();
    if let [row] = named.as_slice()
        && let Some(listing) = snapshot.listing(*row)
    {
        return Ok(Arc::clone(listing));
    }
    if sets.iter().all(|(_, rows)| rows.is_empty()) {
        return Err(if gone.holds(request) {
            InventoryError::Unavailable
        } else {
            InventoryError::NotFound
        });
    }
    Err(InventoryError::Ambiguous(problems(&sets)))
}

/// One problem per identifier (A-25, A-26 of the contract).
fn problems(sets: &[(&str, &[u32])]) -> Vec<Problem> {
    let problem = |(name, rows): &(&str, &[u32])| {
        let text = match rows.len() {
            0 => {
                "No current listing has this identifier, but another one given here names a listing. \
                  Send only identifiers of the same vehicle."
            }
            1 => {
                "This identifier names another listing than the others given here. \
                  Send only identifiers of the same vehicle."
            }
            _ => {
                "Several current listings have this identifier. \
                  Send vehicle_id, or the VIN, to name one of them."
            }
        };
        let keyword = if rows.len() > 1 {
            "ambiguous"
        } else {
            "conflict"
        };
        Problem::new(format!("/{name}"), keyword, text)
    };
    sets.iter().map(problem).collect()
}
