//! The outbox in SQLite: who delivers what, and how it ended.

use jiff::Timestamp;
use sqlx::{Row as _, SqliteConnection};

use super::super::StoreError;
use super::super::rows::{DeliveryState, Ending, Job};
use super::Embedded;

impl Embedded {
    pub(in crate::store) async fn take_job(
        &self,
        deployment: &str,
        target: &str,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> Result<Option<Job>, StoreError> {
        // Looking is cheaper than writing, and idle workers only look.
        let due = self.next_due(deployment, target).await?;
        if due.is_none_or(|due| due > now) {
            return Ok(None);
        }
        let (deployment, target) = (deployment.to_owned(), target.to_owned());
        let instance = self.instance.clone();
        self.write(move |connection| {
            Box::pin(take(
                connection,
                deployment,
                target,
                instance,
                now,
                lease_until,
            ))
        })
        .await
    }

    pub(in crate::store) async fn mark_transmitting(
        &self,
        job: &Job,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let job = job.clone();
        self.write(move |connection| Box::pin(mark(connection, job, now)))
            .await
    }

    pub(in crate::store) async fn finish(
        &self,
        job: &Job,
        ending: Ending,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let job = job.clone();
        self.write(move |connection| Box::pin(finish(connection, job, ending, now)))
            .await
    }

    pub(in crate::store) async fn decide(
        &self,
        lead_id: &str,
        target: &str,
        from: &[DeliveryState],
        ending: Ending,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let (lead_id, target) = (lead_id.to_owned(), target.to_owned());
        let from = from.to_vec();
        self.write(move |connection| {
            Box::pin(decide(connection, lead_id, target, from, ending, now))
        })
        .await
    }

    pub(in crate::store) async fn next_due(
        &self,
        deployment: &str,
        target: &str,
    ) -> Result<Option<Timestamp>, StoreError> {
        let row = sqlx::query(
            "SELECT min(due_at) FROM deliveries
             WHERE deployment = ? AND target = ? AND state IN ('queued', 'waiting')",
        )
        .bind(deployment)
        .bind(target)
        .fetch_one(&self.readers)
        .await
        .map_err(|error| self.fail(&error))?;
        let due: Option<i64> = row.try_get(0).map_err(|error| self.fail(&error))?;
        due.map(instant).transpose()
    }
}

/// An instant as the tables hold it.
pub(super) fn instant(milliseconds: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_millisecond(milliseconds)
        .map_err(|_| StoreError::Corrupt("a time out of range".to_owned()))
}

async fn take(
    connection: &mut SqliteConnection,
    deployment: String,
    target: String,
    instance: String,
    now: Timestamp,
    lease_until: Timestamp,
) -> Result<Option<Job>, sqlx::Error> {
    let taken = sqlx::query(
        "UPDATE deliveries
         SET state = 'sending', attempts = attempts + 1, worker = ?1, lease_until = ?2,
             transmitting = 0, updated_at = ?3
         WHERE target = ?5 AND lead_id = (
             SELECT lead_id FROM deliveries
             WHERE deployment = ?4 AND target = ?5 AND state IN ('queued', 'waiting') AND due_at <= ?3
             ORDER BY due_at LIMIT 1)
         RETURNING lead_id, attempts",
    )
    .bind(&instance)
    .bind(lease_until.as_millisecond())
    .bind(now.as_millisecond())
    .bind(&deployment)
    .bind(&target)
    .fetch_optional(&mut *connection)
    .await?;
    let Some(taken) = taken else {
        return Ok(None);
    };
    let lead_id: String = taken.try_get(0)?;
    let attempt: u32 = taken.try_get(1)?;
    let lead = sqlx::query("SELECT accepted_at, record FROM leads WHERE lead_id = ?")
        .bind(&lead_id)
        .fetch_one(&mut *connection)
        .await?;
    let accepted_at: i64 = lead.try_get(0)?;
    Ok(Some(Job {
        lead_id,
        deployment,
        target,
        attempt,
        worker: instance,
        accepted_at: Timestamp::from_millisecond(accepted_at).unwrap_or(now),
        record: lead.try_get(1)?,
    }))
}

async fn mark(
    connection: &mut SqliteConnection,
    job: Job,
    now: Timestamp,
) -> Result<bool, sqlx::Error> {
    let done = sqlx::query(
        "UPDATE deliveries SET transmitting = 1, updated_at = ?
         WHERE lead_id = ? AND target = ? AND state = 'sending' AND worker = ? AND attempts = ?
           AND lease_until > ?",
    )
    .bind(now.as_millisecond())
    .bind(&job.lead_id)
    .bind(&job.target)
    .bind(&job.worker)
    .bind(job.attempt)
    .bind(now.as_millisecond())
    .execute(&mut *connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

async fn finish(
    connection: &mut SqliteConnection,
    job: Job,
    ending: Ending,
    now: Timestamp,
) -> Result<bool, sqlx::Error> {
    // Who took the job for orphaned could not know how it ended; whoever carried it out does.
    let done = sqlx::query(
        "UPDATE deliveries
         SET state = ?1, due_at = coalesce(?2, due_at), detail = ?3, updated_at = ?4,
             worker = '', lease_until = 0, transmitting = 0
         WHERE lead_id = ?5 AND target = ?6 AND attempts = ?8
             AND ((state = 'sending' AND worker = ?7)
                 OR (state = 'held' AND ?1 IN ('delivered', 'refused')))",
    )
    .bind(ending.state.id())
    .bind(ending.due_at.map(Timestamp::as_millisecond))
    .bind(&ending.detail)
    .bind(now.as_millisecond())
    .bind(&job.lead_id)
    .bind(&job.target)
    .bind(&job.worker)
    .bind(job.attempt)
    .execute(&mut *connection)
    .await?;
    if done.rows_affected() != 1 {
        return Ok(false);
    }
    note(connection, &job.lead_id, &job.target, &ending, now).await?;
    Ok(true)
}

async fn decide(
    connection: &mut SqliteConnection,
    lead_id: String,
    target: String,
    from: Vec<DeliveryState>,
    ending: Ending,
    now: Timestamp,
) -> Result<bool, sqlx::Error> {
    let row = sqlx::query("SELECT state FROM deliveries WHERE lead_id = ? AND target = ?")
        .bind(&lead_id)
        .bind(&target)
        .fetch_optional(&mut *connection)
        .await?;
    let Some(row) = row else { return Ok(false) };
    let state: String = row.try_get(0)?;
    if !from.iter().any(|one| one.id() == state) {
        return Ok(false);
    }
    sqlx::query(
        "UPDATE deliveries SET state = ?, due_at = coalesce(?, due_at), detail = ?, updated_at = ?
         WHERE lead_id = ? AND target = ?",
    )
    .bind(ending.state.id())
    .bind(ending.due_at.map(Timestamp::as_millisecond))
    .bind(&ending.detail)
    .bind(now.as_millisecond())
    .bind(&lead_id)
    .bind(&target)
    .execute(&mut *connection)
    .await?;
    note(connection, &lead_id, &target, &ending, now).await?;
    Ok(true)
}

/// Writes one line of the delivery's history.
pub(super) async fn note(
    connection: &mut SqliteConnection,
    lead_id: &str,
    target: &str,
    ending: &Ending,
    now: Timestamp,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO attempts (lead_id, target, number, at, state, detail)
         SELECT lead_id, target, attempts, ?, ?, ? FROM deliveries WHERE lead_id = ? AND target = ?",
    )
    .bind(now.as_millisecond())
    .bind(ending.state.id())
    .bind(&ending.detail)
    .bind(lead_id)
    .bind(target)
    .execute(&mut *connection)
    .await
    .map(drop)
}
