//! What the process tells of itself to those who operate it: readiness with its reasons; `metrics` beside it.
//! Holds no customer value: words are this program's, ids the operator's own.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use tokio::sync::Mutex;

use super::export::Exports;
use crate::clock::Clock;
use crate::deployment::Deployment;
use crate::inventory::Status;
use crate::net;
use crate::server::{Health, Operate, Reason, Stats};
use crate::store::{Store, Tally};
use crate::telemetry::metric::Family;

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
    pub(super) exports: Option<Arc<Exports>>,
    pub(super) tallies: Mutex<Option<(Instant, Tallies)>>,
}

/// Deliveries by deployment.
pub(super) type Tallies = Arc<Vec<(String, Tally)>>;

impl Operate for Ops {
    fn health(&self) -> BoxFuture<'_, Health> {
        Box::pin(self.judge())
    }

    fn metrics(&self) -> BoxFuture<'_, Vec<Family>> {
        Box::pin(self.report())
    }
}

/// A driver's own words stay in the log.
fn why_it_is_away(status: &Status) -> String {
    match (status.age_s, status.held) {
        (Some(age_s), _) => format!("read {age_s} s ago, older than max_age_s"),
        (None, Some(held)) => format!(
            "not read since the start: a reading of {held} vehicles is held; if so few is right, \
             `forecourt inventory refresh --accept` publishes it"
        ),
        (None, None) => format!(
            "not read since the start: {} readings failed, the log says why; it is tried again",
            status.failures
        ),
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
        let mut away = Vec::new();
        for deployment in &self.deployments {
            let Some(inventory) = &deployment.inventory else {
                continue;
            };
            inventories += 1;
            if inventory.answers() {
                answering += 1;
                continue;
            }
            away.push(Reason {
                component: "inventory",
                deployment: Some(deployment.id.clone()),
                words: why_it_is_away(&inventory.status()),
            });
        }
        let count = away.len();
        reasons.extend(away);
        if inventories > 1 && count > 0 {
            reasons.push(Reason {
                component: "inventory",
                deployment: None,
                words: format!("{count} of {inventories} inventories cannot be served"),
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

    pub(super) async fn tallies(&self) -> Tallies {
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
}
