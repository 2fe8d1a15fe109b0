//! When an inventory is read: on a schedule, when its file changed, when somebody asks; never twice at once,
//! and never so often that a slow or failing source is kept busy by it. Must not read.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

use super::Inventory;
use super::on_demand;
use super::settings::Settings;

/// The first wait after a failed reading; it doubles with each further one.
const RETRY: Duration = Duration::from_secs(30);
/// The longest such wait, where the interval is not longer still.
const LONGEST_RETRY: Duration = Duration::from_mins(15);
/// Failures beyond which the wait grows no longer while there is nothing to answer from: a minute.
const COUNTED_UNREAD: u32 = 2;
/// Between two readings, however often somebody asks.
const LEAST_PAUSE: Duration = Duration::from_secs(1);

/// How long to wait after a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pause {
    /// Until the next one is due.
    pub(super) due: Duration,
    /// Until one may begin because the file is another one, or because a person says so: what failed before tells
    /// nothing of it.
    pub(super) news: Duration,
}

impl Pause {
    /// After a reading that took so long, the last of so many failures. `chance`, 0 to 1, spreads the
    /// deployments of one source.
    pub(super) fn after(settings: &Settings, failures: u32, took: Duration, chance: f64) -> Self {
        let interval = Duration::from_secs(settings.refresh_interval_s);
        let spread = 1.0 + settings.refresh_jitter.clamp(0.0, 1.0) * (2.0 * chance - 1.0);
        // A source is left in peace at least as long as it was kept busy.
        let news = LEAST_PAUSE.min(interval).max(took);
        if failures == 0 {
            return Self {
                due: interval.mul_f64(spread).max(took),
                news,
            };
        }
        let doubled = 2_u32.saturating_pow(failures.saturating_sub(1).min(16));
        let wait = interval.min(RETRY).saturating_mul(doubled);
        let wait = wait
            .min(LONGEST_RETRY.max(interval))
            .mul_f64(spread)
            .max(took);
        Self { due: wait, news }
    }
}

/// The failures that make the wait longer.
pub(super) fn counted(failures: u32, was_read: bool) -> u32 {
    if was_read {
        failures
    } else {
        failures.min(COUNTED_UNREAD)
    }
}

/// A number from 0 to 1 that nobody can tell.
fn chance() -> f64 {
    let [first, second, ..] = uuid::Uuid::new_v4().into_bytes();
    f64::from(u16::from_be_bytes([first, second])) / f64::from(u16::MAX)
}

impl Inventory {
    /// Refreshes until `shutdown` says so.
    pub async fn run(self: Arc<Self>, mut shutdown: watch::Receiver<bool>) {
        tokio::select! {
            () = self.keep_fresh() => {}
            _ = shutdown.wait_for(|ends| *ends) => {}
        }
    }

    async fn keep_fresh(self: &Arc<Self>) {
        // Where nothing could be read at the start, the next try comes as after any failure.
        let mut failures = u32::from(!self.was_read());
        let mut pause = Pause::after(&self.settings, failures, Duration::ZERO, chance());
        let mut ended = Instant::now();
        let mut seen = None;
        loop {
            self.occasion(ended, pause, &mut seen).await;
            let began = Instant::now();
            failures = if self.refresh_or_tell().await {
                self.tell_healed(failures);
                0
            } else {
                failures + 1
            };
            ended = Instant::now();
            let counted = counted(failures, self.was_read());
            pause = Pause::after(&self.settings, counted, ended - began, chance());
        }
    }

    /// Waits until there is a reason to read, and the source may be bothered for it.
    async fn occasion(&self, ended: Instant, pause: Pause, seen: &mut Option<String>) {
        tokio::select! {
            () = sleep_until(ended + pause.due) => {}
            accept = self.news(seen) => {
                if accept {
                    self.accept_shrink().await;
                }
                sleep_until(ended + pause.news).await;
            }
        }
    }

    /// Whether it succeeded.
    async fn refresh_or_tell(self: &Arc<Self>) -> bool {
        let Err(error) = self.refresh().await else {
            return true;
        };
        let deployment = self.settings.deployment.as_str();
        tracing::warn!(deployment, %error, "inventory reading not published");
        false
    }

    fn tell_healed(&self, failures: u32) {
        if failures > 0 {
            let deployment = self.settings.deployment.as_str();
            tracing::info!(deployment, failures, "the source is read again");
        }
    }

    /// Waits for an operator's order, or until the source looks otherwise than at the last reading and has
    /// stopped changing. Whether the operator accepts what comes.
    async fn news(&self, seen: &mut Option<String>) -> bool {
        let tick = Duration::from_millis(self.settings.watch_interval_ms);
        if tick.is_zero() {
            return std::future::pending().await;
        }
        loop {
            sleep(tick).await;
            if let Some(accept) = self.order() {
                return accept;
            }
            let Some(now) = self.glance().await else {
                continue;
            };
            let read = self.glanced.lock().unwrap_or_else(PoisonError::into_inner);
            let is_new = read.as_ref() != Some(&now);
            drop(read);
            let settled = seen.as_ref() == Some(&now);
            *seen = Some(now);
            if is_new && settled {
                return false;
            }
        }
    }

    /// Takes what an operator ordered: whether the next reading is accepted as it is.
    pub(super) fn order(&self) -> Option<bool> {
        on_demand::take(self.settings.directory.as_deref()?)
    }

    async fn glance(&self) -> Option<String> {
        let glance = Arc::clone(self.reader.glance.as_ref()?);
        // A folder may lie on another machine.
        tokio::task::spawn_blocking(move || glance()).await.ok()?
    }

    /// Remembers how the source looks as a reading begins.
    pub(super) async fn note_glance(&self) {
        let now = self.glance().await;
        *self.glanced.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }
}
