//! The duplicate rule over all mapped rows. One `vehicle_id` names one listing, always; one VIN does so
//! unless the mapping keeps both; one stock number may name two vehicles, which is only reported.
//! Must not look at the source again.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::Identifiers;
use super::model::SameVin;

/// What the rule left.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resolved {
    pub kept: Vec<Map<String, Value>>,
    pub dropped: Vec<Dropped>,
    /// Stock numbers that two kept vehicles share: a look-up by stock alone is ambiguous.
    pub shared_stock: Vec<String>,
}

/// A listing that gave way.
#[derive(Clone, Debug, PartialEq)]
pub struct Dropped {
    pub identifiers: Identifiers,
    pub reason: String,
}

type Listing = Map<String, Value>;

pub(super) fn resolve(listings: Vec<Listing>, same_vin: SameVin) -> Resolved {
    let mut dropped = Vec::new();
    let mut kept = winners(listings, "vehicle_id", &mut dropped);
    if same_vin == SameVin::Newest {
        kept = winners(kept, "vin", &mut dropped);
    }
    let mut stocks: HashMap<&str, usize> = HashMap::new();
    for stock in kept.iter().filter_map(|listing| text(listing, "stock")) {
        *stocks.entry(stock).or_default() += 1;
    }
    let mut shared_stock: Vec<String> = stocks
        .into_iter()
        .filter(|(_, count)| *count > 1)
        .map(|(stock, _)| stock.to_owned())
        .collect();
    shared_stock.sort();
    Resolved {
        kept,
        dropped,
        shared_stock,
    }
}

/// Keeps of each value of `member` the listing that was updated last; of two alike the first.
fn winners(listings: Vec<Listing>, member: &str, dropped: &mut Vec<Dropped>) -> Vec<Listing> {
    let mut best: HashMap<String, usize> = HashMap::new();
    for (index, listing) in listings.iter().enumerate() {
        let Some(value) = text(listing, member) else {
            continue;
        };
        let newer = best
            .get(value)
            .and_then(|other| listings.get(*other))
            .is_none_or(|other| updated(listing) > updated(other));
        if newer {
            best.insert(value.to_owned(), index);
        }
    }
    let mut kept = Vec::with_capacity(listings.len());
    for (index, listing) in listings.into_iter().enumerate() {
        let winner = text(&listing, member).and_then(|value| best.get(value));
        if winner.is_none_or(|winner| *winner == index) {
            kept.push(listing);
        } else {
            dropped.push(Dropped {
                identifiers: Identifiers {
                    vehicle_id: text(&listing, "vehicle_id").map(str::to_owned),
                    vin: text(&listing, "vin").map(str::to_owned),
                    stock: text(&listing, "stock").map(str::to_owned),
                },
                reason: format!("another row with the same {member} was updated later"),
            });
        }
    }
    kept
}

fn text<'a>(listing: &'a Listing, member: &str) -> Option<&'a str> {
    listing.get(member).and_then(Value::as_str)
}

fn updated(listing: &Listing) -> Option<jiff::Timestamp> {
    text(listing, "updated_at")?.parse().ok()
}
