//! The embedded store's tables and the steps from one version of them to the next. A step that was
//! released is never changed.

use sqlx::{Executor as _, Row as _, SqliteConnection};

/// The steps, in order; the database's `user_version` counts those that were taken.
const STEPS: [&str; 4] = [
    "
    CREATE TABLE keys (
        key         TEXT PRIMARY KEY,
        fingerprint TEXT NOT NULL,
        lead_id     TEXT NOT NULL,
        answer      TEXT,
        expires_at  INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX keys_by_expiry ON keys (expires_at);
    CREATE TABLE leads (
        lead_id     TEXT PRIMARY KEY,
        deployment  TEXT NOT NULL,
        dealer      TEXT NOT NULL,
        accepted_at INTEGER NOT NULL,
        record      TEXT NOT NULL,
        answer      TEXT NOT NULL
    );
    CREATE INDEX leads_by_time ON leads (accepted_at, lead_id);
    CREATE TABLE deliveries (
        lead_id      TEXT NOT NULL REFERENCES leads (lead_id) ON DELETE CASCADE,
        target       TEXT NOT NULL,
        deployment   TEXT NOT NULL,
        state        TEXT NOT NULL,
        due_at       INTEGER NOT NULL,
        attempts     INTEGER NOT NULL DEFAULT 0,
        worker       TEXT NOT NULL DEFAULT '',
        lease_until  INTEGER NOT NULL DEFAULT 0,
        transmitting INTEGER NOT NULL DEFAULT 0,
        detail       TEXT NOT NULL DEFAULT '',
        updated_at   INTEGER NOT NULL,
        PRIMARY KEY (lead_id, target)
    ) WITHOUT ROWID;
    CREATE INDEX deliveries_open ON deliveries (deployment, target, due_at)
        WHERE state IN ('queued', 'waiting');
    CREATE INDEX deliveries_by_state ON deliveries (deployment, state);
    CREATE TABLE attempts (
        lead_id TEXT NOT NULL REFERENCES leads (lead_id) ON DELETE CASCADE,
        target  TEXT NOT NULL,
        number  INTEGER NOT NULL,
        at      INTEGER NOT NULL,
        state   TEXT NOT NULL,
        detail  TEXT NOT NULL
    );
    CREATE INDEX attempts_by_lead ON attempts (lead_id, at);
    CREATE TABLE claims (
        namespace  TEXT NOT NULL,
        key        TEXT NOT NULL,
        expires_at INTEGER NOT NULL,
        PRIMARY KEY (namespace, key)
    ) WITHOUT ROWID;
    CREATE INDEX claims_by_expiry ON claims (expires_at);
    ",
    "CREATE INDEX keys_by_lead ON keys (lead_id);",
    "
    CREATE TABLE sessions (
        issuer     TEXT NOT NULL,
        key        TEXT NOT NULL,
        owner      TEXT NOT NULL,
        ended      INTEGER NOT NULL DEFAULT 0,
        expires_at INTEGER NOT NULL,
        PRIMARY KEY (issuer, key)
    ) WITHOUT ROWID;
    CREATE INDEX sessions_by_expiry ON sessions (expires_at);
    ",
    "
    CREATE TABLE pending (
        lead_id    TEXT PRIMARY KEY,
        deadline   INTEGER NOT NULL,
        acceptance TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX pending_by_deadline ON pending (deadline);
    ",
];

/// The newest version this program knows.
pub(super) fn known_version() -> i64 {
    i64::try_from(STEPS.len()).unwrap_or(i64::MAX)
}

/// Brings the database to the newest version; returns the version found when it is newer than known.
pub(super) async fn migrate(connection: &mut SqliteConnection) -> Result<Option<i64>, sqlx::Error> {
    connection.execute("BEGIN IMMEDIATE").await?;
    let row = connection.fetch_one("PRAGMA user_version").await?;
    let found: i64 = row.try_get(0)?;
    if found > known_version() {
        connection.execute("ROLLBACK").await?;
        return Ok(Some(found));
    }
    let taken = usize::try_from(found).unwrap_or(0);
    for step in STEPS.iter().skip(taken) {
        connection.execute(*step).await?;
    }
    let version = format!("PRAGMA user_version = {}", known_version());
    connection.execute(sqlx::AssertSqlSafe(version)).await?;
    connection.execute("COMMIT").await?;
    Ok(None)
}
