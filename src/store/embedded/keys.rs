//! Keys in SQLite: what a lead is recognised by, and what was claimed for a while.

use jiff::Timestamp;
use sqlx::{Row as _, SqliteConnection};

use super::super::StoreError;
use super::super::rows::{Acceptance, Accepted, Claim, KeyEntry, KeyRow};
use super::Embedded;
use super::outbox::instant;

impl Embedded {
    pub(in crate::store) async fn accept(
        &self,
        acceptance: Acceptance,
        now: Timestamp,
    ) -> Result<Accepted, StoreError> {
        self.write(move |connection| Box::pin(accept(connection, acceptance, now)))
            .await
    }

    pub(in crate::store) async fn key(
        &self,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<KeyEntry>, StoreError> {
        let row = sqlx::query(
            "SELECT fingerprint, lead_id, answer FROM keys WHERE key = ? AND expires_at > ?",
        )
        .bind(key)
        .bind(now.as_millisecond())
        .fetch_optional(&self.readers)
        .await
        .map_err(|error| self.fail(&error))?;
        row.map(|row| key_entry(&row))
            .transpose()
            .map_err(|error| self.fail(&error))
    }

    pub(in crate::store) async fn claim_all(
        &self,
        claims: &[Claim<'_>],
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let claims: Vec<(String, String, i64)> = claims
            .iter()
            .map(|claim| {
                let expires_at = claim.expires_at.as_millisecond();
                (claim.namespace.to_owned(), claim.key.to_owned(), expires_at)
            })
            .collect();
        let twice = claims.iter().enumerate().any(|(at, one)| {
            claims
                .iter()
                .skip(at + 1)
                .any(|two| (&one.0, &one.1) == (&two.0, &two.1))
        });
        if twice {
            return Ok(false);
        }
        self.write(move |connection| Box::pin(claim_all(connection, claims, now)))
            .await
    }

    pub(in crate::store) async fn is_claimed(
        &self,
        namespace: &str,
        key: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let found =
            sqlx::query("SELECT 1 FROM claims WHERE namespace = ? AND key = ? AND expires_at > ?")
                .bind(namespace)
                .bind(key)
                .bind(now.as_millisecond())
                .fetch_optional(&self.readers)
                .await
                .map_err(|error| self.fail(&error))?;
        Ok(found.is_some())
    }

    pub(in crate::store) async fn claims_end(
        &self,
        namespace: &str,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let query = "SELECT max(expires_at) FROM claims WHERE namespace = ? AND expires_at > ?";
        let end: Option<i64> = sqlx::query_scalar(query)
            .bind(namespace)
            .bind(now.as_millisecond())
            .fetch_one(&self.readers)
            .await
            .map_err(|error| self.fail(&error))?;
        end.map(instant).transpose()
    }

    pub(in crate::store) async fn key_row(
        &self,
        lead_id: &str,
    ) -> Result<Option<KeyRow>, StoreError> {
        let row = sqlx::query("SELECT key, fingerprint, expires_at FROM keys WHERE lead_id = ?")
            .bind(lead_id)
            .fetch_optional(&self.readers)
            .await
            .map_err(|error| self.fail(&error))?;
        let Some(row) = row else { return Ok(None) };
        let read = || -> Result<(String, String, i64), sqlx::Error> {
            Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
        };
        let (key, fingerprint, expires_at) = read().map_err(|error| self.fail(&error))?;
        Ok(Some(KeyRow {
            key,
            fingerprint,
            expires_at: instant(expires_at)?,
        }))
    }
}

fn key_entry(row: &sqlx::sqlite::SqliteRow) -> Result<KeyEntry, sqlx::Error> {
    Ok(KeyEntry {
        fingerprint: row.try_get(0)?,
        lead_id: row.try_get(1)?,
        answer: row.try_get(2)?,
    })
}

async fn accept(
    connection: &mut SqliteConnection,
    acceptance: Acceptance,
    now: Timestamp,
) -> Result<Accepted, sqlx::Error> {
    let answer = Some(acceptance.answer.as_str());
    if let Some(entry) = claim(connection, &acceptance, answer, now).await? {
        return Ok(Accepted::Existing(entry));
    }
    write_lead(connection, &acceptance, now).await?;
    Ok(Accepted::New)
}

/// Claims the key; what stands under it when it is taken.
pub(super) async fn claim(
    connection: &mut SqliteConnection,
    acceptance: &Acceptance,
    answer: Option<&str>,
    now: Timestamp,
) -> Result<Option<KeyEntry>, sqlx::Error> {
    let taken =
        sqlx::query("SELECT fingerprint, lead_id, answer, expires_at FROM keys WHERE key = ?")
            .bind(&acceptance.key)
            .fetch_optional(&mut *connection)
            .await?;
    if let Some(row) = taken {
        let expires_at: i64 = row.try_get(3)?;
        if expires_at > now.as_millisecond() {
            return key_entry(&row).map(Some);
        }
    }
    sqlx::query("INSERT OR REPLACE INTO keys (key, fingerprint, lead_id, answer, expires_at) VALUES (?, ?, ?, ?, ?)")
        .bind(&acceptance.key)
        .bind(&acceptance.fingerprint)
        .bind(&acceptance.lead_id)
        .bind(answer)
        .bind(acceptance.key_expires_at.as_millisecond())
        .execute(&mut *connection)
        .await?;
    Ok(None)
}

/// Writes ledger record and outbox.
pub(super) async fn write_lead(
    connection: &mut SqliteConnection,
    acceptance: &Acceptance,
    now: Timestamp,
) -> Result<(), sqlx::Error> {
    sqlx::query("INSERT INTO leads (lead_id, deployment, dealer, accepted_at, record, answer) VALUES (?, ?, ?, ?, ?, ?)")
        .bind(&acceptance.lead_id)
        .bind(&acceptance.deployment)
        .bind(&acceptance.dealer)
        .bind(acceptance.accepted_at.as_millisecond())
        .bind(&acceptance.record)
        .bind(&acceptance.answer)
        .execute(&mut *connection)
        .await?;
    for delivery in &acceptance.deliveries {
        sqlx::query("INSERT INTO deliveries (lead_id, target, deployment, state, due_at, updated_at) VALUES (?, ?, ?, 'queued', ?, ?)")
            .bind(&acceptance.lead_id)
            .bind(&delivery.target)
            .bind(&acceptance.deployment)
            .bind(delivery.due_at.as_millisecond())
            .bind(now.as_millisecond())
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

pub(super) async fn claim_all(
    connection: &mut SqliteConnection,
    claims: Vec<(String, String, i64)>,
    now: Timestamp,
) -> Result<bool, sqlx::Error> {
    for (namespace, key, _) in &claims {
        let standing =
            sqlx::query("SELECT 1 FROM claims WHERE namespace = ? AND key = ? AND expires_at > ?")
                .bind(namespace)
                .bind(key)
                .bind(now.as_millisecond())
                .fetch_optional(&mut *connection)
                .await?;
        if standing.is_some() {
            return Ok(false);
        }
    }
    for (namespace, key, expires_at) in &claims {
        sqlx::query("INSERT OR REPLACE INTO claims (namespace, key, expires_at) VALUES (?, ?, ?)")
            .bind(namespace)
            .bind(key)
            .bind(expires_at)
            .execute(&mut *connection)
            .await?;
    }
    Ok(true)
}
