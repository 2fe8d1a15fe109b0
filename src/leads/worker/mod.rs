//! The outbox worker: takes what is due, renders it, hands it over, writes down how that ended. Whatever
//! happens to the process, a lead is neither lost nor sent twice by its doing.

mod breaker;
mod ending;
mod log;
mod span;
mod upkeep;

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::adf::{self, Rendered};
use super::alerts::{self, Event, stopped};
use super::record::Record;
use super::settings::{Settings, TargetSettings};
use super::{Leads, LeadsError};
use crate::delivery::{Outcome, Parcel, Target};
use crate::failpoint;
use crate::store::{Job, StoreError};
use crate::telemetry::work;
use breaker::Breaker;

/// How long a worker may hold a job. Every attempt is cut off well before.
const LEASE: Duration = Duration::from_mins(10);
/// The longest an attempt may take.
const ATTEMPT: Duration = Duration::from_mins(5);
/// How often an idle worker looks for what other processes left in the outbox.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How often it looks for jobs of processes that ended.
const RECOVER_EVERY: Duration = Duration::from_secs(10);
/// After how many such looks it tidies up.
const TIDY_EVERY: u32 = 60;
/// How long it waits when the store does not answer.
const STORE_PAUSE: Duration = Duration::from_secs(2);

/// How often the outcome of an attempt is offered to a store that fails: nearly as long as the lease lasts.
const RECORD_TRIES: u32 = 280;

/// A target with its settings, open.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) settings: TargetSettings,
    target: Target,
    breaker: Breaker,
}

impl Way {
    pub(super) fn open_all(settings: &Settings) -> Result<Vec<Self>, LeadsError> {
        let open = |target: &TargetSettings| {
            let opened = Target::new(&target.delivery).map_err(|cause| LeadsError::Target {
                name: target.name.clone(),
                cause,
            })?;
            Ok(Self {
                settings: target.clone(),
                target: opened,
                breaker: Breaker::new(target.per_minute),
            })
        };
        settings.targets.iter().map(open).collect()
    }
}

/// Delivers until `stop` turns true; then ends what is in flight and returns.
pub async fn run(leads: Arc<Leads>, stop: watch::Receiver<bool>) {
    upkeep::recover(&leads).await;
    let mut workers = JoinSet::new();
    workers.spawn(alerts::run(Arc::clone(&leads), stop.clone()));
    for index in 0..leads.targets.len() {
        let copies = leads
            .targets
            .get(index)
            .map_or(0, |way| way.settings.concurrency);
        for _ in 0..copies {
            let work = serve(Arc::clone(&leads), index, stop.clone());
            workers.spawn(work::inherited(work));
        }
    }
    let mut stop = stop;
    for round in 1_u32.. {
        tokio::select! {
            () = stopped(&mut stop) => break,
            () = tokio::time::sleep(RECOVER_EVERY) => upkeep::recover(&leads).await,
        }
        if round % TIDY_EVERY == 0 {
            upkeep::tidy(&leads).await;
        }
    }
    leads.stopping.send_replace(true);
    while workers.join_next().await.is_some() {}
}

