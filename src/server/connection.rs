//! One connection: HTTP/1 or HTTP/2, with its time limits. Must not look into a request.

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
use tokio::net::TcpStream;

use super::{Settings, Shared, request};

/// Streams of one HTTP/2 connection at once.
const MAX_STREAMS: u32 = 100;

/// Serves one connection to its end.
pub(super) async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    shared: Arc<Shared>,
    watcher: Watcher,
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY");
    }
    let settings = shared.settings;
    let asked = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&asked);
    let service = service_fn(move |request: Request<Incoming>| {
        seen.store(true, Ordering::Relaxed);
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(request::answer(&shared, peer, request).await) }
    });
    let builder = builder(&settings);
    let connection = builder
        .serve_connection(TokioIo::new(stream), service)
        .into_owned();
    let mut connection = Box::pin(watcher.watch(connection));
    tokio::select! {
        ended = &mut connection => return report(ended),
        () = tokio::time::sleep(settings.header_timeout) => {}
    }
    // hyper's own header timeout begins only once the protocol is known; a peer that sends nothing, or
    // the beginning of an HTTP/2 preface, would stay for ever.
    if asked.load(Ordering::Relaxed) {
        report(connection.await);
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
