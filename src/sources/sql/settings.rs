//! How to reach a database, and what a reading may take. Must not know the plan.

use serde::Deserialize;

/// How to reach a database.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// `sqlite://path`, `postgres://user@host/database`, `mysql://user@host/database` or
    /// `sqlserver://user@host/database`.
    pub url: String,
    /// Kept apart from the address where that is more convenient.
    #[serde(default)]
    pub password: Option<String>,
    /// A file with certificates of further authorities.
    #[serde(default)]
    pub ca_file: Option<std::path::PathBuf>,
    /// Shows the password to whoever answers: for a SQL Server with the certificate that it made itself.
    #[serde(default)]
    pub danger_accept_any_certificate: bool,
    #[serde(default = "connect_timeout_ms")]
    pub connect_timeout_ms: u64,
    /// For one whole reading.
    #[serde(default = "read_timeout_ms")]
    pub read_timeout_ms: u64,
    /// For the look-up of one vehicle.
    #[serde(default = "look_up_timeout_ms")]
    pub look_up_timeout_ms: u64,
    #[serde(default = "max_rows")]
    pub max_rows: u64,
    /// Rows that changed since a reading, which are held together; beyond it all rows are read.
    #[serde(default = "max_changed_rows")]
    pub max_changed_rows: u64,
    /// Rows of all children together.
    #[serde(default = "max_child_rows")]
    pub max_child_rows: u64,
    #[serde(default = "max_columns")]
    pub max_columns: usize,
    #[serde(default = "max_row_bytes")]
    pub max_row_bytes: usize,
}

fn connect_timeout_ms() -> u64 {
    10_000
}
fn read_timeout_ms() -> u64 {
    600_000
}
fn look_up_timeout_ms() -> u64 {
    3_000
}
fn max_rows() -> u64 {
    2_000_000
}
fn max_changed_rows() -> u64 {
    50_000
}
fn max_child_rows() -> u64 {
    20_000_000
}
fn max_columns() -> usize {
    500
}
fn max_row_bytes() -> usize {
    1 << 20
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("url", &without_credentials(&self.url))
            .finish_non_exhaustive()
    }
}

impl Settings {
    /// Settings with the default limits.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            password: None,
            ca_file: None,
            danger_accept_any_certificate: false,
            connect_timeout_ms: connect_timeout_ms(),
            read_timeout_ms: read_timeout_ms(),
            look_up_timeout_ms: look_up_timeout_ms(),
            max_rows: max_rows(),
            max_changed_rows: max_changed_rows(),
            max_child_rows: max_child_rows(),
            max_columns: max_columns(),
            max_row_bytes: max_row_bytes(),
        }
    }
}

/// An address without user, password and parameters.
pub(in super::super) fn without_credentials(url: &str) -> String {
    let plain = url.split('?').next().unwrap_or(url);
    match plain.split_once("://") {
        Some((scheme, rest)) => match rest.rsplit_once('@') {
            Some((_, place)) => format!("{scheme}://{place}"),
            None => plain.to_owned(),
        },
        None => "(no database address)".to_owned(),
    }
}
