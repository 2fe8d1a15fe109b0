//! One reading: read, build beside the serving, swap. A reading that fails or loses too
//! much leaves the last good one in place. Must not know how a source speaks.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, mpsc};
use std::time::Instant;

use super::admission::Check;
use super::build::Builder;
use super::frame::Rejected;
use super::gone::Roll;
use super::reader::{Current, Request, Sink, Told, Trace, Unit};
use super::readings::Readings;
use super::snapshot::Stamp;
use super::status::Status;
use super::{Inventory, spans};
use crate::telemetry::work::Piece;

/// Units on their way from the source to the builder.
const UNITS_IN_FLIGHT: usize = 1024;
/// Reasons for which fields are left out that are named in the log.
const NAMED: usize = 20;

/// Why a reading was not published. Texts are for operators.
#[derive(Debug, thiserror::Error)]
pub enum RefreshError {
    /// The source failed; its own words.
    #[error("{0}")]
    Source(String),
    /// The same, and waiting does not help: settings, mapping and source do not fit together.
    #[error("{0}")]
    Mistaken(String),
    /// Too many units vanished at once.
    #[error(
        "the reading has {now} units, the last good one {before}: more vanished than the shrink guard permits; \
         if that is right, `forecourt inventory refresh --accept` publishes it"
    )]
    Shrunk { before: usize, now: usize },
    /// The remembered units could not be read.
    #[error("units offered before: {0}")]
    Memory(std::io::Error),
}

/// How a reading ended that did not fail.
#[derive(Clone, Copy, Debug)]
pub(super) enum Done {
    /// With so many vehicles.
    Published(usize),
    Unchanged,
}

struct Read {
    builder: Builder,
    hidden: Roll,
    told: Told,
}

impl Inventory {
    /// Reads the source and publishes what it has, or leaves everything as it is.
    pub async fn refresh(self: &Arc<Self>) -> Result<(), RefreshError> {
        let mut readings = self.readings.lock().await;
        let piece = Piece::begin();
        let result = self.read_and_publish(&mut readings).await;
        spans::reading(piece, &self.settings.deployment, &result);
        if let Err(error) = &result {
            // Whatever went wrong with what changed, the next reading looks at everything.
            readings.reconciled = None;
            let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
            status.failures += 1;
            status.last_failure = Some(error.to_string());
            status.held = match error {
                RefreshError::Shrunk { now, .. } => Some(*now),
                RefreshError::Source(_) | RefreshError::Mistaken(_) | RefreshError::Memory(_) => {
                    None
                }
            };
        }
        result.map(drop)
    }

    /// Lets the next reading shrink as it will: a person has looked.
    pub async fn accept_shrink(&self) {
        self.readings.lock().await.accept = true;
    }

    async fn read_and_publish(
        self: &Arc<Self>,
        readings: &mut Readings,
    ) -> Result<Done, RefreshError> {
        let started = Instant::now();
        let now = i64::try_from(self.clock.now().as_nanosecond()).unwrap_or(i64::MAX);
        let stamp = readings.stamp(now, &self.settings);
        self.note_glance().await;
        let read = self.read(readings).await?;
        let read_ms = millis(started);
        let (trace, same) = match &read.told {
            Told::Units(trace) => (Arc::new(trace.clone()), false),
            Told::Same(trace) => (Arc::new(trace.clone()), true),
        };
        if same {
            self.confirm(readings, stamp, trace);
            return Ok(Done::Unchanged);
        }
        let before = self.offered_before();
        let inventory = Arc::clone(self);
        let permitted = if readings.accept {
            0
        } else {
            smallest_permitted(before, self.settings.shrink_guard)
        };
        let published = blocking(move || inventory.publish(read, stamp, permitted)).await??;
        let dirty = trace.dirty.clone();
        self.tell_dirty(readings, &dirty);
        readings.published(stamp);
        readings.leave(&self.settings, trace, started);
        let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        *status = Status {
            dirty,
            read_ms,
            ..published
        };
        tracing::info!(
            deployment = self.settings.deployment.as_str(),
            generation = status.generation,
            vehicles = status.vehicles,
            rejected = status.rejected.total(),
            dirty = status.dirty.total(),
            read_ms,
            build_ms = status.build_ms,
            "inventory published"
        );
        Ok(Done::Published(status.vehicles))
    }

    /// How many units were offered last: in this process, or by the one before it.
    pub fn offered_before(&self) -> usize {
        let current = self.current.load();
        let here = current.as_ref().map(|snapshot| snapshot.len());
        here.unwrap_or_else(|| self.gone.load().live_len())
    }

