//! What the process tells of itself to those who operate it: readiness with its reasons, and metrics. Holds
//! no customer value: labels are ids of the operator's own and words of this program.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use tokio::sync::Mutex;

use crate::clock::Clock;
use crate::deployment::Deployment;
use crate::deployment::calls::{BOUNDS_US, Reading};
use crate::net;
use crate::server::{Health, Operate, Reason, Stats};
use crate::store::{Store, Tally};

/// The store is asked no more often than so.
const TALLY_KEPT: Duration = Duration::from_secs(5);
const PING_PATIENCE: Duration = Duration::from_secs(2);
/// A delivery that is open for so long is stuck.
const STUCK_S: i64 = 15 * 60;

/// How often the configuration was read anew.
#[derive(Debug, Default)]
pub(super) struct Reloads {
    pub(super) done: AtomicU64,
    pub(super) refused: AtomicU64,
}

/// What is told about.
pub(super) struct Ops {
    pub(super) deployments: Vec<Arc<Deployment>>,
    pub(super) store: Arc<Store>,
    pub(super) peers: net::Client,
    pub(super) clock: Clock,
    pub(super) stats: Arc<Stats>,
    pub(super) reloads: Arc<Reloads>,
    pub(super) tallies: Mutex<Option<(Instant, Tallies)>>,
}

/// Deliveries by deployment.
type Tallies = Arc<Vec<(String, Tally)>>;

impl Operate for Ops {
    fn health(&self) -> BoxFuture<'_, Health> {
        Box::pin(self.judge())
    }

    fn metrics(&self) -> BoxFuture<'_, String> {
        Box::pin(self.report())
    }
}

impl Ops {
    async fn judge(&self) -> Health {
        let mut reasons = Vec::new();
        let takes_leads = self.deployments.iter().any(|one| one.leads.is_some());
        let store_away = takes_leads && !self.store_answers().await;
        if store_away {
            reasons.push(Reason {
                component: "store",
                deployment: None,
                words: "the store does not answer; leads cannot be recorded".to_owned(),
            });
        }
        let (mut answering, mut inventories) = (0_usize, 0_usize);
        for deployment in &self.deployments {
            let Some(inventory) = &deployment.inventory else {
                continue;
            };
            inventories += 1;
            if inventory.answers() {
                answering += 1;
                continue;
            }
            let status = inventory.status();
            let age = status.age_s.map_or("never read".to_owned(), |age_s| {
                format!("read {age_s} s ago, older than max_age_s")
            });
            reasons.push(Reason {
                component: "inventory",
                deployment: Some(deployment.id.clone()),
                words: age,
            });
        }
        if !store_away {
            self.outbox_reasons(&mut reasons).await;
        }
        // One dealer's stale feed must not take the others off the network.
        let ready = !store_away && (answering > 0 || inventories == 0);
        Health { ready, reasons }
    }

    async fn outbox_reasons(&self, reasons: &mut Vec<Reason>) {
        let now_s = self.clock.now().as_second();
        for (id, tally) in self.tallies().await.iter() {
            let oldest = tally.oldest_open.map(|since| now_s - since.as_second());
            if let Some(age_s) = oldest.filter(|age_s| *age_s > STUCK_S) {
                reasons.push(Reason {
                    component: "outbox",
                    deployment: Some(id.clone()),
                    words: format!("a lead has waited {age_s} s for its delivery"),
                });
            }
        }
    }

    async fn store_answers(&self) -> bool {
        let asked = tokio::time::timeout(PING_PATIENCE, self.store.ping()).await;
        matches!(asked, Ok(Ok(())))
    }

    async fn tallies(&self) -> Tallies {
        let mut kept = self.tallies.lock().await;
        if let Some((when, tallies)) = &*kept
            && when.elapsed() < TALLY_KEPT
        {
            return Arc::clone(tallies);
        }
        let mut tallies = Vec::new();
        for deployment in self.deployments.iter().filter(|one| one.leads.is_some()) {
            // A store that is away shows in `store_answers`.
            if let Ok(tally) = self.store.tally(&deployment.id).await {
                tallies.push((deployment.id.clone(), tally));
            }
        }
        let tallies = Arc::new(tallies);
        *kept = Some((Instant::now(), Arc::clone(&tallies)));
        tallies
    }

