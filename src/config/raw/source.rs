//! `[deployments.ID.inventory.source]`: how the dealer's own system is reached.

use std::collections::BTreeMap;
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

/// `[deployments.ID.inventory.source]` with `kind = "rest"`: a JSON API.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rest {
    /// What stands before the mapping's paths, `https://…`. Either this or `base_url_file`.
    pub base_url: Option<Secret>,
    /// A file that holds the base URL, for one with a key in it.
    pub base_url_file: Option<PathBuf>,
    pub auth: Option<Auth>,
    /// Sent with every request, e.g. a subscription id.
    pub headers: BTreeMap<String, Secret>,
    /// PEM of further trusted roots.
    pub extra_ca_file: Option<PathBuf>,
    /// Permits plain HTTP, which shows the credentials to everybody on the way. Default false.
    pub danger_allow_http: bool,
    /// Milliseconds that one request may take. Default 30000.
    pub request_timeout_ms: Option<u64>,
    /// Milliseconds that one reading may take. Default 1800000.
    pub read_timeout_ms: Option<u64>,
    /// Milliseconds from one request to the next. Default 100.
    pub min_interval_ms: Option<u64>,
    /// More rows than this are an error. Default 1000000.
    pub max_rows: Option<u64>,
    /// More pages than this are an error. Default 20000.
    pub max_pages: Option<u64>,
}

/// `source.auth` of `kind = "rest"`: how we show who we are. Each secret may be given as a file instead.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Auth {
    /// `header` or `query` (with `name`, `value`), `basic` (`user`, `password`), `bearer` (`token`), or
    /// `client_credentials` (`token_url`, `client_id`, `client_secret`). Required.
    pub by: Option<AuthKind>,
    pub name: Option<String>,
    pub value: Option<Secret>,
    pub value_file: Option<PathBuf>,
    pub user: Option<String>,
    pub password: Option<Secret>,
    pub password_file: Option<PathBuf>,
    pub token: Option<Secret>,
    pub token_file: Option<PathBuf>,
    pub token_url: Option<String>,
    pub client_id: Option<String>,
    pub client_secret: Option<Secret>,
    pub client_secret_file: Option<PathBuf>,
    /// The scope to ask for.
    pub scope: Option<String>,
    /// Whether id and secret go in the form instead of the Authorization header. Default false.
    pub in_body: bool,
}

/// The ways to show who we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthKind {
    Header,
    Query,
    Basic,
    Bearer,
    ClientCredentials,
}
