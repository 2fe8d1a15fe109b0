//! One connection: TLS where there is any, HTTP/1 or HTTP/2, with its time limits. Must not look into a
//! request.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::Watcher;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::stats::Limit;
use super::{Settings, Shared, request};

/// Streams of one HTTP/2 connection at once.
const MAX_STREAMS: u32 = 100;
/// Streams of one HTTP/2 connection that its peer opened and reset before they were taken up, and that we
/// reset ourselves; a peer that goes beyond is cut off (CVE-2023-44487 and its kin).
const MAX_RESETS: usize = 20;
const MAX_OWN_RESETS: usize = 256;

/// Where a request's connection comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub(super) peer: SocketAddr,
    /// Whether this very connection is encrypted.
    pub(super) tls: bool,
}

/// Serves one connection to its end.
pub(super) async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    shared: Arc<Shared>,
    watcher: Watcher,
) {
    hurry(&stream);
    let Some(tls) = &shared.settings.tls else {
        let origin = Origin { peer, tls: false };
        return speak(stream, origin, shared, watcher).await;
    };
    let handshake = tls.acceptor().accept(stream);
    let patience = shared.settings.header_timeout;
    match tokio::time::timeout(patience, handshake).await {
        Ok(Ok(stream)) => {
            let origin = Origin { peer, tls: true };
            speak(stream, origin, shared, watcher).await;
        }
        Ok(Err(error)) => report(Err(error.into())),
        Err(_) => shared.stats.limit(Limit::SlowHead),
    }
}

fn hurry(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY");
    }
}

async fn speak<S>(stream: S, origin: Origin, shared: Arc<Shared>, watcher: Watcher)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let stats = Arc::clone(&shared.stats);
    let header_timeout = shared.settings.header_timeout;
    let asked = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&asked);
    let builder = builder(&shared.settings);
    let service = service_fn(move |request: Request<Incoming>| {
        seen.store(true, Ordering::Relaxed);
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(request::answer(&shared, origin, request).await) }
    });
    let connection = builder
        .serve_connection_with_upgrades(TokioIo::new(stream), service)
        .into_owned();
    let mut connection = Box::pin(watcher.watch(connection));
    tokio::select! {
        ended = &mut connection => return report(ended),
        () = tokio::time::sleep(header_timeout) => {}
    }
    // hyper's own header timeout begins only once the protocol is known; a peer that sends nothing, or
    // the beginning of an HTTP/2 preface, would stay for ever.
    if asked.load(Ordering::Relaxed) {
        report(connection.await);
    } else {
        stats.limit(Limit::SlowHead);
    }
}

fn builder(settings: &Settings) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(settings.header_timeout)
        .max_buf_size(settings.max_header_bytes.max(8192))
        .max_headers(100);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_pending_accept_reset_streams(MAX_RESETS)
        .max_local_error_reset_streams(MAX_OWN_RESETS)
        .max_header_list_size(u32::try_from(settings.max_header_bytes).unwrap_or(u32::MAX))
        .keep_alive_interval(settings.header_timeout)
        .keep_alive_timeout(settings.header_timeout);
    builder
}

/// A broken connection is the peer's affair; it is noted for those who look closely.
fn report(ended: Result<(), Box<dyn std::error::Error + Send + Sync>>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "connection ended");
    }
}
