//! What must survive a crash: idempotency keys, the ledger of leads, the outbox of their deliveries, and
//! short-lived claims. Must not know what a record says: bodies are opaque texts to it, and it never
//! decides whether something may be sent again.

mod claims;
mod embedded;
mod error;
mod redis;
mod rows;
mod schema;
mod sessions;

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

pub use embedded::Embedded;
pub use error::StoreError;
pub use redis::{Redis, RedisSettings, Topology};
pub use rows::{
    Acceptance, Accepted, Attempt, Claim, Delivery, DeliveryState, Ending, Job, KeyEntry, KeyRow,
    Lead, LeadFilter, NewDelivery, Recovered, Restored, Tally,
};
pub use sessions::{CallEntry, SessionEntry};

/// What the history says of a job whose process ended while it was transmitting.
const INTERRUPTED_DURING: &str =
    "the process ended while it was sending: whether the receiver has it is unknown";
/// What it says when the transmission had not begun.
const INTERRUPTED_BEFORE: &str = "the process ended before it began to send";

/// The name of the delivery that stands for what a person has to do about an appointment.
pub const PERSON: &str = "scheduling";

/// Where a deployment's durable state lies.
#[derive(Debug)]
pub enum Store {
    Embedded(Box<Embedded>),
    Redis(Arc<Redis>),
}

impl Store {
    /// Opens the embedded store at `path`, making or migrating its file as needed.
    pub async fn open_embedded(path: &Path) -> Result<Self, StoreError> {
        let store = Embedded::open(path).await?;
        Ok(Self::Embedded(Box::new(store)))
    }

    /// Connects to a Redis server that replicas share.
    pub async fn open_redis(settings: &RedisSettings) -> Result<Self, StoreError> {
        Redis::open(settings).await.map(Self::Redis)
    }

    /// Whether the store answers: what readiness asks.
    pub async fn ping(&self) -> Result<(), StoreError> {
        match self {
            Self::Embedded(store) => store.ping().await,
            Self::Redis(store) => store.ping().await,
        }
    }

    /// Claims the idempotency key and writes the ledger record and its outbox entries in one atomic,
    /// durable step (AAP-484). A key that is taken and has not expired leaves everything as it was.
    pub async fn accept(
        &self,
        acceptance: Acceptance,
        now: Timestamp,
    ) -> Result<Accepted, StoreError> {
        match self {
            Self::Embedded(store) => store.accept(acceptance, now).await,
            Self::Redis(store) => store.accept(acceptance, now).await,
        }
    }

    /// Claims the key for a lead whose answer is still being asked for, in one atomic, durable step: nothing
    /// is in the ledger or the outbox yet. After `deadline` the lead is [`Store::overdue`].
    pub async fn claim_pending(
        &self,
        acceptance: Acceptance,
        deadline: Timestamp,
        now: Timestamp,
    ) -> Result<Accepted, StoreError> {
        match self {
            Self::Embedded(store) => store.claim_pending(acceptance, deadline, now).await,
            Self::Redis(store) => store.claim_pending(acceptance, deadline, now).await,
        }
    }

    /// Writes answer, ledger record and outbox of a pending lead in one step; `false` when it is not pending
    /// any more. `attention`, if not empty, is put before a person as a held delivery called [`PERSON`].
    pub async fn complete(
        &self,
        acceptance: Acceptance,
        attention: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        match self {
            Self::Embedded(store) => store.complete(acceptance, attention.to_owned(), now).await,
            Self::Redis(store) => store.complete(acceptance, attention, now).await,
        }
    }

    /// Pending leads whose deadline has passed, as they were claimed.
    pub async fn overdue(&self, now: Timestamp) -> Result<Vec<Acceptance>, StoreError> {
        match self {
            Self::Embedded(store) => store.overdue(now).await,
            Self::Redis(store) => store.overdue(now).await,
        }
    }

    /// What is stored under an idempotency key that has not expired.
    pub async fn key(&self, key: &str, now: Timestamp) -> Result<Option<KeyEntry>, StoreError> {
        match self {
            Self::Embedded(store) => store.key(key, now).await,
            Self::Redis(store) => store.key(key, now).await,
        }
    }

