//! `[deployments.ID.inventory.source]`: how the dealer's own system is reached.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use super::super::secret::Secret;

/// `[deployments.ID.inventory.source]` with `kind = "sql"`: a database.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sql {
    /// `sqlite://PATH`, `postgres://…`, `mysql://…` or `sqlserver://…`. Either this or `url_file`.
    pub url: Option<Secret>,
    /// A file that holds the URL.
    pub url_file: Option<PathBuf>,
    /// The password, where the URL does not hold it.
    pub password: Option<Secret>,
    /// A file that holds the password.
    pub password_file: Option<PathBuf>,
    /// PEM of further trusted roots, for a database reached with TLS.
    pub extra_ca_file: Option<PathBuf>,
    /// Only `sqlserver://`: trusts any certificate, and so shows the password to whoever answers.
    /// Default false.
    pub danger_accept_any_certificate: bool,
    /// Milliseconds to connect. Default 10000.
    pub connect_timeout_ms: Option<u64>,
    /// Milliseconds that one reading may take. Default 600000.
    pub read_timeout_ms: Option<u64>,
    /// More rows than this are an error. Default 2000000.
    pub max_rows: Option<u64>,
    /// More rows of all children together are an error. Default 20000000.
    pub max_child_rows: Option<u64>,
    /// More changed rows than this are an error, and the next reading reads all. Default 50000.
    pub max_changed_rows: Option<u64>,
    /// More columns than this are an error. Default 500.
    pub max_columns: Option<usize>,
    /// A row that has more bytes is an error. Default 1048576.
    pub max_row_bytes: Option<usize>,
}

/// `[deployments.ID.inventory.source]` with `kind = "feed"`: a file that another system writes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Feed {
    /// The file, or a folder whose newest file counts. This, `url` or `url_file` is required.
    pub path: Option<PathBuf>,
    /// Which files of the folder count, e.g. `inventory-*.csv`. Default all that do not begin with a dot.
    pub pattern: Option<String>,
    /// The member of a zip that counts. Required where it has several.
    pub member: Option<String>,
    /// A file that is larger once unpacked is an error. Default 2147483648.
    pub max_bytes: Option<u64>,
    /// More rows than this are an error. Default 2000000.
    pub max_rows: Option<u64>,
    /// More columns than this are an error. Default 500.
    pub max_columns: Option<usize>,
    /// A row that has more bytes is an error. Default 1048576.
    pub max_row_bytes: Option<usize>,
    /// The address of a file on a server, `https://…`.
    pub url: Option<Secret>,
    /// A file that holds the address, for one with a key in it.
    pub url_file: Option<PathBuf>,
    /// A file that is larger as it is sent is an error. Default 1073741824.
    pub max_download_bytes: Option<u64>,
    pub auth: Option<Auth>,
    /// Sent with the request.
    pub headers: BTreeMap<String, Secret>,
    /// PEM of further trusted roots.
    pub extra_ca_file: Option<PathBuf>,
    /// PEM of the certificate that is shown to the server, with its chain.
    pub client_certificate_file: Option<PathBuf>,
    /// PEM of that certificate's private key.
    pub client_key_file: Option<PathBuf>,
    /// Permits plain HTTP, which shows the credentials to everybody on the way. Default false.
    pub danger_allow_http: bool,
    /// Milliseconds that fetching the file may take. Default 600000.
    pub request_timeout_ms: Option<u64>,
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
    /// PEM of the certificate that is shown to the server, with its chain.
    pub client_certificate_file: Option<PathBuf>,
    /// PEM of that certificate's private key.
    pub client_key_file: Option<PathBuf>,
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
    /// A page that has more bytes is an error. Default 33554432.
    pub max_page_bytes: Option<usize>,
}

/// `source.auth` of `kind = "rest"` and of a feed with an address: how we show who we are. Each secret may be given as a file instead.
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
    /// Further members of the token request's form, e.g. `audience`.
    pub parameters: BTreeMap<String, Secret>,
    /// Further headers of the token request.
    pub headers: BTreeMap<String, Secret>,
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
