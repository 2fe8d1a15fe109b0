//! Sessions of an issuer: whose a key is, and which keys have ended. Must not know what an owner is.

use jiff::Timestamp;

use super::{Claim, Store, StoreError};

/// What stands under a Session key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEntry {
    /// The key was free, or the same owner's.
    Owned,
    /// It is another owner's.
    Foreign,
    /// Its Session has ended.
    Ended,
}

/// What became of a call in a Session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEntry {
    Passed,
    /// Its claim was made before.
    Used,
    /// Its Session has ended.
    Ended,
}

impl Store {
    /// Whether other processes work with this store at the same time.
    pub fn is_shared(&self) -> bool {
        match self {
            Self::Embedded(_) => false,
            Self::Redis(_) => true,
        }
    }

    /// Gives a free key to `owner`, or prolongs what is the owner's already, in one atomic, durable step.
    pub async fn enter_session(
        &self,
        issuer: &str,
        key: &str,
        owner: &str,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<SessionEntry, StoreError> {
        match self {
            Self::Embedded(store) => {
                store
                    .enter_session(issuer, key, owner, now, expires_at)
                    .await
            }
            Self::Redis(store) => {
                store
                    .enter_session(issuer, key, owner, now, expires_at)
                    .await
            }
        }
    }

    /// Ends the Session of a key, known or not; the key stays taken until `expires_at`.
    pub async fn end_session(
        &self,
        issuer: &str,
        key: &str,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        match self {
            Self::Embedded(store) => store.end_session(issuer, key, expires_at).await,
            Self::Redis(store) => store.end_session(issuer, key, now, expires_at).await,
        }
    }

    /// The keys whose Sessions have ended and are not forgotten yet.
    pub async fn ended_sessions(
        &self,
        issuer: &str,
        now: Timestamp,
    ) -> Result<Vec<String>, StoreError> {
        match self {
            Self::Embedded(store) => store.ended_sessions(issuer, now).await,
            Self::Redis(store) => store.ended_sessions(issuer, now).await,
        }
    }

    /// Whether the Session of a key has ended and its end is not forgotten yet.
    pub async fn session_has_ended(
        &self,
        issuer: &str,
        key: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        match self {
            Self::Embedded(store) => store.session_has_ended(issuer, key, now).await,
            Self::Redis(store) => store.session_has_ended(issuer, key, now).await,
        }
    }

    /// Everything that a call has to ask of a shared store, in one atomic step: whether the Session has
    /// ended, and the claim. A Session that has ended claims nothing.
    pub async fn session_call(
        &self,
        issuer: &str,
        key: &str,
        claim: &Claim<'_>,
        now: Timestamp,
    ) -> Result<CallEntry, StoreError> {
        match self {
            Self::Embedded(store) => store.session_call(issuer, key, claim, now).await,
            Self::Redis(store) => store.session_call(issuer, key, claim, now).await,
        }
    }
}