async fn serve(leads: Arc<Leads>, index: usize, mut stop: watch::Receiver<bool>) {
    let Some(way) = leads.targets.get(index) else {
        return;
    };
    while !*stop.borrow() {
        // Registered before looking, so that a lead accepted meanwhile is not overlooked.
        let mut work = pin!(leads.work.notified());
        work.as_mut().enable();
        let pause = match admitted(&leads, way).await {
            Ok(true) => continue,
            Ok(false) => pause(&leads, way).await,
            Err(error) => {
                log::store_failed(&leads, &error);
                STORE_PAUSE
            }
        };
        tokio::select! {
            () = stopped(&mut stop) => {}
            () = work => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// How long until the next delivery falls due, at most [`LOOK_EVERY`].
async fn pause(leads: &Leads, way: &Way) -> Duration {
    if let Some(wait) = way.breaker.wait(leads.clock.now()) {
        return wait.clamp(Duration::from_millis(20), LOOK_EVERY);
    }
    let due = leads
        .store
        .next_due(&leads.settings.deployment, &way.settings.name)
        .await;
    let Ok(Some(due)) = due else {
        return LOOK_EVERY;
    };
    let left = due.duration_since(leads.clock.now());
    Duration::try_from(left)
        .unwrap_or_default()
        .clamp(Duration::from_millis(20), LOOK_EVERY)
}

/// The same as [`step`], unless the target's pace or its troubles ask for patience.
async fn admitted(leads: &Leads, way: &Way) -> Result<bool, StoreError> {
    if way.breaker.wait(leads.clock.now()).is_some() {
        return Ok(false);
    }
    step(leads, way).await
}

/// Delivers one due lead of one target; `false` when none is due.
async fn step(leads: &Leads, way: &Way) -> Result<bool, StoreError> {
    let now = leads.clock.now();
    let lease = SignedDuration::try_from(LEASE).unwrap_or(SignedDuration::ZERO);
    let lease_until = now.saturating_add(lease).unwrap_or(Timestamp::MAX);
    let deployment = &leads.settings.deployment;
    let job = leads
        .store
        .take_job(deployment, &way.settings.name, now, lease_until)
        .await?;
    let Some(job) = job else { return Ok(false) };
    failpoint::reached("worker.taken");
    let spent = way.breaker.spend(now);
    let span = span::Attempt::begin(&job, way.target.kind());
    let outcome = bounded(leads, way, &job, tokio::time::sleep(ATTEMPT)).await?;
    failpoint::reached("worker.transmitted");
    let Some(outcome) = outcome else {
        log::lease_lost(&job);
        span.end("lease_lost");
        return Ok(true);
    };
    let outcome = outcome.within(way.settings.retry.longest);
    if let Some(pause) = spent.end(&outcome, leads.clock.now()) {
        log::paused(&job, pause);
        leads.notices.say(Event::Paused, &job.target, &job.lead_id);
    }
    record(leads, way, &job, outcome, span).await;
    failpoint::reached("worker.finished");
    Ok(true)
}

/// One attempt, cut off when `time_is_up`; `None` when the job is no longer ours.
async fn bounded(
    leads: &Leads,
    way: &Way,
    job: &Job,
    time_is_up: impl Future<Output = ()>,
) -> Result<Option<Outcome>, StoreError> {
    let begun = AtomicBool::new(false);
    tokio::select! {
        biased;
        outcome = attempt(leads, way, job, &begun) => return outcome,
        () = time_is_up => {}
    }
    let words = "the attempt took too long".to_owned();
    Ok(Some(if begun.into_inner() {
        // Nobody can say how far it got.
        Outcome::Unknown(words)
    } else {
        Outcome::Retry(words)
    }))
}

/// The attempt itself. `begun` turns true before anything is sent that must not be sent twice.
async fn attempt(
    leads: &Leads,
    way: &Way,
    job: &Job,
    begun: &AtomicBool,
) -> Result<Option<Outcome>, StoreError> {
    let parcel = match parcel(leads, way, job) {
        Ok(parcel) => parcel,
        // A matter of configuration or keys: once that is mended, the lead goes out.
        Err(reason) => return Ok(Some(Outcome::Retry(reason))),
    };
    let mut stopping = leads.stopping.subscribe();
    let prepared = tokio::select! {
        prepared = way.target.prepare(&parcel) => prepared,
        // Nothing was handed over yet, so it is parked for the next process.
        () = stopped(&mut stopping) => Err(Outcome::Retry("the process was stopping".to_owned())),
    };
    let ready = match prepared {
        Ok(ready) => ready,
        Err(outcome) => return Ok(Some(outcome)),
    };
    // From here a crash leaves the outcome open, and the store must know that before it can happen.
    if !ready.repeats_safely() {
        begun.store(true, Ordering::Relaxed);
        match leads.store.mark_transmitting(job, leads.clock.now()).await {
            Ok(true) => failpoint::reached("worker.marked"),
            Ok(false) => {
                ready.abandon();
                return Ok(None);
            }
            Err(error) => {
                ready.abandon();
                return Err(error);
            }
        }
    }
    Ok(Some(ready.transmit().await))
}

/// The lead in the words of this target. The error is for the ledger: it holds no customer data.
fn parcel(leads: &Leads, way: &Way, job: &Job) -> Result<Parcel, String> {
    let record = Record::from_text(&job.record, &job.lead_id, &leads.keys)
        .map_err(|error| error.to_string())?;
    let profile = &way.settings.profile;
    let Rendered {
        content,
        subject,
        layout,
        encoding,
        reply_to,
    } = adf::render(
        &job.lead_id,
        job.accepted_at,
        &record,
        profile,
        &leads.settings,
    )
    .map_err(|error| error.to_string())?;
    Ok(Parcel {
        correlation: format!("{}.{}", job.lead_id, job.target),
        subject,
        content,
        layout,
        encoding,
        reply_to,
        date: leads.clock.now(),
    })
}

/// Writes down how the attempt ended, trying for a while: what is not written down would be held later.
async fn record(leads: &Leads, way: &Way, job: &Job, outcome: Outcome, span: span::Attempt<'_>) {
    let now = leads.clock.now();
    let ending = ending::of(job, &way.settings.retry, outcome, now);
    log::attempted(job, way.target.kind(), &ending);
    span.end(ending.state.id());
    leads.counters.ended(ending.state);
    if let Some(event) = Event::of(ending.state) {
        leads.notices.say(event, &job.target, &job.lead_id);
    }
    for _ in 0..RECORD_TRIES {
        match leads.store.finish(job, ending.clone(), now).await {
            Ok(true) => return,
            Ok(false) => return log::lease_lost(job),
            Err(error) => log::not_recorded(job, &error),
        }
        if *leads.stopping.borrow() {
            return;
        }
        tokio::time::sleep(STORE_PAUSE).await;
    }
}

#[cfg(test)]
mod tests;
