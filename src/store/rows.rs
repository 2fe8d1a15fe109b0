//! The values that go into the store and come out of it. Must not hold behaviour beyond their own names.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Everything that becomes durable when a lead is accepted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Acceptance {
    /// The hashed idempotency key with its whole scope.
    pub key: String,
    pub key_expires_at: Timestamp,
    /// What the content of the request is compared by.
    pub fingerprint: String,
    pub lead_id: String,
    pub deployment: String,
    /// The receiving dealer's id, empty when it has none.
    pub dealer: String,
    pub accepted_at: Timestamp,
    /// The ledger record, sealed or plain.
    pub record: String,
    /// The complete answer, as it was given.
    pub answer: String,
    pub deliveries: Vec<NewDelivery>,
}

/// One outbox entry to be.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NewDelivery {
    /// The name of the target in the configuration.
    pub target: String,
    pub due_at: Timestamp,
}

/// Whether an acceptance claimed its key.
#[derive(Clone, Debug)]
pub enum Accepted {
    New,
    /// The key was taken: what stands under it.
    Existing(KeyEntry),
}

/// What stands under an idempotency key.
#[derive(Clone, Debug)]
pub struct KeyEntry {
    pub fingerprint: String,
    pub lead_id: String,
    /// `None` while the original is still being worked on.
    pub answer: Option<String>,
}

/// Where a delivery stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DeliveryState {
    /// Waiting for its first attempt.
    Queued,
    /// In a worker's hands.
    Sending,
    /// The receiver took it.
    Delivered,
    /// The receiver refused it for good, or the attempts are used up.
    Refused,
    /// To be tried again.
    Waiting,
    /// The outcome is unknown; only a person may send it again.
    Held,
}

impl DeliveryState {
    /// Every state.
    pub const ALL: [Self; 6] = [
        Self::Queued,
        Self::Sending,
        Self::Delivered,
        Self::Refused,
        Self::Waiting,
        Self::Held,
    ];

    /// The state's word, in the store, on the command line and in metrics.
    pub fn id(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Sending => "sending",
            Self::Delivered => "delivered",
            Self::Refused => "refused",
            Self::Waiting => "waiting",
            Self::Held => "held",
        }
    }

    /// The state with this word.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.id() == id)
    }
}

/// One delivery in a worker's hands. The worker's name and the attempt's number are its fence: a job
/// that another worker took over can no longer be marked or finished.
#[derive(Clone, Debug)]
pub struct Job {
    pub lead_id: String,
    pub deployment: String,
    pub target: String,
    /// The number of this attempt, from 1.
    pub attempt: u32,
    pub worker: String,
    pub accepted_at: Timestamp,
    pub record: String,
}

/// How an attempt, or a person's decision, leaves a delivery.
#[derive(Clone, Debug)]
pub struct Ending {
    pub state: DeliveryState,
    /// When it is due again, for `Waiting` and `Queued`.
    pub due_at: Option<Timestamp>,
    /// Why, without customer data.
    pub detail: String,
}

/// What a take-over found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Sent back to the queue: their transmission had not begun.
    pub queued: u64,
    /// Put on hold: their transmission had begun.
    pub held: u64,
}

/// One key of [`super::Store::claim_all`].
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    pub namespace: &'a str,
    pub key: &'a str,
    pub expires_at: Timestamp,
}

/// A ledger entry with its deliveries.
#[derive(Clone, Debug)]
pub struct Lead {
    pub lead_id: String,
    pub deployment: String,
    pub dealer: String,
    pub accepted_at: Timestamp,
    pub record: String,
    pub answer: String,
    pub deliveries: Vec<Delivery>,
}

/// One way out of a lead.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub target: String,
    pub state: DeliveryState,
    pub attempts: u32,
    pub due_at: Timestamp,
    pub updated_at: Timestamp,
    pub detail: String,
}

impl Delivery {
    /// Whether something is still to come of it: only `delivered` and `refused` are the end.
    pub fn is_open(&self) -> bool {
        !matches!(
            self.state,
            DeliveryState::Delivered | DeliveryState::Refused
        )
    }
}

/// The idempotency key of a lead.
#[derive(Clone, Debug)]
pub struct KeyRow {
    pub key: String,
    pub fingerprint: String,
    pub expires_at: Timestamp,
}

/// A whole lead from another store.
#[derive(Clone, Debug)]
pub struct Restored {
    pub lead_id: String,
    pub deployment: String,
    pub dealer: String,
    pub accepted_at: Timestamp,
    pub record: String,
    pub answer: String,
    pub key: Option<KeyRow>,
    pub deliveries: Vec<Delivery>,
    pub attempts: Vec<Attempt>,
}

/// One try of a delivery, or a person's decision about it.
#[derive(Clone, Debug)]
pub struct Attempt {
    pub target: String,
    pub number: u32,
    pub at: Timestamp,
    pub state: DeliveryState,
    pub detail: String,
}

/// Which leads to list. Empty members do not restrict.
#[derive(Clone, Debug, Default)]
pub struct LeadFilter {
    pub deployment: Option<String>,
    pub lead_id: Option<String>,
    pub state: Option<DeliveryState>,
    pub accepted_before: Option<Timestamp>,
    /// At most so many; 0 is no limit.
    pub limit: u32,
    /// Continues after the lead with this time and id, in listing order.
    pub after: Option<(Timestamp, String)>,
}

/// Deliveries by state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub by_state: Vec<(DeliveryState, u64)>,
    /// When the oldest lead was accepted of which a delivery is not finished.
    pub oldest_open: Option<Timestamp>,
}

impl Tally {
    /// The number of deliveries in `state`.
    pub fn count(&self, state: DeliveryState) -> u64 {
        self.by_state
            .iter()
            .find(|(other, _)| *other == state)
            .map_or(0, |(_, count)| *count)
    }
}
