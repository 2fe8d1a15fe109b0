//! The listener for those who operate the process: probes with their reasons, and metrics. Begins before
//! anything is served. Must not be reachable for strangers; the operator's network sees to that.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use super::health::{self, Health, Reason};
use super::request::problem;
use crate::telemetry::metric::{Family, prometheus};

/// Connections at one time.
const AT_ONCE: usize = 64;
const PATIENCE: Duration = Duration::from_secs(10);

/// What the process can say of itself.
pub trait Operate: Send + Sync {
    /// How it is doing now.
    fn health(&self) -> BoxFuture<'_, Health>;
    /// All metrics.
    fn metrics(&self) -> BoxFuture<'_, Vec<Family>>;
}

/// What is operated; nothing until the process has started.
pub type Operated = Arc<ArcSwapOption<Box<dyn Operate>>>;

/// Answers until `stop` turns true.
pub async fn serve_admin(
    listener: TcpListener,
    operated: Operated,
    mut stop: watch::Receiver<bool>,
) {
    let permits = Arc::new(Semaphore::new(AT_ONCE));
    let accepting = async {
        loop {
            let Ok(permit) = Arc::clone(&permits).acquire_owned().await else {
                return;
            };
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let operated = Arc::clone(&operated);
            tokio::spawn(async move {
                let service = service_fn(move |request| {
                    let operated = Arc::clone(&operated);
                    async move { Ok::<_, Infallible>(answer(&operated, &request).await) }
                });
                let mut builder = http1::Builder::new();
                builder
                    .timer(TokioTimer::new())
                    .header_read_timeout(PATIENCE);
                // A scraper that goes away is no event.
                drop(
                    builder
                        .serve_connection(TokioIo::new(stream), service)
                        .await,
                );
                drop(permit);
            });
        }
    };
    tokio::select! {
        () = accepting => {}
        _ = stop.wait_for(|stops| *stops) => {}
    }
}

async fn answer(operated: &Operated, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let operated = operated.load_full();
    let starting = || Health {
        ready: false,
        reasons: vec![Reason {
            component: "process",
            deployment: None,
            words: "is starting".to_owned(),
        }],
    };
    let started = if operated.is_some() {
        Health::good()
    } else {
        starting()
    };
    let method = request.method();
    let answer = match (request.uri().path(), operated) {
        ("/livez", _) => Health::good().answer(method, true),
        ("/startupz", _) => started.answer(method, true),
        ("/readyz", None) => starting().answer(method, true),
        ("/readyz", Some(operated)) => operated.health().await.answer(method, true),
        ("/metrics", None) => health::metrics(String::new()),
        ("/metrics", Some(operated)) => health::metrics(prometheus(&operated.metrics().await)),
        _ => problem(
            StatusCode::NOT_FOUND,
            "not_found",
            "Here are /livez, /readyz, /startupz and /metrics.",
        ),
    };
    answer.map(Full::new)
}
