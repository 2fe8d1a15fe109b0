//! How one submission becomes a lead, once: a key that is known is answered as it was, a new one is claimed together
//! with the ledger record and the outbox. Must not send anything.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use uuid::{NoContext, Uuid};

use super::record::{Receiver, Record};
use super::{LeadError, Leads, answer, appointment, consent, key, route, scheduling};
use crate::contract::request::LeadRequest;
use crate::contract::{Answer, Caller};
use crate::failpoint;
use crate::profile::Profile;
use crate::store::{Acceptance, Accepted, KeyEntry, NewDelivery};

/// How long a retry waits for an original that is still being worked on.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// How often it looks.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(50);

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
        request: &LeadRequest,
        caller: &Caller,
        receiver: &Profile,
    ) -> Result<Option<Answer>, LeadError> {
        let key = self.key(request, caller, receiver);
        match self.store.key(&key, self.clock.now()).await? {
            Some(entry) => self.again(&key, entry, request).await.map(Some),
            None => Ok(None),
        }
    }

    /// The checks of a grant that depend on the present time and on what this dealer can honour.
    pub fn check_consent(&self, request: &LeadRequest) -> Result<(), LeadError> {
        let problems = consent::problems(&request.consent, &self.settings, self.clock.now());
        if problems.is_empty() {
            Ok(())
        } else {
            Err(LeadError::InvalidConsent(problems))
        }
    }

    /// Claims the key, writes ledger and outbox in one atomic step, and answers. A concurrent claim of
    /// the same lead is answered as a replay.
    pub async fn accept(&self, submission: Submission<'_>) -> Result<Answer, LeadError> {
        // The grant must hold now, not only when the request came in (AAP-480).
        self.check_consent(submission.request)?;
        let Submission {
            request,
            caller,
            receiver,
            listing,
        } = submission;
        let now = self.clock.now();
        let receiving = Receiver::of(receiver, &request.payload, listing.as_ref());
        let lead_id = new_id("lead", now);
        let appointment_id = new_id("appt", now);
        let answer = answer::received(
            &lead_id,
            &appointment_id,
            request,
            &receiving,
            &self.settings,
        );
        let record = Record {
            request: request.payload.clone(),
            caller: caller.into(),
            receiver: receiving,
            listing,
            booking: None,
        };
        let key = self.key(request, caller, receiver);
        let acceptance = Acceptance {
            key: key.clone(),
            key_expires_at: later(now, self.settings.retention),
            fingerprint: key::fingerprint(request),
            deployment: self.settings.deployment.clone(),
            dealer: record.receiver.dealer_id.clone().unwrap_or_default(),
            accepted_at: now,
            record: self.written(&lead_id, &record)?,
            answer: answer.to_string(),
            deliveries: self.deliveries(&record, now),
            lead_id,
        };
        if let Some(hook) = &self.hook
            && request.payload.get("appointment").is_some()
        {
            let asked = appointment::Asked {
                acceptance,
                record,
                answer,
                appointment_id,
            };
            return self.accept_booked(hook, asked, request).await;
        }
        failpoint::reached("accept.before");
        let accepted = self.store.accept(acceptance, now).await?;
        failpoint::reached("accept.after");
        match accepted {
            Accepted::New => {
                self.count(false);
                Ok(Answer::from_value(&answer))
            }
            Accepted::Existing(entry) => self.again(&key, entry, request).await,
        }
    }

    /// Counts what is in the ledger now, and wakes the worker.
    pub(super) fn count(&self, declined: bool) {
        if declined {
            return self.counters.rejected();
        }
        self.counters.accepted();
        self.work.notify_waiters();
    }

    /// The record as the store keeps it.
    pub(super) fn written(&self, lead_id: &str, record: &Record) -> Result<String, LeadError> {
        let sealing = self.settings.seal_ledger.then_some(self.keys.as_ref());
        record
            .to_text(lead_id, sealing)
            .map_err(|error| LeadError::Store(error.to_string()))
    }

    pub(super) fn deliveries(&self, record: &Record, now: Timestamp) -> Vec<NewDelivery> {
        let to_delivery = |target: &str| NewDelivery {
            target: target.to_owned(),
            due_at: now,
        };
        let targets = route::targets(record, &self.settings);
        targets.into_iter().map(to_delivery).collect()
    }

    fn key(&self, request: &LeadRequest, caller: &Caller, receiver: &Profile) -> String {
        let dealer = receiver.dealer_id.as_deref().unwrap_or_default();
        key::scoped_key(
            &self.settings.deployment,
            dealer,
            caller,
            &request.idempotency_key,
        )
    }

    /// The original answer of a key that is taken; waits a bounded time for one that is not there yet.
    pub(super) async fn again(
        &self,
        key: &str,
        mut entry: KeyEntry,
        request: &LeadRequest,
    ) -> Result<Answer, LeadError> {
        if entry.fingerprint != key::fingerprint(request) {
            return Err(LeadError::Conflict);
        }
        let hook = self.hook.as_ref().map(scheduling::Hook::timeout);
        let patience = PATIENCE + hook.unwrap_or_default();
        let until = tokio::time::Instant::now() + patience;
        loop {
            if let Some(original) = &entry.answer {
                self.counters.replayed();
                return answer::replayed(original);
            }
            if tokio::time::Instant::now() >= until {
                return Err(LeadError::InProgress);
            }
            tokio::time::sleep(LOOK_EVERY).await;
            // Whoever asked for the answer may have died over it.
            self.finish_overdue().await?;
            match self.store.key(key, self.clock.now()).await? {
                Some(newer) => entry = newer,
                // It was taken back: nothing was accepted, and the caller may try again.
                None => return Err(LeadError::InProgress),
            }
        }
    }
}

/// `now` and `duration`, at most the end of time.
pub(super) fn later(now: Timestamp, duration: Duration) -> Timestamp {
    let duration = SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX);
    now.saturating_add(duration).unwrap_or(Timestamp::MAX)
}

/// A new id. It tells when it was made and nothing of the shopper.
fn new_id(kind: &str, now: Timestamp) -> String {
    let seconds = u64::try_from(now.as_second()).unwrap_or_default();
    let nanoseconds = u32::try_from(now.subsec_nanosecond()).unwrap_or_default();
    let time = uuid::Timestamp::from_unix(NoContext, seconds, nanoseconds);
    format!("{kind}_{}", Uuid::new_v7(time).simple())
}
