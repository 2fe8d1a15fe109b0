//! What an operator may decide about one deployment's inventory. Must not read configuration files.

use std::path::PathBuf;
use std::time::Duration;

use crate::contract::Capabilities;
use crate::contract::capabilities::Scope;
use crate::contract::request::{Sort, SortField, SortOrder};

/// The settings of one inventory.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The deployment's id: a cursor is good in its own deployment only.
    pub deployment: String,
    /// What search supports; never changed by rows.
    pub capabilities: Capabilities,
    /// Whether a search answer carries the facets of the full matching set.
    pub facets_in_search: bool,
    /// Seconds after which a cursor expires; each page renews it, sixteen times this long in all.
    pub cursor_ttl_s: i64,
    /// From the end of one reading to the beginning of the next.
    pub refresh_interval: Duration,
    /// Seconds after which a reading is too old to answer from; `None` never.
    pub max_age_s: Option<i64>,
    /// The greatest share of units, 0 to 1, that may vanish from one reading to the next; a reading that
    /// lost more is held for a person.
    pub shrink_guard: f64,
    /// Where ids of units that were offered are remembered; `None` forgets them at the end.
    pub directory: Option<PathBuf>,
    /// Milliseconds that a look-up of one unit at the source may take.
    pub look_up_timeout_ms: u64,
    /// Milliseconds for which a look-up's answer is used again.
    pub look_up_cache_ms: u64,
}

impl Settings {
    /// The defaults for a deployment with these capabilities.
    pub fn new(deployment: impl Into<String>, capabilities: Capabilities) -> Self {
        Self {
            deployment: deployment.into(),
            capabilities,
            facets_in_search: false,
            cursor_ttl_s: 15 * 60,
            refresh_interval: Duration::from_secs(5 * 60),
            max_age_s: Some(24 * 60 * 60),
            shrink_guard: 0.5,
            directory: None,
            look_up_timeout_ms: 2_000,
            look_up_cache_ms: 2_000,
        }
    }
}

/// Every filter that a listing field or a profile can answer, in the order of
/// [`crate::contract::request::Filters`]. `supplied` are the AAP fields that the mapping fills.
pub fn capabilities(
    scope: Scope,
    supplied: impl Fn(&str) -> bool,
    features: bool,
    rooftops_placed: bool,
) -> Capabilities {
    let by_field: [(&str, &[&str]); 22] = [
        ("make", &["make"]),
        ("model", &["model"]),
        ("trim", &["trim"]),
        ("condition", &["condition"]),
        ("vehicle_type", &["vehicle_type"]),
        ("status", &["status"]),
        ("body", &["body"]),
        ("transmission", &["transmission"]),
        ("fuel", &["fuel"]),
        ("driveline", &["driveline"]),
        ("charge_port", &["charge_port"]),
        ("dc_fast_charge", &["dc_fast_charge"]),
        ("exterior_color", &["exterior_color"]),
        ("interior_color", &["interior_color"]),
        ("year", &["year_min", "year_max"]),
        ("price", &["price_min", "price_max"]),
        ("mileage", &["mileage_max"]),
        (
            "electric_range_mi",
            &["electric_range_mi_min", "electric_range_mi_max"],
        ),
        (
            "displacement_cc",
            &["displacement_cc_min", "displacement_cc_max"],
        ),
        ("vin", &["vin"]),
        ("stock", &["stock"]),
        ("make", &["query"]),
    ];
    // Status is in every listing; a listing without a type is a car.
    let always = ["status", "vehicle_type"];
    let mut filters: Vec<String> = Vec::new();
    for (field, names) in by_field {
        if always.contains(&field) || supplied(field) {
            filters.extend(names.iter().map(|name| (*name).to_owned()));
        }
    }
    if features {
        filters.extend(["features_all".to_owned(), "features_any".to_owned()]);
    }
    let near = rooftops_placed && supplied("rooftop");
    if near {
        filters.push("near".to_owned());
    }
    if scope == Scope::Dealer && supplied("rooftop") {
        filters.push("rooftops".to_owned());
    }
    let sortable = [
        "price",
        "list_price",
        "msrp",
        "mileage",
        "year",
        "make",
        "model",
        "stock",
    ];
    let mut sort_fields: Vec<String> = sortable
        .into_iter()
        .filter(|field| supplied(field))
        .map(str::to_owned)
        .collect();
    sort_fields.push("updated_at".to_owned());
    if near {
        sort_fields.push("distance_mi".to_owned());
    }
    Capabilities {
        scope,
        filters,
        sort_fields,
        default_sort: Sort {
            field: SortField::UpdatedAt,
            order: SortOrder::Desc,
        },
        default_limit: 20,
        max_limit: 100,
        offset: false,
    }
}
