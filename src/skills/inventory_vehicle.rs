//! `inventory.vehicle`: the one listing that all given identifiers name. Must not choose between several.

use super::fault;
use crate::contract::request::VehicleRequest;
use crate::contract::{AapError, Answer};
use crate::deployment::Deployment;

pub(super) async fn run(
    deployment: &Deployment,
    request: &VehicleRequest,
) -> Result<Answer, AapError> {
    let inventory = super::inventory(deployment)?;
    let listing = inventory
        .vehicle(request)
        .await
        .map_err(|error| fault::inventory(error, ""))?;
    let mut answer = Answer::new();
    answer.push(r#"{"type":"inventory.vehicle.response","data":"#);
    answer.push_fragment(&listing.open_json);
    answer.push("}}");
    Ok(answer)
}
