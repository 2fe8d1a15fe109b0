//! The duplicate rule over all mapped rows. One `vehicle_id` names one listing, always, and none where a row that is
//! not shown has it and is newer; one VIN does so unless the mapping keeps both; one stock number may name two
//! vehicles, which is only reported. Must not look at the source again.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher as _;

use jiff::Timestamp;

use serde_json::{Map, Value};

use super::model::SameVin;
use super::{Identifiers, Outcome};

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

pub(super) fn resolve(outcomes: Vec<Outcome>, same_vin: SameVin) -> Resolved {
    let (standing, dropped, shared_stock) = judged(outcomes, same_vin);
    let listings = standing.into_iter().filter_map(|outcome| match outcome {
        Outcome::Published(listing, _) => Some(listing),
        Outcome::Hidden { .. } | Outcome::Rejected { .. } => None,
    });
    Resolved {
        kept: listings.collect(),
        dropped: dropped.into_iter().map(|(_, dropped)| dropped).collect(),
        shared_stock,
    }
}

pub(super) fn standing(outcomes: Vec<Outcome>, same_vin: SameVin) -> Vec<Outcome> {
    judged(outcomes, same_vin).0
}

type Judged = (Vec<Outcome>, Vec<(usize, Dropped)>, Vec<String>);

fn judged(mut outcomes: Vec<Outcome>, same_vin: SameVin) -> Judged {
    let mut duplicates = Duplicates::new(same_vin);
    for outcome in &outcomes {
        duplicates.note(outcome);
    }
    let (dropped, shared_stock) = duplicates.finish();
    let gone: HashSet<usize> = dropped.iter().map(|(at, _)| *at).collect();
    let mut listings = 0;
    outcomes.retain(|outcome| {
        let at = listings;
        let is_listing = matches!(outcome, Outcome::Published(..));
        listings += usize::from(is_listing);
        !(is_listing && gone.contains(&at))
    });
    (outcomes, dropped, shared_stock)
}

/// The rule over listings that pass one after another and need not be kept: only what it looks at is.
#[derive(Debug)]
pub struct Duplicates {
    same_vin: SameVin,
    seen: Vec<Seen>,
    /// Hashes of the ids of rows that are not shown, which may be many, with the newest time of each.
    hidden: HashMap<u64, Timestamp>,
    hasher: RandomState,
}

/// What the rule looks at.
#[derive(Debug)]
struct Seen {
    vehicle_id: Option<Box<str>>,
    vin: Option<Box<str>>,
    stock: Option<Box<str>>,
    updated: Option<Timestamp>,
    dropped: bool,
}

impl Duplicates {
    pub(super) fn new(same_vin: SameVin) -> Self {
        Self {
            same_vin,
            seen: Vec::new(),
            hidden: HashMap::new(),
            hasher: RandomState::new(),
        }
    }

    /// Takes note of what the next row became.
    pub fn note(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Published(listing, _) => self.see(listing),
            Outcome::Hidden {
                identifiers,
                updated_at: Some(updated),
                ..
            } => {
                if let Some(id) = &identifiers.vehicle_id {
                    let newest = self.hidden.entry(self.hasher.hash_one(id.as_str()));
                    let newest = newest.or_insert(*updated);
                    *newest = (*newest).max(*updated);
                }
            }
            Outcome::Hidden { .. } | Outcome::Rejected { .. } => {}
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
        self.sold_since(&mut dropped);
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

    /// Drops the listings whose vehicle another, newer row says is not to be shown: sold since.
    fn sold_since(&mut self, dropped: &mut Vec<(usize, Dropped)>) {
        for (at, seen) in self.seen.iter_mut().enumerate() {
            let id = seen
                .vehicle_id
                .as_deref()
                .map(|id| self.hasher.hash_one(id));
            let hidden = id.and_then(|id| self.hidden.get(&id));
            if hidden.is_some_and(|hidden| seen.updated.is_none_or(|updated| updated < *hidden)) {
                let reason = "a newer row with the same vehicle_id is not shown".to_owned();
                dropped.push((at, seen.give_way(reason)));
            }
        }
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
            let before = self.seen.get(other).and_then(|other| other.updated);
            let words = if seen.updated == before {
                "came first and is as new"
            } else {
                "was updated later"
            };
            let newer = seen.updated > before;
            losers.push((if newer { other } else { at }, words));
            if newer {
                best.insert(value, at);
            }
        }
        losers.sort_unstable();
        for (at, words) in losers {
            if let Some(seen) = self.seen.get_mut(at) {
                let reason = format!("another row with the same {member} {words}");
                dropped.push((at, seen.give_way(reason)));
            }
        }
    }
}

impl Seen {
    fn give_way(&mut self, reason: String) -> Dropped {
        self.dropped = true;
        let owned = |text: &Option<Box<str>>| text.as_deref().map(str::to_owned);
        Dropped {
            identifiers: Identifiers {
                vehicle_id: owned(&self.vehicle_id),
                vin: owned(&self.vin),
                stock: owned(&self.stock),
            },
            reason,
        }
    }
}
