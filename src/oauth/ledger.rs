//! What must outlive a request and a restart: used `jti`s and Sessions, in the store. Must not judge a request.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::refusal::Refusal;
use crate::store::{self, CallEntry, SessionEntry, Store, StoreError};

/// Replicas' clocks may differ by this much: by one that is behind, what another has claimed is taken for longer.
const CLOCKS_S: i64 = 30;

/// One `jti` to claim.
pub(super) struct Claim {
    pub(super) namespace: &'static str,
    pub(super) key: String,
    /// From this second on it is refused for its age.
    pub(super) expires_at: i64,
}

impl Claim {
    fn stored(&self) -> store::Claim<'_> {
        store::Claim {
            namespace: self.namespace,
            key: &self.key,
            expires_at: at(self.expires_at + CLOCKS_S),
        }
    }
}

/// An issuer's part of the store.
pub(super) struct Ledger(pub(super) Arc<Store>);

impl Ledger {
    /// Claims all or none in one atomic step. `None` when all were free, else a claimed one's index.
    pub(super) async fn claim_all(
        &self,
        claims: &[Claim],
        now: i64,
    ) -> Result<Option<usize>, Refusal> {
        let listed: Vec<store::Claim<'_>> = claims.iter().map(Claim::stored).collect();
        if known(self.0.claim_all(&listed, at(now)).await)? {
            return Ok(None);
        }
        // The store tells only that not all were free; which one it was is asked for the answer's code. A claim
        // that expired in between still counts as the reason.
        for (index, claim) in claims.iter().enumerate() {
            if self.is_claimed(claim, now).await? {
                return Ok(Some(index));
            }
        }
        Ok(Some(0))
    }

    /// Whether a claim stands.
    pub(super) async fn is_claimed(&self, claim: &Claim, now: i64) -> Result<bool, Refusal> {
        let claimed = self.0.is_claimed(claim.namespace, &claim.key, at(now));
        known(claimed.await)
    }

    /// When the last claim of a namespace that stands now ends, where it is not asked for each claim anyway.
    pub(super) async fn claims_end(
        &self,
        namespace: &str,
        now: i64,
    ) -> Result<Option<i64>, Refusal> {
        let end = known(self.0.claims_end(namespace, at(now)).await)?;
        Ok(end.map(Timestamp::as_second))
    }

    /// Starts or renews the Session of a key for its owner, in one atomic step.
    pub(super) async fn enter(
        &self,
        issuer: &str,
        jkt: &str,
        owner: &str,
        now: i64,
        forget_at: i64,
    ) -> Result<SessionEntry, Refusal> {
        let entry = self
            .0
            .enter_session(issuer, jkt, owner, at(now), at(forget_at));
        known(entry.await)
    }

    /// Ends a Session and keeps its key as a tombstone (AAP-252).
    pub(super) async fn end(
        &self,
        issuer: &str,
        jkt: &str,
        now: i64,
        forget_at: i64,
    ) -> Result<(), Refusal> {
        let ended = self.0.end_session(issuer, jkt, at(now), at(forget_at));
        known(ended.await)
    }

    /// Whether other processes use it too, so that memory of one's own is not enough.
    pub(super) fn is_shared(&self) -> bool {
        self.0.is_shared()
    }

    /// All that one call asks of a shared ledger, in one step.
    pub(super) async fn call(
        &self,
        issuer: &str,
        jkt: &str,
        claim: &Claim,
        now: i64,
    ) -> Result<CallEntry, Refusal> {
        let claim = claim.stored();
        known(self.0.session_call(issuer, jkt, &claim, at(now)).await)
    }

    /// Whether a Session has ended, as far as a ledger knows that others write.
    pub(super) async fn has_ended(
        &self,
        issuer: &str,
        jkt: &str,
        now: i64,
    ) -> Result<bool, Refusal> {
        if !self.is_shared() {
            return Ok(false);
        }
        known(self.0.session_has_ended(issuer, jkt, at(now)).await)
    }

    /// The keys of ended Sessions.
    pub(super) async fn ended(&self, issuer: &str, now: i64) -> Result<BTreeSet<String>, Refusal> {
        let ended = known(self.0.ended_sessions(issuer, at(now)).await)?;
        Ok(BTreeSet::from_iter(ended))
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap_or(Timestamp::MAX)
}

/// The place and cause of a failure go to the log; the caller learns that it may try again.
fn known<T>(answer: Result<T, StoreError>) -> Result<T, Refusal> {
    answer.map_err(|error| {
        tracing::error!(%error, "the issuer's store failed");
        Refusal::unavailable("store")
    })
}
