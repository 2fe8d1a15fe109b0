//! What must outlive a request and a restart: used `jti`s and Sessions. Two arms: memory for tests and
//! trials, and the store.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;

use super::refusal::Refusal;
use crate::store::{self, CallEntry, SessionEntry, Store, StoreError};

/// One `jti` to claim.
pub(super) struct Claim {
    pub(super) namespace: &'static str,
    pub(super) key: String,
    pub(super) expires_at: i64,
}

/// The ledger of an issuer.
pub enum Ledger {
    /// Kept nowhere else.
    Memory(Memory),
    Store(Arc<Store>),
}

/// The memory arm.
#[derive(Default)]
pub struct Memory(Mutex<Records>);

#[derive(Default)]
struct Records {
    claims: BTreeMap<(&'static str, String), i64>,
    sessions: BTreeMap<(String, String), Session>,
}

#[derive(Clone)]
struct Session {
    owner: String,
    ended: bool,
    forget_at: i64,
}

impl Ledger {
    /// An empty ledger in memory.
    pub fn memory() -> Self {
        Self::Memory(Memory::default())
    }

    /// Claims all or none in one atomic step. `None` when all were free, else a claimed one's index.
    pub(super) async fn claim_all(
        &self,
        claims: &[Claim],
        now: i64,
    ) -> Result<Option<usize>, Refusal> {
        match self {
            Self::Memory(memory) => Ok(memory.with(|records| {
                records.claims.retain(|_, expires_at| *expires_at > now);
                let key = |claim: &Claim| (claim.namespace, claim.key.clone());
                let taken = |claim: &Claim| records.claims.contains_key(&key(claim));
                if let Some(index) = claims.iter().position(taken) {
                    return Some(index);
                }
                for claim in claims {
                    records.claims.insert(key(claim), claim.expires_at);
                }
                None
            })),
            Self::Store(store) => claim_all(store, claims, now).await.map_err(|e| lost(&e)),
        }
    }

    /// Whether a claim stands.
    pub(super) async fn is_claimed(&self, claim: &Claim, now: i64) -> Result<bool, Refusal> {
        match self {
            Self::Memory(memory) => Ok(memory.with(|records| {
                let key = (claim.namespace, claim.key.clone());
                let until = records.claims.get(&key);
                until.is_some_and(|until| *until > now)
            })),
            Self::Store(store) => store
                .is_claimed(claim.namespace, &claim.key, at(now))
                .await
                .map_err(|error| lost(&error)),
        }
    }

    /// When the last claim of a namespace that stands now ends, where it is not asked for each claim anyway.
    pub(super) async fn claims_end(
        &self,
        namespace: &str,
        now: i64,
    ) -> Result<Option<i64>, Refusal> {
        match self {
            Self::Memory(memory) => Ok(memory.with(|records| {
                let of = records.claims.iter();
                of.filter(|((name, _), until)| *name == namespace && **until > now)
                    .map(|(_, until)| *until)
                    .max()
            })),
            Self::Store(store) => {
                let end = store.claims_end(namespace, at(now)).await;
                let end = end.map_err(|error| lost(&error))?;
                Ok(end.map(Timestamp::as_second))
            }
        }
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
        match self {
            Self::Memory(memory) => Ok(memory.with(|records| {
                records
                    .sessions
                    .retain(|_, session| session.forget_at > now);
                let session = records
                    .sessions
                    .entry((issuer.to_owned(), jkt.to_owned()))
                    .or_insert_with(|| Session {
                        owner: owner.to_owned(),
                        ended: false,
                        forget_at,
                    });
                if session.ended {
                    SessionEntry::Ended
                } else if session.owner == owner {
                    session.forget_at = forget_at;
                    SessionEntry::Owned
                } else {
                    SessionEntry::Foreign
                }
            })),
            Self::Store(store) => store
                .enter_session(issuer, jkt, owner, at(now), at(forget_at))
                .await
                .map_err(|error| lost(&error)),
        }
    }