    async fn report(&self) -> String {
        let mut text = String::with_capacity(64 * 1024);
        let mut line = |words: std::fmt::Arguments<'_>| {
            // Writing to a string cannot fail.
            let _fine = text.write_fmt(words);
            text.push('\n');
        };
        line(format_args!("# TYPE forecourt_build_info gauge"));
        line(format_args!(
            "forecourt_build_info{{version=\"{}\"}} 1",
            env!("CARGO_PKG_VERSION")
        ));
        self.calls(&mut line);
        self.inventories(&mut line);
        self.outbox(&mut line).await;
        line(format_args!(
            "# TYPE forecourt_client_fetches_total counter"
        ));
        for (result, count) in self.peers.tally() {
            line(format_args!(
                "forecourt_client_fetches_total{{result=\"{result}\"}} {count}"
            ));
        }
        line(format_args!("# TYPE forecourt_reloads_total counter"));
        for (result, count) in [
            ("done", &self.reloads.done),
            ("refused", &self.reloads.refused),
        ] {
            let count = count.load(Ordering::Relaxed);
            line(format_args!(
                "forecourt_reloads_total{{result=\"{result}\"}} {count}"
            ));
        }
        self.stats.write(&mut text);
        text
    }

    fn calls(&self, line: &mut impl FnMut(std::fmt::Arguments<'_>)) {
        let readings: Vec<(&str, Vec<Reading>)> = self
            .deployments
            .iter()
            .map(|deployment| (deployment.id.as_str(), deployment.calls.read()))
            .collect();
        line(format_args!("# TYPE forecourt_calls_total counter"));
        for (id, reading) in each(&readings) {
            let (binding, skill) = (reading.binding, reading.skill);
            for (code, count) in &reading.outcomes {
                line(format_args!(
                    "forecourt_calls_total{{deployment=\"{id}\",binding=\"{binding}\",skill=\"{skill}\",code=\"{code}\"}} {count}"
                ));
            }
        }
        line(format_args!(
            "# TYPE forecourt_call_duration_seconds histogram"
        ));
        for (id, reading) in each(&readings) {
            let labels = format!(
                "deployment=\"{id}\",binding=\"{}\",skill=\"{}\"",
                reading.binding, reading.skill
            );
            let mut count = 0;
            let bounds = BOUNDS_US.iter().map(|us| Duration::from_micros(*us));
            let bounds = bounds.map(|bound| bound.as_secs_f64().to_string());
            let bounds = bounds.chain(std::iter::once("+Inf".to_owned()));
            for (bound, class) in bounds.zip(reading.classes) {
                count += class;
                line(format_args!(
                    "forecourt_call_duration_seconds_bucket{{{labels},le=\"{bound}\"}} {count}"
                ));
            }
            let sum = Duration::from_micros(reading.sum_us).as_secs_f64();
            line(format_args!(
                "forecourt_call_duration_seconds_sum{{{labels}}} {sum}"
            ));
            line(format_args!(
                "forecourt_call_duration_seconds_count{{{labels}}} {count}"
            ));
        }
    }

    fn inventories(&self, line: &mut impl FnMut(std::fmt::Arguments<'_>)) {
        let statuses: Vec<_> = self
            .deployments
            .iter()
            .filter_map(|deployment| {
                let inventory = deployment.inventory.as_ref()?;
                let answers = u64::from(inventory.answers());
                Some((deployment.id.as_str(), inventory.status(), answers))
            })
            .collect();
        let mut gauge = |name: &str, value: &dyn Fn(usize) -> Option<i128>| {
            line(format_args!("# TYPE forecourt_inventory_{name} gauge"));
            for (index, (id, ..)) in statuses.iter().enumerate() {
                if let Some(value) = value(index) {
                    line(format_args!(
                        "forecourt_inventory_{name}{{deployment=\"{id}\"}} {value}"
                    ));
                }
            }
        };
        let status = |index: usize| statuses.get(index).map(|(_, status, _)| status);
        gauge("age_seconds", &|index| status(index)?.age_s.map(i128::from));
        gauge("vehicles", &|index| {
            i128::try_from(status(index)?.vehicles).ok()
        });
        gauge("rejected", &|index| {
            Some(i128::from(status(index)?.rejected.total()))
        });
        gauge("dirty_fields", &|index| {
            Some(i128::from(status(index)?.dirty.total()))
        });
        gauge("failed_readings", &|index| {
            Some(i128::from(status(index)?.failures))
        });
        gauge("held", &|index| {
            i128::try_from(status(index)?.held.unwrap_or(0)).ok()
        });
        gauge("answers", &|index| {
            statuses
                .get(index)
                .map(|(.., answers)| i128::from(*answers))
        });
    }

    async fn outbox(&self, line: &mut impl FnMut(std::fmt::Arguments<'_>)) {
        let tallies = self.tallies().await;
        line(format_args!("# TYPE forecourt_outbox_deliveries gauge"));
        for (id, tally) in tallies.iter() {
            for (state, count) in &tally.by_state {
                let state = state.id();
                line(format_args!(
                    "forecourt_outbox_deliveries{{deployment=\"{id}\",state=\"{state}\"}} {count}"
                ));
            }
        }
        line(format_args!("# TYPE forecourt_outbox_oldest_seconds gauge"));
        let now_s = self.clock.now().as_second();
        for (id, tally) in tallies.iter() {
            let age_s = tally
                .oldest_open
                .map_or(0, |since| now_s - since.as_second());
            line(format_args!(
                "forecourt_outbox_oldest_seconds{{deployment=\"{id}\"}} {}",
                age_s.max(0)
            ));
        }
    }
}

fn each<'a>(
    readings: &'a [(&'a str, Vec<Reading>)],
) -> impl Iterator<Item = (&'a str, &'a Reading)> {
    readings
        .iter()
        .flat_map(|(id, readings)| readings.iter().map(move |reading| (*id, reading)))
}
