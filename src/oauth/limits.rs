//! Requests a minute for each of many names: token buckets in a bounded table.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

/// Names remembered at once; beyond it the idle ones go first.
const CAPACITY: usize = 65_536;
const MINUTE_MS: i64 = 60_000;

/// A full table is looked through no more often than this, however many new names ask.
const SWEEP_MS: i64 = 1000;

pub(super) struct Limits {
    per_minute: u32,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    buckets: HashMap<String, Bucket>,
    swept_at_ms: i64,
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
            table: Mutex::default(),
        }
    }

    /// Takes one request of `name`'s; the error is the seconds to wait.
    pub(super) fn take(&self, name: &str, now_ms: i64) -> Result<(), u32> {
        let full = i64::from(self.per_minute) * 1000;
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if !table.has_room(name, now_ms) {
            return Err(60);
        }
        let bucket = table.buckets.entry(name.to_owned()).or_insert(Bucket {
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

impl Table {
    fn has_room(&mut self, name: &str, now_ms: i64) -> bool {
        if self.buckets.len() < CAPACITY || self.buckets.contains_key(name) {
            return true;
        }
        if now_ms - self.swept_at_ms >= SWEEP_MS {
            self.swept_at_ms = now_ms;
            // a bucket that is a minute old is full again, so forgetting it changes nothing
            self.buckets
                .retain(|_, bucket| now_ms - bucket.at_ms < MINUTE_MS);
        }
        self.buckets.len() < CAPACITY
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_table_takes_new_names_as_old_ones_fall_idle_and_is_looked_through_seldom() {
        let limits = Limits::per_minute(60);
        for name in 0..CAPACITY {
            assert_eq!(limits.take(&name.to_string(), 0), Ok(()));
        }
        assert_eq!(limits.take("new", 59_500), Err(60));
        assert_eq!(limits.take("0", 59_600), Ok(()), "who is known is served");
        assert_eq!(limits.take("new", 60_400), Err(60));
        assert_eq!(limits.take("new", 60_500), Ok(()));
        let table = limits.table.lock().unwrap();
        assert_eq!(table.buckets.len(), 2, "idle ones are gone");
    }
}
