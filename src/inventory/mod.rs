//! What a dealer has: the snapshot that answers searches, and how it is kept fresh. Must not know which
//! binding asks, nor how a source speaks.

use std::sync::Arc;

use serde_json::Value;

use crate::contract::request::{Filters, SearchRequest, Sort, VehicleRequest};
use crate::contract::{Capabilities, Fragment, Problem};

/// One deployment's inventory.
#[derive(Debug)]
pub struct Inventory {}

impl Inventory {
    /// What search supports here.
    pub fn capabilities(&self) -> &Capabilities {
        unimplemented!()
    }

    /// One page of the matching set. `caller_scope` is [`crate::contract::Caller::scope`]: a cursor is
    /// good for its own caller only (AAP-423).
    pub fn search(
        &self,
        _request: &SearchRequest,
        _caller_scope: &str,
    ) -> Result<Page, InventoryError> {
        unimplemented!()
    }

    /// The AAP Facets object over the full matching set.
    pub fn facets(&self, _filters: Option<&Filters>) -> Result<Arc<Fragment>, InventoryError> {
        unimplemented!()
    }

    /// The one listing that all given identifiers name, re-read at the source where it has a look-up.
    pub async fn vehicle(&self, _request: &VehicleRequest) -> Result<Arc<Listing>, InventoryError> {
        unimplemented!()
    }
}

/// One page of search results, still typed.
#[derive(Debug)]
pub struct Page {
    /// Exact, over all pages.
    pub total: u64,
    pub limit: u32,
    pub next_cursor: Option<String>,
    pub applied_filters: Filters,
    pub sort: Sort,
    /// When `query` was applied: its tokens (AAP-408).
    pub query_terms: Option<Vec<String>>,
    pub vehicles: Vec<Found>,
    /// When configured: the Facets object over the full set.
    pub facets: Option<Arc<Fragment>>,
}

/// One listing on a page.
#[derive(Debug)]
pub struct Found {
    pub listing: Arc<Listing>,
    /// Statute miles, rounded to 0.001, when the request had `near`.
    pub distance_mi: Option<f64>,
}

/// One published vehicle with its finished JSON.
#[derive(Debug)]
pub struct Listing {
    /// The `InventoryListing` object's text **without its closing brace**, so that `distance_mi` can follow.
    pub open_json: Arc<Fragment>,
    /// The owning dealer, in aggregate scope.
    pub dealer_id: Option<String>,
    pub vehicle_id: String,
    pub vin: Option<String>,
    pub stock: Option<String>,
}

impl Listing {
    /// The `InventoryListing` as a value, for the lead's ADF.
    pub fn to_value(&self) -> Value {
        unimplemented!()
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
