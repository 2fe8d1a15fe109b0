//! `inventory.facets`: what can be filtered by, with counts. Must not count; the inventory does.

use super::fault;
use crate::contract::request::FacetsRequest;
use crate::contract::{AapError, Answer};
use crate::deployment::Deployment;

pub(super) fn run(deployment: &Deployment, request: &FacetsRequest) -> Result<Answer, AapError> {
    let inventory = super::inventory(deployment)?;
    if let Some(filters) = &request.filters {
        inventory.capabilities().check_filters(filters)?;
    }
    let facets = inventory
        .facets(request.filters.as_ref())
        .map_err(|error| fault::inventory(error, ""))?;
    let mut answer = Answer::new();
    answer.push(r#"{"type":"inventory.facets.response","data":"#);
    answer.push_fragment(&facets);
    answer.push("}");
    Ok(answer)
}
