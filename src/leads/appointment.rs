//! Leads with an appointment, where a system books: claimed as pending, asked about once, then written with what
//! was said. Whatever happens between, the system is not asked again, and a person is told.

use serde_json::Value;

use super::accept::{LOOK_EVERY, PATIENCE, later};
use super::record::Record;
use super::scheduling::{Booking, Hook, Ids};
use super::{LeadError, Leads, alerts, answer};
use crate::contract::Answer;
use crate::contract::request::LeadRequest;
use crate::failpoint;
use crate::store::{Acceptance, Accepted, PERSON, StoreError};

/// How often the second step is offered to a store that fails.
const TRIES: u32 = 20;

/// What is known before the system is asked.
pub(super) struct Asked {
    /// With the answer that holds if nothing more becomes known: requested.
    pub(super) acceptance: Acceptance,
    pub(super) record: Record,
    pub(super) answer: Value,
    pub(super) appointment_id: String,
}

impl Leads {
    /// Claims, asks, writes. A retry waits meanwhile.
    pub(super) async fn accept_booked(
        &self,
        hook: &Hook,
        asked: Asked,
        request: &LeadRequest,
    ) -> Result<Answer, LeadError> {
        let Asked {
            mut acceptance,
            mut record,
            answer,
            appointment_id,
        } = asked;
        let key = acceptance.key.clone();
        let now = self.clock.now();
        let deadline = later(now, hook.timeout() + PATIENCE);
        let claimed = self.store.claim_pending(acceptance.clone(), deadline, now);
        if let Accepted::Existing(entry) = claimed.await? {
            return self.again(&key, entry, request).await;
        }
        failpoint::reached("booking.claimed");
        let ids = Ids {
            lead: &acceptance.lead_id,
            appointment: &appointment_id,
            key: &key,
        };
        let (booking, attention) = match hook.ask(&record, ids).await {
            Ok(booking) => (booking, String::new()),
            Err(reason) => (Booking::Requested, reason),
        };
        failpoint::reached("booking.asked");
        let answer = answer::with_booking(answer, &booking);
        record.booking = answer.pointer("/data/appointment").cloned();
        // Whoever tries again gets the same refusal, and nobody is asked a second time.
        acceptance.answer = if booking == Booking::NoTime {
            answer::no_time(&acceptance.lead_id)
        } else {
            answer.to_string()
        };
        acceptance.record = self.written(&acceptance.lead_id, &record)?;
        if booking.declines_lead() {
            acceptance.deliveries.clear();
        }
        let answer = acceptance.answer.clone();
        if self.complete(acceptance, &attention).await? {
            self.count(booking.declines_lead());
            return answer::stored(&answer);
        }
        // It took so long that the lead was completed without it.
        let entry = self.store.key(&key, self.clock.now()).await?;
        let stored = entry.and_then(|entry| entry.answer);
        answer::stored(&stored.ok_or(LeadError::InProgress)?)
    }

    /// The second step, tried for a while: until it is taken, retries wait.
    async fn complete(&self, acceptance: Acceptance, attention: &str) -> Result<bool, StoreError> {
        let lead_id = acceptance.lead_id.clone();
        let mut tries = 0;
        let completed = loop {
            let now = self.clock.now();
            let offered = self.store.complete(acceptance.clone(), attention, now);
            match offered.await {
                Ok(completed) => break completed,
                Err(error) if tries == TRIES => return Err(error),
                Err(_) => tries += 1,
            }
            tokio::time::sleep(LOOK_EVERY).await;
        };
        if completed && !attention.is_empty() {
            self.notices
                .say(alerts::Event::Appointment, PERSON, &lead_id);
        }
        Ok(completed)
    }

    /// Completes leads whose answer never came: accepted, the appointment requested, a person told.
    pub(super) async fn finish_overdue(&self) -> Result<(), LeadError> {
        for acceptance in self.store.overdue(self.clock.now()).await? {
            let reason = "whether the scheduling system booked is unknown: the process ended or waited in vain";
            if self.complete(acceptance, reason).await? {
                self.count(false);
            }
        }
        Ok(())
    }
}
