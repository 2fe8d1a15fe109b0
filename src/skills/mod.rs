//! The five skills, one file each: a validated request in, a finished answer out. Must not know bindings,
//! callers' credentials or how lower rooms work.

mod dealer_information;
pub mod fault;
mod inventory_facets;
mod inventory_search;
mod inventory_vehicle;
mod lead_submit;

use crate::contract::{AapError, Answer, Caller, Request, Skill, json};
use crate::deployment::Deployment;
use crate::inventory::Inventory;

/// Runs the skill that the request is for.
pub async fn run(
    deployment: &Deployment,
    caller: &Caller,
    request: &Request,
) -> Result<Answer, AapError> {
    match request {
        Request::DealerInformation(request) => dealer_information::run(deployment, request),
        Request::InventoryFacets(request) => inventory_facets::run(deployment, request),
        Request::InventorySearch(request) => inventory_search::run(deployment, caller, request),
        Request::InventoryVehicle(request) => inventory_vehicle::run(deployment, request).await,
        Request::LeadSubmit(request) => lead_submit::run(deployment, caller, request).await,
    }
}

/// The inventory, which a deployment that offers these skills has.
fn inventory(deployment: &Deployment) -> Result<&Inventory, AapError> {
    let inventory = deployment.inventory.as_deref();
    inventory.ok_or_else(|| fault::missing_room("inventory"))
}

/// Holds an answer against the contract before it leaves (AAP-092). The vehicles of a search page were
/// each checked when the snapshot was made, and facets are written from the columns of such vehicles, so
/// these two, the large ones, are checked again in debug builds only.
pub fn check(deployment: &Deployment, skill: Skill, answer: &Answer) -> Result<(), AapError> {
    let from_checked = matches!(skill, Skill::InventorySearch | Skill::InventoryFacets);
    if from_checked && !cfg!(debug_assertions) {
        return Ok(());
    }
    let value = json::read(answer.to_json().as_bytes()).map_err(AapError::internal)?;
    deployment
        .contract
        .check_answer(skill, &value)
        .map_err(|problems| fault::bad_answer(skill, &problems))
}
