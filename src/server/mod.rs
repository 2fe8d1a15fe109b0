//! The listener: connections, TLS, limits, request ids, shutdown; every request is handed to the surface its
//! host and path name. Must not know what a surface says.

mod admin;
mod body;
mod connection;
mod crowd;
mod document;
mod health;
mod layout;
mod proxies;
mod record;
mod request;
mod router;
mod stats;
mod surface;
mod throttle;
mod tls;
mod website;
mod written;

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use futures_util::future::BoxFuture;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::telemetry::trace::Tracer;
pub use admin::{Operate, Operated, serve_admin};
use crowd::Crowd;
pub use health::{Health, Reason};
pub use layout::SiteError;
pub use proxies::Networks;
#[cfg(any(test, fuzzing))]
pub use proxies::fuzz as fuzz_proxies;
pub use router::Site;
use stats::Limit;
pub use stats::Stats;
use throttle::Throttle;
pub use tls::{CertificateFiles, Tls, TlsError, TlsSettings};

/// Bounds of everything a peer can make us hold, and whom the listener believes.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Connections served at once; further ones wait in the listener's queue.
    pub max_connections: usize,
    /// Connections of one address at once, where it is neither loopback nor a trusted proxy.
    pub max_connections_per_address: usize,
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
    /// Peers that may bring plain HTTP from outside, and whose word about the asking side counts.
    pub trusted_proxies: Networks,
    /// TLS of the listener; without it only loopback and trusted proxies are answered.
    pub tls: Option<Arc<Tls>>,
    /// Seconds for which browsers are told to come by HTTPS only; 0 says nothing.
    pub hsts_s: u64,
    /// Records what requests take, where somebody wants to know.
    pub tracer: Option<Arc<Tracer>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_connections: 4096,
            max_connections_per_address: 256,
            max_header_bytes: 16 * 1024,
            max_body_bytes: 256 * 1024,
            header_timeout: Duration::from_secs(15),
            body_timeout: Duration::from_secs(15),
            shutdown_grace: Duration::from_millis(1500),
            requests_per_minute_per_address: None,
            trusted_proxies: Networks::default(),
            tls: None,
            hsts_s: 31_536_000,
            tracer: None,
        }
    }
}

/// Tells how the process is doing: its stores and sources.
pub type Ready = Arc<dyn Fn() -> BoxFuture<'static, Health> + Send + Sync>;

/// What all connections share.
struct Shared {
    site: Arc<ArcSwap<Site>>,
    settings: Settings,
    addresses: Throttle<IpAddr>,
    deployments: Throttle<String>,
    crowd: Arc<Crowd>,
    ready: Ready,
    stats: Arc<Stats>,
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
    shutdown: watch::Receiver<bool>,
) {
    let stats = Arc::new(Stats::default());
    serve_counted(listener, site, settings, (ready, stats), shutdown).await;
}

/// The same, counted in `stats`.
pub async fn serve_counted(
    listener: TcpListener,
    site: Arc<ArcSwap<Site>>,
    settings: Settings,
    (ready, stats): (Ready, Arc<Stats>),
    mut shutdown: watch::Receiver<bool>,
) {
    let grace = settings.shutdown_grace;
    let shared = Arc::new(Shared {
        addresses: Throttle::new(),
        deployments: Throttle::new(),
        crowd: Arc::default(),
        site,
        settings,
        ready,
        stats,
    });
    let connections = GracefulShutdown::new();
    tokio::select! {
        () = accept(&listener, &shared, &connections) => {}
        // A dropped sender means that nobody can ask any more: end too.
        _ = shutdown.wait_for(|stop| *stop) => {}
    }
    drop(listener);
    let drained = tokio::time::timeout(grace, connections.shutdown()).await;
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
            Ok((stream, peer)) => begin(shared, connections, permit, (stream, peer)),
            Err(error) => {
                tracing::warn!(%error, "accept failed");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// Serves one connection beside the others, unless its address has too many.
fn begin(
    shared: &Arc<Shared>,
    connections: &GracefulShutdown,
    permit: OwnedSemaphorePermit,
    (stream, peer): (TcpStream, SocketAddr),
) {
    let address = peer.ip().to_canonical();
    let exempt = address.is_loopback() || shared.settings.trusted_proxies.contain(address);
    let most = shared.settings.max_connections_per_address;
    let place = shared
        .crowd
        .enter(address, if exempt { usize::MAX } else { most });
    if place.is_none() {
        return shared.stats.limit(Limit::AddressConnections);
    }
    let open = shared.stats.connection();
    let serving = connection::serve(stream, peer, Arc::clone(shared), connections.watcher());
    tokio::spawn(async move {
        serving.await;
        drop((place, open, permit));
    });
}
