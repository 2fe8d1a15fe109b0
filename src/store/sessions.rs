//! Sessions of an issuer: whose a key is, and which keys have ended. Must not know what an owner is.

use jiff::Timestamp;

use super::{Store, StoreError};

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

impl Store {
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
        }
    }

    /// Ends the Session of a key, known or not; the key stays taken until `expires_at`.
    pub async fn end_session(
        &self,
        issuer: &str,
        key: &str,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        match self {
            Self::Embedded(store) => store.end_session(issuer, key, expires_at).await,
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // AAP-251 AAP-252
    #[tokio::test]
    async fn keys_have_one_owner_and_end_once_across_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let at = |second| Timestamp::from_second(second).unwrap();
        let store = Store::open_embedded(&path).await.unwrap();
        let enter = async |store: &Store, issuer, key, owner, now| {
            let until = at(now + 100);
            store
                .enter_session(issuer, key, owner, at(now), until)
                .await
        };
        let (owned, foreign) = (SessionEntry::Owned, SessionEntry::Foreign);
        assert_eq!(enter(&store, "i", "k", "a", 0).await.unwrap(), owned);
        assert_eq!(enter(&store, "i", "k", "a", 50).await.unwrap(), owned);
        assert_eq!(enter(&store, "i", "k", "b", 149).await.unwrap(), foreign);
        assert_eq!(enter(&store, "j", "k", "b", 149).await.unwrap(), owned);
        store.close().await;
        let store = Store::open_embedded(&path).await.unwrap();
        assert_eq!(enter(&store, "i", "k", "b", 150).await.unwrap(), owned);
        store.end_session("i", "k", at(1000)).await.unwrap();
        store.end_session("i", "unknown", at(1000)).await.unwrap();
        for owner in ["a", "b"] {
            let ended = enter(&store, "i", "k", owner, 999).await.unwrap();
            assert_eq!(ended, SessionEntry::Ended);
        }
        let ended = store.ended_sessions("i", at(999)).await.unwrap();
        assert_eq!(ended, ["k", "unknown"]);
        assert!(store.ended_sessions("j", at(999)).await.unwrap().is_empty());
        assert_eq!(enter(&store, "i", "k", "a", 1000).await.unwrap(), owned);
        assert_eq!(store.sweep(at(5000)).await.unwrap(), 3);
        store.close().await;
    }
}
