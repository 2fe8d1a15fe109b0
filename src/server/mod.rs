//! The listener: connections, limits, request ids, shutdown; every request is handed to the surface its
//! host and path name. Must not know what a surface says.

mod body;
mod connection;
mod document;
mod request;
mod router;
mod throttle;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

pub use router::{Site, SiteError};
use throttle::Throttle;

/// Bounds of everything a peer can make us hold.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Connections served at once; further ones wait in the listener's queue.
    pub max_connections: usize,
    pub max_header_bytes: usize,
    pub max_body_bytes: usize,
    /// For the first request's head, and for each later one, idle time included.
    pub header_timeout: Duration,
    /// For a whole body.
    pub body_timeout: Duration,
    /// For requests in flight when shutdown begins.
    pub shutdown_grace: Duration,
    /// Requests a minute from one address, where set; beyond them HTTP 429 (AAP-101).
    pub requests_per_minute_per_address: Option<u32>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_connections: 4096,
            max_header_bytes: 16 * 1024,
            max_body_bytes: 256 * 1024,
            header_timeout: Duration::from_secs(15),
            body_timeout: Duration::from_secs(15),
            shutdown_grace: Duration::from_millis(1500),
            requests_per_minute_per_address: None,
        }
    }
}

/// Tells whether the process can answer: its stores and sources are there.
pub type Ready = Arc<dyn Fn() -> bool + Send + Sync>;

/// What all connections share.
struct Shared {
    site: Arc<ArcSwap<Site>>,
    settings: Settings,
    throttle: Throttle,
    ready: Ready,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// Serves until `shutdown` turns true, then lets requests in flight end within the grace.
pub async fn serve(
    listener: TcpListener,
    site: Arc<ArcSwap<Site>>,
    settings: Settings,
    ready: Ready,
    mut shutdown: watch::Receiver<bool>,
) {
    let shared = Arc::new(Shared {
        throttle: Throttle::new(settings.requests_per_minute_per_address),
        site,
        settings,
        ready,
    });
    let connections = GracefulShutdown::new();
    tokio::select! {
        () = accept(&listener, &shared, &connections) => {}
        // A dropped sender means that nobody can ask any more: end too.
        _ = shutdown.wait_for(|stop| *stop) => {}
    }
    drop(listener);
    let drained = tokio::time::timeout(settings.shutdown_grace, connections.shutdown()).await;
    if drained.is_err() {
        tracing::warn!("connections were still open when the shutdown grace ended");
    }
}

/// Accepts for ever; a failure to accept (e.g. no file descriptor left) passes.
async fn accept(listener: &TcpListener, shared: &Arc<Shared>, connections: &GracefulShutdown) {
    let permits = Arc::new(Semaphore::new(shared.settings.max_connections));
    loop {
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, peer)) => {
                let shared = Arc::clone(shared);
                let serving = connection::serve(stream, peer, shared, connections.watcher());
                tokio::spawn(async move {
                    serving.await;
                    drop(permit);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "accept failed");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}
