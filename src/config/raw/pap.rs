//! `[net]` and `[deployments.ID.pap]`.

use std::path::PathBuf;

use serde::Deserialize;

/// `[net]`: how the identities of personal agents are fetched.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Net {
    /// For development on loopback only: fetch from this machine and from any port, too. Default false.
    pub danger_allow_loopback: Option<bool>,
    /// For development on loopback only: fetch from private addresses and from any port, too. Default
    /// false.
    pub danger_allow_private_addresses: Option<bool>,
    /// For development on loopback only: a PEM file of authorities that are trusted beside the public
    /// ones.
    pub extra_ca_file: Option<PathBuf>,
}

/// `[deployments.ID.pap]`: the Personal Agent Protocol.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pap {
    /// Whether personal agents may start guest Sessions and use the native API. Default false.
    pub enabled: Option<bool>,
    /// The path of issuer and API below the public URL. Default `/poppy`.
    pub path: Option<String>,
    /// Whether proofs must carry a nonce of this server: `off` (default), `optional` or `required`.
    pub nonces: Option<Nonces>,
    /// Whether the MCP endpoint takes Session Tokens, too, and is advertised so: `off` (default), `dpop`
    /// (with a proof at each request) or `bearer` (by token exchange, for endpoints behind a proxy that
    /// cannot pass proofs on). Callers without credentials stay welcome.
    pub native_mcp: Option<NativeMcp>,
    /// Seconds that a Session Token lasts. Default 3600, at most 43200.
    pub token_lifetime_s: Option<u32>,
    /// Seconds by which the clock of a proof may differ. Default 60.
    pub proof_window_s: Option<u32>,
    /// Seconds after which a Session that is not renewed is forgotten. Default 604800.
    pub session_idle_s: Option<u32>,
    /// Which agents may sign in: `open` (default), `allow` (only those in `clients`) or `block` (all but
    /// those).
    pub registration: Option<Registration>,
    /// The `client_id` URLs that `registration` is about.
    pub clients: Option<Vec<String>>,
    /// Token requests a minute from one network. Default 600.
    pub token_requests_per_minute_per_network: Option<u32>,
    /// Token requests a minute of one agent. Default 120.
    pub token_requests_per_minute_per_client: Option<u32>,
    /// Calls a minute of one Session. Default 240.
    pub calls_per_minute_per_session: Option<u32>,
}

/// Which Session Tokens the MCP endpoint takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NativeMcp {
    Off,
    Dpop,
    Bearer,
}

/// Whether proofs must carry a server nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Nonces {
    Off,
    Optional,
    Required,
}

/// Which agents may sign in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Registration {
    Open,
    Allow,
    Block,
}
