//! The tasks that work beside requests: one for each inventory and each lead desk that is in use, started
//! and ended as the set of them changes. Must not know what they do.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::deployment::Deployment;
use crate::leads::worker;
use crate::telemetry::trace::Tracer;
use crate::telemetry::work;

/// Everything that is under way.
#[derive(Debug, Default)]
pub(super) struct Crew {
    /// By the address of what is worked on, which stays while it is in use.
    at_work: HashMap<usize, watch::Sender<bool>>,
    /// Who records what they do.
    pub(super) tracer: Option<Arc<Tracer>>,
    tasks: JoinSet<()>,
}

impl Crew {
    /// Starts what is new in these deployments and ends what is in none of them. What ends finishes what it
    /// has begun.
    pub(super) fn match_to(&mut self, deployments: &[Arc<Deployment>]) {
        let mut wanted = HashMap::new();
        for deployment in deployments {
            if let Some(inventory) = &deployment.inventory {
                let address = Arc::as_ptr(inventory).addr();
                let (stop, fresh) = self.take(address);
                if let Some(stopped) = fresh {
                    let work = Arc::clone(inventory).run(stopped);
                    self.tasks.spawn(work::traced(self.tracer.clone(), work));
                }
                wanted.insert(address, stop);
            }
            if let Some(leads) = &deployment.leads {
                let address = Arc::as_ptr(leads).addr();
                let (stop, fresh) = self.take(address);
                if let Some(stopped) = fresh {
                    let work = worker::run(Arc::clone(leads), stopped);
                    self.tasks.spawn(work::traced(self.tracer.clone(), work));
                }
                wanted.insert(address, stop);
            }
        }
        for stop in std::mem::replace(&mut self.at_work, wanted).into_values() {
            stop.send_replace(true);
        }
        // What ended meanwhile is not kept.
        while self.tasks.try_join_next().is_some() {}
    }

    /// The way to stop what works at `address`; with a receiver when nothing does yet.
    fn take(&mut self, address: usize) -> (watch::Sender<bool>, Option<watch::Receiver<bool>>) {
        if let Some(stop) = self.at_work.remove(&address) {
            return (stop, None);
        }
        let (stop, stopped) = watch::channel(false);
        (stop, Some(stopped))
    }

    /// Adds a task that ends by itself.
    pub(super) fn join(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(task);
    }

    /// Ends all of it, at last by force. A delivery that is cut off is found as such at the next start, and
    /// held.
    pub(super) async fn end(mut self, patience: Duration) {
        self.match_to(&[]);
        let ended = tokio::time::timeout(patience, async {
            while self.tasks.join_next().await.is_some() {}
        })
        .await;
        if ended.is_err() {
            tracing::warn!(
                tasks = self.tasks.len(),
                "not everything ended in time; cut off"
            );
            self.tasks.shutdown().await;
        }
    }
}
