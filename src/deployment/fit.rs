//! Whether the parts of a deployment fit together. Must not change them.

use super::Parts;
use crate::contract::Skill;
use crate::contract::capabilities::Scope;

/// The skills that an inventory answers.
pub const INVENTORY_SKILLS: [Skill; 3] = [
    Skill::InventoryFacets,
    Skill::InventorySearch,
    Skill::InventoryVehicle,
];

/// Why parts do not make a deployment.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum DeploymentError {
    #[error("no skill is offered; name at least one")]
    NoSkill,
    #[error("{0} is offered, but there is no inventory to answer it")]
    NoInventory(&'static str),
    #[error("lead.submit is offered, but there is nothing that receives leads")]
    NoLeads,
    #[error("there is no dealer profile")]
    NoProfile,
    #[error("a dealer-scoped deployment has exactly one profile; {0} were given")]
    ManyProfiles(usize),
    #[error("the seller {0:?} of an aggregate has no dealer_id")]
    NoDealerId(String),
    #[error("two profiles have the dealer_id {0:?}")]
    SameDealerId(String),
    #[error("an aggregate with inventory or leads must offer dealer.information")]
    NoDealerInformation,
    #[error(
        "search by features is offered without inventory.facets, which names the feature codes"
    )]
    FeaturesWithoutFacets,
    #[error("inventory.facets offers filters without inventory.search, whose filters they are")]
    FiltersWithoutSearch,
}

/// Every mistake at once.
pub(super) fn mistakes(parts: &Parts) -> Vec<DeploymentError> {
    let mut found = Vec::new();
    if parts.skills.is_empty() {
        found.push(DeploymentError::NoSkill);
    }
    if parts.inventory.is_none() {
        let offered = INVENTORY_SKILLS
            .iter()
            .filter(|skill| parts.skills.contains(skill));
        found.extend(offered.map(|skill| DeploymentError::NoInventory(skill.id())));
    }
    if parts.skills.contains(&Skill::LeadSubmit) && parts.leads.is_none() {
        found.push(DeploymentError::NoLeads);
    }
    match parts.scope {
        _ if parts.profiles.is_empty() => found.push(DeploymentError::NoProfile),
        Scope::Dealer if parts.profiles.len() > 1 => {
            found.push(DeploymentError::ManyProfiles(parts.profiles.len()));
        }
        Scope::Dealer => {}
        Scope::Aggregate => aggregate_mistakes(parts, &mut found),
    }
    if let Some(inventory) = &parts.inventory {
        let features = ["features_all", "features_any"];
        let searches = parts.skills.contains(&Skill::InventorySearch);
        let names_features = inventory
            .capabilities()
            .filters
            .iter()
            .any(|filter| features.contains(&filter.as_str()));
        if searches && names_features && !parts.skills.contains(&Skill::InventoryFacets) {
            found.push(DeploymentError::FeaturesWithoutFacets);
        }
        if !searches && !inventory.capabilities().filters.is_empty() {
            found.push(DeploymentError::FiltersWithoutSearch);
        }
    }
    found
}

/// What only an aggregate can get wrong (AAP-346).
fn aggregate_mistakes(parts: &Parts, found: &mut Vec<DeploymentError>) {
    let mut seen: Vec<&str> = Vec::new();
    for (index, profile) in parts.profiles.iter().enumerate() {
        match profile.dealer_id.as_deref() {
            None if index == 0 => {}
            None => found.push(DeploymentError::NoDealerId(profile.name.clone())),
            Some(id) if seen.contains(&id) => {
                found.push(DeploymentError::SameDealerId(id.to_owned()));
            }
            Some(id) => seen.push(id),
        }
    }
    if !parts.skills.contains(&Skill::DealerInformation) {
        found.push(DeploymentError::NoDealerInformation);
    }
}
