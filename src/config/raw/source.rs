//! `[deployments.ID.inventory.source]`: how the dealer's own system is reached.

use std::path::PathBuf;

use serde::Deserialize;

use super::super::secret::Secret;

/// `[deployments.ID.inventory.source]` with `kind = "sql"`: a database.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sql {
    /// `sqlite://PATH`, `postgres://…` or `mysql://…`. Either this or `url_file`.
    pub url: Option<Secret>,
    /// A file that holds the URL.
    pub url_file: Option<PathBuf>,
    /// The password, where the URL does not hold it.
    pub password: Option<Secret>,
    /// A file that holds the password.
    pub password_file: Option<PathBuf>,
    /// PEM of further trusted roots, for a database reached with TLS.
    pub extra_ca_file: Option<PathBuf>,
    /// Milliseconds to connect. Default 10000.
    pub connect_timeout_ms: Option<u64>,
    /// Milliseconds that one reading may take. Default 600000.
    pub read_timeout_ms: Option<u64>,
    /// More rows than this are an error.
    pub max_rows: Option<u64>,
}

/// `[deployments.ID.inventory.source]` with `kind = "feed"`: a file that another system writes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Feed {
    /// The file, or a folder whose newest file counts. Required.
    pub path: Option<PathBuf>,
    /// A file that is larger once unpacked is an error. Default 2147483648.
    pub max_bytes: Option<u64>,
    /// More rows than this are an error. Default 2000000.
    pub max_rows: Option<u64>,
}
