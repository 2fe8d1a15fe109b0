//! The immutable index that answers every search until the next reading. Must not change once assembled.

use std::cmp::Ordering;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::Listing;
use super::columns::{Columns, SORT_FIELDS};
use super::features::Features;
use super::frame::Rejected;
use super::gone::Identifiers;
use super::history::History;
use super::keywords::Keywords;
use super::matching::Matching;
use super::order::Orders;
use super::pages::Pages;
use super::rank::narrow;
use super::search::Unsure;
use crate::contract::Fragment;
use crate::contract::request::SortField;

/// One reading of the source, indexed.
#[derive(Debug)]
pub struct Snapshot {
    parts: Parts,
    everything: RoaringBitmap,
    orders: Orders,
    by_vin: Vec<u32>,
    by_vehicle_id: Vec<u32>,
    all_facets: Arc<Fragment>,
    pages: Pages,
}

/// When a snapshot's data was read and which one it is.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    pub generation: u64,
    /// Nanoseconds since 1970 at which the reading began.
    pub read_at: i64,
    /// Changes of order before this instant may be forgotten.
    pub keep_after: i64,
}

/// What a snapshot is assembled from. Rows are in order of identity: a row number breaks ties (AAP-425).
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) stamp: Stamp,
    pub(super) listings: Vec<Arc<Listing>>,
    pub(super) has_vehicle_id: Vec<bool>,
    pub(super) columns: Columns,
    pub(super) features: Features,
    pub(super) keywords: Keywords,
    pub(super) history: History,
    pub(super) rejected: Rejected,
    pub(super) unknown_rooftops: u64,
}

impl Snapshot {
    pub(super) fn assemble(mut parts: Parts) -> Self {
        let size = narrow(parts.listings.len());
        let identities = parts.listings.iter().map(|listing| listing.identity());
        parts.history.bind(&parts.columns, identities);
        let listing = |row: u32| parts.listings.get(row as usize);
        let mut by_vin: Vec<u32> = (0..size)
            .filter(|row| listing(*row).is_some_and(|listing| listing.vin.is_some()))
            .collect();
        by_vin.sort_by_key(|row| listing(*row).map(|listing| listing.vin.as_deref()));
        let with_id = (0..size).zip(&parts.has_vehicle_id);
        let mut by_vehicle_id: Vec<u32> = with_id
            .filter_map(|(row, has)| has.then_some(row))
            .collect();
        by_vehicle_id.sort_by_key(|row| listing(*row).map(|listing| &listing.vehicle_id));
        let mut everything = RoaringBitmap::new();
        everything.insert_range(0..size);
        let orders = Orders::build(&parts.columns);
        let texts = parts.listings.iter();
        let bytes = texts.map(|listing| listing.open_json.bytes()).sum();
        let mut snapshot = Self {
            parts,
            everything,
            orders,
            by_vin,
            by_vehicle_id,
            all_facets: Arc::new(Fragment::new("{}")),
            pages: Pages::new(bytes),
        };
        let all_facets = super::facets::of(&snapshot, &Matching::everything(&snapshot));
        snapshot.all_facets = Arc::new(all_facets);
        snapshot
    }

    /// How many listings are published.
    pub fn len(&self) -> usize {
        self.parts.listings.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.parts.listings.is_empty()
    }

    /// Which one it is and when it was read.
    pub fn stamp(&self) -> Stamp {
        self.parts.stamp
    }

    /// What could not be published.
    pub fn rejected(&self) -> &Rejected {
        &self.parts.rejected
    }

    /// How many listings name a rooftop that no profile has.
    pub fn unknown_rooftops(&self) -> u64 {
        self.parts.unknown_rooftops
    }

    /// All listings, in order of identity.
    pub fn listings(&self) -> &[Arc<Listing>] {
        &self.parts.listings
    }

    /// What every listing is called.
    pub(super) fn identifiers(&self) -> impl Iterator<Item = Identifiers> {
        let listings = self.parts.listings.iter().zip(&self.parts.has_vehicle_id);
        listings.map(|(listing, has_vehicle_id)| Identifiers {
            dealer_id: listing.dealer_id.clone(),
            vehicle_id: has_vehicle_id.then(|| listing.vehicle_id.clone()),
            vin: listing.vin.clone(),
            stock: listing.stock.clone(),
        })
    }

