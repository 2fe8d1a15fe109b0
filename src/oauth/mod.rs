//! The PAP issuer of one deployment and the check of what it issued: client identities, assertions,
//! DPoP proofs, guest Sessions and their sealed tokens. Must not know skills, listings or HTTP routes,
//! and must not log or return a token, assertion, proof or User ID (AAP-264, AAP-341).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use http::HeaderMap;

use crate::clock::Clock;
use crate::net;
use crate::seal::KeyRing;

mod access;
mod assertion;
mod bearer;
mod client;
mod dpop;
mod exchange;
mod fetch;
mod form;
mod grant;
mod jws;
mod key;
mod ledger;
mod limits;
mod metadata;
mod nonce;
mod refusal;
mod replay;
mod request;
mod revocation;
mod token;
mod url;

pub use access::Access;
#[cfg(any(test, fuzzing))]
pub use bearer::fuzz as fuzz_bearer;
pub use bearer::{Authority, AuthoritySettings, Challenge, Gate, GateSettings, Visitor};
pub use grant::Granted;
pub use jws::Algorithm;
pub use ledger::Ledger;
pub use refusal::{Code, Refusal, Reply};

use client::Directory;
use limits::Limits;
use nonce::Nonces;
use replay::Window;

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
    fn admits(&self, client_id: &str) -> bool {
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

    fn base(&self) -> &str {
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

/// The issuer of one deployment, and the resource server's side of its tokens.
pub struct Issuer {
    settings: Settings,
    clients: Directory,
    keys: Arc<KeyRing>,
    ledger: Ledger,
    clock: Clock,
    token_nonces: Nonces,
    api_nonces: Nonces,
    networks: Limits,
    client_requests: Limits,
    session_calls: Limits,
    proofs: Window,
    /// Thumbprints of Sessions that ended, and when the last of their tokens does: asked on every call, so
    /// held here and filled at start.
    ended: Mutex<BTreeMap<String, i64>>,
    /// Proofs from before this second may have been used at a process that is no more.
    started_at: i64,
}

impl Issuer {
    /// Opens an issuer. `client` should be under [`net::Policy::for_peers`].
    pub async fn open(
        settings: Settings,
        client: net::Client,
        keys: Arc<KeyRing>,
        ledger: Ledger,
        clock: Clock,
    ) -> Result<Self, Refusal> {
        let now = clock.now().as_second();
        let ended = ledger.ended(&settings.issuer, now).await?;
        let until = now + i64::from(settings.token_lifetime_s);
        let ended = ended.into_iter().map(|jkt| (jkt, until)).collect();
        let nonces = |server| Nonces::new(server, &settings.issuer, Arc::clone(&keys));
        Ok(Self {
            clients: Directory::new(client, clock.clone()),
            token_nonces: nonces("issuer"),
            api_nonces: nonces("api"),
            networks: Limits::per_minute(settings.token_requests_per_minute_and_network),
            client_requests: Limits::per_minute(settings.token_requests_per_minute_and_client),
            session_calls: Limits::per_minute(settings.calls_per_minute_and_session),
            proofs: Window::default(),
            ended: Mutex::new(ended),
            started_at: now,
            settings,
            keys,
            ledger,
            clock,
        })
    }

    /// What the operator decided.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    fn now(&self) -> i64 {
        self.clock.now().as_second()
    }

    fn has_ended(&self, jkt: &str) -> bool {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.contains_key(jkt)
    }

    /// Notes an end for as long as a token may say otherwise; what is older goes.
    fn note_end(&self, jkt: String) {
        let now = self.now();
        let until = now + i64::from(self.settings.token_lifetime_s);
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.retain(|_, until| *until > now);
        ended.insert(jkt, until);
    }

    #[cfg(test)]
    fn ends_noted(&self) -> usize {
        self.ended
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }

    /// A nonce for the next request, where nonces are in use.
    fn next_nonce(&self, nonces: &Nonces) -> Option<String> {
        match self.settings.nonces {
            NonceMode::Off => None,
            NonceMode::Optional | NonceMode::Required => nonces.issue(self.now()),
        }
    }

    /// Judges a proof's nonce; the refusal carries a fresh one (RFC 9449 section 8).
    fn check_nonce(&self, nonces: &Nonces, given: Option<&str>) -> Result<(), Refusal> {
        let good = match (self.settings.nonces, given) {
            (NonceMode::Off, _) | (NonceMode::Optional, None) => true,
            (NonceMode::Required, None) => false,
            (NonceMode::Optional | NonceMode::Required, Some(nonce)) => {
                nonces.knows(nonce, self.now())
            }
        };
        if good {
            return Ok(());
        }
        let fresh = nonces
            .issue(self.now())
            .ok_or_else(|| Refusal::unavailable("nonce"))?;
        Err(Refusal::nonce(fresh))
    }
}

/// Whether a query string carries what belongs into a header or a body (AAP-262).
fn carries_credentials(query: Option<&str>) -> bool {
    const NAMES: [&str; 7] = [
        "access_token",
        "token",
        "assertion",
        "client_assertion",
        "subject_token",
        "refresh_token",
        "client_id",
    ];
    query.is_some_and(|query| {
        query.split('&').any(|pair| {
            let name = pair.split('=').next().unwrap_or(pair);
            form::decode(name).is_none_or(|name| NAMES.contains(&name.as_str()))
        })
    })
}

/// The values of a header that may occur only once.
fn values<'a>(headers: &'a HeaderMap, name: &str) -> Vec<&'a [u8]> {
    headers
        .get_all(name)
        .iter()
        .map(http::HeaderValue::as_bytes)
        .collect()
}

impl fmt::Debug for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Issuer")
            .field("issuer", &self.settings.issuer)
            .finish_non_exhaustive()
    }
}

#[cfg(any(test, fuzzing))]
#[path = "../../tests/fuzz/rooms/oauth.rs"]
pub mod fuzz;
#[cfg(test)]
pub(crate) mod tests;
