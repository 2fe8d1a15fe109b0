//! What dead processes left behind, in SQLite.

use jiff::Timestamp;
use sqlx::{Row as _, SqliteConnection};

use super::super::rows::{DeliveryState, Ending, Recovered};
use super::super::{INTERRUPTED_BEFORE, INTERRUPTED_DURING};
use super::outbox::note;

/// Takes over orphaned jobs: all of other instances when this process is `alone`, and in any case those
/// whose lease ran out.
pub(super) async fn recover(
    connection: &mut SqliteConnection,
    instance: String,
    alone: bool,
    now: Timestamp,
) -> Result<Recovered, sqlx::Error> {
    let orphans = sqlx::query(
        "SELECT lead_id, target, transmitting FROM deliveries
         WHERE state = 'sending' AND (lease_until <= ?1 OR (?2 AND worker <> ?3))",
    )
    .bind(now.as_millisecond())
    .bind(alone)
    .bind(&instance)
    .fetch_all(&mut *connection)
    .await?;
    let mut recovered = Recovered::default();
    for orphan in orphans {
        let lead_id: String = orphan.try_get(0)?;
        let target: String = orphan.try_get(1)?;
        let transmitting: bool = orphan.try_get(2)?;
        let (state, detail) = if transmitting {
            recovered.held += 1;
            (DeliveryState::Held, INTERRUPTED_DURING)
        } else {
            recovered.queued += 1;
            (DeliveryState::Queued, INTERRUPTED_BEFORE)
        };
        let ending = Ending {
            state,
            due_at: Some(now),
            detail: detail.to_owned(),
        };
        sqlx::query(
            "UPDATE deliveries SET state = ?, due_at = ?, detail = ?, updated_at = ?,
                 worker = '', lease_until = 0, transmitting = 0
             WHERE lead_id = ? AND target = ?",
        )
        .bind(state.id())
        .bind(now.as_millisecond())
        .bind(detail)
        .bind(now.as_millisecond())
        .bind(&lead_id)
        .bind(&target)
        .execute(&mut *connection)
        .await?;
        note(connection, &lead_id, &target, &ending, now).await?;
    }
    Ok(recovered)
}
