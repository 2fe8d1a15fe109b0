//! Requests a minute from one address, counted in fixed minutes and a bounded table. Must not know what is
//! requested.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

const MOST_ADDRESSES: usize = 100_000;
const MINUTE_S: u64 = 60;

/// Counts requests.
#[derive(Debug)]
pub(super) struct Throttle {
    per_minute: Option<u32>,
    window: Mutex<Window>,
}

#[derive(Debug)]
struct Window {
    began: Instant,
    counts: HashMap<IpAddr, u32>,
}

impl Throttle {
    pub(super) fn new(per_minute: Option<u32>) -> Self {
        let window = Window {
            began: Instant::now(),
            counts: HashMap::new(),
        };
        Self {
            per_minute,
            window: Mutex::new(window),
        }
    }

    /// Counts one request; `Err` is the number of seconds to wait.
    pub(super) fn take(&self, address: IpAddr, now: Instant) -> Result<(), u64> {
        let Some(per_minute) = self.per_minute else {
            return Ok(());
        };
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        let passed_s = now.saturating_duration_since(window.began).as_secs();
        if passed_s >= MINUTE_S || window.counts.len() >= MOST_ADDRESSES {
            window.began = now;
            window.counts.clear();
        }
        let count = window.counts.entry(network(address)).or_insert(0);
        *count = count.saturating_add(1);
        if *count > per_minute {
            return Err(MINUTE_S.saturating_sub(passed_s).max(1));
        }
        Ok(())
    }
}

/// One IPv6 customer has a whole /64.
fn network(address: IpAddr) -> IpAddr {
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
        let throttle = Throttle::new(Some(2));
        let now = Instant::now();
        let address: IpAddr = "2001:db8::1".parse().unwrap();
        let neighbour: IpAddr = "2001:db8::2".parse().unwrap();
        let other: IpAddr = "192.0.2.1".parse().unwrap();
        assert_eq!(throttle.take(address, now), Ok(()));
        assert_eq!(throttle.take(neighbour, now), Ok(()));
        let wait_s = throttle.take(address, now).unwrap_err();
        assert!((1..=60).contains(&wait_s));
        assert_eq!(throttle.take(other, now), Ok(()));
        assert_eq!(
            throttle.take(address, now + Duration::from_secs(61)),
            Ok(())
        );
    }
}
