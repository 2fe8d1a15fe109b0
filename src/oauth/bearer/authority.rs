//! The issuer whose tokens are taken: its keys, fetched when first needed, kept and renewed within bounds.
//! Must not judge claims.

use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::sync::Mutex;

use super::super::client::read_keys;
use super::super::fetch::{self, fresh_s};
use super::super::jws::{self, Algorithm};
use super::super::key::PublicKey;
use super::token::{self, Claims, Refused};
use crate::clock::Clock;
use crate::net;

/// A failure, and a refetch for an unknown `kid`, are remembered for so long.
const RETRY_S: i64 = 30;
/// Keys may be used this long after they should have been renewed but could not be.
const STALE_S: i64 = 3600;

/// What an operator says about the issuer.
#[derive(Clone, Debug)]
pub struct AuthoritySettings {
    /// `iss` of its tokens, to the character.
    pub issuer: String,
    /// Its JWKS; without it, the issuer's metadata names it.
    pub jwks_uri: Option<String>,
    /// The algorithms that are taken.
    pub algorithms: Vec<Algorithm>,
    /// Seconds by which its clock may differ.
    pub clock_skew_s: u32,
    /// How it is reached.
    pub policy: net::Policy,
}

/// An issuer of access tokens that is not ours.
pub struct Authority {
    settings: AuthoritySettings,
    net: net::Client,
    clock: Clock,
    known: ArcSwap<Known>,
    /// Held while fetching, so that many first requests make one fetch.
    pauses: Mutex<Pauses>,
}

/// What was fetched last; empty before that.
#[derive(Debug, Default)]
struct Known {
    keys: Vec<PublicKey>,
    fresh_until: i64,
}

#[derive(Default)]
struct Pauses {
    /// No fetch before this.
    retry_at: i64,
    /// No fetch for an unknown `kid` before this.
    unknown_at: i64,
}

impl Pauses {
    /// Whether what is known is to be fetched again now, for a token that names `kid`.
    fn are_over(&self, known: &Known, kid: Option<&str>, now: i64) -> bool {
        if now >= known.fresh_until {
            return now >= self.retry_at;
        }
        now >= self.unknown_at && kid.is_some_and(|kid| !known.names(kid))
    }
}

impl Known {
    fn names(&self, kid: &str) -> bool {
        let mut keys = self.keys.iter();
        keys.any(|key| key.kid.as_deref() == Some(kid))
    }
}

impl Authority {
    /// Fetches nothing yet: an issuer that is down does not stop this process from starting.
    pub fn new(settings: AuthoritySettings, clock: Clock) -> Result<Self, net::NetError> {
        Ok(Self {
            net: net::Client::new(settings.policy.clone())?,
            settings,
            clock,
            known: ArcSwap::default(),
            pauses: Mutex::default(),
        })
    }

    /// What the operator said.
    pub fn settings(&self) -> &AuthoritySettings {
        &self.settings
    }

    /// The claims of a token for `audience`.
    pub(super) async fn verify(
        self: &Arc<Self>,
        text: &str,
        audience: &str,
    ) -> Result<Claims, Refused> {
        let jws = token::parse(text, &self.settings.algorithms).map_err(Refused::Token)?;
        let kid = token::kid(&jws).map_err(Refused::Token)?;
        let known = self.known(kid).await.ok_or(Refused::Unavailable)?;
        let key = token::choose(&known.keys, &jws, kid).map_err(Refused::Token)?;
        let verified = jws.verified(key).ok_or(Refused::Token("signature"))?;
        let wanted = token::Wanted {
            issuer: &self.settings.issuer,
            audience,
            now: self.now(),
            skew_s: i64::from(self.settings.clock_skew_s),
        };
        token::claims(verified, &wanted).map_err(Refused::Token)
    }

    fn now(&self) -> i64 {
        self.clock.now().as_second()
    }

    /// The issuer's keys, fetched again when they do not hold `kid`.
    async fn known(self: &Arc<Self>, kid: Option<&str>) -> Option<Arc<Known>> {
        let now = self.now();
        let known = self.known.load_full();
        if now < known.fresh_until && kid.is_none_or(|kid| known.names(kid)) {
            return Some(known);
        }
        let pauses = self.pauses.lock().await;
        let due = pauses.are_over(&self.known.load(), kid, now);
        drop(pauses);
        if due {
            // What is begun comes to its end: a caller who hangs up would leave the pause without the keys, and
            // could so keep everybody out.
            let (own, kid) = (Arc::clone(self), kid.map(str::to_owned));
            let renewed = async move { own.renew(kid.as_deref()).await };
            tokio::spawn(renewed).await.ok()?;
        }
        let known = self.known.load_full();
        (now < known.fresh_until + STALE_S).then_some(known)
    }

    /// Fetches the keys, unless somebody else just did. A failure leaves what was there.
    async fn renew(&self, kid: Option<&str>) {
        let mut pauses = self.pauses.lock().await;
        let now = self.now();
        if !pauses.are_over(&self.known.load(), kid, now) {
            return;
        }
        *pauses = Pauses {
            retry_at: now + RETRY_S,
            unknown_at: now + RETRY_S,
        };
        match self.fetch().await {
            Ok((keys, fresh_s)) => {
                let fresh_until = now + fresh_s;
                self.known.store(Arc::new(Known { keys, fresh_until }));
            }
            Err(stage) => tracing::warn!(stage, "the access-token issuer's keys cannot be read"),
        }
    }

    async fn fetch(&self) -> Result<(Vec<PublicKey>, i64), &'static str> {
        let url = match &self.settings.jwks_uri {
            Some(url) => url.clone(),
            None => self.discover().await?,
        };
        let document = fetch::json(&self.net, &url).await.map_err(|()| "JWKS")?;
        let keys = read_keys(&document.body).ok_or("JWKS content")?;
        Ok((keys, fresh_s(&document)))
    }

    /// The `jwks_uri` of the issuer's metadata, which must be this issuer's (RFC 8414 section 3.3).
    async fn discover(&self) -> Result<String, &'static str> {
        for url in metadata_urls(&self.settings.issuer) {
            let Ok(document) = fetch::json(&self.net, &url).await else {
                continue;
            };
            let members = jws::object(&document.body).ok_or("metadata content")?;
            if jws::text(&members, "issuer", 2048) != Some(self.settings.issuer.as_str()) {
                return Err("metadata of another issuer");
            }
            let keys = jws::text(&members, "jwks_uri", 2048).ok_or("metadata without jwks_uri")?;
            return Ok(keys.to_owned());
        }
        Err("metadata")
    }
}

/// Where an issuer's metadata may stand, in the order in which MCP clients look.
fn metadata_urls(issuer: &str) -> Vec<String> {
    let bare = issuer.strip_suffix('/').unwrap_or(issuer);
    let (origin, path) = super::split(bare);
    let mut urls = vec![
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        urls.push(format!("{bare}/.well-known/openid-configuration"));
    }
    urls
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authority")
            .field("issuer", &self.settings.issuer)
            .finish_non_exhaustive()
    }
}
