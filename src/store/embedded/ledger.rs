//! The ledger in SQLite: what people ask about leads.

use jiff::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::super::StoreError;
use super::super::rows::{Attempt, Delivery, DeliveryState, Lead, LeadFilter, Restored, Tally};
use super::Embedded;
use super::outbox::instant;

impl Embedded {
    pub(in crate::store) async fn leads(
        &self,
        filter: &LeadFilter,
    ) -> Result<Vec<Lead>, StoreError> {
        let limit = match filter.limit {
            0 => -1,
            limit => i64::from(limit),
        };
        let after = filter.after.as_ref();
        let rows = sqlx::query(
            "SELECT lead_id, deployment, dealer, accepted_at, record, answer FROM leads
             WHERE (?1 IS NULL OR deployment = ?1) AND (?2 IS NULL OR lead_id = ?2)
               AND (?3 IS NULL OR accepted_at < ?3)
               AND (?4 IS NULL OR EXISTS (SELECT 1 FROM deliveries
                    WHERE deliveries.lead_id = leads.lead_id AND deliveries.state = ?4))
               AND (?5 IS NULL OR (accepted_at, lead_id) < (?5, ?6))
             ORDER BY accepted_at DESC, lead_id DESC LIMIT ?7",
        )
        .bind(filter.deployment.as_deref())
        .bind(filter.lead_id.as_deref())
        .bind(filter.accepted_before.map(Timestamp::as_millisecond))
        .bind(filter.state.map(DeliveryState::id))
        .bind(after.map(|(at, _)| at.as_millisecond()))
        .bind(after.map(|(_, lead_id)| lead_id.as_str()))
        .bind(limit)
        .fetch_all(&self.readers)
        .await
        .map_err(|error| self.fail(&error))?;
        let mut leads = Vec::with_capacity(rows.len());
        for row in rows {
            let mut lead = lead(&row).map_err(|error| self.fail(&error))??;
            lead.deliveries = self.deliveries(&lead.lead_id).await?;
            leads.push(lead);
        }
        Ok(leads)
    }

    async fn deliveries(&self, lead_id: &str) -> Result<Vec<Delivery>, StoreError> {
        let rows = sqlx::query(
            "SELECT target, state, attempts, due_at, updated_at, detail FROM deliveries
             WHERE lead_id = ? ORDER BY target",
        )
        .bind(lead_id)
        .fetch_all(&self.readers)
        .await
        .map_err(|error| self.fail(&error))?;
        rows.iter()
            .map(|row| delivery(row).map_err(|error| self.fail(&error))?)
            .collect()
    }

    pub(in crate::store) async fn attempts(
        &self,
        lead_id: &str,
    ) -> Result<Vec<Attempt>, StoreError> {
        let rows = sqlx::query(
            "SELECT target, number, at, state, detail FROM attempts
             WHERE lead_id = ? ORDER BY at, rowid",
        )
        .bind(lead_id)
        .fetch_all(&self.readers)
        .await
        .map_err(|error| self.fail(&error))?;
        rows.iter()
            .map(|row| attempt(row).map_err(|error| self.fail(&error))?)
            .collect()
    }

    pub(in crate::store) async fn tally(&self, deployment: &str) -> Result<Tally, StoreError> {
        let rows = sqlx::query(
            "SELECT state, count(*) FROM deliveries WHERE deployment = ? GROUP BY state",
        )
        .bind(deployment)
        .fetch_all(&self.readers)
        .await
        .map_err(|error| self.fail(&error))?;
        let mut tally = Tally::default();
        for row in &rows {
            let (state, count) = counted(row).map_err(|error| self.fail(&error))?;
            tally.by_state.push((known(&state)?, count));
        }
        let oldest: Option<i64> = sqlx::query_scalar(
            "SELECT min(leads.accepted_at) FROM deliveries JOIN leads USING (lead_id)
             WHERE deliveries.deployment = ? AND state IN ('queued', 'sending', 'waiting', 'held')",
        )
        .bind(deployment)
        .fetch_one(&self.readers)
        .await
        .map_err(|error| self.fail(&error))?;
        tally.oldest_open = oldest.map(instant).transpose()?;
        Ok(tally)
    }

    pub(in crate::store) async fn restore(
        &self,
        restored: Restored,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| Box::pin(restore(connection, restored, now)))
            .await
    }

    pub(in crate::store) async fn remove(&self, lead_ids: &[String]) -> Result<u64, StoreError> {
        let lead_ids = lead_ids.to_vec();
        self.write(move |connection| Box::pin(remove(connection, lead_ids)))
            .await
    }
}

