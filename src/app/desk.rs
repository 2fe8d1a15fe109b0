//! One deployment's lead desk, opened over what its rooftops turned out to be. Must not decide where leads go.

use std::sync::Arc;

use super::AppError;
use super::build::Builder;
use crate::leads::{self, Finding, Leads, Settings};
use crate::profile::Profile;

impl Builder<'_> {
    pub(super) fn leads(&self, profiles: &[Arc<Profile>]) -> Result<Option<Arc<Leads>>, AppError> {
        let Some(settings) = &self.settings.leads else {
            return Ok(None);
        };
        let failed = |words: String| AppError::Leads {
            deployment: self.settings.id.clone(),
            words,
        };
        let read = self.read_receivers(profiles);
        let mut findings = read
            .iter()
            .flat_map(|profile| leads::check_receiver(settings, profile));
        if self.settings.aggregate.is_some() {
            // One seller's tables must not take the others off the network.
            findings.for_each(|finding| self.tell_desk(&finding));
        } else if let Some(finding) = findings.next() {
            return Err(failed(format!("{}: {}", finding.reason, finding.remedy)));
        }
        self.tell_strange_rooftops(settings, profiles);
        let leads = Leads::new(
            settings.clone(),
            Arc::clone(&self.ground.store),
            Arc::clone(&self.ground.keys),
            self.ground.clock.clone(),
        );
        leads
            .map(|leads| Some(Arc::new(leads)))
            .map_err(|error| failed(error.to_string()))
    }

    /// Who receives leads and has rooftops that were read; what is wrong with configured ones was found at load.
    fn read_receivers<'p>(&self, profiles: &'p [Arc<Profile>]) -> Vec<&'p Profile> {
        let bare = |profile: &Profile| profile.rooftops.is_empty();
        let configured: Vec<bool> = match &self.settings.aggregate {
            None => vec![bare(&self.settings.profile)],
            Some(aggregate) => {
                let sellers = aggregate.sellers.iter();
                let sellers = sellers.map(|seller| bare(&seller.profile));
                // The marketplace itself, which receives none, stands before its sellers.
                std::iter::once(false).chain(sellers).collect()
            }
        };
        let read = profiles.iter().zip(configured).filter(|(_, bare)| *bare);
        read.map(|(profile, _)| &**profile).collect()
    }

    /// Leads go on without such a rule, by the first way out; configured rooftops were looked at before.
    fn tell_strange_rooftops(&self, settings: &Settings, profiles: &[Arc<Profile>]) {
        let marketplace = usize::from(self.settings.aggregate.is_some());
        let receivers = profiles.iter().skip(marketplace);
        let receivers: Vec<&Profile> = receivers.map(|profile| &**profile).collect();
        for finding in leads::check_rooftops(settings, &receivers) {
            self.tell_desk(&finding);
        }
    }

    fn tell_desk(&self, finding: &Finding) {
        let deployment = &self.settings.id;
        let Finding {
            key,
            reason,
            remedy,
        } = finding;
        tracing::warn!(
            deployment,
            key = format!("leads.{key}"),
            reason,
            remedy,
            "leads"
        );
    }
}
