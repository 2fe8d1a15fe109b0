//! The embedded store: one SQLite file (WAL, synchronous=FULL). All writes go through one task that
//! commits what is waiting as one group, so that many leads at once cost one flush to the disk.

mod ledger;
mod outbox;
mod presence;
mod sessions;
mod writer;

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions as _, Row as _, SqliteConnection};

use super::rows::{Acceptance, Accepted, Claim, KeyEntry, Recovered};
use super::{StoreError, schema};
use presence::Presence;
use writer::Writer;

/// How long a statement waits for another process that writes to the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Connections for reading.
const READERS: u32 = 4;

/// The embedded store.
#[derive(Debug)]
pub struct Embedded {
    place: PathBuf,
    /// This opened store's own name: whose jobs are whose.
    instance: String,
    writer: Writer,
    readers: SqlitePool,
    presence: Presence,
}

impl Embedded {
    /// Opens the file, making it (readable by its owner only) or migrating it as needed.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        let fail = |cause: sqlx::Error| unavailable(path, &cause);
        presence::create_private(path).map_err(|cause| StoreError::Unavailable {
            place: path.display().to_string(),
            cause: cause.to_string(),
        })?;
        let options = SqliteConnectOptions::new()
            .filename(path)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(BUSY_TIMEOUT);
        let mut connection = options.connect().await.map_err(fail)?;
        if let Some(found) = schema::migrate(&mut connection).await.map_err(fail)? {
            return Err(StoreError::TooNew {
                place: path.display().to_string(),
                found,
                known: schema::known_version(),
            });
        }
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .connect_with(options)
            .await
            .map_err(fail)?;
        Ok(Self {
            place: path.to_owned(),
            instance: uuid::Uuid::new_v4().simple().to_string(),
            writer: Writer::start(connection, path.to_owned()),
            readers,
            presence: Presence::new(path),
        })
    }

    pub(super) async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query("SELECT 1")
            .fetch_one(&self.readers)
            .await
            .map(drop)
            .map_err(|error| self.fail(&error))
    }

    /// The journal mode and the synchronous level (2 is FULL) that writes really have.
    #[cfg(test)]
    pub(super) async fn durability(&self) -> Result<(String, i64), StoreError> {
        self.write(|connection| {
            Box::pin(async move {
                let mode = sqlx::query("PRAGMA journal_mode")
                    .fetch_one(&mut *connection)
                    .await?;
                let level = sqlx::query("PRAGMA synchronous")
                    .fetch_one(&mut *connection)
                    .await?;
                Ok((mode.try_get(0)?, level.try_get(0)?))
            })
        })
        .await
    }

    pub(super) async fn close(&self) {
        self.writer.close().await;
        self.readers.close().await;
    }

    pub(super) async fn accept(
        &self,
        acceptance: Acceptance,
        now: Timestamp,
    ) -> Result<Accepted, StoreError> {
        self.write(move |connection| Box::pin(accept(connection, acceptance, now)))
            .await
    }

    pub(super) async fn key(
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

    pub(super) async fn claim_all(
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

    pub(super) async fn is_claimed(
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

    pub(super) async fn recover(&self, now: Timestamp) -> Result<Recovered, StoreError> {
        let mut presence = self.presence.enter().await;
        let alone = presence.alone();
        let instance = self.instance.clone();
        let recovered = self
            .write(move |connection| Box::pin(outbox::recover(connection, instance, alone, now)))
            .await?;
        presence.settle();
        Ok(recovered)
    }

    pub(super) async fn sweep(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.write(move |connection| Box::pin(sweep(connection, now)))
            .await
    }

    /// Runs `work` inside the next group and returns once it is durable.
    async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> BoxFuture<'c, Result<T, sqlx::Error>>
            + Send
            + 'static,
    {
        self.writer.run(work).await
    }

    fn fail(&self, cause: &sqlx::Error) -> StoreError {
        unavailable(&self.place, cause)
    }
}

fn unavailable(place: &Path, cause: &sqlx::Error) -> StoreError {
    StoreError::Unavailable {
        place: place.display().to_string(),
        cause: cause.to_string(),
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
    let taken =
        sqlx::query("SELECT fingerprint, lead_id, answer, expires_at FROM keys WHERE key = ?")
            .bind(&acceptance.key)
            .fetch_optional(&mut *connection)
            .await?;
    if let Some(row) = taken {
        let expires_at: i64 = row.try_get(3)?;
        if expires_at > now.as_millisecond() {
            return key_entry(&row).map(Accepted::Existing);
        }
    }
    sqlx::query("INSERT OR REPLACE INTO keys (key, fingerprint, lead_id, answer, expires_at) VALUES (?, ?, ?, ?, ?)")
        .bind(&acceptance.key)
        .bind(&acceptance.fingerprint)
        .bind(&acceptance.lead_id)
        .bind(&acceptance.answer)
        .bind(acceptance.key_expires_at.as_millisecond())
        .execute(&mut *connection)
        .await?;
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
    Ok(Accepted::New)
}

async fn claim_all(
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

async fn sweep(connection: &mut SqliteConnection, now: Timestamp) -> Result<u64, sqlx::Error> {
    let keys = sqlx::query("DELETE FROM keys WHERE expires_at <= ?")
        .bind(now.as_millisecond())
        .execute(&mut *connection)
        .await?;
    let claims = sqlx::query("DELETE FROM claims WHERE expires_at <= ?")
        .bind(now.as_millisecond())
        .execute(&mut *connection)
        .await?;
    let sessions = sqlx::query("DELETE FROM sessions WHERE expires_at <= ?")
        .bind(now.as_millisecond())
        .execute(&mut *connection)
        .await?;
    Ok(keys.rows_affected() + claims.rows_affected() + sessions.rows_affected())
}