async fn restore(
    connection: &mut SqliteConnection,
    restored: Restored,
    now: Timestamp,
) -> Result<bool, sqlx::Error> {
    let lead_id = &restored.lead_id;
    let lead = sqlx::query(
        "INSERT OR IGNORE INTO leads (lead_id, deployment, dealer, accepted_at, record, answer)
         VALUES (?, ?, ?, ?, ?, ?)",
    )
    .bind(lead_id)
    .bind(&restored.deployment)
    .bind(&restored.dealer)
    .bind(restored.accepted_at.as_millisecond())
    .bind(&restored.record)
    .bind(&restored.answer)
    .execute(&mut *connection)
    .await?;
    if lead.rows_affected() == 0 {
        return Ok(false);
    }
    if let Some(key) = &restored.key {
        sqlx::query(
            "INSERT INTO keys (key, fingerprint, lead_id, answer, expires_at)
             VALUES (?, ?, ?, ?, ?)
             ON CONFLICT (key) DO UPDATE SET fingerprint = excluded.fingerprint,
                 lead_id = excluded.lead_id, answer = excluded.answer,
                 expires_at = excluded.expires_at
             WHERE keys.expires_at <= ?",
        )
        .bind(&key.key)
        .bind(&key.fingerprint)
        .bind(lead_id)
        .bind(&restored.answer)
        .bind(key.expires_at.as_millisecond())
        .bind(now.as_millisecond())
        .execute(&mut *connection)
        .await?;
    }
    for delivery in &restored.deliveries {
        restore_delivery(connection, &restored, delivery).await?;
    }
    for attempt in &restored.attempts {
        sqlx::query(
            "INSERT INTO attempts (lead_id, target, number, at, state, detail)
             VALUES (?, ?, ?, ?, ?, ?)",
        )
        .bind(lead_id)
        .bind(&attempt.target)
        .bind(attempt.number)
        .bind(attempt.at.as_millisecond())
        .bind(attempt.state.id())
        .bind(&attempt.detail)
        .execute(&mut *connection)
        .await?;
    }
    Ok(true)
}

async fn restore_delivery(
    connection: &mut SqliteConnection,
    restored: &Restored,
    delivery: &Delivery,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO deliveries
             (lead_id, target, deployment, state, due_at, attempts, detail, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(&restored.lead_id)
    .bind(&delivery.target)
    .bind(&restored.deployment)
    .bind(delivery.state.id())
    .bind(delivery.due_at.as_millisecond())
    .bind(delivery.attempts)
    .bind(&delivery.detail)
    .bind(delivery.updated_at.as_millisecond())
    .execute(connection)
    .await
    .map(drop)
}

async fn remove(
    connection: &mut SqliteConnection,
    lead_ids: Vec<String>,
) -> Result<u64, sqlx::Error> {
    let mut removed = 0;
    for lead_id in &lead_ids {
        let done = sqlx::query("DELETE FROM leads WHERE lead_id = ?")
            .bind(lead_id)
            .execute(&mut *connection)
            .await?;
        removed += done.rows_affected();
    }
    Ok(removed)
}

fn known(state: &str) -> Result<DeliveryState, StoreError> {
    DeliveryState::from_id(state)
        .ok_or_else(|| StoreError::Corrupt("an unknown delivery state".to_owned()))
}

fn counted(row: &SqliteRow) -> Result<(String, u64), sqlx::Error> {
    let count: i64 = row.try_get(1)?;
    Ok((row.try_get(0)?, count.unsigned_abs()))
}

type Read<T> = Result<Result<T, StoreError>, sqlx::Error>;

fn lead(row: &SqliteRow) -> Read<Lead> {
    let accepted_at = match instant(row.try_get(3)?) {
        Ok(at) => at,
        Err(error) => return Ok(Err(error)),
    };
    Ok(Ok(Lead {
        lead_id: row.try_get(0)?,
        deployment: row.try_get(1)?,
        dealer: row.try_get(2)?,
        accepted_at,
        record: row.try_get(4)?,
        answer: row.try_get(5)?,
        deliveries: Vec::new(),
    }))
}

fn delivery(row: &SqliteRow) -> Read<Delivery> {
    let state: String = row.try_get(1)?;
    let (due_at, updated_at): (i64, i64) = (row.try_get(3)?, row.try_get(4)?);
    let (target, attempts, detail) = (row.try_get(0)?, row.try_get(2)?, row.try_get(5)?);
    Ok((|| {
        Ok(Delivery {
            target,
            state: known(&state)?,
            attempts,
            due_at: instant(due_at)?,
            updated_at: instant(updated_at)?,
            detail,
        })
    })())
}

fn attempt(row: &SqliteRow) -> Read<Attempt> {
    let state: String = row.try_get(3)?;
    let at: i64 = row.try_get(2)?;
    let (target, number, detail) = (row.try_get(0)?, row.try_get(1)?, row.try_get(4)?);
    Ok((|| {
        Ok(Attempt {
            target,
            number,
            at: instant(at)?,
            state: known(&state)?,
            detail,
        })
    })())
}
