//! What a dealer has: the snapshot that answers searches, and how it is kept fresh. Must not know which
//! binding asks, nor how a source speaks.

mod settings;
mod slices;
mod search;
mod matching;
mod filter_sets;
mod order;
mod cursor;
mod facets;
mod snapshot;
mod columns;
mod fields;
mod blocks;
mod rank;
mod terms;
mod features;
mod keywords;
mod listed;
mod places;
mod text;
mod history;
mod build;
mod admission;
mod facts;
mod frame;
mod look_up;
mod re_read;
mod gather;
mod gone;
mod grid;
mod reader;
mod sellers;
mod mapped;
mod touched;
mod dirt;
mod readings;
mod opening;
mod spans;
mod refresh;
mod keeping;
mod on_demand;
mod pages;
mod status;
mod timings;

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use arc_swap::{ArcSwap, ArcSwapOption};
use serde_json::Value;

use crate::clock::Clock;
use crate::contract::request::{AskedFilters, SearchRequest, Sort, VehicleRequest};
use crate::contract::{Capabilities, Fragment, Problem};
use crate::seal::KeyRing;

pub use admission::Check;
pub use build::Builder;
pub use features::Vocabulary;
pub use frame::{Frame, Rejected};
pub use gone::Identifiers;
pub use listed::{Found, Vehicles};
pub use reader::{Current, Failed, Reader, Request, Sink, Told, Trace, Unit};
pub use refresh::RefreshError;
pub use sellers::SellerReader;
pub use settings::Settings;
pub use snapshot::{IndexBytes, Snapshot, Stamp};
pub use status::Status;
pub use timings::{Kind, Timing};

/// One deployment's inventory.
pub struct Inventory {
    settings: Settings,
    frame: Arc<Frame>,
    check: Arc<Check>,
    reader: Reader,
    keys: ArcSwap<KeyRing>,
    clock: Clock,
    current: ArcSwapOption<Snapshot>,
    gone: ArcSwap<gone::Gone>,
    look_ups: re_read::LookUps,
    /// Held while reading: one reading at a time.
    readings: tokio::sync::Mutex<readings::Readings>,
    status: std::sync::Mutex<Status>,
    timings: timings::Timings,
    /// When a reading last found nothing changed, as [`Stamp::read_at`].
    confirmed_at: AtomicI64,
    /// How the source looked when the last reading began.
    glanced: std::sync::Mutex<Option<String>>,
}

/// Asks the running process whose inventory remembers in `directory` ([`Settings::directory`]) to read its
/// source now; with `accept`, to publish what comes however much was lost.
pub fn order_refresh(directory: &std::path::Path, accept: bool) -> std::io::Result<()> {
    on_demand::give(directory, accept)
}

impl Inventory {
    /// What search supports here.
    pub fn capabilities(&self) -> &Capabilities {
        &self.settings.capabilities
    }

    /// One page of the matching set. `caller_scope` is [`crate::contract::Caller::scope`]: a cursor is
    /// good for its own caller only (AAP-423).
    pub fn search(
        &self,
        request: &SearchRequest,
        caller_scope: &str,
    ) -> Result<Page, InventoryError> {
        let began = Instant::now();
        let page = search::page(self, &self.fresh()?, request, caller_scope);
        let kind = Kind::of_search(request.filters.as_deref());
        self.timings.note(kind, began);
        page
    }

    /// The AAP Facets object over the full matching set.
    pub fn facets(&self, filters: Option<&AskedFilters>) -> Result<Arc<Fragment>, InventoryError> {
        let snapshot = self.fresh()?;
        let began = Instant::now();
        let facets = search::facets_of(&snapshot, filters, self.settings.keeps_pages);
        self.timings.note(Kind::Facets, began);
        facets
    }

    /// The one listing that all given identifiers name, re-read at the source where it has a look-up.
    pub async fn vehicle(&self, request: &VehicleRequest) -> Result<Arc<Listing>, InventoryError> {
        let snapshot = match self.fresh() {
            // Nothing was read yet, but this unit was gone before (AAP-443).
            Err(_) if !self.was_read() && self.gone.load().holds(request) => {
                return Err(InventoryError::Unavailable);
            }
            snapshot => snapshot?,
        };
        let known = look_up::in_snapshot(&snapshot, &self.gone.load(), request);
        re_read::current(self, request, known).await
    }

    /// How it is doing, for health, metrics and operators.
    pub fn status(&self) -> Status {
        let status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        let mut status = status.clone();
        status.age_s = self
            .current
            .load()
            .as_ref()
            .map(|snapshot| self.age_s(snapshot));
        status
    }

