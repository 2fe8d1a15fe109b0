//! Sessions in the embedded store.

use jiff::Timestamp;
use sqlx::{Row as _, SqliteConnection};

use super::super::StoreError;
use super::super::rows::Claim;
use super::super::sessions::{CallEntry, SessionEntry};
use super::Embedded;

impl Embedded {
    pub(in super::super) async fn enter_session(
        &self,
        issuer: &str,
        key: &str,
        owner: &str,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<SessionEntry, StoreError> {
        let session = Session {
            issuer: issuer.to_owned(),
            key: key.to_owned(),
            owner: owner.to_owned(),
            now: now.as_millisecond(),
            expires_at: expires_at.as_millisecond(),
        };
        self.write(move |connection| Box::pin(enter(connection, session)))
            .await
    }

    pub(in super::super) async fn end_session(
        &self,
        issuer: &str,
        key: &str,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        let (issuer, key) = (issuer.to_owned(), key.to_owned());
        let expires_at = expires_at.as_millisecond();
        self.write(move |connection| {
            Box::pin(async move {
                sqlx::query(
                    "INSERT INTO sessions (issuer, key, owner, ended, expires_at)
                     VALUES (?, ?, '', 1, ?)
                     ON CONFLICT (issuer, key)
                     DO UPDATE SET ended = 1, expires_at = excluded.expires_at",
                )
                .bind(issuer)
                .bind(key)
                .bind(expires_at)
                .execute(connection)
                .await
                .map(drop)
            })
        })
        .await
    }

    pub(in super::super) async fn ended_sessions(
        &self,
        issuer: &str,
        now: Timestamp,
    ) -> Result<Vec<String>, StoreError> {
        let rows = sqlx::query(
            "SELECT key FROM sessions WHERE issuer = ? AND ended = 1 AND expires_at > ? ORDER BY key",
        )
        .bind(issuer)
        .bind(now.as_millisecond())
        .fetch_all(&self.readers)
        .await
        .map_err(|error| self.fail(&error))?;
        rows.iter()
            .map(|row| row.try_get(0).map_err(|error| self.fail(&error)))
            .collect()
    }
}

impl Embedded {
    pub(in super::super) async fn session_has_ended(
        &self,
        issuer: &str,
        key: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        sqlx::query(
            "SELECT 1 FROM sessions WHERE issuer = ? AND key = ? AND ended = 1 AND expires_at > ?",
        )
        .bind(issuer)
        .bind(key)
        .bind(now.as_millisecond())
        .fetch_optional(&self.readers)
        .await
        .map(|row| row.is_some())
        .map_err(|error| self.fail(&error))
    }

    pub(in super::super) async fn session_call(
        &self,
        issuer: &str,
        key: &str,
        claim: &Claim<'_>,
        now: Timestamp,
    ) -> Result<CallEntry, StoreError> {
        let (issuer, key) = (issuer.to_owned(), key.to_owned());
        let (namespace, name) = (claim.namespace.to_owned(), claim.key.to_owned());
        let expires_at = claim.expires_at.as_millisecond();
        self.write(move |connection| {
            Box::pin(async move {
                let ended = sqlx::query(
                    "SELECT 1 FROM sessions
                     WHERE issuer = ? AND key = ? AND ended = 1 AND expires_at > ?",
                )
                .bind(issuer)
                .bind(key)
                .bind(now.as_millisecond())
                .fetch_optional(&mut *connection)
                .await?;
                if ended.is_some() {
                    return Ok(CallEntry::Ended);
                }
                let claims = vec![(namespace, name, expires_at)];
                let passed = super::keys::claim_all(connection, claims, now).await?;
                Ok(if passed {
                    CallEntry::Passed
                } else {
                    CallEntry::Used
                })
            })
        })
        .await
    }
}

struct Session {
    issuer: String,
    key: String,
    owner: String,
    now: i64,
    expires_at: i64,
}

async fn enter(
    connection: &mut SqliteConnection,
    session: Session,
) -> Result<SessionEntry, sqlx::Error> {
    let standing = sqlx::query(
        "SELECT owner, ended FROM sessions WHERE issuer = ? AND key = ? AND expires_at > ?",
    )
    .bind(&session.issuer)
    .bind(&session.key)
    .bind(session.now)
    .fetch_optional(&mut *connection)
    .await?;
    if let Some(row) = standing {
        let (owner, ended): (String, bool) = (row.try_get(0)?, row.try_get(1)?);
        if ended {
            return Ok(SessionEntry::Ended);
        }
        if owner != session.owner {
            return Ok(SessionEntry::Foreign);
        }
    }
    sqlx::query(
        "INSERT OR REPLACE INTO sessions (issuer, key, owner, ended, expires_at)
         VALUES (?, ?, ?, 0, ?)",
    )
    .bind(&session.issuer)
    .bind(&session.key)
    .bind(&session.owner)
    .bind(session.expires_at)
    .execute(&mut *connection)
    .await?;
    Ok(SessionEntry::Owned)
}
