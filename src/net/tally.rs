//! How requests ended, counted. Must not know where they went.

use std::array;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{NetError, Response};

/// The endings, by name.
const NAMES: [&str; 9] = [
    "answered",
    "refused",
    "unresolved",
    "unreachable",
    "tls",
    "timeout",
    "lost",
    "too_large",
    "own_fault",
];

/// Counts endings.
#[derive(Debug)]
pub(super) struct Tally([AtomicU64; NAMES.len()]);

impl Default for Tally {
    fn default() -> Self {
        Self(array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl Tally {
    pub(super) fn note(&self, ended: &Result<Response, NetError>) {
        let place = match ended {
            Ok(_) => 0,
            Err(NetError::Url(_) | NetError::Address) => 1,
            Err(NetError::Resolve(_)) => 2,
            Err(NetError::Connect(_)) => 3,
            Err(NetError::Tls(_)) => 4,
            Err(NetError::ConnectTimeout | NetError::Timeout) => 5,
            Err(NetError::Lost(_)) => 6,
            Err(NetError::TooLarge(_)) => 7,
            Err(NetError::SetUp(_) | NetError::Write(_)) => 8,
        };
        if let Some(count) = self.0.get(place) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn read(&self) -> Vec<(&'static str, u64)> {
        let counts = self.0.iter().map(|count| count.load(Ordering::Relaxed));
        NAMES.into_iter().zip(counts).collect()
    }
}
