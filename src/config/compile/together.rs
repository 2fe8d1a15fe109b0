//! What is known only once every deployment is compiled: whether they can be told apart, and whether the contract takes
//! what each says of itself.

use std::collections::BTreeMap;

use super::{Deployment, Scope, profile};
use crate::contract::Contract;

/// A request finds its deployment by its host.
pub(super) fn check_hosts(scope: &mut Scope<'_>, deployments: &[Deployment]) {
    let mut owners: BTreeMap<String, &str> = BTreeMap::new();
    for deployment in deployments {
        for host in deployment.public_url.hosts() {
            let Some(first) = owners.get(&host) else {
                owners.insert(host, &deployment.id);
                continue;
            };
            let key = format!("deployments.{}", deployment.id);
            let reason = format!("answers at {host}, where {first} answers already");
            let remedy = "give each its own domain, aliases and extra_hosts";
            scope.fault(&key, reason, remedy);
        }
    }
}

/// What the contract says of profiles: an answer that breaks it is never given.
pub(super) fn check_profiles(scope: &mut Scope<'_>, deployments: &[Deployment]) {
    // Schemas that do not hold are told where the process is built.
    let Ok(contract) = Contract::v3_0() else {
        return;
    };
    for deployment in deployments {
        let mut scope = scope.below(&format!("deployments.{}", deployment.id));
        profile::check(&mut scope.below("profile"), &deployment.profile, &contract);
        for seller in deployment.aggregate.iter().flat_map(|all| &all.sellers) {
            let id = seller.profile.dealer_id.as_deref().unwrap_or_default();
            let key = format!("sellers.{id}.profile");
            profile::check(&mut scope.below(&key), &seller.profile, &contract);
        }
    }
}
