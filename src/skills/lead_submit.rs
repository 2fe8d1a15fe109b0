//! `lead.submit`: who receives the inquiry, about which car, and whether it may be sent now. Must not
//! record or deliver; the leads room does.

use std::sync::Arc;

use serde_json::Value;

use super::fault;
use crate::contract::capabilities::Scope;
use crate::contract::request::LeadRequest;
use crate::contract::{AapError, Answer, Caller};
use crate::deployment::Deployment;
use crate::inventory::InventoryError;
use crate::leads::Submission;
use crate::profile::Profile;

const VEHICLE: &str = "/vehicle_of_interest";

/// Replay comes before the checks that time can change: a retry needs no live grant and no unsold car
/// (AAP-480).
pub(super) async fn run(
    deployment: &Deployment,
    caller: &Caller,
    request: &LeadRequest,
) -> Result<Answer, AapError> {
    let leads = deployment
        .leads
        .as_ref()
        .ok_or_else(|| fault::missing_room("lead desk"))?;
    let receiver = receiver(deployment, request)?;
    let replay = leads.replay(request, caller, receiver).await;
    if let Some(original) = replay.map_err(fault::lead)? {
        return Ok(original);
    }
    fault::known(receiver)?;
    leads.check_consent(request).map_err(fault::lead)?;
    let listing = listing(deployment, request).await?;
    let submission = Submission {
        request,
        caller,
        receiver,
        listing,
    };
    leads.accept(submission).await.map_err(fault::lead)
}

/// The one dealership that gets the inquiry; never a guess (AAP-455, AAP-456).
fn receiver<'a>(
    deployment: &'a Deployment,
    request: &LeadRequest,
) -> Result<&'a Arc<Profile>, AapError> {
    if deployment.scope == Scope::Aggregate {
        let absent = [
            (
                "/vehicle_of_interest/dealer_id",
                request.dealer_id.is_none(),
            ),
            (
                "/vehicle_of_interest/vehicle_id",
                request.vehicle.vehicle_id.is_none(),
            ),
        ];
        let pointers: Vec<&str> = absent
            .iter()
            .filter(|(_, absent)| *absent)
            .map(|(pointer, _)| *pointer)
            .collect();
        if !pointers.is_empty() {
            return Err(fault::missing_recipient(&pointers));
        }
    }
    match &request.dealer_id {
        Some(dealer_id) => deployment
            .profile(dealer_id)
            .ok_or_else(|| fault::dealer_not_found("/vehicle_of_interest/dealer_id")),
        None => deployment
            .own_profile()
            .ok_or_else(|| fault::missing_room("profile")),
    }
}

/// The verified listing behind the car of interest. A car that only the request describes is a partial
/// inquiry and accepted (AAP-497); one that is named by `vehicle_id` must be on offer.
async fn listing(
    deployment: &Deployment,
    request: &LeadRequest,
) -> Result<Option<Value>, AapError> {
    let vehicle = &request.vehicle;
    let named = vehicle.vehicle_id.is_some() || vehicle.vin.is_some() || vehicle.stock.is_some();
    let Some(inventory) = deployment.inventory.as_ref().filter(|_| named) else {
        return Ok(None);
    };
    let listing = match inventory.vehicle(vehicle).await {
        Ok(listing) => listing,
        Err(InventoryError::NotFound) if vehicle.vehicle_id.is_none() => return Ok(None),
        Err(error) => return Err(fault::inventory(error, VEHICLE)),
    };
    let changed = deployment.scope == Scope::Aggregate && listing.dealer_id != request.dealer_id;
    if changed {
        return Err(fault::recipient_changed());
    }
    Ok(Some(listing.to_value()))
}
