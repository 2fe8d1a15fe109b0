//! A dealer's rooftops where the configuration describes none: read from the dealer's own tables through the
//! mapping. Must not mix the two: rooftops that are configured are the rooftops.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::build::Builder;
use super::first::PATIENCE;
use crate::config;
use crate::inventory::{Failed, Reader};
use crate::mapping::{Mapping, Row, Tables};
use crate::profile::{Profile, Rooftop};
use crate::sources::{self, Source, SourceError};

/// Profiles as far as they are known.
pub(super) struct Profiles {
    pub(super) all: Vec<Arc<Profile>>,
    /// The places of those whose rooftops could not be read.
    unread: Vec<usize>,
}

impl Profiles {
    pub(super) fn is_incomplete(&self) -> bool {
        !self.unread.is_empty()
    }

    /// The profile at this place, if its rooftops could not be read.
    pub(super) fn unread(&self, at: usize) -> Option<&Arc<Profile>> {
        self.all.get(at).filter(|_| self.unread.contains(&at))
    }
}

/// The profile with its rooftops, and what is wrong with those that were read.
pub async fn with_rooftops(
    profile: &Arc<Profile>,
    source: &sources::Settings,
    mapping: &Mapping,
) -> Result<(Arc<Profile>, Vec<String>), SourceError> {
    let Some(plan) = mapping
        .profile_plan()
        .filter(|_| profile.rooftops.is_empty())
    else {
        return Ok((Arc::clone(profile), Vec::new()));
    };
    let (mut rooftops, mut findings) = (Vec::new(), Vec::new());
    let mut names = BTreeSet::new();
    let take = |row: Row, tables: &Tables| match mapping.rooftop(&row, tables) {
        Ok((public, warnings)) => {
            findings.extend(warnings.iter().map(|warning| {
                format!(
                    "{}: column {}: {}",
                    warning.field, warning.column, warning.reason
                )
            }));
            let Some(rooftop) = Rooftop::from_public(public) else {
                return;
            };
            // Vehicles name their place by it (AAP-355).
            if names.insert(rooftop.name.clone()) {
                rooftops.push(rooftop);
            } else {
                findings.push(format!(
                    "two rooftops are called {:?}; the first one stands",
                    rooftop.name
                ));
            }
        }
        Err(warning) => findings.push(format!(
            "a rooftop without a name is left out (column {}: {})",
            warning.column, warning.value_class
        )),
    };
    Source::open(source.clone(), plan).await?.read(take).await?;
    if rooftops.is_empty() {
        findings.push("no row became a rooftop".to_owned());
    }
    let profile = Profile {
        rooftops,
        ..Profile::clone(profile)
    };
    Ok((Arc::new(profile), findings))
}

impl Builder<'_> {
    /// The dealer's own profile, and an aggregate's sellers'; rooftops are the sources' own where none are
    /// configured, as they are now or, where they cannot be read, as they are served.
    pub(super) async fn profiles(&self) -> Profiles {
        let settings = self.settings;
        let sellers = settings.aggregate.iter().flat_map(|all| &all.sellers);
        let sellers = sellers.map(|seller| (&seller.profile, seller.inventory.as_ref()));
        let own = std::iter::once((&settings.profile, settings.inventory.as_ref()));
        let known = self.same_inventory().map(|before| &before.deployment);
        let mut profiles = Profiles {
            all: Vec::new(),
            unread: Vec::new(),
        };
        for (at, (profile, inventory)) in own.chain(sellers).enumerate() {
            let read = match inventory {
                Some(inventory) => self.rooftops(profile, inventory).await,
                None => Some(Arc::clone(profile)),
            };
            let read = read.or_else(|| known?.profiles.get(at).cloned());
            if read.is_none() {
                profiles.unread.push(at);
            }
            profiles
                .all
                .push(read.unwrap_or_else(|| Arc::clone(profile)));
        }
        profiles
    }

    /// The profile with its rooftops; nothing, with a line in the log, when they cannot be read.
    async fn rooftops(
        &self,
        profile: &Arc<Profile>,
        inventory: &config::Inventory,
    ) -> Option<Arc<Profile>> {
        let read = with_rooftops(profile, &inventory.source, &inventory.mapping);
        let cause = match tokio::time::timeout(PATIENCE, read).await {
            Ok(Ok((profile, findings))) => {
                for finding in &findings {
                    self.tell_profile(finding);
                }
                return Some(profile);
            }
            Ok(Err(cause)) => cause.to_string(),
            Err(_) => "no answer in time".to_owned(),
        };
        self.tell_profile(&format!("rooftops could not be read: {cause}"));
        None
    }

    /// Reads rooftops that could not be read, and has the deployment built anew with them; it yields no unit.
    pub(super) fn rooftop_reader(
        &self,
        profile: &Arc<Profile>,
        inventory: &config::Inventory,
    ) -> Reader {
        let parts = Arc::new((
            Arc::clone(profile),
            inventory.source.clone(),
            Arc::clone(&inventory.mapping),
        ));
        let wanted = Arc::clone(&self.ground.wanted);
        Reader::telling(move |_| {
            let (parts, wanted) = (Arc::clone(&parts), Arc::clone(&wanted));
            async move {
                let (profile, source, mapping) = &*parts;
                let read = with_rooftops(profile, source, mapping).await;
                read.map_err(|error| Failed {
                    words: error.to_string(),
                    lasting: error.fault.is_lasting(),
                })?;
                wanted.notify_one();
                let words = "the rooftops can be read; the deployment is built with them now";
                Err(Failed::from(words.to_owned()))
            }
        })
    }

    fn tell_profile(&self, finding: &str) {
        let deployment = &self.settings.id;
        tracing::warn!(deployment, finding, "dealer profile");
    }
}
