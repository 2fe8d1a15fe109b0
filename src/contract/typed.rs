//! From a checked payload to a typed request. Must only be fed what a contract found without fault.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::instant;
use super::request::{ConsentGrant, LeadRequest, Request, VehicleRequest};
use super::{AapError, Skill};

/// The typed request of `skill`. A payload that passed its schema and still does not fit is our fault.
pub(super) fn request(skill: Skill, payload: Value) -> Result<Request, AapError> {
    Ok(match skill {
        Skill::DealerInformation => Request::DealerInformation(fill(payload)?),
        Skill::InventoryFacets => Request::InventoryFacets(fill(payload)?),
        Skill::InventorySearch => Request::InventorySearch(fill(payload)?),
        Skill::InventoryVehicle => Request::InventoryVehicle(fill(payload)?),
        Skill::LeadSubmit => Request::LeadSubmit(Box::new(lead(payload)?)),
    })
}

fn fill<T: DeserializeOwned>(payload: Value) -> Result<T, AapError> {
    serde_json::from_value(payload).map_err(AapError::internal)
}

fn lead(payload: Value) -> Result<LeadRequest, AapError> {
    let text = |pointer: &str| payload.pointer(pointer).and_then(Value::as_str);
    let owned = |pointer: &str| text(pointer).map(str::to_owned);
    let granted_at = text("/consent/granted_at").and_then(instant::parse);
    let channels = payload
        .pointer("/consent/allowed_channels")
        .and_then(Value::as_array);
    let consent = ConsentGrant {
        granted_at: granted_at.ok_or_else(|| AapError::internal("granted_at is no instant"))?,
        expires_at: text("/consent/expires_at").and_then(instant::parse),
        allowed_channels: channels
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
    };
    Ok(LeadRequest {
        idempotency_key: owned("/idempotency_key")
            .ok_or_else(|| AapError::internal("no idempotency_key"))?,
        consent,
        dealer_id: owned("/vehicle_of_interest/dealer_id"),
        vehicle: VehicleRequest {
            vin: owned("/vehicle_of_interest/vin"),
            stock: owned("/vehicle_of_interest/stock"),
            vehicle_id: owned("/vehicle_of_interest/vehicle_id"),
        },
        payload,
    })
}
