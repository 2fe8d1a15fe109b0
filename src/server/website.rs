//! Whatever is not ours goes on to the dealer's own website as it came, and its answer comes back the same
//! way: streaming, upgrades included. Must not read bodies.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{self, HeaderName};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Version};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;

use super::proxies::Asker;
use super::request::problem;
use super::written::Written;
use crate::bindings::Rope;
use crate::net::{NetError, Policy, Upstream};
use crate::telemetry::trace::{self, Outward, Word};

/// Headers that are about one connection (RFC 9110 section 7.6.1).
const HOP_BY_HOP: [HeaderName; 8] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];
/// What a stranger says of how it came here.
const HEARSAY: [HeaderName; 5] = [
    header::FORWARDED,
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-forwarded-proto"),
    HeaderName::from_static("x-forwarded-host"),
    HeaderName::from_static("x-real-ip"),
];
/// How often it is asked whether anything still moves.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// A dealer's own website.
#[derive(Debug)]
pub(super) struct Website {
    upstream: Upstream,
    /// How long nothing may move before the website's answer begins.
    patience: Duration,
}

impl Website {
    pub(super) fn new(url: &str, patience: Duration) -> Result<Self, NetError> {
        let policy = Policy {
            allow_http: true,
            ..Policy::for_operator()
        };
        Ok(Self {
            upstream: Upstream::new(url, policy)?,
            patience,
        })
    }

    /// Passes a request for `host` on.
    pub(super) async fn answer(
        &self,
        asker: Asker,
        host: &str,
        mut request: Request<Incoming>,
    ) -> Response<Written> {
        let wanted = upgrade(request.version(), request.headers());
        let client = wanted.as_ref().map(|_| hyper::upgrade::on(&mut request));
        let Some(mut request) = outbound(asker, host, request, wanted.as_ref()) else {
            return refused(StatusCode::BAD_REQUEST, "This address cannot be passed on.");
        };
        let traced = begin_trace(request.headers_mut());
        let moved = Arc::new(Mutex::new(Instant::now()));
        let request = request.map(|body| Watched {
            body,
            moved: Arc::clone(&moved),
        });
        let answer = tokio::select! {
            answer = self.upstream.send(request) => answer,
            () = standstill(&moved, self.patience) => Err(NetError::Timeout),
        };
        if let Some(traced) = traced {
            end_trace(traced, answer.as_ref().ok());
        }
        match answer {
            Ok(answer) => inbound(answer, client),
            Err(error) => away(&error),
        }
    }
}

/// What a client is told of a website that gave no answer.
fn away(error: &NetError) -> Response<Written> {
    tracing::warn!(%error, "website");
    if matches!(error, NetError::Timeout | NetError::ConnectTimeout) {
        refused(StatusCode::GATEWAY_TIMEOUT, "The website does not answer.")
    } else {
        refused(StatusCode::BAD_GATEWAY, "The website cannot be reached.")
    }
}

/// The website stands in our trace, where there is one.
fn begin_trace(headers: &mut HeaderMap) -> Option<Outward> {
    let traced = trace::current()?.call();
    if let Ok(value) = HeaderValue::try_from(&traced.traceparent) {
        headers.insert("traceparent", value);
    }
    Some(traced)
}

fn end_trace(traced: Outward, answer: Option<&Response<Incoming>>) {
    let status = answer.map(|answer| answer.status().as_u16());
    let status = status.map(|code| ("http.response.status_code", Word::Number(code.into())));
    traced.end("website", status.into_iter().collect(), answer.is_none());
}

fn refused(status: StatusCode, words: &str) -> Response<Written> {
    problem(status, "website", words).map(|body| Rope::from(body).into())
}

/// Ends when nothing has moved for so long.
async fn standstill(moved: &Mutex<Instant>, patience: Duration) {
    loop {
        tokio::time::sleep(LOOK_EVERY.min(patience)).await;
        let last = *moved.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() >= patience {
            return;
        }
    }
}