    pub(super) fn listing(&self, row: u32) -> Option<&Arc<Listing>> {
        self.parts.listings.get(row as usize)
    }

    pub(super) fn columns(&self) -> &Columns {
        &self.parts.columns
    }

    pub(super) fn features(&self) -> &Features {
        &self.parts.features
    }

    pub(super) fn keywords(&self) -> &Keywords {
        &self.parts.keywords
    }

    pub(super) fn history(&self) -> &History {
        &self.parts.history
    }

    /// For a traversal that began with a reading before this process knew the inventory: which units it
    /// may have met already, at a place that nobody remembers.
    pub(super) fn unsure_since(&self, read_at: i64) -> Option<Unsure<'_>> {
        (read_at < self.history().known_since).then_some(Unsure {
            snapshot: self,
            read_at,
        })
    }

    pub(super) fn everything(&self) -> &RoaringBitmap {
        &self.everything
    }

    pub(super) fn all_facets(&self) -> &Arc<Fragment> {
        &self.all_facets
    }

    /// The first pages and facets that were asked for before.
    pub(super) fn pages(&self) -> &Pages {
        &self.pages
    }

    pub(super) fn orders(&self) -> &Orders {
        &self.orders
    }

    /// The rows with this VIN.
    pub(super) fn rows_of_vin(&self, vin: &str) -> &[u32] {
        let listing = |row: u32| self.listing(row).and_then(|l| l.vin.as_deref());
        equal_range(&self.by_vin, |row| listing(row).cmp(&Some(vin)))
    }

    /// The rows with this vehicle id.
    pub(super) fn rows_of_vehicle_id(&self, id: &str) -> &[u32] {
        let listing = |row: u32| self.listing(row).map(|l| l.vehicle_id.as_str());
        equal_range(&self.by_vehicle_id, |row| listing(row).cmp(&Some(id)))
    }

    /// The rows with this stock number.
    pub(super) fn rows_of_stock(&self, stock: &str) -> &[u32] {
        let column = &self.columns().stock;
        let Ok(rank) = column.sorted().position(&stock.into()) else {
            return &[];
        };
        let at = SORT_FIELDS.iter().position(|f| *f == SortField::Stock);
        let order = at.map_or(&[] as &[u32], |at| self.orders.of(at, false));
        equal_range(order, |row| column.rank(row).cmp(&rank))
    }

    /// The first row whose identity is greater than the given one.
    pub(super) fn row_after(&self, dealer: Option<&str>, id: &str) -> u32 {
        let listings = &self.parts.listings;
        narrow(listings.partition_point(|listing| listing.identity() <= (dealer, id)))
    }

    /// Bytes of the index beside the listings' text: keyword index apart.
    pub fn index_bytes(&self) -> IndexBytes {
        let rows = self.by_vin.capacity() + self.by_vehicle_id.capacity();
        let listing = size_of::<Arc<Listing>>() + size_of::<Listing>() + 2 * size_of::<usize>();
        let texts = self.parts.listings.iter().map(|listing| {
            let own = [&listing.vin, &listing.stock, &listing.dealer_id];
            let own = own.into_iter().flatten().map(String::len);
            own.sum::<usize>() + listing.vehicle_id.len()
        });
        IndexBytes {
            columns: self.columns().bytes() + self.features().bytes(),
            orders: self.orders.bytes(),
            look_up: rows * size_of::<u32>()
                + listing * self.len()
                + texts.sum::<usize>()
                + self.parts.has_vehicle_id.len(),
            keywords: self.keywords().bytes(),
        }
    }
}

/// Bytes of a snapshot beside the text of its listings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexBytes {
    pub columns: usize,
    pub orders: usize,
    pub look_up: usize,
    pub keywords: usize,
}

/// The run of rows that `compare` calls equal; rows are sorted by what it compares.
fn equal_range(rows: &[u32], compare: impl Fn(u32) -> Ordering) -> &[u32] {
    let start = rows.partition_point(|row| compare(*row) == Ordering::Less);
    let rest = rows.get(start..).unwrap_or_default();
    let length = rest.partition_point(|row| compare(*row) == Ordering::Equal);
    rest.get(..length).unwrap_or_default()
}
