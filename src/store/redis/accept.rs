//! Accepting a lead in Redis: first into this process's own journal, then in one atomic step.

use jiff::Timestamp;

use super::super::StoreError;
use super::super::rows::{Acceptance, Accepted, KeyEntry};
use super::gate::Warden;
use super::journal::Entry;
use super::script::Step;
use super::{Redis, instant, millis};
use crate::failpoint;

/// What the one step says.
enum Said {
    New,
    Existing(KeyEntry),
    /// This Redis may have lost something.
    Closed,
}

impl Redis {
    pub(in crate::store) async fn accept(
        &self,
        acceptance: Acceptance,
        now: Timestamp,
    ) -> Result<Accepted, StoreError> {
        self.take_in(acceptance, None, now).await
    }

    pub(in crate::store) async fn claim_pending(
        &self,
        acceptance: Acceptance,
        deadline: Timestamp,
        now: Timestamp,
    ) -> Result<Accepted, StoreError> {
        self.take_in(acceptance, Some(deadline), now).await
    }

    /// Takes the lead in, whole or pending until `deadline`.
    async fn take_in(
        &self,
        acceptance: Acceptance,
        deadline: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<Accepted, StoreError> {
        let Some(warden) = &self.warden else {
            let said = self.offer(&acceptance, deadline, now).await?;
            return self.conclude(said, &acceptance).await;
        };
        if !warden.is_open() {
            self.tend(warden, now).await?;
        }
        if !warden.is_open() {
            return Err(self.closed());
        }
        let mut said = self
            .offer_on_record(warden, &acceptance, deadline, now)
            .await?;
        if matches!(said, Said::Closed) {
            self.tend(warden, now).await?;
            said = self
                .offer_on_record(warden, &acceptance, deadline, now)
                .await?;
        }
        self.conclude(said, &acceptance).await
    }

    /// Into the journal first: a lead that Redis took and then lost must be known here. An error leaves it
    /// there, since Redis may have taken it; a repair makes no second lead of it.
    async fn offer_on_record(
        &self,
        warden: &Warden,
        acceptance: &Acceptance,
        deadline: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<Said, StoreError> {
        let accepted = Entry::Accepted(Box::new(acceptance.clone()));
        warden.journal.append(&[accepted]).await?;
        failpoint::reached("accept.journaled");
        let said = self.offer(acceptance, deadline, now).await?;
        let ours = match &said {
            Said::New => true,
            Said::Existing(entry) => entry.lead_id == acceptance.lead_id,
            Said::Closed => false,
        };
        if !ours {
            let void = Entry::Void(acceptance.lead_id.clone());
            warden.journal.append(&[void]).await?;
        }
        Ok(said)
    }

    async fn offer(
        &self,
        acceptance: &Acceptance,
        deadline: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<Said, StoreError> {
        let step = match deadline {
            None => self.whole(acceptance, now),
            Some(deadline) => self.pend(acceptance, deadline, now)?,
        };
        let found: Vec<Option<String>> = self.run(step).await?;
        match found.as_slice() {
            [] => Ok(Said::New),
            [Some(word)] if word == "closed" => Ok(Said::Closed),
            [Some(fingerprint), Some(lead_id), answer] => Ok(Said::Existing(KeyEntry {
                fingerprint: fingerprint.clone(),
                lead_id: lead_id.clone(),
                answer: answer.clone(),
            })),
            _ => Err(StoreError::Corrupt("an idempotency key".to_owned())),
        }
    }

    fn whole(&self, acceptance: &Acceptance, now: Timestamp) -> Step<'_> {
        let mut step = self.step(&self.scripts.accept);
        step.arg(&acceptance.key)
            .arg(millis(acceptance.key_expires_at))
            .arg(&acceptance.fingerprint)
            .lead(acceptance, now)
            .arg(self.member())
            .outbox(acceptance);
        step
    }

    async fn conclude(&self, said: Said, acceptance: &Acceptance) -> Result<Accepted, StoreError> {
        match said {
            // A client of a cluster asks again by itself: then the key stands under this very lead.
            Said::Existing(entry) if entry.lead_id != acceptance.lead_id => {
                Ok(Accepted::Existing(entry))
            }
            Said::New | Said::Existing(_) => self.confirmed().await.map(|()| Accepted::New),
            Said::Closed => Err(self.closed()),
        }
    }

    fn closed(&self) -> StoreError {
        StoreError::Unavailable {
            place: self.place.clone(),
            cause: "it may have lost something, and not every process has restored what it knows"
                .to_owned(),
        }
    }

    /// What stands under a key. A Redis that may have lost keys is not asked for one that it lacks.
    pub(in crate::store) async fn key(
        &self,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<KeyEntry>, StoreError> {
        let mut step = self.step(&self.scripts.key);
        step.arg(key).arg(self.member());
        let found: Vec<Option<String>> = self.run(step).await?;
        match found.as_slice() {
            [Some(word)] if word == "closed" => Err(self.closed()),
            [Some(expires_at), Some(fingerprint), Some(lead_id), answer] => {
                let standing = instant(expires_at)? > now;
                Ok(standing.then(|| KeyEntry {
                    fingerprint: fingerprint.clone(),
                    lead_id: lead_id.clone(),
                    answer: answer.clone(),
                }))
            }
            _ => Ok(None),
        }
    }
}

impl Step<'_> {
    /// What the ledger keeps of a lead, and when it is now.
    pub(super) fn lead(&mut self, acceptance: &Acceptance, now: Timestamp) -> &mut Self {
        self.arg(&acceptance.lead_id)
            .arg(&acceptance.deployment)
            .arg(&acceptance.dealer)
            .arg(millis(acceptance.accepted_at))
            .arg(&acceptance.record)
            .arg(&acceptance.answer)
            .arg(millis(now))
    }

    /// The outbox entries of a lead, as the last arguments.
    pub(super) fn outbox(&mut self, acceptance: &Acceptance) {
        for delivery in &acceptance.deliveries {
            self.arg(&delivery.target).arg(millis(delivery.due_at));
        }
    }
}
