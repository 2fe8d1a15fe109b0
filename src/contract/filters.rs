//! The constraints of a search or of facets, and what follows from them alone. Must not know what is offered or
//! in stock.

use std::ops::Deref;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

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

impl Filters {
    /// The names of those that are set, in their order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        let all = [
            ("make", self.make.is_some()),
            ("model", self.model.is_some()),
            ("trim", self.trim.is_some()),
            ("condition", self.condition.is_some()),
            ("vehicle_type", self.vehicle_type.is_some()),
            ("status", self.status.is_some()),
            ("body", self.body.is_some()),
            ("transmission", self.transmission.is_some()),
            ("fuel", self.fuel.is_some()),
            ("driveline", self.driveline.is_some()),
            ("charge_port", self.charge_port.is_some()),
            ("dc_fast_charge", self.dc_fast_charge.is_some()),
            ("exterior_color", self.exterior_color.is_some()),
            ("interior_color", self.interior_color.is_some()),
            ("year_min", self.year_min.is_some()),
            ("year_max", self.year_max.is_some()),
            ("price_min", self.price_min.is_some()),
            ("price_max", self.price_max.is_some()),
            ("mileage_max", self.mileage_max.is_some()),
            (
                "electric_range_mi_min",
                self.electric_range_mi_min.is_some(),
            ),
            (
                "electric_range_mi_max",
                self.electric_range_mi_max.is_some(),
            ),
            ("displacement_cc_min", self.displacement_cc_min.is_some()),
            ("displacement_cc_max", self.displacement_cc_max.is_some()),
            ("vin", self.vin.is_some()),
            ("stock", self.stock.is_some()),
            ("query", self.query.is_some()),
            ("features_all", self.features_all.is_some()),
            ("features_any", self.features_any.is_some()),
            ("near", self.near.is_some()),
            ("rooftops", self.rooftops.is_some()),
        ];
        all.into_iter()
            .filter(|(_, set)| *set)
            .map(|(name, _)| name)
    }
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

    /// One text for all filters that mean the same, as `read` makes it: always the same way.
    pub fn meaning(&self, read: impl FnOnce(&Filters) -> String) -> &str {
        self.meaning.get_or_init(|| read(&self.filters).into())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    // AAP-386: what is set and not offered is refused, so nothing that is set may be without its name.
    #[test]
    fn every_filter_that_is_written_has_its_name() {
        assert_eq!(Filters::default().names().count(), 0);
        let everything: Filters = serde_json::from_value(json!({
            "make": ["a"], "model": ["a"], "trim": ["a"], "condition": ["a"], "vehicle_type": ["a"],
            "status": ["a"], "body": ["a"], "transmission": ["a"], "fuel": ["a"], "driveline": ["a"],
            "charge_port": ["a"], "dc_fast_charge": false, "exterior_color": ["a"],
            "interior_color": ["a"], "year_min": 1, "year_max": 1, "price_min": 1, "price_max": 1,
            "mileage_max": 1, "electric_range_mi_min": 1, "electric_range_mi_max": 1,
            "displacement_cc_min": 1, "displacement_cc_max": 1, "vin": "a", "stock": "a",
            "query": "a", "features_all": ["a"], "features_any": ["a"],
            "near": {"latitude": 1.0, "longitude": 1.0, "radius_mi": 1.0}, "rooftops": ["a"],
        }))
        .unwrap();
        let Value::Object(written) = serde_json::to_value(&everything).unwrap() else {
            panic!("an object");
        };
        assert_eq!(written.len(), 30);
        assert!(written.keys().map(String::as_str).eq(everything.names()));
        for (name, value) in written {
            let one: Filters = serde_json::from_value(json!({ name.as_str(): value })).unwrap();
            assert!(one.names().eq([name.as_str()]));
        }
    }
}
