//! Builds a snapshot, one listing at a time: each is checked, its JSON text finished, its facts interned,
//! and its parsed form let go. Must not read a source, nor repair what a listing says.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::Listing;
use super::admission::{Check, admit};
use super::columns::{Keys, SORT_NUMBERS};
use super::facts::{id, open_json, present_codes, texts};
use super::features::Features;
use super::fields::{Group, Number};
use super::frame::{Frame, Rejected};
use super::gather::Gathered;
use super::history::{History, Identity, Past};
use super::keywords::Keywords;
use super::places::PointBits;
use super::rank::{MISSING, narrow};
use super::snapshot::{Parts, Snapshot, Stamp};
use super::terms::{ManyBuilder, TermsBuilder};
use super::text::fold;
use crate::contract::capabilities::Scope;

/// Most rows of a snapshot: row numbers and lengths fit `u32`.
const MOST_ROWS: usize = 16_000_000;

/// A snapshot being built.
#[derive(Debug)]
pub struct Builder {
    frame: Arc<Frame>,
    arrived: Vec<Arrived>,
    /// Of each listing that was pushed, its place among the arrived; `MISSING` when it was not taken.
    pushed: Vec<u32>,
    withdrawn: HashSet<u32>,
    terms: [TermsBuilder; Group::COUNT],
    numbers: [Vec<Option<i64>>; Number::COUNT],
    places: Vec<Option<PointBits>>,
    evidence: ManyBuilder,
    feature_texts: ManyBuilder,
    rejected: Rejected,
    unknown_rooftops: u64,
}

#[derive(Debug)]
struct Arrived {
    listing: Arc<Listing>,
    has_vehicle_id: bool,
}

impl Builder {
    /// An empty one.
    pub fn new(frame: Arc<Frame>) -> Self {
        Self {
            frame,
            arrived: Vec::new(),
            pushed: Vec::new(),
            withdrawn: HashSet::new(),
            terms: Group::ALL.map(|group| TermsBuilder::new(group.case())),
            numbers: Number::ALL.map(|_| Vec::new()),
            places: Vec::new(),
            evidence: ManyBuilder::default(),
            feature_texts: ManyBuilder::default(),
            rejected: Rejected::default(),
            unknown_rooftops: 0,
        }
    }

    /// Takes one complete AAP listing, or counts why not.
    pub fn push(&mut self, listing: Map<String, Value>, check: &Check) {
        let arrival = narrow(self.arrived.len());
        let admitted = if self.arrived.len() < MOST_ROWS {
            admit(listing, check, self.frame.scope)
        } else {
            Err("more units than a snapshot holds".to_owned())
        };
        match admitted {
            Ok(listing) => self.take(&listing),
            Err(reason) => self.rejected.count(reason),
        }
        let taken = self.arrived.len() > arrival as usize;
        self.pushed.push(if taken { arrival } else { MISSING });
    }

    /// Takes the listing back that was pushed at this place from 0.
    pub fn withdraw(&mut self, at: usize, reason: impl Into<String>) {
        if let Some(arrival) = self.pushed.get(at).filter(|arrival| **arrival != MISSING) {
            self.withdrawn.insert(*arrival);
            self.rejected.count(reason);
        }
    }

    /// The one listing that was taken, for a look-up outside a snapshot.
    pub(super) fn into_listings(self) -> Vec<Arc<Listing>> {
        self.arrived.into_iter().map(|one| one.listing).collect()
    }

    /// Counts a unit that never became a listing.
    pub fn reject(&mut self, reason: impl Into<String>) {
        self.rejected.count(reason);
    }

    fn take(&mut self, listing: &Map<String, Value>) {
        let (vin, stock) = (id(listing, "vin"), id(listing, "stock"));
        let vehicle_id = id(listing, "vehicle_id");
        let Some(stable) = vehicle_id.or(vin).or(stock) else {
            self.rejected.count("no identifier");
            return;
        };
        let dealer = id(listing, "dealer_id").filter(|_| self.frame.scope == Scope::Aggregate);
        let arrival = narrow(self.arrived.len());
        for (group, terms) in Group::ALL.into_iter().zip(&mut self.terms) {
            terms.push(group.value(listing));
        }
        for (number, column) in Number::ALL.into_iter().zip(&mut self.numbers) {
            column.push(number.value(listing));
        }
        let place = self.place(dealer, listing);
        self.places.push(place);
        for code in present_codes(listing) {
            self.evidence.push(code, arrival);
        }
        for text in texts(listing.get("features")) {
            self.feature_texts.push(&fold(text), arrival);
        }
        self.arrived.push(Arrived {
            listing: Arc::new(Listing {
                open_json: Arc::new(open_json(listing)),
                dealer_id: dealer.map(str::to_owned),
                vehicle_id: stable.to_owned(),
                vin: vin.map(str::to_owned),
                stock: stock.map(str::to_owned),
            }),
            has_vehicle_id: vehicle_id.is_some(),
        });
    }

    fn place(&mut self, dealer: Option<&str>, listing: &Map<String, Value>) -> Option<PointBits> {
        let name = listing.get("rooftop")?.as_str()?;
        let key = (dealer.map(Box::from), Box::from(name));
        let known = self.frame.rooftops.get(&key);
        self.unknown_rooftops += u64::from(known.is_none());
        known.copied().flatten()
    }

