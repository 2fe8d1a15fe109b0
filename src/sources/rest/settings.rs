//! Where an API is, who we are there, and how much is asked of it. Must not know the paging.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;

/// An API's place, credentials and limits.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// What stands before the plan's paths; may hold a key in its path.
    pub base_url: String,
    #[serde(default)]
    pub auth: Option<Auth>,
    /// Sent with every request, e.g. a subscription id.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
    /// Permits plain HTTP, which shows the credentials to everybody on the way.
    #[serde(default)]
    pub danger_allow_http: bool,
    #[serde(default = "request_timeout_ms")]
    pub request_timeout_ms: u64,
    #[serde(default = "read_timeout_ms")]
    pub read_timeout_ms: u64,
    /// Between the starts of two requests.
    #[serde(default = "min_interval_ms")]
    pub min_interval_ms: u64,
    /// The first wait after a failure; it doubles.
    #[serde(default = "retry_base_ms")]
    pub retry_base_ms: u64,
    #[serde(default = "max_rows")]
    pub max_rows: u64,
    #[serde(default = "max_pages")]
    pub max_pages: u64,
    #[serde(default = "max_page_bytes")]
    pub max_page_bytes: usize,
}

fn request_timeout_ms() -> u64 {
    30_000
}
fn read_timeout_ms() -> u64 {
    1_800_000
}
fn min_interval_ms() -> u64 {
    100
}
fn retry_base_ms() -> u64 {
    500
}
fn max_rows() -> u64 {
    1_000_000
}
fn max_pages() -> u64 {
    20_000
}
fn max_page_bytes() -> usize {
    32 << 20
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").finish_non_exhaustive()
    }
}

impl Settings {
    /// Settings without credentials and with the default limits.
    pub fn new(base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            auth: None,
            headers: BTreeMap::new(),
            ca_file: None,
            danger_allow_http: false,
            request_timeout_ms: request_timeout_ms(),
            read_timeout_ms: read_timeout_ms(),
            min_interval_ms: min_interval_ms(),
            retry_base_ms: retry_base_ms(),
            max_rows: max_rows(),
            max_pages: max_pages(),
            max_page_bytes: max_page_bytes(),
        }
    }
}

/// How we show who we are.
#[derive(Clone, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case", deny_unknown_fields)]
pub enum Auth {
    /// A key in a header.
    Header {
        name: String,
        value: String,
    },
    /// A key in the query.
    Query {
        name: String,
        value: String,
    },
    Basic {
        user: String,
        password: String,
    },
    Bearer {
        token: String,
    },
    /// OAuth client credentials; the token is kept until shortly before its end.
    ClientCredentials {
        token_url: String,
        client_id: String,
        client_secret: String,
        #[serde(default)]
        scope: Option<String>,
        /// Id and secret in the form instead of the Authorization header.
        #[serde(default)]
        in_body: bool,
    },
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header { .. } => "Header",
            Self::Query { .. } => "Query",
            Self::Basic { .. } => "Basic",
            Self::Bearer { .. } => "Bearer",
            Self::ClientCredentials { .. } => "ClientCredentials",
        })
    }
}
