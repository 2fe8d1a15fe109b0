//! How to reach a database, and what a reading may take. Must not know the plan.

/// How to reach a database.
#[derive(Clone)]
pub struct Settings {
    /// `sqlite://path`, `postgres://user@host/database`, `mysql://user@host/database` or
    /// `sqlserver://user@host/database`.
    pub url: String,
    /// Kept apart from the address where that is more convenient.
    pub password: Option<String>,
    /// A file with certificates of further authorities.
    pub ca_file: Option<std::path::PathBuf>,
    /// Shows the password to whoever answers: for a SQL Server with the certificate that it made itself.
    pub danger_accept_any_certificate: bool,
    pub connect_timeout_ms: u64,
    /// For one whole reading.
    pub read_timeout_ms: u64,
    /// For the look-up of one vehicle.
    pub look_up_timeout_ms: u64,
    pub max_rows: u64,
    /// Rows that changed since a reading, which are held together; beyond it all rows are read.
    pub max_changed_rows: u64,
    /// Rows of all children together.
    pub max_child_rows: u64,
    pub max_columns: usize,
    pub max_row_bytes: usize,
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
            connect_timeout_ms: 10_000,
            read_timeout_ms: 600_000,
            look_up_timeout_ms: 3_000,
            max_rows: 2_000_000,
            max_changed_rows: 50_000,
            max_child_rows: 20_000_000,
            max_columns: 500,
            max_row_bytes: 1 << 20,
        }
    }
}

/// An address without user, password and parameters.
pub(in super::super) fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return "(no database address)".to_owned();
    };
    let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    // Perhaps no parameters, but the rest of a password with a question mark in it.
    if parameters.contains('@') {
        return format!("{scheme}://(an address with `@` behind `?`)");
    }
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    format!("{scheme}://{place}")
}
