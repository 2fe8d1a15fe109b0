//! Leads whose answer is being asked for elsewhere, in SQLite: claimed in one step, completed in a second.

use jiff::Timestamp;
use sqlx::{Row as _, SqliteConnection};

use super::super::rows::{Acceptance, Accepted, DeliveryState, Ending};
use super::super::{PERSON, StoreError};
use super::Embedded;
use super::keys::{claim, write_lead};
use super::outbox::note;

impl Embedded {
    pub(in crate::store) async fn claim_pending(
        &self,
        acceptance: Acceptance,
        deadline: Timestamp,
        now: Timestamp,
    ) -> Result<Accepted, StoreError> {
        let body = serde_json::to_string(&acceptance)
            .map_err(|error| StoreError::Corrupt(error.to_string()))?;
        self.write(move |connection| {
            Box::pin(claim_pending(connection, acceptance, body, deadline, now))
        })
        .await
    }

    pub(in crate::store) async fn complete(
        &self,
        acceptance: Acceptance,
        attention: String,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| Box::pin(complete(connection, acceptance, attention, now)))
            .await
    }

    pub(in crate::store) async fn overdue(
        &self,
        now: Timestamp,
    ) -> Result<Vec<Acceptance>, StoreError> {
        let rows = sqlx::query("SELECT acceptance FROM pending WHERE deadline <= ?")
            .bind(now.as_millisecond())
            .fetch_all(&self.readers)
            .await
            .map_err(|error| self.fail(&error))?;
        let read = |row: &sqlx::sqlite::SqliteRow| {
            let text: String = row.try_get(0).map_err(|error| self.fail(&error))?;
            serde_json::from_str(&text)
                .map_err(|_| StoreError::Corrupt("a pending lead".to_owned()))
        };
        rows.iter().map(read).collect()
    }
}

async fn claim_pending(
    connection: &mut SqliteConnection,
    acceptance: Acceptance,
    body: String,
    deadline: Timestamp,
    now: Timestamp,
) -> Result<Accepted, sqlx::Error> {
    if let Some(entry) = claim(connection, &acceptance, None, now).await? {
        return Ok(Accepted::Existing(entry));
    }
    sqlx::query("INSERT INTO pending (lead_id, deadline, acceptance) VALUES (?, ?, ?)")
        .bind(&acceptance.lead_id)
        .bind(deadline.as_millisecond())
        .bind(body)
        .execute(&mut *connection)
        .await?;
    Ok(Accepted::New)
}

async fn complete(
    connection: &mut SqliteConnection,
    acceptance: Acceptance,
    attention: String,
    now: Timestamp,
) -> Result<bool, sqlx::Error> {
    let waiting = sqlx::query("DELETE FROM pending WHERE lead_id = ?")
        .bind(&acceptance.lead_id)
        .execute(&mut *connection)
        .await?;
    if waiting.rows_affected() == 0 {
        return Ok(false);
    }
    sqlx::query("UPDATE keys SET answer = ? WHERE key = ? AND lead_id = ?")
        .bind(&acceptance.answer)
        .bind(&acceptance.key)
        .bind(&acceptance.lead_id)
        .execute(&mut *connection)
        .await?;
    write_lead(connection, &acceptance, now).await?;
    if attention.is_empty() {
        return Ok(true);
    }
    sqlx::query(
        "INSERT INTO deliveries (lead_id, target, deployment, state, due_at, detail, updated_at)
         VALUES (?, ?, ?, 'held', ?, ?, ?)",
    )
    .bind(&acceptance.lead_id)
    .bind(PERSON)
    .bind(&acceptance.deployment)
    .bind(now.as_millisecond())
    .bind(&attention)
    .bind(now.as_millisecond())
    .execute(&mut *connection)
    .await?;
    let ending = Ending {
        state: DeliveryState::Held,
        due_at: None,
        detail: attention,
    };
    note(connection, &acceptance.lead_id, PERSON, &ending, now).await?;
    Ok(true)
}
