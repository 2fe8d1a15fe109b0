//! The duplicate rule over all mapped rows. One `vehicle_id` names one listing, always; one VIN does so
//! unless the mapping keeps both; one stock number may name two vehicles, which is only reported.
//! Must not look at the source again.

use std::collections::{HashMap, HashSet};

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
    let mut duplicates = Duplicates::new(same_vin);
    for listing in &listings {
        duplicates.see(listing);
    }
    let (dropped, shared_stock) = duplicates.finish();
    let gone: HashSet<usize> = dropped.iter().map(|(at, _)| *at).collect();
    let listings = listings.into_iter().enumerate();
    Resolved {
        kept: listings
            .filter_map(|(at, listing)| (!gone.contains(&at)).then_some(listing))
            .collect(),
        dropped: dropped.into_iter().map(|(_, dropped)| dropped).collect(),
        shared_stock,
    }
}

/// The rule over listings that pass one after another and need not be kept: only what it looks at is.
#[derive(Debug)]
pub struct Duplicates {
    same_vin: SameVin,
    seen: Vec<Seen>,
}

/// What the rule looks at.
#[derive(Debug)]
struct Seen {
    vehicle_id: Option<Box<str>>,
    vin: Option<Box<str>>,
    stock: Option<Box<str>>,
    updated: Option<jiff::Timestamp>,
    dropped: bool,
}

impl Duplicates {
    pub(super) fn new(same_vin: SameVin) -> Self {
        Self {
            same_vin,
            seen: Vec::new(),
        }
    }

    /// Takes note of the next listing.
    pub fn see(&mut self, listing: &Listing) {
        let text = |member| Some(listing.get(member)?.as_str()?.into());
        let updated = listing.get("updated_at").and_then(Value::as_str);
        self.seen.push(Seen {
            vehicle_id: text("vehicle_id"),
            vin: text("vin"),
            stock: text("stock"),
            updated: updated.and_then(|text| text.parse().ok()),
            dropped: false,
        });
    }

    /// The listings that give way, by their place from 0, and the stock numbers that two others share.
    pub fn finish(mut self) -> (Vec<(usize, Dropped)>, Vec<String>) {
        let mut dropped = Vec::new();
        self.winners(
            "vehicle_id",
            |seen| seen.vehicle_id.as_deref(),
            &mut dropped,
        );
        if self.same_vin == SameVin::Newest {
            self.winners("vin", |seen| seen.vin.as_deref(), &mut dropped);
        }
        let mut stocks: HashMap<&str, usize> = HashMap::new();
        for seen in self.seen.iter().filter(|seen| !seen.dropped) {
            if let Some(stock) = &seen.stock {
                *stocks.entry(stock).or_default() += 1;
            }
        }
        let shared = stocks.into_iter().filter(|(_, count)| *count > 1);
        let mut shared: Vec<String> = shared.map(|(stock, _)| stock.to_owned()).collect();
        shared.sort();
        (dropped, shared)
    }

    /// Keeps of each value of `member` the listing that was updated last; of two alike the first.
    fn winners(
        &mut self,
        member: &str,
        value: fn(&Seen) -> Option<&str>,
        dropped: &mut Vec<(usize, Dropped)>,
    ) {
        let mut best: HashMap<&str, usize> = HashMap::new();
        let mut losers = Vec::new();
        for (at, seen) in self.seen.iter().enumerate().filter(|(_, s)| !s.dropped) {
            let Some(value) = value(seen) else {
                continue;
            };
            let Some(other) = best.get(value).copied() else {
                best.insert(value, at);
                continue;
            };
            let newer = self
                .seen
                .get(other)
                .is_none_or(|other| seen.updated > other.updated);
            losers.push(if newer { other } else { at });
            if newer {
                best.insert(value, at);
            }
        }
        losers.sort_unstable();
        for at in losers {
            let Some(seen) = self.seen.get_mut(at) else {
                continue;
            };
            seen.dropped = true;
            let owned = |text: &Option<Box<str>>| text.as_deref().map(str::to_owned);
            let identifiers = Identifiers {
                vehicle_id: owned(&seen.vehicle_id),
                vin: owned(&seen.vin),
                stock: owned(&seen.stock),
            };
            let reason = format!("another row with the same {member} was updated later");
            dropped.push((
                at,
                Dropped {
                    identifiers,
                    reason,
                },
            ));
        }
    }
}
