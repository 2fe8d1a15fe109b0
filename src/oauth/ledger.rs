//! What must outlive a request and a restart: used `jti`s and Sessions. Two arms: memory for tests and
//! trials, and the store.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Mutex, PoisonError};

use super::refusal::Refusal;

/// One `jti` to claim.
pub(super) struct Claim {
    pub(super) namespace: &'static str,
    pub(super) key: String,
    pub(super) expires_at: i64,
}

/// What the ledger says about a Session key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// New, or the same owner's.
    Owned,
    /// Another client, User or agent has a Session under this key.
    Foreign,
    Ended,
}

/// The ledger of an issuer.
pub enum Ledger {
    /// Kept nowhere else.
    Memory(Memory),
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
    #[expect(clippy::unused_async, reason = "the store's arm waits")]
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
        }
    }

    /// Starts or renews the Session of a key for its owner, in one atomic step.
    #[expect(clippy::unused_async, reason = "the store's arm waits")]
    pub(super) async fn enter(
        &self,
        issuer: &str,
        jkt: &str,
        owner: &str,
        now: i64,
        forget_at: i64,
    ) -> Result<Found, Refusal> {
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
                    Found::Ended
                } else if session.owner == owner {
                    session.forget_at = forget_at;
                    Found::Owned
                } else {
                    Found::Foreign
                }
            })),
        }
    }

    /// Ends a Session and keeps its key as a tombstone (AAP-252).
    #[expect(clippy::unused_async, reason = "the store's arm waits")]
    pub(super) async fn end(&self, issuer: &str, jkt: &str, forget_at: i64) -> Result<(), Refusal> {
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
            }),
        }
        Ok(())
    }

    /// The keys of ended Sessions.
    #[expect(clippy::unused_async, reason = "the store's arm waits")]
    pub(super) async fn ended(&self, issuer: &str, now: i64) -> Result<BTreeSet<String>, Refusal> {
        match self {
            Self::Memory(memory) => Ok(memory.with(|records| {
                let sessions = records.sessions.iter();
                sessions
                    .filter(|((of, _), s)| of == issuer && s.ended && s.forget_at > now)
                    .map(|((_, jkt), _)| jkt.clone())
                    .collect()
            })),
        }
    }
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
