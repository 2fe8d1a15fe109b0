//! Claims: what serves once and may not serve again for a while. Must not know what it is.

use jiff::Timestamp;

use super::{Claim, Store, StoreError};

impl Store {
    /// Claims all of the keys or none, atomically: `false` when any is claimed already and has not
    /// expired, or stands in the list twice. What replay protection is made of.
    pub async fn claim_all(
        &self,
        claims: &[Claim<'_>],
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        match self {
            Self::Embedded(store) => store.claim_all(claims, now).await,
            Self::Redis(store) => store.claim_all(claims, now).await,
        }
    }

    /// Whether a claim stands and has not expired.
    pub async fn is_claimed(
        &self,
        namespace: &str,
        key: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        match self {
            Self::Embedded(store) => store.is_claimed(namespace, key, now).await,
            Self::Redis(store) => store.is_claimed(namespace, key, now).await,
        }
    }

    /// When the last of a namespace's claims that stand now ends; of a shared store, which is asked for each
    /// claim, nothing.
    pub async fn claims_end(
        &self,
        namespace: &str,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        match self {
            Self::Embedded(store) => store.claims_end(namespace, now).await,
            Self::Redis(_) => Ok(None),
        }
    }
}
