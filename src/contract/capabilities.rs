//! What one deployment's search supports, compiled from mapping and configuration only: rows never change
//! it, and the same object stands on the Agent Card and on the MCP tool (AAP-390).

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::request::{Filters, SearchRequest, Sort, SortField, SortOrder};
use super::{AapError, ErrorCode, Problem, Skill};

/// Search capabilities (contract section 8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    pub scope: Scope,
    /// Names of filters, in the order of [`Filters`].
    pub filters: Vec<String>,
    /// Names of sortable fields.
    pub sort_fields: Vec<String>,
    pub default_sort: Sort,
    pub default_limit: u32,
    pub max_limit: u32,
    /// Whether `pagination.skip` is accepted.
    pub offset: bool,
}

/// Whose inventory an endpoint shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    Dealer,
    Aggregate,
}

/// What configuration says of search.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    pub scope: Scope,
    pub default_sort: Sort,
    pub default_limit: u32,
    pub max_limit: u32,
    pub offset: bool,
    /// Whether `inventory.facets` is implemented: feature filters need it (AAP-026).
    pub has_facets: bool,
    /// Whether `inventory.search` is implemented: facets alone offer no filter (AAP-364).
    pub has_search: bool,
}

impl SearchOptions {
    /// What holds where an operator says nothing: the newest update first, which needs nothing but what
    /// every listing has; twenty vehicles a page, at most a hundred; no offset.
    pub fn new(scope: Scope, skills: &[Skill]) -> Self {
        Self {
            scope,
            default_sort: Sort {
                field: SortField::UpdatedAt,
                order: SortOrder::Desc,
            },
            default_limit: 20,
            max_limit: 100,
            offset: false,
            has_facets: skills.contains(&Skill::InventoryFacets),
            has_search: skills.contains(&Skill::InventorySearch),
        }
    }
}

/// Filter → the listing field it needs.
const FILTERS: &[(&str, &str)] = &[
    ("make", "make"),
    ("model", "model"),
    ("trim", "trim"),
    ("condition", "condition"),
    ("vehicle_type", "vehicle_type"),
    ("status", "status"),
    ("body", "body"),
    ("transmission", "transmission"),
    ("fuel", "fuel"),
    ("driveline", "driveline"),
    ("charge_port", "charge_port"),
    ("dc_fast_charge", "dc_fast_charge"),
    ("exterior_color", "exterior_color"),
    ("interior_color", "interior_color"),
    ("year_min", "year"),
    ("year_max", "year"),
    ("price_min", "price"),
    ("price_max", "price"),
    ("mileage_max", "mileage"),
    ("electric_range_mi_min", "electric_range_mi"),
    ("electric_range_mi_max", "electric_range_mi"),
    ("displacement_cc_min", "displacement_cc"),
    ("displacement_cc_max", "displacement_cc"),
    ("vin", "vin"),
    ("stock", "stock"),
    ("query", "model"),
    ("features_all", "feature_evidence"),
    ("features_any", "feature_evidence"),
    ("near", "rooftop"),
    ("rooftops", "rooftop"),
];

const SORTS: &[&str] = &[
    "price",
    "list_price",
    "msrp",
    "mileage",
    "year",
    "make",
    "model",
    "stock",
    "updated_at",
];

const HINT: &str = "Read the published search capabilities before forming another query.";

impl Capabilities {
    /// Compiles what search supports: `supplied` are the AAP fields that the mapping fills, `has_geo` tells
    /// that a rooftop has coordinates. Each fault is one text.
    pub fn compile(
        supplied: &BTreeSet<String>,
        has_geo: bool,
        options: &SearchOptions,
    ) -> Result<Self, Vec<String>> {
        if !options.has_search {
            return Ok(Self::nothing(options.scope));
        }
        let offered = |filter: &str| match filter {
            "features_all" | "features_any" => options.has_facets,
            "near" => has_geo,
            "rooftops" => options.scope == Scope::Dealer,
            _ => true,
        };
        let filters: Vec<String> = FILTERS
            .iter()
            .filter(|(filter, field)| supplied.contains(*field) && offered(filter))
            .map(|(filter, _)| (*filter).to_owned())
            .collect();
        let mut sort_fields: Vec<String> = SORTS
            .iter()
            .filter(|f| supplied.contains(**f))
            .map(|f| (*f).to_owned())
            .collect();
        if filters.iter().any(|f| f == "near") {
            sort_fields.push("distance_mi".to_owned());
        }
        let compiled = Self {
            scope: options.scope,
            filters,
            sort_fields,
            default_sort: options.default_sort,
            default_limit: options.default_limit,
            max_limit: options.max_limit,
            offset: options.offset,
        };
        let faults = compiled.faults();
        if faults.is_empty() {
            Ok(compiled)
        } else {
            Err(faults)
        }
    }

