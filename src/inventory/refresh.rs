//! How an inventory is kept fresh: read, build beside the serving, swap. A reading that fails or loses too
//! much leaves the last good one in place. Must not know how a source speaks.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::{ArcSwap, ArcSwapOption};
use tokio::sync::{mpsc, watch};

use super::build::{Builder, Check, Stamp};
use super::frame::Frame;
use super::gone::{Gone, Identifiers};
use super::re_read::LookUps;
use super::reader::{Reader, Unit};
use super::search::TRAVERSAL_LIFETIMES;
use super::settings::Settings;
use super::status::Status;
use super::{Inventory, InventoryError};
use crate::clock::Clock;
use crate::seal::KeyRing;

/// Units on their way from the source to the builder.
const UNITS_IN_FLIGHT: usize = 1024;
/// The longest wait after a failed reading.
const RETRY: Duration = Duration::from_secs(30);
const NANOS: i64 = 1_000_000_000;

/// Why a reading was not published. Texts are for operators.
#[derive(Debug, thiserror::Error)]
pub enum RefreshError {
    /// The source failed; its own words.
    #[error("{0}")]
    Source(String),
    /// Too many units vanished at once.
    #[error(
        "the reading has {now} units, the last good one {before}: more vanished than the shrink guard permits"
    )]
    Shrunk { before: usize, now: usize },
    /// The remembered units could not be read.
    #[error("units offered before: {0}")]
    Memory(std::io::Error),
}

/// What the readings so far leave for the next one.
#[derive(Debug, Default)]
pub(super) struct Readings {
    generation: u64,
    /// When the readings of live traversals began, nanoseconds since 1970.
    began: Vec<i64>,
    /// The next reading may shrink.
    accept_shrink: bool,
}

struct Read {
    builder: Builder,
    hidden: Vec<Identifiers>,
}

impl Inventory {
    /// Reads once and is ready to answer.
    pub async fn with_reader(
        settings: Settings,
        reader: Reader,
        frame: Frame,
        check: Arc<Check>,
        keys: Arc<KeyRing>,
        clock: Clock,
    ) -> Result<Arc<Self>, InventoryError> {
        let inventory = Arc::new(Self {
            settings,
            frame: Arc::new(frame),
            check,
            reader,
            keys,
            clock,
            current: ArcSwapOption::empty(),
            gone: ArcSwap::from_pointee(Gone::default()),
            look_ups: LookUps::default(),
            readings: tokio::sync::Mutex::default(),
            status: Mutex::default(),
        });
        inventory
            .remember()
            .map_err(|error| InventoryError::Source(error.to_string()))?;
        let first = inventory.refresh().await;
        first.map_err(|error| InventoryError::Source(error.to_string()))?;
        Ok(inventory)
    }

    fn remember(&self) -> Result<(), RefreshError> {
        if let Some(directory) = &self.settings.directory {
            let gone = Gone::read(directory).map_err(RefreshError::Memory)?;
            self.gone.store(Arc::new(gone));
        }
        Ok(())
    }

    /// Reads the source and publishes what it has, or leaves everything as it is.
    pub async fn refresh(self: &Arc<Self>) -> Result<(), RefreshError> {
        let mut readings = self.readings.lock().await;
        let result = self.read_and_publish(&mut readings).await;
        if let Err(error) = &result {
            let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
            status.failures += 1;
            status.last_failure = Some(error.to_string());
            status.held = match error {
                RefreshError::Shrunk { now, .. } => Some(*now),
                RefreshError::Source(_) | RefreshError::Memory(_) => None,
            };
        }
        result
    }

    /// Lets the next reading shrink as it will: a person has looked.
    pub async fn accept_shrink(&self) {
        self.readings.lock().await.accept_shrink = true;
    }

    /// Refreshes until `shutdown` says so.
    pub async fn run(self: Arc<Self>, mut shutdown: watch::Receiver<bool>) {
        let refreshing = async {
            let mut wait = Duration::from_secs(self.settings.refresh_interval_s);
            loop {
                tokio::time::sleep(wait).await;
                wait = self.refresh_and_next_wait().await;
            }
        };
        tokio::select! {
            () = refreshing => {}
            _ = shutdown.wait_for(|ends| *ends) => {}
        }
    }

