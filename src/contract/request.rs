//! The typed requests that skills know. One shape for all AAP releases; a release's schemas decide what
//! may become one. Must not validate: only a contract's `validate` makes these from outside input.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Skill;
pub use super::filters::{AskedFilters, Filters, Near};

/// A validated request of one skill.
#[derive(Clone, Debug)]
pub enum Request {
    DealerInformation(DealerInformationRequest),
    InventoryFacets(FacetsRequest),
    InventorySearch(SearchRequest),
    InventoryVehicle(VehicleRequest),
    LeadSubmit(Box<LeadRequest>),
}

impl Request {
    /// The skill this request is for.
    pub fn skill(&self) -> Skill {
        match self {
            Self::DealerInformation(_) => Skill::DealerInformation,
            Self::InventoryFacets(_) => Skill::InventoryFacets,
            Self::InventorySearch(_) => Skill::InventorySearch,
            Self::InventoryVehicle(_) => Skill::InventoryVehicle,
            Self::LeadSubmit(_) => Skill::LeadSubmit,
        }
    }
}

/// `dealer.information`: nothing, or one seller.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct DealerInformationRequest {
    pub dealer_id: Option<String>,
}

/// `inventory.facets`: the counts over everything, or over a filtered set.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct FacetsRequest {
    pub filters: Option<AskedFilters>,
}

/// `inventory.search`.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct SearchRequest {
    pub filters: Option<AskedFilters>,
    #[serde(default)]
    pub pagination: Pagination,
    pub sort: Option<Sort>,
}

/// Where a page starts and how long it is.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Pagination {
    pub limit: Option<u32>,
    pub cursor: Option<String>,
    pub skip: Option<u64>,
}

/// What a search is ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SortField {
    Price,
    ListPrice,
    Msrp,
    Mileage,
    Year,
    Make,
    Model,
    Stock,
    UpdatedAt,
    DistanceMi,
}

/// The direction of an order. Missing values stand last in both (AAP-410).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SortOrder {
    Asc,
    Desc,
}

/// Field and direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sort {
    pub field: SortField,
    pub order: SortOrder,
}

/// `inventory.vehicle`: at least one identifier (AAP-433).
#[derive(Clone, Debug, Default, Deserialize)]
pub struct VehicleRequest {
    pub vin: Option<String>,
    pub stock: Option<String>,
    pub vehicle_id: Option<String>,
}

/// `lead.submit`. `payload` is the whole validated request, numbers normalised: what is fingerprinted,
/// kept in the ledger and rendered as ADF.
#[derive(Clone, Debug)]
pub struct LeadRequest {
    pub idempotency_key: String,
    pub consent: ConsentGrant,
    /// The dealer that `vehicle_of_interest` names, as the caller wrote it.
    pub dealer_id: Option<String>,
    /// The identifiers of `vehicle_of_interest`, when it has any.
    pub vehicle: VehicleRequest,
    pub payload: Value,
}

/// The buyer's permission (contract section 6.3). Times are instants.
#[derive(Clone, Debug)]
pub struct ConsentGrant {
    pub granted_at: jiff::Timestamp,
    pub expires_at: Option<jiff::Timestamp>,
    /// Of `email`, `phone`, `sms`.
    pub allowed_channels: Vec<String>,
}
