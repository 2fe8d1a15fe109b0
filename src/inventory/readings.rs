//! What the readings so far leave for the next one: its number, where the source stood, whether asking for what
//! changed suffices. Must not read.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::reader::Trace;
use super::search::TRAVERSAL_LIFETIMES;
use super::settings::Settings;
use super::snapshot::Stamp;

const NANOS: i64 = 1_000_000_000;

#[derive(Debug, Default)]
pub(super) struct Readings {
    pub(super) generation: u64,
    /// When the readings of live traversals began, nanoseconds since 1970.
    began: Vec<i64>,
    /// The next reading may shrink, or have lost columns.
    pub(super) accept: bool,
    /// What the last published reading left.
    pub(super) trace: Option<Arc<Trace>>,
    /// When everything was last looked at; nothing when the next reading must do so.
    pub(super) reconciled: Option<Instant>,
}

impl Readings {
    /// The next reading's number and time, later than every earlier one's. What was ordered otherwise
    /// before the oldest living traversal began may be forgotten.
    pub(super) fn stamp(&mut self, now: i64, settings: &Settings) -> Stamp {
        let last = self.began.last().copied().unwrap_or(i64::MIN);
        let read_at = now.max(last.saturating_add(1));
        let lifetime_s = settings.cursor_ttl_s.saturating_mul(TRAVERSAL_LIFETIMES);
        let oldest = now.saturating_sub(lifetime_s.saturating_mul(NANOS));
        let in_use_then = self.began.partition_point(|began| *began <= oldest);
        self.began.drain(..in_use_then.saturating_sub(1));
        Stamp {
            generation: self.generation + 1,
            read_at,
            keep_after: self.began.first().copied().unwrap_or(read_at),
        }
    }

    /// A reading is published.
    pub(super) fn published(&mut self, stamp: Stamp) {
        self.generation = stamp.generation;
        self.began.push(stamp.read_at);
        self.accept = false;
    }

    /// Remembers where a reading stood that began then.
    pub(super) fn leave(&mut self, settings: &Settings, trace: Arc<Trace>, started: Instant) {
        if !self.suffices(settings) {
            self.reconciled = Some(started);
        }
        self.trace = Some(trace);
    }

    /// Whether asking for what changed suffices now.
    pub(super) fn suffices(&self, settings: &Settings) -> bool {
        let interval = Duration::from_secs(settings.full_refresh_interval_s);
        let recent = |since: &Instant| since.elapsed() < interval;
        !self.accept && self.reconciled.as_ref().is_some_and(recent)
    }
}
