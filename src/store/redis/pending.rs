//! Leads whose answer is being asked for elsewhere, in Redis: claimed in one step, completed in a second.

use jiff::Timestamp;

use super::super::StoreError;
use super::super::rows::Acceptance;
use super::journal::Entry;
use super::script::Step;
use super::{Redis, millis};

impl Redis {
    /// The step that claims the key.
    pub(super) fn pend(
        &self,
        acceptance: &Acceptance,
        deadline: Timestamp,
        now: Timestamp,
    ) -> Result<Step<'_>, StoreError> {
        let body = serde_json::to_string(acceptance)
            .map_err(|error| StoreError::Corrupt(error.to_string()))?;
        let mut step = self.step(&self.scripts.pend);
        step.arg(&acceptance.key)
            .arg(millis(acceptance.key_expires_at))
            .arg(&acceptance.fingerprint)
            .arg(&acceptance.lead_id)
            .arg(millis(now))
            .arg(self.member())
            .arg(millis(deadline))
            .arg(body);
        Ok(step)
    }

    pub(in crate::store) async fn complete(
        &self,
        acceptance: Acceptance,
        attention: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut step = self.step(&self.scripts.complete);
        step.arg(&acceptance.key)
            .lead(&acceptance, now)
            .arg(attention)
            .outbox(&acceptance);
        let completed: bool = self.run(step).await?;
        if completed && let Some(warden) = &self.warden {
            let entry = Entry::Accepted(Box::new(acceptance));
            warden.journal.append(&[entry]).await?;
        }
        // What was completed by a try before this one may still have to reach the replicas.
        self.confirmed().await.map(|()| completed)
    }

    pub(in crate::store) async fn overdue(
        &self,
        now: Timestamp,
    ) -> Result<Vec<Acceptance>, StoreError> {
        let mut command = redis::cmd("ZRANGE");
        command.arg(format!("{}pending_by_deadline", self.leads));
        command.arg("-inf").arg(millis(now)).arg("BYSCORE");
        let leads: Vec<String> = self.command(&command).await?;
        let mut overdue = Vec::with_capacity(leads.len());
        for lead in leads {
            let mut command = redis::cmd("HGET");
            command.arg(format!("{}pending", self.leads)).arg(lead);
            let body: Option<String> = self.command(&command).await?;
            if let Some(body) = body {
                let read = serde_json::from_str(&body);
                overdue.push(read.map_err(|_| StoreError::Corrupt("a pending lead".to_owned()))?);
            }
        }
        Ok(overdue)
    }
}
