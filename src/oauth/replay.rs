//! Which proofs the API has seen: in memory, for as long as each could still be accepted. Bounded.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, PoisonError};

/// Seconds whose proofs share one set.
const BUCKET_S: i64 = 16;
/// Proofs remembered at once; far above what one process verifies in a window.
const CAPACITY: usize = 2_000_000;

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    New,
    Before,
    /// Nothing more can be remembered, so nothing more may be accepted.
    Full,
}

/// Keys and when each may be forgotten.
#[derive(Default)]
pub(super) struct Window(Mutex<BTreeMap<i64, HashSet<String>>>);

impl Window {
    /// Claims a key in one step.
    pub(super) fn claim(&self, key: &str, expires_at: i64, now: i64) -> Seen {
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let oldest = now.div_euclid(BUCKET_S);
        *buckets = buckets.split_off(&oldest);
        if buckets.values().any(|bucket| bucket.contains(key)) {
            return Seen::Before;
        }
        if buckets.values().map(HashSet::len).sum::<usize>() >= CAPACITY {
            return Seen::Full;
        }
        // a bucket is dropped only once all its seconds are past
        let bucket = expires_at.div_euclid(BUCKET_S);
        buckets.entry(bucket).or_default().insert(key.to_owned());
        Seen::New
    }
}
