//! A built [`App`] at work: served, told about, exchanged for the next one, and ended. Must not build parts.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::net::TcpListener;
use tokio::sync::{Notify, watch};

use super::crew::Crew;
use super::export::Exports;
use super::ops::{Ops, Reloads};
use super::{App, AppError, Reload, reload, upkeep};
use crate::server;

/// Beyond the grace for requests, so long may whatever else is under way take to end.
const LAST_PATIENCE: Duration = Duration::from_millis(300);

/// How an [`App`] is served.
pub struct Serving {
    pub listener: TcpListener,
    pub settings: server::Settings,
    pub stop: watch::Receiver<bool>,
    /// Where the operators' listener finds what it tells about.
    pub operated: server::Operated,
    pub reload: Option<Reload>,
}

/// What is counted as long as the process lives.
struct Counted {
    stats: Arc<server::Stats>,
    reloads: Arc<Reloads>,
    exports: Option<Arc<Exports>>,
}

impl App {
    /// Serves until `stop` says so, then ends everything that it began.
    pub async fn serve(
        self,
        listener: TcpListener,
        settings: server::Settings,
        stop: watch::Receiver<bool>,
    ) {
        let serving = Serving {
            listener,
            settings,
            stop,
            operated: server::Operated::default(),
            reload: None,
        };
        self.serve_with(serving).await;
    }

    /// The same, told about to operators and kept up to date.
    pub async fn serve_with(mut self, serving: Serving) {
        let Serving {
            listener,
            mut settings,
            mut stop,
            operated,
            mut reload,
        } = serving;
        let patience = settings.shutdown_grace + LAST_PATIENCE;
        let (stats, reloads) = (
            Arc::new(server::Stats::default()),
            Arc::<Reloads>::default(),
        );
        let site = Arc::new(ArcSwap::new(Arc::clone(&self.site)));
        let mut crew = Crew::default();
        let exports = self.export(&mut crew, &operated, &stop);
        settings.tracer = exports.as_ref().map(|exports| Arc::clone(&exports.tracer));
        crew.tracer.clone_from(&settings.tracer);
        let counted = Counted {
            stats: Arc::clone(&stats),
            reloads: Arc::clone(&reloads),
            exports,
        };
        self.put_to_work(&mut crew, &operated, &counted);
        let (store, clock) = (Arc::clone(&self.store), self.clock.clone());
        crew.join(upkeep::run(store, clock, upkeep::EVERY, stop.clone()));
        crew.join(server::serve_counted(
            listener,
            Arc::clone(&site),
            settings,
            (ready(&operated), Arc::clone(&stats)),
            stop.clone(),
        ));
        loop {
            if stopped_before_due(&mut stop, reload.as_mut(), &self.ground.wanted).await {
                break;
            }
            let Some(reload) = &mut reload else { break };
            let Some(next) = self.next(reload).await else {
                reloads.refused.fetch_add(1, Ordering::Relaxed);
                continue;
            };
            // First everything is ready to work, then requests go there, then the old one ends.
            next.hand_keys(&self);
            let before = std::mem::replace(&mut self, next);
            self.put_to_work(&mut crew, &operated, &counted);
            site.store(Arc::clone(&self.site));
            drop(before);
            reloads.done.fetch_add(1, Ordering::Relaxed);
            tracing::info!(deployments = self.deployments.len(), "configuration taken");
        }
        crew.end(patience).await;
        operated.store(None);
        self.store.close().await;
    }

    /// Sends what is told to a collector, where there is one.
    fn export(
        &mut self,
        crew: &mut Crew,
        operated: &server::Operated,
        stop: &watch::Receiver<bool>,
    ) -> Option<Arc<Exports>> {
        let exporter = self.exporter.take()?;
        let exports = exporter.exports();
        crew.join(exporter.run(Arc::clone(operated), stop.clone()));
        Some(exports)
    }

    /// What the configuration as it is now makes of this; `None` when it is not taken.
    async fn next(&self, reload: &mut Reload) -> Option<Self> {
        reload.renew_certificates();
        let config = reload.read().await?;
        let built = self.rebuild(&config).await;
        let next = built.and_then(|next| match reload.take_certificates(&config) {
            Ok(()) => Ok(next),
            Err(words) => Err(AppError::Site(words)),
        });
        if next.is_ok() {
            reload::waits_for_restart(&config.fixed.differing(&self.fixed));
        }
        next.map_err(|error| reload::refused(&error.to_string()))
            .ok()
    }

    fn put_to_work(&self, crew: &mut Crew, operated: &server::Operated, counted: &Counted) {
        crew.match_to(&self.deployments);
        let ops = Ops {
            deployments: self.deployments.clone(),
            store: Arc::clone(&self.store),
            peers: self.ground.peers.clone(),
            clock: self.clock.clone(),
            stats: Arc::clone(&counted.stats),
            reloads: Arc::clone(&counted.reloads),
            exports: counted.exports.clone(),
            tallies: tokio::sync::Mutex::default(),
        };
        operated.store(Some(Arc::new(Box::new(ops))));
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving")
            .field("listener", &self.listener)
            .field("reload", &self.reload)
            .finish_non_exhaustive()
    }
}

/// Waits until the configuration is to be read anew, which is never where nothing can be read; whether it is time
/// to stop before that.
async fn stopped_before_due(
    stop: &mut watch::Receiver<bool>,
    reload: Option<&mut Reload>,
    wanted: &Notify,
) -> bool {
    let due = async {
        let Some(reload) = reload else {
            return std::future::pending().await;
        };
        tokio::select! {
            () = reload.due() => {}
            () = wanted.notified() => {}
        }
    };
    tokio::select! {
        // An error means that whoever could say stop is gone: then it is time, too.
        _ = stop.wait_for(|stops| *stops) => true,
        () = due => false,
    }
}

fn ready(operated: &server::Operated) -> server::Ready {
    let operated = Arc::clone(operated);
    Arc::new(move || {
        let operated = operated.load_full();
        Box::pin(async move {
            match operated {
                Some(operated) => operated.health().await,
                None => server::Health::default(),
            }
        })
    })
}
