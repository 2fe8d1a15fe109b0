//! What an attempt's outcome makes of its delivery. Must not store it.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::super::settings::Retry;
use crate::delivery::Outcome;
use crate::store::{DeliveryState, Ending, Job};

/// The state an outcome leaves the delivery in.
pub(super) fn of(job: &Job, retry: &Retry, outcome: Outcome, now: Timestamp) -> Ending {
    let (state, due_at, detail) = match outcome {
        Outcome::Delivered(detail) => (DeliveryState::Delivered, None, detail),
        Outcome::Refused(detail) => (DeliveryState::Refused, None, detail),
        Outcome::Unknown(detail) => (DeliveryState::Held, None, detail),
        Outcome::Retry(detail) => again(job, retry, detail, Duration::ZERO, now),
        Outcome::Later(detail, wait) => again(job, retry, detail, wait, now),
    };
    Ending {
        state,
        due_at,
        detail,
    }
}

/// Another attempt, not before the receiver is ready for it; or the end of them.
fn again(
    job: &Job,
    retry: &Retry,
    detail: String,
    wait: Duration,
    now: Timestamp,
) -> (DeliveryState, Option<Timestamp>, String) {
    match next_attempt(job, retry, wait, now) {
        Some(due_at) => (DeliveryState::Waiting, Some(due_at), detail),
        None => (DeliveryState::Refused, None, format!("given up: {detail}")),
    }
}

/// When to try again: twice as late each time, with some disorder, so that leads that failed together do not
/// come back together, and at least after `wait`. `None` when it is time to give up.
fn next_attempt(job: &Job, retry: &Retry, wait: Duration, now: Timestamp) -> Option<Timestamp> {
    let give_up = SignedDuration::try_from(retry.give_up_after).ok()?;
    if now.duration_since(job.accepted_at) >= give_up {
        return None;
    }
    let doublings = job.attempt.saturating_sub(1).min(20);
    let pause = retry
        .first
        .saturating_mul(1 << doublings)
        .min(retry.longest);
    let disorder = u32::from(
        uuid::Uuid::new_v4()
            .as_bytes()
            .first()
            .copied()
            .unwrap_or_default(),
    );
    // Between three quarters and five quarters of the pause.
    let pause = pause.saturating_mul(3 * 128 + disorder).checked_div(512)?;
    let pause = SignedDuration::try_from(pause.max(wait)).ok()?;
    now.saturating_add(pause).ok()
}
