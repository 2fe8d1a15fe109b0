//! The PAP issuer of one deployment and the check of what it issued: client identities, assertions,
//! DPoP proofs, guest Sessions and their sealed tokens. Must not know skills, listings or HTTP routes,
//! and must not log or return a token, assertion, proof or User ID (AAP-264, AAP-341).

use std::collections::BTreeMap;
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
mod settings;
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
pub use settings::{McpTokens, NativeMcp, NonceMode, Registration, Settings};

use client::Directory;
use limits::Limits;
use nonce::Nonces;
use replay::Window;

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
        let nonces = |purpose| Nonces::new(purpose, &settings.issuer, Arc::clone(&keys));
        Ok(Self {
            clients: Directory::new(client, clock.clone()),
            token_nonces: nonces("pap nonce of the issuer"),
            api_nonces: nonces("pap nonce of the api"),
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
