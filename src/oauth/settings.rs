//! What an operator decides about one issuer. Must not judge a request.

use std::collections::BTreeSet;

/// No token lives longer, whatever the operator decides: for so long an end must be remembered.
pub const MAX_TOKEN_LIFETIME_S: u32 = 43_200;

/// Whether proofs must carry a nonce of this server (AAP-261).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NonceMode {
    #[default]
    Off,
    /// Nonces are offered with each answer; one that is used must be ours.
    Optional,
    Required,
}

/// Which clients may sign in, by their `client_id`. Asked before anything is fetched (AAP-235).
#[derive(Clone, Debug, Default)]
pub enum Registration {
    #[default]
    Open,
    Only(BTreeSet<String>),
    AllBut(BTreeSet<String>),
}

impl Registration {
    pub(super) fn admits(&self, client_id: &str) -> bool {
        match self {
            Self::Open => true,
            Self::Only(listed) => listed.contains(client_id),
            Self::AllBut(listed) => !listed.contains(client_id),
        }
    }
}

/// How personal agents reach the MCP endpoint with tokens of this issuer (AAP-319, AAP-320).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum McpTokens {
    /// Tokens of normal grants for the endpoint's URL, with a proof at each request.
    Dpop,
    /// For endpoints behind something that cannot pass proofs on: Bearer tokens, by exchange only.
    Bearer,
}

/// The MCP endpoint as a resource of this issuer (AAP-318).
#[derive(Clone, Debug)]
pub struct NativeMcp {
    /// The advertised URL, to the character.
    pub resource: String,
    pub tokens: McpTokens,
}

/// What an operator decides about one issuer.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `auth.issuer`, to the character (AAP-218); `{issuer}/oauth/token` and `/oauth/revoke` hang below it.
    pub issuer: String,
    /// The API base URL, which is also the `resource` of its tokens.
    pub resource: String,
    /// The MCP endpoint, where its tokens are this issuer's.
    pub mcp: Option<NativeMcp>,
    /// Domains of the one Company behind this issuer (AAP-213).
    pub domains: Vec<String>,
    pub registration: Registration,
    pub nonces: NonceMode,
    pub token_lifetime_s: u32,
    /// A proof's `iat` may differ from now by this much.
    pub proof_window_s: u32,
    /// A Session that was not renewed for so long is forgotten.
    pub session_idle_s: u32,
    /// An ended Session's key is remembered for so long (AAP-252).
    pub tombstone_s: u32,
    pub token_requests_per_minute_and_network: u32,
    pub token_requests_per_minute_and_client: u32,
    pub calls_per_minute_and_session: u32,
}

impl Settings {
    /// The defaults for an issuer whose API base is the issuer itself.
    pub fn new(issuer: impl Into<String>, domain: impl Into<String>) -> Self {
        let issuer = issuer.into();
        Self {
            resource: issuer.strip_suffix('/').unwrap_or(&issuer).to_owned(),
            issuer,
            mcp: None,
            domains: vec![domain.into()],
            registration: Registration::Open,
            nonces: NonceMode::Off,
            token_lifetime_s: 3600,
            proof_window_s: 60,
            session_idle_s: 7 * 86_400,
            tombstone_s: 30 * 86_400,
            token_requests_per_minute_and_network: 600,
            token_requests_per_minute_and_client: 120,
            calls_per_minute_and_session: 240,
        }
    }

    /// The same for an issuer at this URL, which is also its API base.
    #[must_use]
    pub fn at(mut self, issuer: String) -> Self {
        issuer
            .strip_suffix('/')
            .unwrap_or(&issuer)
            .clone_into(&mut self.resource);
        self.issuer = issuer;
        self
    }

    pub(super) fn base(&self) -> &str {
        self.issuer.strip_suffix('/').unwrap_or(&self.issuer)
    }

    /// Where tokens are asked for.
    pub fn token_endpoint(&self) -> String {
        format!("{}/oauth/token", self.base())
    }

    /// Where tokens are given back.
    pub fn revocation_endpoint(&self) -> String {
        format!("{}/oauth/revoke", self.base())
    }
}