    /// The finished snapshot. `previous` tells what has changed its order since.
    pub fn finish(mut self, previous: Option<&Snapshot>, stamp: Stamp) -> Snapshot {
        let arrivals = self.in_order();
        let history = self.history(&arrivals, previous, stamp);
        let Self { frame, arrived, .. } = self;
        let listing_of = |arrival: &u32| arrived.get(*arrival as usize);
        let mut row_of = vec![MISSING; arrived.len()];
        for (row, arrival) in arrivals.iter().enumerate() {
            if let Some(slot) = row_of.get_mut(*arrival as usize) {
                *slot = narrow(row);
            }
        }
        let features = Features::new(&frame.vocabulary, self.evidence.finish(&row_of));
        let stocks = arrivals.iter().map(|arrival| {
            let listing = &listing_of(arrival)?.listing;
            listing.stock.as_deref().map(Box::from)
        });
        let gathered = Gathered {
            terms: self.terms,
            numbers: self.numbers,
            places: self.places,
            stocks: stocks.collect(),
        };
        let columns = gathered.columns(&arrivals, &history, &features);
        let mut keywords = Keywords::new(self.feature_texts.finish(&row_of));
        let mut listings = Vec::with_capacity(arrivals.len());
        let mut has_vehicle_id = Vec::with_capacity(arrivals.len());
        for arrived in arrivals.iter().filter_map(listing_of) {
            let listing = &arrived.listing;
            let folded = |text: &Option<String>| text.as_deref().map(fold).unwrap_or_default();
            keywords.push(&folded(&listing.vin), &folded(&listing.stock));
            listings.push(Arc::clone(listing));
            has_vehicle_id.push(arrived.has_vehicle_id);
        }
        Snapshot::assemble(Parts {
            stamp,
            listings,
            has_vehicle_id,
            columns,
            features,
            keywords,
            history,
            rejected: self.rejected,
            unknown_rooftops: self.unknown_rooftops,
        })
    }

    /// The arrivals to publish, in order of identity. One identity is one unit: a second one is left out,
    /// the one that the source updated last stays; in aggregate scope an id that two sellers use names no
    /// unit and all of them are left out (AAP-393).
    fn in_order(&mut self) -> Vec<u32> {
        let identity = |arrival: u32| self.identity(arrival);
        let updated = self.numbers.get(Number::UpdatedAt as usize);
        let updated = |arrival: u32| updated.and_then(|column| column.get(arrival as usize));
        let all = 0..narrow(self.arrived.len());
        let mut arrivals: Vec<u32> = all.filter(|a| !self.withdrawn.contains(a)).collect();
        arrivals.sort_by(|a, b| {
            let by_identity = identity(*a).cmp(&identity(*b));
            by_identity.then_with(|| updated(*b).cmp(&updated(*a)))
        });
        let before = arrivals.len();
        arrivals.dedup_by(|b, a| identity(*a) == identity(*b));
        let twice = before - arrivals.len();
        let mut owners: HashMap<&str, u32> = HashMap::new();
        if self.frame.scope == Scope::Aggregate {
            for arrival in &arrivals {
                *owners.entry(identity(*arrival).1).or_default() += 1;
            }
        }
        let shared = |arrival: &u32| owners.get(identity(*arrival).1).is_some_and(|n| *n > 1);
        let between_sellers = arrivals.iter().filter(|a| shared(a)).count();
        let arrivals = arrivals.into_iter().filter(|a| !shared(a)).collect();
        for _ in 0..twice {
            self.rejected.count("the same unit twice");
        }
        for _ in 0..between_sellers {
            self.rejected.count("vehicle_id used by several sellers");
        }
        arrivals
    }

    fn identity(&self, arrival: u32) -> Identity<'_> {
        let arrived = self.arrived.get(arrival as usize);
        arrived.map_or((None, ""), |arrived| arrived.listing.identity())
    }

    /// What every unit of the previous snapshot was ordered by that is gone or ordered otherwise now.
    fn history(&self, arrivals: &[u32], previous: Option<&Snapshot>, stamp: Stamp) -> History {
        let Some(previous) = previous else {
            return History::beginning(stamp.read_at);
        };
        let mut changed = Vec::new();
        let mut now = arrivals.iter().copied().peekable();
        for (row, listing) in (0..).zip(previous.listings()) {
            let identity = listing.identity();
            while now.next_if(|a| self.identity(*a) < identity).is_some() {}
            let keys = previous.columns().keys(row);
            let same = now.next_if(|a| self.identity(*a) == identity);
            if same.is_none_or(|arrival| self.keys(arrival) != keys) {
                changed.push(Past {
                    dealer: listing.dealer_id.as_deref().map(Box::from),
                    id: listing.vehicle_id.as_str().into(),
                    until: stamp.read_at,
                    keys,
                });
            }
        }
        History::advanced(previous.history(), changed, stamp.keep_after)
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "arrays have one entry per variant, columns one per arrival"
    )]
    fn keys(&self, arrival: u32) -> Keys {
        let at = arrival as usize;
        let term = |group| self.terms[group as usize].key_at(arrival).map(Box::from);
        Keys {
            numbers: SORT_NUMBERS.map(|number| self.numbers[number as usize][at]),
            make: term(Group::Make),
            model: term(Group::Model),
            stock: self.arrived[at].listing.stock.as_deref().map(Box::from),
            place: self.places[at],
        }
    }
}