    /// Names the fields that a reading left out, where the last one did not leave out the same.
    fn tell_dirty(&self, readings: &Readings, dirty: &Rejected) {
        let known = readings.trace.as_deref().map(|trace| &trace.dirty);
        if known == Some(dirty) {
            return;
        }
        let deployment = self.settings.deployment.as_str();
        for (reason, rows) in dirty.by_reason.iter().take(NAMED) {
            tracing::warn!(deployment, reason, rows, "field left out");
        }
    }

    /// Nothing has changed: what is published is as good as read now.
    fn confirm(&self, readings: &mut Readings, stamp: Stamp, trace: Arc<Trace>) {
        readings.leave(&self.settings, trace, Instant::now());
        self.confirmed_at.store(stamp.read_at, Ordering::Relaxed);
        let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        status.unchanged += 1;
        status.failures = 0;
        status.last_failure = None;
        status.held = None;
        let deployment = self.settings.deployment.as_str();
        tracing::debug!(deployment, "inventory unchanged");
    }

    async fn read(&self, readings: &Readings) -> Result<Read, RefreshError> {
        let (sink, units) = mpsc::sync_channel(UNITS_IN_FLIGHT);
        let (frame, check) = (Arc::clone(&self.frame), Arc::clone(&self.check));
        let taking = blocking(move || build(units, Builder::new(frame), &*check));
        let request = Request {
            sink: Sink::new(sink),
            trace: readings.trace.clone(),
            current: self.current.load_full().map(Current::Snapshot),
            changes: readings.suffices(&self.settings),
            accept: readings.accept,
        };
        let (told, taken) = tokio::join!((self.reader.read)(request), taking);
        let told = told.map_err(|failed| {
            if failed.lasting {
                RefreshError::Mistaken(failed.words)
            } else {
                RefreshError::Source(failed.words)
            }
        })?;
        let (builder, hidden) = taken?;
        Ok(Read {
            builder,
            hidden,
            told,
        })
    }

    /// Builds the snapshot and makes it the current one, unless it is smaller than `permitted`.
    fn publish(&self, read: Read, stamp: Stamp, permitted: usize) -> Result<Status, RefreshError> {
        let started = Instant::now();
        let previous = self.current.load_full();
        let snapshot = read.builder.finish(previous.as_deref(), stamp);
        if snapshot.len() < permitted {
            return Err(RefreshError::Shrunk {
                before: self.offered_before(),
                now: snapshot.len(),
            });
        }
        let known = self.gone.load_full();
        let gone = known.after(
            snapshot.identifiers(),
            &read.hidden,
            self.clock.now().as_second(),
        );
        if let Some(directory) = &self.settings.directory
            && !gone.same_as(&known)
            && let Err(error) = gone.write(directory)
        {
            let deployment = self.settings.deployment.as_str();
            tracing::warn!(deployment, %error, "offered units could not be remembered on disk");
        }
        let status = Status {
            generation: stamp.generation,
            vehicles: snapshot.len(),
            gone: gone.len(),
            rejected: snapshot.rejected().clone(),
            unknown_rooftops: snapshot.unknown_rooftops(),
            index: Some(snapshot.index_bytes()),
            build_ms: millis(started),
            ..Status::default()
        };
        self.current.store(Some(Arc::new(snapshot)));
        self.gone.store(Arc::new(gone));
        Ok(status)
    }
}

/// Takes units until the reader is done.
fn build(units: mpsc::Receiver<Unit>, mut builder: Builder, check: &Check) -> (Builder, Roll) {
    let mut hidden = Roll::default();
    for unit in units {
        match unit {
            Unit::Listing(listing) => builder.push(listing, check),
            Unit::Known(listing) => builder.push(listing, &|_| Ok(())),
            Unit::Withdrawn(at, reason) => builder.withdraw(at, reason),
            Unit::Hidden(identifiers) => hidden.enter(&identifiers),
            Unit::Rejected(reason) => builder.reject(reason),
        }
    }
    (builder, hidden)
}

/// Runs `work` where it may take its time.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, RefreshError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| RefreshError::Source(format!("the reading ended early: {error}")))
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a count, between 0 and that count"
)]
fn smallest_permitted(before: usize, guard: f64) -> usize {
    let share = 1.0 - guard.clamp(0.0, 1.0);
    (before as f64 * share).floor() as usize
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
