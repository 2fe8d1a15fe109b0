//! The outbox in Redis: who delivers what, and how it ended.

use jiff::Timestamp;

use super::super::StoreError;
use super::super::rows::{DeliveryState, Ending, Job, Recovered};
use super::super::{INTERRUPTED_BEFORE, INTERRUPTED_DURING};
use super::script::Step;
use super::{ALIVE, HEARTBEAT, Redis, instant, millis};
use crate::failpoint;

impl Redis {
    pub(in crate::store) async fn take_job(
        &self,
        deployment: &str,
        target: &str,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> Result<Option<Job>, StoreError> {
        let mut step = self.step(&self.scripts.take);
        step.arg(deployment)
            .arg(target)
            .arg(&self.instance)
            .arg(millis(now))
            .arg(millis(lease_until))
            .arg(self.member());
        let taken: Vec<String> = self.run(step).await?;
        let [lead_id, attempt, accepted_at, record] = taken.as_slice() else {
            return Ok(None);
        };
        Ok(Some(Job {
            lead_id: lead_id.clone(),
            deployment: deployment.to_owned(),
            target: target.to_owned(),
            attempt: number(attempt)?,
            worker: self.instance.clone(),
            accepted_at: instant(accepted_at)?,
            record: record.clone(),
        }))
    }

    pub(in crate::store) async fn mark_transmitting(
        &self,
        job: &Job,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        if let Some(warden) = &self.warden {
            warden.begun(job).await?;
        }
        let marked = self.mark(job, now).await;
        if let (Some(warden), Ok(false) | Err(_)) = (&self.warden, &marked) {
            // Nothing is sent, so nothing may have been taken.
            let abandoned = Ending {
                state: DeliveryState::Waiting,
                due_at: None,
                detail: String::new(),
            };
            warden.ended(job, &abandoned, now).await?;
            warden.told(job);
        }
        marked
    }

    async fn mark(&self, job: &Job, now: Timestamp) -> Result<bool, StoreError> {
        let mut step = self.step(&self.scripts.mark);
        step.arg(&job.lead_id)
            .arg(&job.target)
            .arg(&job.worker)
            .arg(job.attempt.to_string())
            .arg(millis(now));
        self.run(step).await
    }

    pub(in crate::store) async fn finish(
        &self,
        job: &Job,
        ending: Ending,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        if let Some(warden) = &self.warden {
            warden.ended(job, &ending, now).await?;
            failpoint::reached("ending.journaled");
        }
        let mut step = self.step(&self.scripts.finish);
        step.arg(&job.lead_id)
            .arg(&job.target)
            .arg(&job.worker)
            .arg(job.attempt.to_string())
            .arg(ending.state.id())
            .arg(ending.due_at.map(millis).unwrap_or_default())
            .arg(ending.detail)
            .arg(millis(now));
        let finished = self.run(step).await?;
        if let Some(warden) = &self.warden {
            warden.told(job);
        }
        Ok(finished)
    }

    pub(in crate::store) async fn decide(
        &self,
        lead_id: &str,
        target: &str,
        from: &[DeliveryState],
        ending: Ending,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut step = self.step(&self.scripts.decide);
        step.arg(lead_id)
            .arg(target)
            .arg(ending.state.id())
            .arg(ending.due_at.map(millis).unwrap_or_default())
            .arg(ending.detail)
            .arg(millis(now));
        for state in from {
            step.arg(state.id());
        }
        self.run(step).await
    }

    pub(in crate::store) async fn next_due(
        &self,
        deployment: &str,
        target: &str,
    ) -> Result<Option<Timestamp>, StoreError> {
        let mut command = redis::cmd("ZRANGE");
        command.arg(format!("{}due:{deployment} {target}", self.leads));
        command.arg(&["0", "0", "WITHSCORES"]);
        let found: Vec<(String, i64)> = self.command(&command).await?;
        let due = found.first().map(|(_, score)| instant(&score.to_string()));
        due.transpose()
    }

    /// Jobs of processes that no longer say they live, and jobs whose lease ran out.
    pub(in crate::store) async fn recover(&self, now: Timestamp) -> Result<Recovered, StoreError> {
        self.start_heartbeat().await?;
        let mut step = self.step(&self.scripts.recover);
        step.arg(&self.instance)
            .arg(millis(now))
            .arg(INTERRUPTED_DURING)
            .arg(INTERRUPTED_BEFORE)
            .arg(ALIVE.as_secs().to_string());
        let (queued, held) = self.run(step).await?;
        Ok(Recovered { queued, held })
    }

    async fn start_heartbeat(&self) -> Result<(), StoreError> {
        let mut task = self.heartbeat.lock().await;
        if task.is_some() {
            return Ok(());
        }
        self.run::<i64>(self.alive()).await?;
        let script = self.scripts.alive.clone();
        let (prefix, instance) = (self.leads.clone(), self.instance.clone());
        let mut connection = self.link.clone();
        *task = Some(tokio::spawn(async move {
            loop {
                tokio::time::sleep(HEARTBEAT).await;
                // A beat that is missed is made up for by the next.
                let mut step = Step::new(&script, &prefix);
                step.arg(&instance).arg(ALIVE.as_millis().to_string());
                drop(step.run::<i64>(&mut connection).await);
            }
        }));
        Ok(())
    }
}

impl Redis {
    fn alive(&self) -> Step<'_> {
        let mut step = self.step(&self.scripts.alive);
        step.arg(&self.instance).arg(ALIVE.as_millis().to_string());
        step
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        if let Some(task) = self.heartbeat.get_mut().take() {
            task.abort();
        }
    }
}

pub(super) fn number(text: &str) -> Result<u32, StoreError> {
    text.parse()
        .map_err(|_| StoreError::Corrupt("a number".to_owned()))
}
