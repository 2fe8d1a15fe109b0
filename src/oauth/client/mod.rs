//! Client identities: the metadata document at a `client_id` and the JWKS it names. [`document`] reads
//! them; this file fetches, keeps and renews them within bounds (AAP-224, AAP-233, AAP-234).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Mutex as AsyncMutex, Semaphore};

use super::fetch::{self, fresh_s};
use crate::clock::Clock;
use crate::net::{self, Response};

mod document;

#[cfg(any(test, fuzzing))]
pub(super) use document::metadata as read_metadata;
pub(super) use document::{Identity, keys as read_keys};

/// Identities kept at once.
const CAPACITY: usize = 1024;
/// Fetches under way at once, over all clients of one issuer.
const FETCHES: usize = 16;
/// A failure, and a refetch for an unknown `kid`, are remembered for so long.
const RETRY_S: i64 = 30;
/// Keys may be used this long after they should have been renewed but could not be.
const STALE_S: i64 = 3600;
/// The stage of a refusal for want of an identity.
const STAGE: &str = "client identity";

/// The identities of an issuer's clients. Cheap to clone.
#[derive(Clone)]
pub(super) struct Directory(Arc<Inner>);

struct Inner {
    net: net::Client,
    clock: Clock,
    entries: Mutex<HashMap<String, Arc<Entry>>>,
    fetches: Semaphore,
}

#[derive(Default)]
struct Entry {
    /// Held while fetching, so that many first requests make one fetch.
    state: AsyncMutex<State>,
    used_at: Mutex<i64>,
}

#[derive(Default)]
struct State {
    identity: Option<Arc<Identity>>,
    fresh_until: i64,
    /// No fetch of the whole before this.
    retry_at: i64,
    /// No refetch for an unknown `kid` before this.
    keys_at: i64,
}

impl State {
    fn usable(&self, now: i64) -> Option<&Arc<Identity>> {
        let identity = self.identity.as_ref();
        identity.filter(|_| now < self.fresh_until + STALE_S)
    }

    fn wants_all(&self, now: i64) -> bool {
        now >= self.fresh_until && now >= self.retry_at
    }

    /// Whether a JWT names a `kid` that may have been published meanwhile.
    fn wants_keys(&self, kid: Option<&str>, now: i64) -> bool {
        let unknown = |identity: &Arc<Identity>| kid.is_some_and(|kid| !identity.names(kid));
        now >= self.keys_at && self.usable(now).is_some_and(unknown)
    }
}

impl Directory {
    pub(super) fn new(net: net::Client, clock: Clock) -> Self {
        Self(Arc::new(Inner {
            net,
            clock,
            entries: Mutex::new(HashMap::new()),
            fetches: Semaphore::new(FETCHES),
        }))
    }

    /// The identity at `client_id`, which has passed [`super::url::client_id_shape`]; fetched again when
    /// it does not hold `kid`. The error is the stage, for the log only.
    pub(super) async fn identity(
        &self,
        client_id: &str,
        kid: Option<&str>,
    ) -> Result<Arc<Identity>, &'static str> {
        let entry = self.0.entry(client_id);
        let state = entry.state.lock().await;
        let now = self.0.now();
        if !state.wants_all(now) && !state.wants_keys(kid, now) {
            return state.usable(now).cloned().ok_or(STAGE);
        }
        drop(state);
        // What is begun comes to its end: a caller who hangs up would leave the pause without the identity, and
        // could so keep the client out.
        let (inner, client_id) = (Arc::clone(&self.0), client_id.to_owned());
        let kid = kid.map(str::to_owned);
        let fetched = async move { inner.fetched(&entry, &client_id, kid.as_deref()).await };
        tokio::spawn(fetched).await.unwrap_or(Err(STAGE))
    }
}

impl Inner {
    /// Fetches what is wanted, unless somebody else just did.
    async fn fetched(
        &self,
        entry: &Entry,
        client_id: &str,
        kid: Option<&str>,
    ) -> Result<Arc<Identity>, &'static str> {
        let mut state = entry.state.lock().await;
        let now = self.now();
        if state.wants_all(now) {
            self.renew(client_id, &mut state, now).await;
        }
        if state.wants_keys(kid, now) {
            self.renew_keys(&mut state, now).await;
        }
        state.usable(now).cloned().ok_or(STAGE)
    }

    fn now(&self) -> i64 {
        self.clock.now().as_second()
    }

    fn entry(&self, client_id: &str) -> Arc<Entry> {
        let now = self.now();
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= CAPACITY && !entries.contains_key(client_id) {
            let used_at =
                |entry: &Arc<Entry>| *entry.used_at.lock().unwrap_or_else(PoisonError::into_inner);
            // one with a fetch under way stays, or its second request would fetch again
            let oldest = entries
                .iter()
                .filter(|(_, entry)| Arc::strong_count(entry) == 1)
                .min_by_key(|(_, entry)| used_at(entry))
                .map(|(name, _)| name.clone());
            if let Some(oldest) = oldest {
                entries.remove(&oldest);
            }
        }
        let entry = entries.entry(client_id.to_owned()).or_default();
        *entry.used_at.lock().unwrap_or_else(PoisonError::into_inner) = now;
        Arc::clone(entry)
    }

    /// Fetches both documents; a failure leaves what was there.
    async fn renew(&self, client_id: &str, state: &mut State, now: i64) {
        state.retry_at = now + RETRY_S;
        state.keys_at = now + RETRY_S;
        if let Ok((identity, fresh_s)) = self.fetch(client_id).await {
            state.identity = Some(Arc::new(identity));
            state.fresh_until = now + fresh_s;
            state.retry_at = now;
        }
    }

    async fn renew_keys(&self, state: &mut State, now: i64) {
        state.keys_at = now + RETRY_S;
        let Some(jwks_uri) = state.identity.as_ref().map(|known| known.jwks_uri.clone()) else {
            return;
        };
        if let Ok((keys, _)) = self.fetch_keys(&jwks_uri).await {
            state.identity = Some(Arc::new(Identity { jwks_uri, keys }));
        }
    }

    async fn fetch(&self, client_id: &str) -> Result<(Identity, i64), ()> {
        let response = self.get(client_id).await?;
        let metadata = document::metadata(client_id, &response.body).ok_or(())?;
        let (keys, keys_fresh_s) = self.fetch_keys(&metadata.jwks_uri).await?;
        let fresh_s = fresh_s(&response).min(keys_fresh_s);
        let jwks_uri = metadata.jwks_uri;
        Ok((Identity { jwks_uri, keys }, fresh_s))
    }

    async fn fetch_keys(&self, url: &str) -> Result<(Vec<super::key::PublicKey>, i64), ()> {
        let response = self.get(url).await?;
        let keys = document::keys(&response.body).ok_or(())?;
        Ok((keys, fresh_s(&response)))
    }

    async fn get(&self, url: &str) -> Result<Response, ()> {
        let _permit = self.fetches.acquire().await.map_err(|_| ())?;
        fetch::json(&self.net, url).await
    }
}