    async fn refresh_and_next_wait(self: &Arc<Self>) -> Duration {
        let interval = Duration::from_secs(self.settings.refresh_interval_s);
        let Err(error) = self.refresh().await else {
            return interval;
        };
        let deployment = self.settings.deployment.as_str();
        tracing::warn!(deployment, %error, "inventory reading not published");
        interval.min(RETRY)
    }

    async fn read_and_publish(
        self: &Arc<Self>,
        readings: &mut Readings,
    ) -> Result<(), RefreshError> {
        let started = Instant::now();
        let stamp = self.stamp(readings);
        let read = self.read().await?;
        let read_ms = millis(started);
        let before = self.current.load().as_ref().map_or(0, |s| s.len());
        let inventory = Arc::clone(self);
        let permitted = if readings.accept_shrink {
            0
        } else {
            smallest_permitted(before, self.settings.shrink_guard)
        };
        let published = blocking(move || inventory.publish(read, stamp, permitted)).await??;
        readings.generation = stamp.generation;
        readings.began.push(stamp.read_at);
        readings.accept_shrink = false;
        let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        *status = Status {
            read_ms,
            ..published
        };
        tracing::info!(
            deployment = self.settings.deployment.as_str(),
            generation = status.generation,
            vehicles = status.vehicles,
            rejected = status.rejected.total(),
            read_ms,
            build_ms = status.build_ms,
            "inventory published"
        );
        Ok(())
    }

    /// The next reading's number and time, later than every earlier one's. What was ordered otherwise
    /// before the oldest living traversal began may be forgotten.
    fn stamp(&self, readings: &mut Readings) -> Stamp {
        let now = i64::try_from(self.clock.now().as_nanosecond()).unwrap_or(i64::MAX);
        let last = readings.began.last().copied().unwrap_or(i64::MIN);
        let read_at = now.max(last.saturating_add(1));
        let lifetime_s = self
            .settings
            .cursor_ttl_s
            .saturating_mul(TRAVERSAL_LIFETIMES);
        let oldest = now.saturating_sub(lifetime_s.saturating_mul(NANOS));
        let in_use_then = readings.began.partition_point(|began| *began <= oldest);
        readings.began.drain(..in_use_then.saturating_sub(1));
        Stamp {
            generation: readings.generation + 1,
            read_at,
            keep_after: readings.began.first().copied().unwrap_or(read_at),
        }
    }

    async fn read(&self) -> Result<Read, RefreshError> {
        let (sink, mut units) = mpsc::channel(UNITS_IN_FLIGHT);
        let (frame, check) = (Arc::clone(&self.frame), Arc::clone(&self.check));
        let taking = blocking(move || {
            let mut builder = Builder::new(frame);
            let mut hidden = Vec::new();
            while let Some(unit) = units.blocking_recv() {
                match unit {
                    Unit::Listing(listing) => builder.push(listing, &*check),
                    Unit::Hidden(identifiers) => hidden.push(identifiers),
                    Unit::Rejected(reason) => builder.reject(reason),
                }
            }
            Read { builder, hidden }
        });
        let (read, taken) = tokio::join!((self.reader.read)(sink), taking);
        read.map_err(RefreshError::Source)?;
        taken
    }

    /// Builds the snapshot and makes it the current one, unless it is smaller than `permitted`.
    fn publish(&self, read: Read, stamp: Stamp, permitted: usize) -> Result<Status, RefreshError> {
        let started = Instant::now();
        let previous = self.current.load_full();
        let snapshot = read.builder.finish(previous.as_deref(), stamp);
        if snapshot.len() < permitted {
            return Err(RefreshError::Shrunk {
                before: previous.map_or(0, |previous| previous.len()),
                now: snapshot.len(),
            });
        }
        let known = self.gone.load_full();
        let gone = known.after(&snapshot, read.hidden, self.clock.now().as_second());
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

impl Inventory {
    /// The snapshot-free parts that a look-up at the source needs.
    pub(super) fn listing_of(
        &self,
        listing: serde_json::Map<String, serde_json::Value>,
    ) -> Option<Arc<super::Listing>> {
        let mut builder = Builder::new(Arc::clone(&self.frame));
        builder.push(listing, &*self.check);
        builder.into_listings().pop()
    }
}
