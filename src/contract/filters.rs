//! The constraints of a search or of facets, and what follows from them alone. Must not know what is offered or
//! in stock.

use std::ops::Deref;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The constraints of a search: AND between fields, OR inside arrays save `features_all` (AAP-377).
/// Members stand in the order in which `applied_filters` names them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Filters {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub make: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vehicle_type: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transmission: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fuel: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driveline: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charge_port: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dc_fast_charge: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exterior_color: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interior_color: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub year_min: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub year_max: Option<i64>,
    /// Whole US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_min: Option<i64>,
    /// Whole US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_max: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mileage_max: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub electric_range_mi_min: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub electric_range_mi_max: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub displacement_cc_min: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub displacement_cc_max: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vin: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stock: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub features_all: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub features_any: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<Near>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rooftops: Option<Vec<String>>,
}

/// A circle around a point, WGS84 degrees and statute miles; the radius is inclusive (AAP-401).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Near {
    pub latitude: f64,
    pub longitude: f64,
    pub radius_mi: f64,
}

/// Filters with what follows from them alone, worked out once: one request may be answered many times.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Filters")]
pub struct AskedFilters {
    filters: Filters,
    json: OnceLock<Box<str>>,
    names: OnceLock<Vec<String>>,
    meaning: OnceLock<Box<str>>,
}

impl From<Filters> for AskedFilters {
    fn from(filters: Filters) -> Self {
        Self {
            filters,
            ..Self::default()
        }
    }
}

impl Deref for AskedFilters {
    type Target = Filters;

    fn deref(&self) -> &Filters {
        &self.filters
    }
}

impl AskedFilters {
    /// Their JSON, as `applied_filters` says it.
    pub fn json(&self) -> &str {
        // Filters are text and numbers, which can always be written.
        let json = || serde_json::to_string(&self.filters).unwrap_or_default();
        self.json.get_or_init(|| json().into())
    }

    /// The names of those that are set.
    pub fn names(&self) -> &[String] {
        self.names
            .get_or_init(|| match serde_json::to_value(&self.filters) {
                Ok(Value::Object(members)) => members.into_iter().map(|(name, _)| name).collect(),
                Ok(_) | Err(_) => Vec::new(),
            })
    }

    /// One text for all filters that mean the same, as `read` makes it: always the same way.
    pub fn meaning(&self, read: impl FnOnce(&Filters) -> String) -> &str {
        self.meaning.get_or_init(|| read(&self.filters).into())
    }
}
