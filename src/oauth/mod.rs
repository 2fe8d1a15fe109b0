//! The PAP issuer of one deployment and the check of what it issued: client identities, assertions,
//! DPoP proofs, guest Sessions and their sealed tokens. Must not know skills, listings or HTTP routes,
//! and must not log or return a token, assertion, proof or User ID (AAP-264, AAP-341).

use std::fmt;
use std::sync::Arc;

use http::HeaderMap;

use crate::clock::Clock;
use crate::net;
use crate::seal::KeyRing;
use crate::store::Store;

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
mod witness;

pub use access::Access;
#[cfg(any(test, fuzzing))]
pub use bearer::fuzz as fuzz_bearer;
pub use bearer::{Authority, AuthoritySettings, Challenge, Gate, GateSettings, Visitor};
pub use grant::Granted;
pub use jws::Algorithm;
pub use refusal::{Code, Refusal, Reply};
pub use settings::{MAX_TOKEN_LIFETIME_S, McpTokens, NativeMcp, NonceMode, Registration, Settings};

use client::Directory;
use ledger::Ledger;
use limits::Limits;
use nonce::Nonces;
use witness::Witness;

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
    witness: Arc<Witness>,
}

impl Issuer {
    /// Opens an issuer. `client` should be under [`net::Policy::for_peers`].
    pub async fn open(
        settings: Settings,
        client: net::Client,
        keys: Arc<KeyRing>,
        store: Arc<Store>,
        clock: Clock,
    ) -> Result<Self, Refusal> {
        let ledger = Ledger(store);
        let now = clock.now().as_second();
        let witness = Witness::begin(&ledger, &settings.issuer, now).await?;
        let nonces = |purpose| Nonces::new(purpose, &settings.issuer, Arc::clone(&keys));
        Ok(Self {
            clients: Directory::new(client, clock.clone()),
            token_nonces: nonces("pap nonce of the issuer"),
            api_nonces: nonces("pap nonce of the api"),
            networks: Limits::per_minute(settings.token_requests_per_minute_and_network),
            client_requests: Limits::per_minute(settings.token_requests_per_minute_and_client),
            session_calls: Limits::per_minute(settings.calls_per_minute_and_session),
            witness: Arc::new(witness),
            settings,
            keys,
            ledger,
            clock,
        })
    }

    /// The same in the place of `before`: what that one has seen, and still sees until it is let go of, is known
    /// here too. Nothing that is used or ended becomes good again by new settings.
    #[must_use]
    pub fn after(mut self, before: Option<&Self>) -> Self {
        let same = before.filter(|before| before.settings.issuer == self.settings.issuer);
        if let Some(before) = same {
            self.witness = Arc::clone(&before.witness);
        }
        self
    }

    /// What the operator decided.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    fn now(&self) -> i64 {
        self.clock.now().as_second()
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
