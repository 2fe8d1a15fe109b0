//! The embedded store: one SQLite file (WAL, synchronous=FULL). All writes go through one task that
//! commits what is waiting as one group, so that many leads at once cost one flush to the disk.

mod keys;
mod ledger;
mod outbox;
mod pending;
mod presence;
mod sessions;
mod takeover;
mod writer;

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions as _, SqliteConnection};

use super::rows::Recovered;
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
        use sqlx::Row as _;
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

    pub(super) async fn recover(&self, now: Timestamp) -> Result<Recovered, StoreError> {
        let mut presence = self.presence.enter().await;
        let alone = presence.alone();
        let instance = self.instance.clone();
        let recovered = self
            .write(move |connection| Box::pin(takeover::recover(connection, instance, alone, now)))
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
