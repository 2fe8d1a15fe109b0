//! The ledger as people use it: look, decide about what stands still, take out what must go. Opens no target
//! and sends nothing; a running worker takes up what was decided.

mod purge;

use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::adf::{self, AdfProfile, RenderError, Rendered};
use super::record::{Record, RecordError};
use super::settings::Settings;
use crate::clock::Clock;
use crate::seal::KeyRing;
use crate::store::{Delivery, DeliveryState, Ending, Lead, LeadFilter, PERSON, Store, StoreError};

pub use purge::{Purge, Purged};

/// The leads of a store.
#[derive(Clone, Debug)]
pub struct Ledger {
    store: Arc<Store>,
    keys: Arc<KeyRing>,
    clock: Clock,
}

/// A lead without anything of its customer.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub lead_id: String,
    pub deployment: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub dealer_id: String,
    pub accepted_at: Timestamp,
    pub deliveries: Vec<DeliverySummary>,
}

/// Where one delivery stands.
#[derive(Clone, Debug, Serialize)]
pub struct DeliverySummary {
    pub target: String,
    pub state: &'static str,
    pub attempts: u32,
    /// When it is tried again, while it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
    pub updated_at: Timestamp,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// Everything about one lead, its customer's data included.
#[derive(Clone, Debug, Serialize)]
pub struct Dossier {
    #[serde(flatten)]
    pub summary: Summary,
    pub record: Record,
    /// The answer that was given.
    pub answer: Value,
    pub history: Vec<Event>,
}

/// One attempt, or one decision.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    pub target: String,
    pub attempt: u32,
    pub at: Timestamp,
    pub state: &'static str,
    pub detail: String,
}

/// What a person decides about a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Try again now what waits, was refused or was given up. A held delivery needs [`Decision::SendAgain`].
    Retry,
    /// Keep back what has not gone out.
    Hold,
    /// The receiver has the held lead: nothing more to do.
    ResolveDelivered,
    /// The receiver does not have the held lead: send it again.
    SendAgain,
    /// The held lead is not to be delivered.
    GiveUp,
}

