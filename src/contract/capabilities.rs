//! What one deployment's search supports, compiled from mapping and configuration only: rows never change
//! it, and the same object stands on the Agent Card and on the MCP tool (AAP-390).

use serde::Serialize;

use super::request::Sort;

/// Search capabilities (contract section 8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    pub scope: Scope,
    /// Keys of [`super::request::Filters`], in their order there.
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
