//! A dealer's rooftops where the configuration describes none: read from the dealer's own tables through the
//! mapping. Must not mix the two: rooftops that are configured are the rooftops.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::mapping::{Mapping, Row, Tables};
use crate::profile::{Profile, Rooftop};
use crate::sources::{self, Source, SourceError};

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
