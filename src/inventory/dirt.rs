//! Fields that published rows lack because their cells could not be read. Must not hold what a cell said.

use std::collections::BTreeMap;

use super::frame::Rejected;
use crate::mapping::Outcome;

/// What the rows of one reading lacked.
#[derive(Debug, Default)]
pub(super) struct Dirt {
    pub(super) by_reason: Rejected,
    listings: u64,
    /// How many listings lack a field, and the first reason.
    fields: BTreeMap<String, (u64, String)>,
}

impl Dirt {
    pub(super) fn note(&mut self, outcome: &Outcome) {
        let Outcome::Published(_, warnings) = outcome else {
            return;
        };
        self.listings += 1;
        for warning in warnings.iter().filter(|warning| !warning.is_by_rule()) {
            let (field, column) = (&warning.field, &warning.column);
            let (class, reason) = (&warning.value_class, &warning.reason);
            self.by_reason
                .count(format!("{field}: column {column} ({class}): {reason}"));
            if let Some((count, _)) = self.fields.get_mut(field) {
                *count += 1;
            } else {
                let first = format!("column {column} ({class}) {reason}");
                self.fields.insert(field.clone(), (1, first));
            }
        }
    }

    /// The fields that most listings lack, each with a reason: not a few rows are dirty, but the source writes
    /// the column otherwise than the mapping says.
    pub(super) fn spoilt(&self) -> BTreeMap<String, String> {
        let most = |count: u64| count * 2 > self.listings;
        let fields = self.fields.iter().filter(|(_, (count, _))| most(*count));
        let told = fields.map(|(field, (count, first))| {
            let words = format!("{count} of {} rows: {first}", self.listings);
            (field.clone(), words)
        });
        told.collect()
    }
}
