//! `[deployments.ID.oauth]`, and the access keys of MCP and A2A that need it.

use std::time::Duration;

use http::Uri;

use super::super::raw::{self, Access, NativeMcp};
use super::Scope;
use super::urls::published;
use crate::net::Policy;
use crate::oauth::{Algorithm, AuthoritySettings, GateSettings};

/// Bytes of the documents that an issuer publishes.
const MAX_DOCUMENT_BYTES: usize = 256 * 1024;

/// The protected endpoints of one deployment, as far as they are known before the port is.
#[derive(Clone, Debug)]
pub struct Oauth {
    pub authority: AuthoritySettings,
    scopes: Vec<String>,
    lead_scopes: Vec<String>,
    mcp: Option<Protected>,
    a2a: Option<Protected>,
}

/// One endpoint's own part.
#[derive(Clone, Debug)]
struct Protected {
    everything: bool,
    audience: Option<String>,
}

impl Oauth {
    /// What the gate of MCP at this URL is.
    pub fn mcp(&self, url: &str, name: &str) -> Option<GateSettings> {
        Some(self.gate(self.mcp.as_ref()?, url, name))
    }

    /// What the gate of A2A at this URL is.
    pub fn a2a(&self, url: &str, name: &str) -> Option<GateSettings> {
        Some(self.gate(self.a2a.as_ref()?, url, name))
    }

    fn gate(&self, endpoint: &Protected, url: &str, name: &str) -> GateSettings {
        GateSettings {
            resource: url.to_owned(),
            audience: endpoint.audience.clone().unwrap_or_else(|| url.to_owned()),
            name: name.to_owned(),
            everything: endpoint.everything,
            scopes: self.scopes.clone(),
            lead_scopes: self.lead_scopes.clone(),
        }
    }
}

pub(super) fn compile(scope: &mut Scope<'_>, raw: &raw::Deployment) -> Option<Oauth> {
    let mcp = protected(
        raw.mcp.access,
        raw.mcp.lead_access,
        raw.mcp.audience.as_ref(),
    );
    let a2a = protected(
        raw.a2a.access,
        raw.a2a.lead_access,
        raw.a2a.audience.as_ref(),
    );
    for (key, audience, protected) in [
        ("mcp.audience", &raw.mcp.audience, &mcp),
        ("a2a.audience", &raw.a2a.audience, &a2a),
    ] {
        if audience.is_some() && protected.is_none() {
            let remedy = "set access or lead_access to \"oauth\", or leave it out";
            scope.fault(key, "says nothing where no token is asked for", remedy);
        }
    }
    // A token for one endpoint must not open the other (AAP-142).
    if raw.mcp.audience.is_some() && raw.mcp.audience == raw.a2a.audience {
        let remedy = "let the issuer name the two endpoints differently";
        scope.fault("a2a.audience", "is MCP's audience, too", remedy);
    }
    let native = raw.pap.native_mcp.unwrap_or(NativeMcp::Off) != NativeMcp::Off;
    if mcp.is_some() && raw.pap.enabled == Some(true) && native {
        let reason =
            "says that MCP takes Session Tokens, mcp.access that it takes another issuer's";
        scope.fault("pap.native_mcp", reason, "leave one of the two out");
    }
    let used = mcp.is_some() || a2a.is_some();
    match (&raw.oauth, used) {
        (None, false) => None,
        (None, true) => {
            let remedy = "name the issuer under [deployments.ID.oauth]";
            scope.fault("oauth", "is missing: an endpoint asks for tokens", remedy);
            None
        }
        (Some(_), false) => {
            let remedy = "set access or lead_access of mcp or a2a to \"oauth\", or leave it out";
            scope.fault("oauth", "protects nothing", remedy);
            None
        }
        (Some(raw), true) => {
            let mut scope = scope.below("oauth");
            Some(Oauth {
                authority: authority(&mut scope, raw)?,
                scopes: scopes(&mut scope, "scopes", raw.scopes.as_deref()),
                lead_scopes: scopes(&mut scope, "lead_scopes", raw.lead_scopes.as_deref()),
                mcp,
                a2a,
            })
        }
    }
}

fn protected(
    access: Option<Access>,
    lead_access: Option<Access>,
    audience: Option<&String>,
) -> Option<Protected> {
    let everything = access == Some(Access::Oauth);
    (everything || lead_access == Some(Access::Oauth)).then(|| Protected {
        everything,
        audience: audience.cloned(),
    })
}

fn authority(scope: &mut Scope<'_>, raw: &raw::Oauth) -> Option<AuthoritySettings> {
    let remedy = "name the issuer as its tokens do, e.g. https://login.example";
    let issuer = scope.need("issuer", raw.issuer.as_deref(), remedy)?;
    let mut plain_http = false;
    for (key, url) in [
        ("issuer", Some(issuer)),
        ("jwks_url", raw.jwks_url.as_deref()),
    ] {
        let Some(url) = url else { continue };
        match published(url) {
            Ok(uri) if key == "issuer" && has_more(&uri, url) => {
                let remedy = "write it as its tokens name it";
                scope.fault(key, "has a query or fragment", remedy);
            }
            Ok(uri) => plain_http |= uri.scheme_str() == Some("http"),
            Err(reason) => scope.fault(key, reason, "write https://…"),
        }
    }
    let mut policy = Policy {
        // only ever with an issuer on loopback
        allow_http: plain_http,
        connect_timeout: Duration::from_secs(3),
        timeout: Duration::from_secs(5),
        max_body_bytes: MAX_DOCUMENT_BYTES,
        ..Policy::for_operator()
    };
    if let Some(file) = &raw.ca_file {
        policy.extra_ca_file = Some(scope.authorities("ca_file", file).0);
    }
    Some(AuthoritySettings {
        issuer: issuer.to_owned(),
        jwks_uri: raw.jwks_url.clone(),
        algorithms: algorithms(scope, raw.algorithms.as_deref()),
        clock_skew_s: scope.bounded("clock_skew_s", raw.clock_skew_s, 30, (0, 300)),
        policy,
    })
}

fn has_more(uri: &Uri, text: &str) -> bool {
    uri.query().is_some() || text.contains('#')
}

fn algorithms(scope: &mut Scope<'_>, named: Option<&[String]>) -> Vec<Algorithm> {
    let Some(named) = named else {
        return Algorithm::ALL.to_vec();
    };
    let find = |id: &String| Algorithm::ALL.into_iter().find(|known| known.id() == id);
    let known: Vec<_> = named.iter().filter_map(find).collect();
    if known.is_empty() || known.len() != named.len() {
        let ids = Algorithm::ALL.map(Algorithm::id).join(", ");
        scope.fault(
            "algorithms",
            "names none or an unknown one",
            format!("use: {ids}"),
        );
    }
    known
}

/// Scope tokens (RFC 6749 section 3.3): they stand in a header.
fn scopes(scope: &mut Scope<'_>, key: &str, named: Option<&[String]>) -> Vec<String> {
    let named = named.unwrap_or_default();
    let plain = |b: u8| b.is_ascii_graphic() && b != b'"' && b != b'\\';
    let good = |one: &String| !one.is_empty() && one.len() <= 128 && one.bytes().all(plain);
    if named.len() > 32 || !named.iter().all(good) {
        let remedy = "write up to 32 words without spaces, quotes and backslashes";
        scope.fault(key, "holds what is no scope", remedy);
    }
    named.to_vec()
}
