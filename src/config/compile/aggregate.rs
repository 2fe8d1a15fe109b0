//! `[deployments.ID.sellers.DEALER_ID]`: the sellers of an aggregate and their inventories.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::super::raw;
use super::{Inventory, Scope, inventory, profile};
use crate::contract::Skill;
use crate::deployment::INVENTORY_SKILLS;
use crate::leads;
use crate::profile::Profile;

/// The sellers of an aggregate.
#[derive(Debug)]
pub struct Aggregate {
    /// How all their inventories together are searched and kept fresh.
    pub settings: Option<crate::inventory::Settings>,
    pub sellers: Vec<Seller>,
}

/// One seller.
#[derive(Debug)]
pub struct Seller {
    pub profile: Arc<Profile>,
    /// The name under which its `dealer_id` may stand in the register, beside the present one.
    pub formerly: Option<String>,
    pub inventory: Option<Inventory>,
}

impl Seller {
    /// Whether a rooftop comes with coordinates, as configured or from the source.
    fn is_placed(&self) -> bool {
        let inventory = self.inventory.as_ref();
        let read = inventory.is_some_and(|inventory| inventory.mapping.places_rooftops());
        inventory::is_placed(&self.profile) || (self.profile.rooftops.is_empty() && read)
    }
}

/// `scope` is the deployment's.
pub(super) fn compile(
    scope: &mut Scope<'_>,
    id: &str,
    raw: &raw::Deployment,
    skills: &[Skill],
    data_directory: &Path,
) -> Option<Aggregate> {
    if raw.sellers.is_empty() {
        let remedy = "describe each under [deployments.ID.sellers.DEALER_ID]";
        scope.fault("sellers", "is missing in an aggregate", remedy);
        return None;
    }
    let common = raw.inventory.as_ref();
    if common.is_some_and(|common| common.source.is_some()) {
        let remedy = "move it to the sellers' inventory tables";
        scope.fault("inventory.source", "stands in an aggregate", remedy);
    }
    let shared = common.and_then(|common| common.mapping.as_ref());
    let shared = shared.map(|file| scope.path("inventory.mapping", file));
    let shown = INVENTORY_SKILLS.iter().any(|skill| skills.contains(skill));
    let sellers: Vec<_> = raw
        .sellers
        .iter()
        .filter_map(|(dealer_id, raw)| {
            let mut scope = scope.below(&format!("sellers.{dealer_id}"));
            let common = (shared.as_deref(), data_directory);
            seller(&mut scope, dealer_id, raw, (shown, common))
        })
        .collect();
    let settings = settings(scope, id, raw, skills, (&sellers, data_directory));
    if shown && settings.is_none() {
        return None;
    }
    (sellers.len() == raw.sellers.len()).then_some(Aggregate { settings, sellers })
}

fn seller(
    scope: &mut Scope<'_>,
    dealer_id: &str,
    raw: &raw::Seller,
    (shown, common): (bool, (Option<&Path>, &Path)),
) -> Option<Seller> {
    check_id(scope, dealer_id);
    let remedy = "describe the seller under [deployments.ID.sellers.DEALER_ID.profile]";
    let profile = scope
        .need("profile", raw.profile.as_ref(), remedy)
        .and_then(|raw| profile::compile(&mut scope.below("profile"), raw))
        .map(|profile| Profile {
            dealer_id: Some(dealer_id.to_owned()),
            ..profile
        });
    let remedy = "name mapping and source under [deployments.ID.sellers.DEALER_ID.inventory]";
    let inventory = match &raw.inventory {
        None if shown => {
            scope.fault("inventory", "is missing", remedy);
            return None;
        }
        None => None,
        Some(raw) => Some(inventory::part(scope, dealer_id, raw, common)?),
    };
    if let Some(profile) = &profile {
        let mapping = inventory.as_ref().map(|inventory| &*inventory.mapping);
        profile::need_rooftops(&mut scope.below("profile"), profile, mapping);
    }
    Some(Seller {
        profile: Arc::new(profile?),
        formerly: raw.formerly.clone(),
        inventory,
    })
}

/// Settings over everything that all sellers' mappings supply.
fn settings(
    scope: &mut Scope<'_>,
    id: &str,
    raw: &raw::Deployment,
    skills: &[Skill],
    (sellers, data_directory): (&[Seller], &Path),
) -> Option<crate::inventory::Settings> {
    let inventories = sellers
        .iter()
        .filter_map(|seller| seller.inventory.as_ref());
    let supplied: BTreeSet<String> = inventories
        .flat_map(|inventory| inventory.mapping.supplied_fields())
        .collect();
    if supplied.is_empty() {
        return None;
    }
    let subject = inventory::Subject {
        id,
        data_directory,
        skills,
        scope: crate::contract::capabilities::Scope::Aggregate,
        placed: sellers.iter().any(Seller::is_placed),
        bare: false,
    };
    let common = raw.inventory.clone().unwrap_or_default();
    inventory::settings(scope, &subject, supplied, &common, &raw.search)
}

/// A `dealer_id` stands in answers, in vehicle ids and in keys of the ledger.
fn check_id(scope: &mut Scope<'_>, id: &str) {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-".contains(&b);
    if id.is_empty() || id.len() > 64 || !id.bytes().all(plain) {
        let remedy = "use up to 64 of a-z, 0-9, _ and -";
        scope.fault("", "is no usable dealer_id", remedy);
    }
}

/// That every seller's leads have a way out, and reach nobody else's (AAP-456).
pub(super) fn check_routes(
    scope: &mut Scope<'_>,
    aggregate: &Aggregate,
    settings: &leads::Settings,
) {
    let mut known = BTreeSet::new();
    for seller in &aggregate.sellers {
        let id = seller.profile.dealer_id.as_deref().unwrap_or_default();
        known.insert(id);
        let reached = settings
            .targets
            .iter()
            .any(|target| !target.route.copy && target.route.admits(Some(id)));
        if !reached {
            let reason = format!("no delivery takes the leads of seller {id}");
            let remedy = "name the seller in the `sellers` of a delivery, or leave one delivery without `sellers`";
            scope.fault("leads.deliveries", reason, remedy);
        }
        for finding in leads::check_receiver(settings, &seller.profile) {
            scope.fault(
                &format!("leads.{}", finding.key),
                finding.reason,
                finding.remedy,
            );
        }
    }
    let profiles: Vec<_> = aggregate.sellers.iter().map(|one| &*one.profile).collect();
    for finding in leads::check_rooftops(settings, &profiles) {
        let key = format!("leads.{}", finding.key);
        scope.fault(&key, finding.reason, finding.remedy);
    }
    for target in &settings.targets {
        for id in target
            .route
            .sellers
            .iter()
            .filter(|id| !known.contains(id.as_str()))
        {
            let key = format!("leads.deliveries.{}.sellers", target.name);
            let remedy = "name ids that stand under [deployments.ID.sellers]";
            scope.fault(&key, format!("names {id:?}, which is no seller"), remedy);
        }
    }
}
