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

/// The identities of an issuer's clients.
pub(super) struct Directory {
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

impl Directory {
    pub(super) fn new(net: net::Client, clock: Clock) -> Self {
        Self {
            net,
            clock,
            entries: Mutex::new(HashMap::new()),
            fetches: Semaphore::new(FETCHES),
        }
    }

    /// The identity at `client_id`, which has passed [`super::url::client_id_shape`]; fetched again when
    /// it does not hold `kid`. The error is the stage, for the log only.
    pub(super) async fn identity(
        &self,
        client_id: &str,
        kid: Option<&str>,
    ) -> Result<Arc<Identity>, &'static str> {
        let entry = self.entry(client_id);
        let mut state = entry.state.lock().await;
        let now = self.now();
        if now >= state.fresh_until && now >= state.retry_at {
            self.renew(client_id, &mut state, now).await;
        }
        let usable_until = state.fresh_until + STALE_S;
        let identity = match &state.identity {
            Some(identity) if now < usable_until => Arc::clone(identity),
            _ => return Err("client identity"),
        };
        let known = |kid: &str| {
            identity
                .keys
                .iter()
                .any(|key| key.kid.as_deref() == Some(kid))
        };
        if kid.is_none_or(known) || now < state.keys_at {
            return Ok(identity);
        }
        state.keys_at = now + RETRY_S;
        if let Ok((keys, _)) = self.fetch_keys(&identity.jwks_uri).await {
            state.identity = Some(Arc::new(Identity {
                jwks_uri: identity.jwks_uri.clone(),
                keys,
            }));
        }
        state.identity.clone().ok_or("client identity")
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
