//! How often one verified caller may call: a token bucket for each, bounded in number. Must not know why
//! an operator set the limits.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;

use crate::clock::Clock;
use crate::contract::{AapError, Caller, Skill};

/// Buckets kept at once; when full, the ones that have filled up again are forgotten first.
const MOST_BUCKETS: usize = 50_000;
const MINUTE_MS: u64 = 60_000;

/// Calls a minute for one verified caller; anonymous callers are one caller together. Nothing is limited
/// where nothing is set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quota {
    /// Of the skills that read.
    pub calls_per_minute: Option<u32>,
    pub leads_per_minute: Option<u32>,
    /// HTTP requests of all callers together, whatever they ask for.
    pub requests_per_minute: Option<u32>,
}

/// Counts calls against a [`Quota`].
#[derive(Debug)]
pub(super) struct Meter {
    quota: Quota,
    clock: Clock,
    buckets: Mutex<HashMap<(Caller, bool), Bucket>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Calls left, in thousandths.
    left_milli: u64,
    at: Timestamp,
}

impl Meter {
    pub(super) fn new(quota: Quota, clock: Clock) -> Self {
        Self {
            quota,
            clock,
            buckets: Mutex::default(),
        }
    }

    pub(super) fn requests_per_minute(&self) -> Option<u32> {
        self.quota.requests_per_minute
    }

    /// Takes one call, or says when the next may be tried (AAP-545).
    pub(super) fn take(&self, caller: &Caller, skill: Skill) -> Result<(), AapError> {
        let limit = if skill.is_read() {
            self.quota.calls_per_minute
        } else {
            self.quota.leads_per_minute
        };
        let Some(per_minute) = limit.map(|limit| u64::from(limit.max(1))) else {
            return Ok(());
        };
        let now = self.clock.now();
        let full = per_minute * 1000;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (caller.clone(), skill.is_read());
        if buckets.len() >= MOST_BUCKETS && !buckets.contains_key(&key) {
            buckets.retain(|_, bucket| bucket.refilled(now, per_minute) < full);
        }
        if buckets.len() >= MOST_BUCKETS && !buckets.contains_key(&key) {
            return Err(refusal(MINUTE_MS / per_minute));
        }
        let bucket = buckets.entry(key).or_insert(Bucket {
            left_milli: full,
            at: now,
        });
        bucket.left_milli = bucket.refilled(now, per_minute);
        bucket.at = now;
        if bucket.left_milli >= 1000 {
            bucket.left_milli -= 1000;
            return Ok(());
        }
        let missing = 1000 - bucket.left_milli;
        Err(refusal((missing * 60).div_ceil(per_minute).max(1)))
    }
}

impl Bucket {
    fn refilled(self, now: Timestamp, per_minute: u64) -> u64 {
        let passed = now
            .as_millisecond()
            .saturating_sub(self.at.as_millisecond());
        let passed = u64::try_from(passed).unwrap_or(0).min(MINUTE_MS);
        // `per_minute` calls a minute are `per_minute / 60` thousandths a millisecond.
        (self.left_milli + passed * per_minute / 60).min(per_minute * 1000)
    }
}

fn refusal(wait_ms: u64) -> AapError {
    AapError::rate_limited(
        "Too many calls of this skill. Wait as long as details.retry_after_ms says, then repeat the same request.",
        wait_ms,
    )
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    // AAP-102 AAP-545
    #[test]
    fn a_spent_quota_says_how_long_to_wait_and_waiting_that_long_is_enough() {
        let clock = Clock::fixed("2026-11-30T06:00:00Z".parse().unwrap());
        let quota = Quota {
            calls_per_minute: Some(2),
            leads_per_minute: Some(1),
            requests_per_minute: None,
        };
        let meter = Meter::new(quota, clock.clone());
        let anyone = Caller::Anonymous;
        assert!(meter.take(&anyone, Skill::InventorySearch).is_ok());
        assert!(meter.take(&anyone, Skill::InventoryFacets).is_ok());
        let error = meter.take(&anyone, Skill::InventorySearch).unwrap_err();
        assert_eq!(error.code.id(), "RATE_LIMITED");
        assert!(error.retryable);
        let wait = error.details["retry_after_ms"].as_i64().unwrap();
        assert_eq!(wait, 30_000);
        clock.advance(SignedDuration::from_millis(wait));
        assert!(meter.take(&anyone, Skill::InventorySearch).is_ok());
        assert!(
            meter.take(&anyone, Skill::LeadSubmit).is_ok(),
            "leads count apart"
        );
        let other = Caller::OAuth {
            issuer: "https://issuer.example".into(),
            subject: "a".into(),
        };
        assert!(
            meter.take(&other, Skill::InventorySearch).is_ok(),
            "callers count apart"
        );
    }

    #[test]
    fn nothing_set_limits_nothing() {
        let meter = Meter::new(Quota::default(), Clock::system());
        for _ in 0..1000 {
            assert!(meter.take(&Caller::Anonymous, Skill::LeadSubmit).is_ok());
        }
    }
}
