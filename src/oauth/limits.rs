//! Requests a minute for each of many names: token buckets in a bounded table.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

/// Names remembered at once; beyond it the idle ones go first.
const CAPACITY: usize = 65_536;
const MINUTE_MS: i64 = 60_000;

pub(super) struct Limits {
    per_minute: u32,
    buckets: Mutex<HashMap<String, Bucket>>,
}

/// Requests left, in thousandths, at an instant.
struct Bucket {
    left: i64,
    at_ms: i64,
}

impl Limits {
    pub(super) fn per_minute(per_minute: u32) -> Self {
        Self {
            per_minute: per_minute.max(1),
            buckets: Mutex::new(HashMap::new()),
        }
    }

    /// Takes one request of `name`'s; the error is the seconds to wait.
    pub(super) fn take(&self, name: &str, now_ms: i64) -> Result<(), u32> {
        let full = i64::from(self.per_minute) * 1000;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= CAPACITY && !buckets.contains_key(name) {
            // a bucket that is a minute old is full again, so forgetting it changes nothing
            buckets.retain(|_, bucket| now_ms - bucket.at_ms < MINUTE_MS);
            if buckets.len() >= CAPACITY {
                return Err(60);
            }
        }
        let bucket = buckets.entry(name.to_owned()).or_insert(Bucket {
            left: full,
            at_ms: now_ms,
        });
        let passed = (now_ms - bucket.at_ms).clamp(0, MINUTE_MS);
        bucket.left = full.min(bucket.left + passed * full / MINUTE_MS);
        bucket.at_ms = now_ms;
        if bucket.left >= 1000 {
            bucket.left -= 1000;
            return Ok(());
        }
        let wait_ms = (1000 - bucket.left) * MINUTE_MS / full;
        Err(u32::try_from(wait_ms / 1000 + 1).unwrap_or(60))
    }
}

/// The network an address stands for: itself, or its /64.
pub(super) fn network(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
    }
}