    /// Ends a Session and keeps its key as a tombstone (AAP-252).
    pub(super) async fn end(
        &self,
        issuer: &str,
        jkt: &str,
        now: i64,
        forget_at: i64,
    ) -> Result<(), Refusal> {
        match self {
            Self::Memory(memory) => memory.with(|records| {
                let session = records
                    .sessions
                    .entry((issuer.to_owned(), jkt.to_owned()))
                    .or_insert_with(|| Session {
                        owner: String::new(),
                        ended: true,
                        forget_at,
                    });
                session.ended = true;
                session.forget_at = forget_at;
                Ok(())
            }),
            Self::Store(store) => store
                .end_session(issuer, jkt, at(now), at(forget_at))
                .await
                .map_err(|error| lost(&error)),
        }
    }

    /// Whether other processes use it too, so that memory of one's own is not enough.
    pub(super) fn is_shared(&self) -> bool {
        match self {
            Self::Memory(_) => false,
            Self::Store(store) => store.is_shared(),
        }
    }

    /// All that one call asks of a shared ledger, in one step.
    pub(super) async fn call(
        &self,
        issuer: &str,
        jkt: &str,
        claim: &Claim,
        now: i64,
    ) -> Result<CallEntry, Refusal> {
        match self {
            Self::Memory(_) => {
                let claims = std::slice::from_ref(claim);
                let taken = self.claim_all(claims, now).await?;
                Ok(taken.map_or(CallEntry::Passed, |_| CallEntry::Used))
            }
            Self::Store(store) => {
                let claim = store::Claim {
                    namespace: claim.namespace,
                    key: &claim.key,
                    expires_at: at(claim.expires_at),
                };
                let call = store.session_call(issuer, jkt, &claim, at(now));
                call.await.map_err(|error| lost(&error))
            }
        }
    }

    /// Whether a Session has ended, as far as a ledger knows that others write.
    pub(super) async fn has_ended(
        &self,
        issuer: &str,
        jkt: &str,
        now: i64,
    ) -> Result<bool, Refusal> {
        match self {
            Self::Store(store) if store.is_shared() => {
                let ended = store.session_has_ended(issuer, jkt, at(now));
                ended.await.map_err(|error| lost(&error))
            }
            Self::Memory(_) | Self::Store(_) => Ok(false),
        }
    }

    /// The keys of ended Sessions.
    pub(super) async fn ended(&self, issuer: &str, now: i64) -> Result<BTreeSet<String>, Refusal> {
        match self {
            Self::Memory(memory) => Ok(memory.with(|records| {
                let sessions = records.sessions.iter();
                sessions
                    .filter(|((of, _), s)| of == issuer && s.ended && s.forget_at > now)
                    .map(|((_, jkt), _)| jkt.clone())
                    .collect()
            })),
            Self::Store(store) => store
                .ended_sessions(issuer, at(now))
                .await
                .map(BTreeSet::from_iter)
                .map_err(|error| lost(&error)),
        }
    }
}

/// The store tells only that not all were free; which one it was is asked afterwards, for the answer's
/// code. A claim that expired in between still counts as the reason.
async fn claim_all(store: &Store, claims: &[Claim], now: i64) -> Result<Option<usize>, StoreError> {
    let listed: Vec<store::Claim<'_>> = claims
        .iter()
        .map(|claim| store::Claim {
            namespace: claim.namespace,
            key: &claim.key,
            expires_at: at(claim.expires_at),
        })
        .collect();
    if store.claim_all(&listed, at(now)).await? {
        return Ok(None);
    }
    for (index, claim) in claims.iter().enumerate() {
        if store
            .is_claimed(claim.namespace, &claim.key, at(now))
            .await?
        {
            return Ok(Some(index));
        }
    }
    Ok(Some(0))
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap_or(Timestamp::MAX)
}

/// The place and cause go to the log; the caller learns that it may try again.
fn lost(error: &StoreError) -> Refusal {
    tracing::error!(%error, "the issuer's store failed");
    Refusal::unavailable("store")
}

impl Memory {
    fn with<T>(&self, f: impl FnOnce(&mut Records) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").finish_non_exhaustive()
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger").finish_non_exhaustive()
    }
}