/// Why the ledger could not do it.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    #[error("there is no lead {0}")]
    NoLead(String),
    #[error("lead {lead_id} has no delivery {target:?} that this can be done to; it has {states}")]
    NotPossible {
        lead_id: String,
        target: String,
        states: String,
    },
    #[error("a purge needs a lead, an age or a customer")]
    Unbounded,
    #[error("a customer is named by an e-mail address or by a phone number of 7 digits or more")]
    NoCustomer,
    #[error("the export could not be written: {0}")]
    Write(std::io::Error),
    #[error("line {line}: {cause}")]
    Import { line: usize, cause: String },
    #[error("lead {lead_id}: {cause}")]
    Record { lead_id: String, cause: RecordError },
    #[error(transparent)]
    Render(#[from] RenderError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Ledger {
    /// The ledger of `store`, whose records `keys` opens.
    pub fn new(store: Arc<Store>, keys: Arc<KeyRing>, clock: Clock) -> Self {
        Self { store, keys, clock }
    }

    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn keys(&self) -> &KeyRing {
        &self.keys
    }

    /// Leads that fit, newest first.
    pub async fn list(&self, filter: &LeadFilter) -> Result<Vec<Summary>, LedgerError> {
        let leads = self.store.leads(filter).await?;
        Ok(leads.iter().map(Summary::of).collect())
    }

    /// Everything about one lead.
    pub async fn show(&self, lead_id: &str) -> Result<Dossier, LedgerError> {
        let lead = self.lead(lead_id).await?;
        self.dossier(&lead).await
    }

    pub(super) async fn dossier(&self, lead: &Lead) -> Result<Dossier, LedgerError> {
        let attempts = self.store.attempts(&lead.lead_id).await?;
        let history = attempts.into_iter().map(|attempt| Event {
            target: attempt.target,
            attempt: attempt.number,
            at: attempt.at,
            state: attempt.state.id(),
            detail: attempt.detail,
        });
        Ok(Dossier {
            summary: Summary::of(lead),
            record: self.record(lead)?,
            answer: serde_json::from_str(&lead.answer).unwrap_or_default(),
            history: history.collect(),
        })
    }

    /// The lead as a receiver of this profile would get it.
    pub async fn render(
        &self,
        lead_id: &str,
        profile: &AdfProfile,
        settings: &Settings,
    ) -> Result<Rendered, LedgerError> {
        let lead = self.lead(lead_id).await?;
        let record = self.record(&lead)?;
        Ok(adf::render(
            lead_id,
            lead.accepted_at,
            &record,
            profile,
            settings,
        )?)
    }

    /// Carries out a person's decision about one delivery, or about all of the lead's that it fits.
    /// Returns the targets it was done to.
    pub async fn decide(
        &self,
        lead_id: &str,
        target: Option<&str>,
        decision: Decision,
    ) -> Result<Vec<String>, LedgerError> {
        let lead = self.lead(lead_id).await?;
        let now = self.clock.now();
        let (from, state, detail) = decision.terms();
        let mut done = Vec::new();
        for delivery in &lead.deliveries {
            if target.is_some_and(|target| target != delivery.target) {
                continue;
            }
            // What a person has to do about an appointment cannot be sent.
            if delivery.target == PERSON && state == DeliveryState::Queued {
                continue;
            }
            let ending = Ending {
                state,
                due_at: Some(now),
                detail: detail.to_owned(),
            };
            if self
                .store
                .decide(lead_id, &delivery.target, from, ending, now)
                .await?
            {
                done.push(delivery.target.clone());
            }
        }
        if done.is_empty() {
            let states = lead
                .deliveries
                .iter()
                .map(|one| format!("{} {}", one.target, one.state.id()));
            return Err(LedgerError::NotPossible {
                lead_id: lead_id.to_owned(),
                target: target.unwrap_or("any").to_owned(),
                states: states.collect::<Vec<_>>().join(", "),
            });
        }
        Ok(done)
    }

    async fn lead(&self, lead_id: &str) -> Result<Lead, LedgerError> {
        let filter = LeadFilter {
            lead_id: Some(lead_id.to_owned()),
            ..LeadFilter::default()
        };
        let found = self.store.leads(&filter).await?.into_iter().next();
        found.ok_or_else(|| LedgerError::NoLead(lead_id.to_owned()))
    }

    pub(super) fn record(&self, lead: &Lead) -> Result<Record, LedgerError> {
        let read = Record::from_text(&lead.record, &lead.lead_id, &self.keys);
        read.map_err(|cause| LedgerError::Record {
            lead_id: lead.lead_id.clone(),
            cause,
        })
    }
}

impl Decision {
    /// From which states it leads to which, and what the history says.
    fn terms(self) -> (&'static [DeliveryState], DeliveryState, &'static str) {
        use DeliveryState::{Delivered, Held, Queued, Refused, Waiting};
        match self {
            Self::Retry => (
                &[Waiting, Refused],
                Queued,
                "a person asked for another attempt",
            ),
            Self::Hold => (&[Queued, Waiting], Held, "a person holds it back"),
            Self::ResolveDelivered => (&[Held], Delivered, "a person found it at the receiver"),
            Self::SendAgain => (&[Held], Queued, "a person found it missing at the receiver"),
            Self::GiveUp => (&[Held], Refused, "a person gave it up"),
        }
    }
}

impl Summary {
    fn of(lead: &Lead) -> Self {
        Self {
            lead_id: lead.lead_id.clone(),
            deployment: lead.deployment.clone(),
            dealer_id: lead.dealer.clone(),
            accepted_at: lead.accepted_at,
            deliveries: lead.deliveries.iter().map(DeliverySummary::of).collect(),
        }
    }
}

impl DeliverySummary {
    fn of(delivery: &Delivery) -> Self {
        let pending = matches!(
            delivery.state,
            DeliveryState::Queued | DeliveryState::Waiting
        );
        Self {
            target: delivery.target.clone(),
            state: delivery.state.id(),
            attempts: delivery.attempts,
            due_at: pending.then_some(delivery.due_at),
            updated_at: delivery.updated_at,
            detail: delivery.detail.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
