//! `[net]` and `[deployments.ID.pap]`.

use std::net::SocketAddr;

use super::super::raw;
use super::Scope;
use super::urls;
use crate::net::Policy;
use crate::oauth::{MAX_TOKEN_LIFETIME_S, McpTokens, NativeMcp, NonceMode, Registration, Settings};

/// A deployment's issuer, as far as it is known before the port is.
#[derive(Clone, Debug)]
pub struct Pap {
    /// Below the public URL.
    path: String,
    /// Which Session Tokens the MCP endpoint takes, if any.
    mcp: Option<McpTokens>,
    settings: Settings,
}

impl Pap {
    /// The issuer's settings under this public base URL, beside the MCP endpoint at `mcp`.
    pub fn settings(&self, base: &str, mcp: &str) -> Settings {
        let mut settings = self.settings.clone().at(format!("{base}{}", self.path));
        settings.mcp = self.mcp.map(|tokens| NativeMcp {
            resource: mcp.to_owned(),
            tokens,
        });
        settings
    }
}

/// How identities of agents are fetched. The switches for development open the dealer's own network to
/// strangers' URLs, so they go with a loopback listener only.
pub(super) fn policy(scope: &mut Scope<'_>, raw: &raw::Net, listen: Option<SocketAddr>) -> Policy {
    let public = listen.is_some_and(|listen| !listen.ip().is_loopback());
    let mut policy = Policy::for_peers();
    let remedy = "leave it out, or let server.listen be a loopback address";
    let mut on = |key, switch: Option<bool>| {
        let on = switch == Some(true);
        if on && public {
            let reason = "is for development, but the listener is public";
            scope.fault(key, reason, remedy);
        }
        on
    };
    if on("danger_allow_loopback", raw.danger_allow_loopback) {
        policy = policy.danger_allow_loopback();
    }
    if on(
        "danger_allow_private_addresses",
        raw.danger_allow_private_addresses,
    ) {
        policy = policy.danger_allow_private_addresses();
    }
    if let Some(file) = &raw.extra_ca_file {
        let file = scope.authorities("extra_ca_file", file).0;
        if public {
            let reason = "is for development, but the listener is public";
            scope.fault("extra_ca_file", reason, remedy);
        }
        policy.extra_ca_file = Some(file);
    }
    policy
}

/// The domains are all of one company: they share the issuer (AAP-213).
pub(super) fn compile(
    scope: &mut Scope<'_>,
    raw: &raw::Pap,
    domain: &str,
    aliases: &[String],
) -> Option<Pap> {
    let path = raw.path.clone().unwrap_or_else(|| "/poppy".to_owned());
    if !urls::is_path(&path) {
        let remedy = "write e.g. /poppy, without a trailing slash";
        scope.fault("path", "is not a path", remedy);
    }
    let mut default = Settings::new(String::new(), domain);
    default.domains.extend(aliases.iter().cloned());
    let settings = Settings {
        registration: registration(scope, raw),
        nonces: match raw.nonces {
            None | Some(raw::Nonces::Off) => NonceMode::Off,
            Some(raw::Nonces::Optional) => NonceMode::Optional,
            Some(raw::Nonces::Required) => NonceMode::Required,
        },
        token_lifetime_s: scope.bounded(
            "token_lifetime_s",
            raw.token_lifetime_s,
            default.token_lifetime_s,
            (60, MAX_TOKEN_LIFETIME_S),
        ),
        proof_window_s: scope.bounded(
            "proof_window_s",
            raw.proof_window_s,
            default.proof_window_s,
            (5, 300),
        ),
        session_idle_s: scope.bounded(
            "session_idle_s",
            raw.session_idle_s,
            default.session_idle_s,
            (86_400, 31_536_000),
        ),
        token_requests_per_minute_and_network: scope.bounded(
            "token_requests_per_minute_per_network",
            raw.token_requests_per_minute_per_network,
            default.token_requests_per_minute_and_network,
            (1, 1_000_000),
        ),
        token_requests_per_minute_and_client: scope.bounded(
            "token_requests_per_minute_per_client",
            raw.token_requests_per_minute_per_client,
            default.token_requests_per_minute_and_client,
            (1, 1_000_000),
        ),
        calls_per_minute_and_session: scope.bounded(
            "calls_per_minute_per_session",
            raw.calls_per_minute_per_session,
            default.calls_per_minute_and_session,
            (1, 1_000_000),
        ),
        ..default
    };
    let mcp = match raw.native_mcp {
        None | Some(raw::NativeMcp::Off) => None,
        Some(raw::NativeMcp::Dpop) => Some(McpTokens::Dpop),
        Some(raw::NativeMcp::Bearer) => Some(McpTokens::Bearer),
    };
    (raw.enabled == Some(true)).then_some(Pap {
        path,
        mcp,
        settings,
    })
}

fn registration(scope: &mut Scope<'_>, raw: &raw::Pap) -> Registration {
    let clients = raw.clients.iter().flatten().cloned().collect();
    let wanted = raw.registration.unwrap_or(raw::Registration::Open);
    match (wanted, &raw.clients) {
        (raw::Registration::Open, Some(_)) => {
            let remedy = "set registration = \"allow\" or \"block\", or leave it out";
            scope.fault("clients", "says nothing when registration is open", remedy);
            Registration::Open
        }
        (raw::Registration::Open, None) => Registration::Open,
        (raw::Registration::Allow | raw::Registration::Block, None) => {
            let remedy = "name the client_id URLs that it is about";
            scope.fault("clients", "is missing", remedy);
            Registration::Open
        }
        (raw::Registration::Allow, Some(_)) => Registration::Only(clients),
        (raw::Registration::Block, Some(_)) => Registration::AllBut(clients),
    }
}