    /// Takes the next due delivery of one target for this process, until `lease_until`.
    pub async fn take_job(
        &self,
        deployment: &str,
        target: &str,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> Result<Option<Job>, StoreError> {
        match self {
            Self::Embedded(store) => store.take_job(deployment, target, now, lease_until).await,
            Self::Redis(store) => store.take_job(deployment, target, now, lease_until).await,
        }
    }

    /// Durably notes that the transmission of this job begins. `false`: the lease is lost, send nothing.
    pub async fn mark_transmitting(&self, job: &Job, now: Timestamp) -> Result<bool, StoreError> {
        match self {
            Self::Embedded(store) => store.mark_transmitting(job, now).await,
            Self::Redis(store) => store.mark_transmitting(job, now).await,
        }
    }

    /// Records how an attempt ended. `false`: the lease was lost meanwhile and nothing was changed.
    pub async fn finish(
        &self,
        job: &Job,
        ending: Ending,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        match self {
            Self::Embedded(store) => store.finish(job, ending, now).await,
            Self::Redis(store) => store.finish(job, ending, now).await,
        }
    }

    /// Takes over from workers that died: their jobs go back to the queue when their transmission had not
    /// begun, and to `held` when it had. Jobs whose lease runs on are left alone, unless no other process
    /// can be alive to hold them. Only what delivers may call this, first when it starts.
    pub async fn recover(&self, now: Timestamp) -> Result<Recovered, StoreError> {
        match self {
            Self::Embedded(store) => store.recover(now).await,
            Self::Redis(store) => store.recover(now).await,
        }
    }

    /// When the next delivery of a target falls due.
    pub async fn next_due(
        &self,
        deployment: &str,
        target: &str,
    ) -> Result<Option<Timestamp>, StoreError> {
        match self {
            Self::Embedded(store) => store.next_due(deployment, target).await,
            Self::Redis(store) => store.next_due(deployment, target).await,
        }
    }

    /// Leads of the ledger, newest first, with their deliveries.
    pub async fn leads(&self, filter: &LeadFilter) -> Result<Vec<Lead>, StoreError> {
        match self {
            Self::Embedded(store) => store.leads(filter).await,
            Self::Redis(store) => store.leads(filter).await,
        }
    }

    /// The attempts made for one lead, oldest first.
    pub async fn attempts(&self, lead_id: &str) -> Result<Vec<Attempt>, StoreError> {
        match self {
            Self::Embedded(store) => store.attempts(lead_id).await,
            Self::Redis(store) => store.attempts(lead_id).await,
        }
    }

    /// How many deliveries stand in each state.
    pub async fn tally(&self, deployment: &str) -> Result<Tally, StoreError> {
        match self {
            Self::Embedded(store) => store.tally(deployment).await,
            Self::Redis(store) => store.tally(deployment).await,
        }
    }

    /// Sets the state of one delivery by a person's decision, if it stands in one of `from`.
    pub async fn decide(
        &self,
        lead_id: &str,
        target: &str,
        from: &[DeliveryState],
        ending: Ending,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        match self {
            Self::Embedded(store) => store.decide(lead_id, target, from, ending, now).await,
            Self::Redis(store) => store.decide(lead_id, target, from, ending, now).await,
        }
    }

    /// Removes leads with everything that belongs to them, but for their idempotency keys.
    pub async fn remove(&self, lead_ids: &[String]) -> Result<u64, StoreError> {
        match self {
            Self::Embedded(store) => store.remove(lead_ids).await,
            Self::Redis(store) => store.remove(lead_ids).await,
        }
    }

    /// The idempotency key of a lead, while it is kept.
    pub async fn key_row(&self, lead_id: &str) -> Result<Option<KeyRow>, StoreError> {
        match self {
            Self::Embedded(store) => store.key_row(lead_id).await,
            Self::Redis(store) => store.key_row(lead_id).await,
        }
    }

    /// Takes in a whole lead from another store; `false` when it is here already. A key that is taken
    /// here stays whose it is.
    pub async fn restore(&self, restored: Restored, now: Timestamp) -> Result<bool, StoreError> {
        match self {
            Self::Embedded(store) => store.restore(restored, now).await,
            Self::Redis(store) => store.restore(restored, now).await,
        }
    }

    /// After Redis lost something: the processes that have not restored what they know, `None` when nothing
    /// is waited for. `really` goes on without them.
    pub async fn confirm(&self, really: bool) -> Result<Option<Vec<String>>, StoreError> {
        match self {
            Self::Embedded(_) => Ok(None),
            Self::Redis(store) => store.confirm(really).await,
        }
    }

    /// Removes expired keys and claims.
    pub async fn sweep(&self, now: Timestamp) -> Result<u64, StoreError> {
        match self {
            Self::Embedded(store) => store.sweep(now).await,
            // Redis lets keys expire by itself.
            Self::Redis(_) => Ok(0),
        }
    }

    /// Finishes pending writes and closes the store.
    pub async fn close(&self) {
        match self {
            Self::Embedded(store) => store.close().await,
            Self::Redis(store) => store.close().await,
        }
    }
}

#[cfg(test)]
mod loss_tests;
#[cfg(test)]
pub(crate) mod tests;
