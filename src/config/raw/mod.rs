//! The configuration as its writer wrote it: every key with its meaning. Nothing is checked here but
//! names and types; a key that is absent has the default that its comment states.

mod delivery;
mod deployment;
mod leads;
mod oauth;
mod pap;
mod profile;
mod source;
mod store;
mod telemetry;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

pub(crate) use delivery::DELIVERY_KEYS;
pub use delivery::{Delivery, Directory, Http, HttpForm, Smtp, SmtpTls};
pub use deployment::{
    A2a, Access, Deployment, Inventory, Limits, Mcp, Scope, Search, Seller, Website,
};
pub use leads::{Leads, Network, Scheduling, Vendor};
pub use oauth::Oauth;
pub use pap::{NativeMcp, Net, Nonces, Pap, Registration};
pub use profile::{Address, ContactPoint, Fee, Geo, Profile, Rooftop, Schedule};
pub use source::{Auth, AuthKind, Feed, Rest, Sql};
pub use store::{Store, StoreKind};
pub use telemetry::{Otlp, Telemetry};

/// The whole file: its tables.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Raw {
    pub server: Server,
    pub data: Data,
    pub keys: Keys,
    pub store: Store,
    pub net: Net,
    pub telemetry: Telemetry,
    /// What every deployment is given where it does not say otherwise itself: any keys of
    /// `[deployments.ID]`. Tables are joined key by key; a list or a value of the deployment stands.
    pub defaults: Deployment,
    /// The deployments, each under its id: lower-case letters, digits and `_`, so that environment
    /// variables can reach them.
    pub deployments: BTreeMap<String, Deployment>,
}

/// `[server]`: how this process is reached, and its limits.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Server {
    /// The address and port to listen on; port 0 takes any free one. Default `127.0.0.1:8080`.
    pub listen: Option<String>,
    /// Where operators find `/livez`, `/readyz`, `/startupz` and `/metrics`: an address and port that
    /// strangers cannot reach. Default none.
    pub admin_listen: Option<String>,
    pub tls: Tls,
    /// Proxies in front of this process, as addresses, networks (`10.0.0.0/8`) or `loopback`: they may bring
    /// plain HTTP from outside, and what they say in `Forwarded` or `X-Forwarded-…` counts. They must pass
    /// on the `Host`. Default none.
    pub trusted_proxies: Vec<String>,
    /// Seconds for which browsers that came by HTTPS are told to come by HTTPS only; 0 says nothing.
    /// Default 31536000.
    pub hsts_s: Option<u64>,
    /// Connections open at one time. Default 4096.
    pub max_connections: Option<usize>,
    /// Connections of one address at one time, trusted proxies and loopback excepted. Default 256.
    pub max_connections_per_address: Option<usize>,
    /// The largest head of a request taken, in bytes. Default 16384.
    pub max_header_bytes: Option<usize>,
    /// The largest request body taken, in bytes. Default 262144.
    pub max_body_bytes: Option<usize>,
    /// Seconds in which a request's head must have arrived. Default 15.
    pub header_timeout_s: Option<u64>,
    /// Seconds in which a request's body must have arrived. Default 15.
    pub body_timeout_s: Option<u64>,
    /// Milliseconds that requests in flight have to end at shutdown. Default 1500.
    pub shutdown_grace_ms: Option<u64>,
    /// Requests that one address may make in a minute. Default unlimited.
    pub requests_per_minute_per_address: Option<u32>,
}

/// `[server.tls]`: TLS 1.2 and 1.3 on the listener. Without it, only this machine and `trusted_proxies` are
/// answered.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tls {
    /// PEM of the certificate chain, the server's own first. Read again when it changes.
    pub certificate_file: Option<PathBuf>,
    /// PEM of its private key.
    pub key_file: Option<PathBuf>,
    /// Further certificates, chosen by the name that the client asks for.
    pub certificates: Vec<Certificate>,
    /// PEM of authorities; where set, every client must show a certificate of one of them.
    pub client_ca_file: Option<PathBuf>,
}

/// `[[server.tls.certificates]]`: a further certificate.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Certificate {
    /// PEM of the certificate chain. Required.
    pub certificate_file: Option<PathBuf>,
    /// PEM of its private key. Required.
    pub key_file: Option<PathBuf>,
}

/// `[data]`: where this process keeps what must survive it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Data {
    /// The folder; made when absent. Default `forecourt-data` beside the configuration file.
    pub directory: Option<PathBuf>,
}

/// `[keys]`: what seals cursors, Session Tokens and the ledger.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Keys {
    /// The key file: one base64 key of 32 bytes a line, the sealing key first. Replicas share it.
    /// Default `keys` in the data folder, made when absent; a file named here must exist.
    pub file: Option<PathBuf>,
}
