//! Leads: accepted once, recorded before they are answered, delivered once. Must not know bindings or
//! envelopes, nor look into the inventory.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::contract::request::LeadRequest;
use crate::contract::{Answer, Caller, Problem};
use crate::profile::Profile;

/// One deployment's lead desk.
#[derive(Debug)]
pub struct Leads {}

/// What [`Leads::accept`] records and delivers.
#[derive(Debug)]
pub struct Submission<'a> {
    pub request: &'a LeadRequest,
    pub caller: &'a Caller,
    /// The dealership that receives the lead.
    pub receiver: &'a Arc<Profile>,
    /// The verified listing behind `vehicle_of_interest`, when there is one (AAP-564).
    pub listing: Option<Value>,
}

impl Leads {
    /// The answer to a lead that was accepted before, with `data.replayed: true`; `None` when the key is
    /// new. A key used with other content is [`LeadError::Conflict`].
    pub async fn replay(
        &self,
        _request: &LeadRequest,
        _caller: &Caller,
        _receiver: &Profile,
    ) -> Result<Option<Answer>, LeadError> {
        unimplemented!()
    }

    /// The checks of a grant that depend on the present time and on what this dealer can honour.
    pub fn check_consent(&self, _request: &LeadRequest) -> Result<(), LeadError> {
        unimplemented!()
    }

    /// Claims the key, writes ledger and outbox in one atomic step, and answers. A concurrent claim of
    /// the same lead is answered as a replay.
    pub async fn accept(&self, _submission: Submission<'_>) -> Result<Answer, LeadError> {
        unimplemented!()
    }

    /// How long a key is remembered; at least 24 hours (AAP-473).
    pub fn retention(&self) -> Duration {
        unimplemented!()
    }
}

/// Why a lead was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum LeadError {
    #[error("the key was used with other content")]
    Conflict,
    /// The grant is unusable now: one problem per reason.
    #[error("the consent grant is unusable")]
    InvalidConsent(Vec<Problem>),
    /// The original is still being worked on; retryable.
    #[error("the original submission is still in progress")]
    InProgress,
    /// The store failed; the private cause. Nothing was accepted.
    #[error("store: {0}")]
    Store(String),
}