    /// How long questions took since the start, by kind.
    pub fn timings(&self) -> Vec<Timing> {
        self.timings.read()
    }

    /// Whether questions are answered now: there is a reading, and it is not too old.
    pub fn answers(&self) -> bool {
        self.fresh().is_ok()
    }

    /// Whether there was a good reading since the start.
    pub fn was_read(&self) -> bool {
        self.current.load().is_some()
    }

    /// The snapshot in use.
    pub fn snapshot(&self) -> Option<Arc<Snapshot>> {
        self.current.load_full()
    }

    /// The current snapshot, when it is not older than `max_age`.
    fn fresh(&self) -> Result<Arc<Snapshot>, InventoryError> {
        let snapshot = self.current.load_full();
        let snapshot = snapshot.ok_or_else(|| InventoryError::Stale("never read".into()))?;
        let age_s = self.age_s(&snapshot);
        match self.settings.max_age_s {
            Some(max_age_s) if age_s > max_age_s => Err(InventoryError::Stale(format!(
                "read {age_s} s ago, more than the permitted {max_age_s} s"
            ))),
            _ => Ok(snapshot),
        }
    }

    fn age_s(&self, snapshot: &Snapshot) -> i64 {
        let confirmed_at = self.confirmed_at.load(Ordering::Relaxed);
        let read_at = snapshot.stamp().read_at.max(confirmed_at);
        self.clock.now().as_second() - read_at.div_euclid(1_000_000_000)
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn keys(&self) -> arc_swap::Guard<Arc<KeyRing>> {
        self.keys.load()
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }
}

impl std::fmt::Debug for Inventory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inventory")
            .field("deployment", &self.settings.deployment)
            .finish_non_exhaustive()
    }
}

/// One page of search results, still typed.
#[derive(Debug)]
pub struct Page {
    /// Exact, over all pages.
    pub total: u64,
    pub limit: u32,
    pub next_cursor: Option<String>,
    pub sort: Sort,
    /// When `query` was applied: its tokens (AAP-408).
    pub query_terms: Option<Vec<String>>,
    pub vehicles: Vehicles,
    /// When configured: the Facets object over the full set.
    pub facets: Option<Arc<Fragment>>,
}

/// One published vehicle with its finished JSON.
#[derive(Debug)]
pub struct Listing {
    /// The `InventoryListing` object's text **without its closing brace**: `distance_mi` can follow.
    pub open_json: Arc<Fragment>,
    /// The owning dealer, in aggregate scope.
    pub dealer_id: Option<String>,
    /// The listing's stable id: its `vehicle_id`, or else its VIN or stock number.
    pub vehicle_id: String,
    pub vin: Option<String>,
    pub stock: Option<String>,
}

impl Listing {
    /// The `InventoryListing` as a value, for the lead's ADF.
    pub fn to_value(&self) -> Value {
        self.to_object().map_or(Value::Null, Value::Object)
    }

    fn to_object(&self) -> Option<serde_json::Map<String, Value>> {
        let text = format!("{}}}", self.open_json.json());
        serde_json::from_str(&text).ok()
    }

    /// What tells this listing from every other one of the deployment and orders equals.
    fn identity(&self) -> history::Identity<'_> {
        (self.dealer_id.as_deref(), &self.vehicle_id)
    }
}

/// Why the inventory could not answer.
#[derive(Debug, thiserror::Error)]
pub enum InventoryError {
    /// No listing has these identifiers.
    #[error("no listing matches")]
    NotFound,
    /// A known listing that is no longer offered.
    #[error("the vehicle is no longer offered")]
    Unavailable,
    /// Identifiers that conflict or are ambiguous: one problem per identifier.
    #[error("the identifiers do not name one listing")]
    Ambiguous(Vec<Problem>),
    /// Altered, expired, mismatched or foreign cursor.
    #[error("the cursor cannot be continued")]
    InvalidCursor,
    /// Feature codes outside the vocabulary: one problem per code (AAP-395).
    #[error("unknown feature code")]
    UnknownFeature(Vec<Problem>),
    /// The last good snapshot is older than `max_age`, or there is none yet.
    #[error("inventory is stale: {0}")]
    Stale(String),
    /// The source failed; the private cause.
    #[error("source: {0}")]
    Source(String),
}

#[cfg(test)]
#[expect(
    clippy::wildcard_enum_match_arm,
    clippy::needless_pass_by_value,
    clippy::string_slice,
    reason = "tests read JSON values and pass literals"
)]
mod tests;
