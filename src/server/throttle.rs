//! Requests a minute of each of many (addresses, deployments), counted in fixed minutes and a bounded
//! table. Must not know what is requested.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use http::{HeaderMap, HeaderValue};

/// Names counted in one minute; beyond it the minute begins anew, in favour of who asks.
const MOST_NAMES: usize = 100_000;
const MINUTE_S: u64 = 60;

/// Counts requests.
#[derive(Debug)]
pub(super) struct Throttle<K> {
    window: Mutex<Window<K>>,
}

#[derive(Debug)]
struct Window<K> {
    began: Instant,
    counts: HashMap<K, u32>,
}

/// What is left of a quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Left {
    /// Of what: a word of ours.
    pub(super) policy: &'static str,
    pub(super) quota: u32,
    pub(super) remaining: u32,
    /// Seconds until the quota is whole again.
    pub(super) reset_s: u64,
    /// Whether this request goes beyond it.
    pub(super) spent: bool,
}

impl<K: Eq + Hash> Throttle<K> {
    pub(super) fn new() -> Self {
        let window = Window {
            began: Instant::now(),
            counts: HashMap::new(),
        };
        Self {
            window: Mutex::new(window),
        }
    }

    /// Counts one request of `name`, which has `quota` a minute.
    pub(super) fn take(&self, policy: &'static str, quota: u32, name: K, now: Instant) -> Left {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        let mut passed_s = now.saturating_duration_since(window.began).as_secs();
        if passed_s >= MINUTE_S || window.counts.len() >= MOST_NAMES {
            window.began = now;
            window.counts.clear();
            passed_s = 0;
        }
        let count = window.counts.entry(name).or_insert(0);
        *count = count.saturating_add(1);
        Left {
            policy,
            quota,
            remaining: quota.saturating_sub(*count),
            reset_s: MINUTE_S.saturating_sub(passed_s).max(1),
            spent: *count > quota,
        }
    }
}

impl Left {
    /// Tells the client (draft-ietf-httpapi-ratelimit-headers): several quotas are several members.
    pub(super) fn tell(&self, headers: &mut HeaderMap) {
        let Self {
            policy,
            quota,
            remaining,
            reset_s,
            ..
        } = self;
        for (name, text) in [
            (
                "ratelimit-policy",
                format!("\"{policy}\";q={quota};w={MINUTE_S}"),
            ),
            (
                "ratelimit",
                format!("\"{policy}\";r={remaining};t={reset_s}"),
            ),
        ] {
            if let Ok(value) = HeaderValue::try_from(text) {
                headers.append(name, value);
            }
        }
    }
}

/// What counts as one address: one IPv6 customer has a whole /64.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let prefix = v6.to_bits() & !u128::from(u64::MAX);
            IpAddr::V6(Ipv6Addr::from_bits(prefix))
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    // AAP-101
    #[test]
    fn beyond_the_limit_an_address_waits_for_the_next_minute() {
        let throttle = Throttle::new();
        let take = |address: &str, now| {
            throttle.take("address", 2, network(address.parse().unwrap()), now)
        };
        let now = Instant::now();
        assert!(!take("2001:db8::1", now).spent);
        assert_eq!(
            take("2001:db8::2", now).remaining,
            0,
            "a neighbour is the same"
        );
        let left = take("2001:db8::1", now);
        assert!(left.spent);
        assert!((1..=60).contains(&left.reset_s));
        assert!(!take("192.0.2.1", now).spent);
        assert!(!take("2001:db8::1", now + Duration::from_secs(61)).spent);
    }

    #[test]
    fn the_table_stays_small() {
        let throttle = Throttle::new();
        let now = Instant::now();
        for name in 0..MOST_NAMES + 10 {
            throttle.take("address", 1, name, now);
        }
        assert!(throttle.window.lock().unwrap().counts.len() <= MOST_NAMES);
    }

    #[test]
    fn what_is_left_is_told_in_the_drafts_form() {
        let mut headers = HeaderMap::new();
        let throttle = Throttle::new();
        throttle
            .take("address", 5, 1, Instant::now())
            .tell(&mut headers);
        assert_eq!(headers["ratelimit-policy"], "\"address\";q=5;w=60");
        assert_eq!(headers["ratelimit"], "\"address\";r=4;t=60");
    }
}
