//! What an operator may decide about one deployment's inventory. Must not read configuration files.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::contract::Capabilities;
use crate::contract::capabilities::{Scope, SearchOptions};
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
    /// Seconds from the end of one reading to the beginning of the next.
    pub refresh_interval_s: u64,
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
            refresh_interval_s: 5 * 60,
            max_age_s: Some(24 * 60 * 60),
            shrink_guard: 0.5,
            directory: None,
            look_up_timeout_ms: 2_000,
            look_up_cache_ms: 2_000,
        }
    }
}

/// What a search of this inventory can offer, before an operator narrows it: `supplied` tells whether the
/// mapping fills an AAP field, `features` whether it has a vocabulary, `placed` whether a rooftop's
/// coordinates are known. The newest update first is the order that needs nothing but what every listing has.
pub fn capabilities(
    scope: Scope,
    supplied: impl Fn(&str) -> bool,
    features: bool,
    placed: bool,
) -> Capabilities {
    let options = SearchOptions {
        scope,
        default_sort: Sort {
            field: SortField::UpdatedAt,
            order: SortOrder::Desc,
        },
        default_limit: 20,
        max_limit: 100,
        offset: false,
        has_facets: features,
    };
    let mut fields: BTreeSet<String> = INDEXED
        .into_iter()
        .filter(|field| supplied(field))
        .map(str::to_owned)
        .collect();
    // Every listing has an update and a status, and one without a type is a car.
    fields.extend(["updated_at", "status", "vehicle_type"].map(str::to_owned));
    if features {
        fields.insert("feature_evidence".to_owned());
    }
    Capabilities::compile(&fields, placed, &options).unwrap_or_else(|_| Capabilities {
        scope,
        filters: Vec::new(),
        sort_fields: vec!["updated_at".to_owned()],
        default_sort: options.default_sort,
        default_limit: options.default_limit,
        max_limit: options.max_limit,
        offset: options.offset,
    })
}

/// The listing fields that search can ask for.
const INDEXED: [&str; 24] = [
    "make",
    "model",
    "trim",
    "condition",
    "vehicle_type",
    "status",
    "body",
    "transmission",
    "fuel",
    "driveline",
    "charge_port",
    "dc_fast_charge",
    "exterior_color",
    "interior_color",
    "year",
    "price",
    "list_price",
    "msrp",
    "mileage",
    "electric_range_mi",
    "displacement_cc",
    "vin",
    "stock",
    "rooftop",
];
