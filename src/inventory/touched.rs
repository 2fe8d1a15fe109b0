//! Which units a reading of changes told anew. Must not hold what was told.

use std::collections::HashSet;

use super::reader::Named;
use crate::mapping::Outcome;

/// The units that a reading of changes named, whatever became of them.
#[derive(Debug, Default)]
pub(super) struct Touched {
    vehicle_ids: HashSet<String>,
    vins: HashSet<String>,
    stocks: HashSet<String>,
}

impl Touched {
    pub(super) fn note(&mut self, outcome: &Outcome) {
        let (vehicle_id, vin, stock) = match outcome {
            Outcome::Published(listing, _) => {
                let text = |name| Some(listing.get(name)?.as_str()?.to_owned());
                (text("vehicle_id"), text("vin"), text("stock"))
            }
            Outcome::Hidden { identifiers, .. } | Outcome::Rejected { identifiers, .. } => {
                let own = identifiers.clone();
                (own.vehicle_id, own.vin, own.stock)
            }
        };
        // The strongest name that the row has.
        match (vehicle_id, vin, stock) {
            (Some(id), _, _) => self.vehicle_ids.insert(id),
            (None, Some(vin), _) => self.vins.insert(vin),
            (None, None, Some(stock)) => self.stocks.insert(stock),
            (None, None, None) => false,
        };
    }

    pub(super) fn has(&self, listing: Named<'_>) -> bool {
        let named =
            |set: &HashSet<String>, name: Option<&str>| name.is_some_and(|name| set.contains(name));
        named(&self.vehicle_ids, listing.vehicle_id)
            || named(&self.vins, listing.vin)
            || named(&self.stocks, listing.stock)
    }
}