    /// Where search is not implemented: no filter and no order, nothing to advertise (AAP-364, AAP-365). The
    /// rest is what an inventory keeps its own order by.
    fn nothing(scope: Scope) -> Self {
        let default = SearchOptions::new(scope, &[]);
        Self {
            scope,
            filters: Vec::new(),
            sort_fields: Vec::new(),
            default_sort: default.default_sort,
            default_limit: default.default_limit,
            max_limit: default.max_limit,
            offset: default.offset,
        }
    }

    /// Every listing field that a search can ask for.
    pub fn fields() -> BTreeSet<String> {
        let filtered = FILTERS.iter().map(|(_, field)| *field);
        filtered
            .chain(SORTS.iter().copied())
            .map(str::to_owned)
            .collect()
    }

    /// Why these capabilities could not be used (AAP-025, AAP-404).
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let field = field_name(self.default_sort.field);
        if field == "distance_mi" {
            faults.push("default_sort cannot be distance_mi: it needs an origin".to_owned());
        } else if !self.sort_fields.contains(&field) {
            faults.push(format!(
                "default_sort is {field}, which the mapping does not supply"
            ));
        }
        if !(1..=100).contains(&self.max_limit) {
            faults.push("max_limit must be 1 to 100".to_owned());
        }
        if !(1..=self.max_limit).contains(&self.default_limit) {
            faults.push("default_limit must be 1 to max_limit".to_owned());
        }
        faults
    }

    /// `UNSUPPORTED_FILTER` for every filter that is not offered (AAP-386).
    pub fn check_filters(&self, filters: &Filters) -> Result<(), AapError> {
        let problems: Vec<Problem> = filters
            .names()
            .filter(|name| !self.filters.iter().any(|offered| offered == name))
            .map(|name| {
                let words = "This filter is not offered here; leave it out.";
                Problem::new(format!("/filters/{name}"), "capability", words)
            })
            .collect();
        if problems.is_empty() {
            return Ok(());
        }
        let message = "This deployment does not support every filter that was sent.";
        Err(AapError::new(ErrorCode::UnsupportedFilter, message)
            .with_problems(&problems)
            .with_hint(HINT))
    }

    /// Filters, order, page size and offset of a search against what is offered.
    pub fn check_search(&self, request: &SearchRequest) -> Result<(), AapError> {
        self.check_page(request)?;
        if let Some(filters) = &request.filters {
            self.check_filters(filters)?;
        }
        let Some(sort) = request.sort else {
            return Ok(());
        };
        let field = field_name(sort.field);
        if self.sort_fields.contains(&field) {
            return Ok(());
        }
        let words = format!("Order by one of: {}.", self.sort_fields.join(", "));
        Err(AapError::new(
            ErrorCode::UnsupportedSort,
            "This order is not offered here.",
        )
        .with_problems(&[Problem::new("/sort/field", "capability", words)])
        .with_hint(HINT))
    }

    /// AAP-421, AAP-422: never clamped, never ignored.
    fn check_page(&self, request: &SearchRequest) -> Result<(), AapError> {
        let mut problems = Vec::new();
        let mut hint = HINT;
        if request
            .pagination
            .limit
            .is_some_and(|limit| limit > self.max_limit)
        {
            let words = format!("Must be at most {}.", self.max_limit);
            problems.push(Problem::new("/pagination/limit", "maximum", words));
        }
        if request.pagination.skip.is_some() && !self.offset {
            hint = "Start without an offset and follow next_cursor.";
            let words = "This deployment has no offset; leave skip out.";
            problems.push(Problem::new("/pagination/skip", "capability", words));
        }
        if problems.is_empty() {
            return Ok(());
        }
        Err(AapError::new(
            ErrorCode::SchemaValidationFailed,
            "The page cannot be served as asked.",
        )
        .with_problems(&problems)
        .with_hint(hint))
    }
}

/// The wire name of a sort field.
fn field_name(field: SortField) -> String {
    match serde_json::to_value(field) {
        Ok(Value::String(name)) => name,
        Ok(_) | Err(_) => String::new(),
    }
}