/// The protocol that an HTTP/1.1 client wants to change to.
fn upgrade(version: Version, headers: &HeaderMap) -> Option<HeaderValue> {
    let asks = connection_names(headers)
        .iter()
        .any(|name| name == "upgrade");
    let wanted = headers.get(header::UPGRADE).cloned();
    wanted.filter(|_| asks && version == Version::HTTP_11)
}

/// The members of all `Connection` lines, in lower case.
fn connection_names(headers: &HeaderMap) -> Vec<String> {
    let lines = headers.get_all(header::CONNECTION).iter();
    lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect()
}

fn strip(headers: &mut HeaderMap) {
    for name in connection_names(headers) {
        headers.remove(name);
    }
    for name in HOP_BY_HOP {
        headers.remove(name);
    }
}

/// The request as the website gets it.
fn outbound(
    asker: Asker,
    host: &str,
    request: Request<Incoming>,
    wanted: Option<&HeaderValue>,
) -> Option<Request<Incoming>> {
    let (mut head, body) = request.into_parts();
    let authority = head
        .uri
        .authority()
        .and_then(|authority| HeaderValue::try_from(authority.as_str()).ok());
    let named = head.headers.get(header::HOST).cloned().or(authority)?;
    head.uri = head.uri.path_and_query()?.as_str().parse().ok()?;
    head.version = Version::HTTP_11;
    strip(&mut head.headers);
    for name in HEARSAY {
        head.headers.remove(name);
    }
    // The listener says it itself when the body is asked for.
    head.headers.remove(header::EXPECT);
    let scheme = if asker.secure { "https" } else { "http" };
    let set = [
        ("x-forwarded-for", asker.address.to_string()),
        ("x-forwarded-proto", scheme.to_owned()),
        ("x-forwarded-host", host.to_owned()),
    ];
    for (name, text) in set {
        head.headers.insert(name, HeaderValue::try_from(text).ok()?);
    }
    head.headers.insert(header::HOST, named);
    let connection = if let Some(protocol) = wanted {
        head.headers.insert(header::UPGRADE, protocol.clone());
        "upgrade"
    } else {
        "close"
    };
    let connection = HeaderValue::from_static(connection);
    head.headers.insert(header::CONNECTION, connection);
    head.extensions = http::Extensions::new();
    Some(Request::from_parts(head, body))
}

/// The answer as the client gets it.
fn inbound(mut answer: Response<Incoming>, client: Option<OnUpgrade>) -> Response<Written> {
    let changes = answer.status() == StatusCode::SWITCHING_PROTOCOLS;
    let protocol = answer.headers().get(header::UPGRADE).cloned();
    let website = changes.then(|| hyper::upgrade::on(&mut answer));
    strip(answer.headers_mut());
    *answer.version_mut() = Version::HTTP_11;
    match (website, client) {
        (Some(website), Some(client)) => {
            let upgrade = HeaderValue::from_static("upgrade");
            answer.headers_mut().insert(header::CONNECTION, upgrade);
            if let Some(protocol) = protocol {
                answer.headers_mut().insert(header::UPGRADE, protocol);
            }
            tokio::spawn(tunnel(client, website));
        }
        // It changes a protocol that nobody asked it to.
        (Some(_), None) => return refused(StatusCode::BAD_GATEWAY, "The website misbehaves."),
        (None, _) => {}
    }
    answer.map(Written::PassedOn)
}

/// Carries bytes both ways until both sides have ended.
async fn tunnel(client: OnUpgrade, website: OnUpgrade) {
    let (Ok(client), Ok(website)) = tokio::join!(client, website) else {
        return;
    };
    let (mut client, mut website) = (TokioIo::new(client), TokioIo::new(website));
    let ended = tokio::io::copy_bidirectional(&mut client, &mut website).await;
    if let Err(error) = ended {
        tracing::debug!(%error, "tunnel ended");
    }
}

/// A body that tells when it moved.
struct Watched {
    body: Incoming,
    moved: Arc<Mutex<Instant>>,
}

impl Body for Watched {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if polled.is_ready() {
            *self.moved.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
