//! `[deployments.ID.inventory.source]`: how the dealer's own system is reached.

use std::path::PathBuf;

use serde::Deserialize;

use super::super::secret::Secret;

/// `kind = "sql"`: a database.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sql {
    /// `sqlite://PATH`, `postgres://…` or `mysql://…`. Either this or `url_file`.
    pub url: Option<Secret>,
    /// A file that holds the URL.
    pub url_file: Option<PathBuf>,
    /// Milliseconds to connect.
    pub connect_timeout_ms: Option<u64>,
    /// Milliseconds that one reading may take.
    pub read_timeout_ms: Option<u64>,
    /// More rows than this are an error.
    pub max_rows: Option<u64>,
}
