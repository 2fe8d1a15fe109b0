//! How long questions take, by kind: counts in buckets that double, so that no question waits for a lock.
//! Must not hold what was asked.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::contract::request::Filters;

/// Bucket `n` counts questions of less than 2ⁿ microseconds; the last one counts all slower ones too.
const BUCKETS: usize = 22;

/// What a question asked for, as far as it decides the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Search,
    SearchNear,
    SearchKeyword,
    Facets,
}

impl Kind {
    /// Every kind, in order of the counts.
    pub const ALL: [Self; 4] = [
        Self::Search,
        Self::SearchNear,
        Self::SearchKeyword,
        Self::Facets,
    ];

    /// The kind of a search; a keyword costs more than a place.
    pub(super) fn of_search(filters: Option<&Filters>) -> Self {
        match filters {
            Some(filters) if filters.query.is_some() => Self::SearchKeyword,
            Some(filters) if filters.near.is_some() => Self::SearchNear,
            Some(_) | None => Self::Search,
        }
    }

    /// The kind as a metric's label.
    pub fn label(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::SearchNear => "search_near",
            Self::SearchKeyword => "search_keyword",
            Self::Facets => "facets",
        }
    }
}

/// Counts since the start.
#[derive(Debug, Default)]
pub(super) struct Timings {
    counts: [[AtomicU64; BUCKETS]; Kind::ALL.len()],
    micros: [AtomicU64; Kind::ALL.len()],
}

/// The counts of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    pub kind: Kind,
    /// How many questions took less than 2ⁿ microseconds and not less than half of that, at `n`; the last
    /// entry holds all slower ones too.
    pub counts: Vec<u64>,
    /// All their time together.
    pub micros: u64,
}

impl Timings {
    /// Notes a question that began at `since`.
    pub(super) fn note(&self, kind: Kind, since: Instant) {
        let micros = u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX);
        let bucket = (u64::BITS - micros.leading_zeros()) as usize;
        let counts = self.counts.get(kind as usize);
        if let Some(count) = counts.and_then(|counts| counts.get(bucket.min(BUCKETS - 1))) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(sum) = self.micros.get(kind as usize) {
            sum.fetch_add(micros, Ordering::Relaxed);
        }
    }

    /// The counts now.
    pub(super) fn read(&self) -> Vec<Timing> {
        let all = Kind::ALL.into_iter().zip(&self.counts).zip(&self.micros);
        all.map(|((kind, counts), micros)| Timing {
            kind,
            counts: counts
                .iter()
                .map(|count| count.load(Ordering::Relaxed))
                .collect(),
            micros: micros.load(Ordering::Relaxed),
        })
        .collect()
    }
}
