//! What is known of a deployment before any row, and the count of rows that fit it not. Must not know
//! sources.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::features::Vocabulary;
use super::places::{PointBits, point_bits};
use crate::contract::capabilities::Scope;
use crate::profile::Profile;

/// A seller (none in dealer scope) and a rooftop name.
type RooftopKey = (Option<Box<str>>, Box<str>);

/// What is known before any row: the same for every snapshot of a deployment.
#[derive(Debug)]
pub struct Frame {
    pub scope: Scope,
    pub vocabulary: Vocabulary,
    /// Where the rooftops stand, as far as it is known.
    pub(super) rooftops: HashMap<RooftopKey, Option<PointBits>>,
}

impl Frame {
    /// The frame of one deployment.
    pub fn new(scope: Scope, profiles: &[Arc<Profile>], features: Vec<(String, String)>) -> Self {
        let mut rooftops = HashMap::new();
        for profile in profiles {
            let dealer = profile.dealer_id.as_deref().map(Box::from);
            let dealer = dealer.filter(|_| scope == Scope::Aggregate);
            for rooftop in &profile.rooftops {
                let point = rooftop.geo.map(|(lat, lon)| point_bits(lat, lon));
                rooftops.insert((dealer.clone(), rooftop.name.as_str().into()), point);
            }
        }
        Self {
            scope,
            vocabulary: Vocabulary::new(features),
            rooftops,
        }
    }
}

/// The units that a source offered and that could not be published, by reason; texts hold no value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rejected {
    pub by_reason: BTreeMap<String, u64>,
}

impl Rejected {
    /// Counts one more. Reasons beyond a hundred different ones share a line.
    pub fn count(&mut self, reason: impl Into<String>) {
        self.add(reason.into(), 1);
    }

    /// Counts several.
    pub(super) fn add(&mut self, reason: String, count: u64) {
        let known = self.by_reason.len() < 100 || self.by_reason.contains_key(&reason);
        let reason = if known {
            reason
        } else {
            "other reasons".into()
        };
        *self.by_reason.entry(reason).or_default() += count;
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.by_reason.values().sum()
    }
}
