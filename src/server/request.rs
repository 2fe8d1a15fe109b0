//! One request: its id, its host, its surface, and the headers every answer has. Must not decide what a
//! surface answers.

use std::net::SocketAddr;
use std::time::Instant;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use serde_json::json;
use tracing::Instrument as _;

use super::router::{Route, Surface};
use super::{Shared, body, document};
use crate::bindings::discovery;
use crate::bindings::{a2a, mcp, pap};

/// Answers one request, whatever it is.
pub(super) async fn answer(
    shared: &Shared,
    peer: SocketAddr,
    request: Request<Incoming>,
) -> Response<Full<Bytes>> {
    let request_id = uuid::Uuid::now_v7().simple().to_string();
    let span = tracing::info_span!("request", request_id);
    let (head, body) = request.into_parts();
    let mut body = Some(body);
    let mut answer = route(shared, peer, &head, &mut body).instrument(span).await;
    if let Some(unread) = body
        && !body::pass_by(unread, &shared.settings).await
    {
        answer = closing(answer);
    }
    let headers = answer.headers_mut();
    if let Ok(id) = HeaderValue::try_from(request_id) {
        headers.insert("x-request-id", id);
    }
    let nosniff = HeaderValue::from_static("nosniff");
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
    answer.map(Full::new)
}

/// Whoever reads the body takes it.
async fn route(
    shared: &Shared,
    peer: SocketAddr,
    head: &Parts,
    body: &mut Option<Incoming>,
) -> Response<Bytes> {
    match head.uri.path() {
        "/livez" => return health(head, true),
        "/readyz" => return health(head, (shared.ready)()),
        _ => {}
    }
    if let Err(wait_s) = shared.throttle.take(peer.ip(), Instant::now()) {
        return throttled(wait_s);
    }
    let Some(host) = host(head) else {
        return problem(
            StatusCode::BAD_REQUEST,
            "bad_host",
            "The request must name exactly one host.",
        );
    };
    let route = shared.site.load().route(&host, head.uri.path());
    match route {
        Route::NoSuchHost => problem(
            StatusCode::MISDIRECTED_REQUEST,
            "unknown_host",
            "This host name is not served here.",
        ),
        Route::NoSuchPath => problem(
            StatusCode::NOT_FOUND,
            "not_found",
            "There is nothing at this address.",
        ),
        Route::Found(surface) => surface_answer(shared, peer, &surface, head, body).await,
    }
}

async fn surface_answer(
    shared: &Shared,
    peer: SocketAddr,
    surface: &Surface,
    head: &Parts,
    body: &mut Option<Incoming>,
) -> Response<Bytes> {
    match surface {
        Surface::Document(document) => document.answer(head),
        Surface::InventoryPage(deployment) if document::is_read(&head.method) => {
            let query = head.uri.query().unwrap_or_default();
            Box::pin(discovery::inventory_page::answer(deployment, query)).await
        }
        Surface::InventoryPage(_) => document::not_allowed(),
        Surface::Pap(part, endpoint) => {
            pap_answer(shared, peer, *part, endpoint, (head, body)).await
        }
        Surface::A2a(endpoint) => a2a_answer(shared, endpoint, head, body).await,
        Surface::Mcp(endpoint) => mcp_answer(shared, endpoint, head, body).await,
    }
}

async fn pap_answer(
    shared: &Shared,
    peer: SocketAddr,
    part: pap::Part,
    endpoint: &pap::Endpoint,
    (head, body): (&Parts, &mut Option<Incoming>),
) -> Response<Bytes> {
    match Box::pin(endpoint.admit(part, head)).await {
        Err(refused) => refused,
        Ok(admission) => match read(shared, body).await {
            Ok(body) => Box::pin(endpoint.answer(admission, head, &body, peer.ip())).await,
            Err(unread) => closing(pap::plain(unread.0, "invalid_request")),
        },
    }
}

async fn a2a_answer(
    shared: &Shared,
    endpoint: &a2a::Endpoint,
    head: &Parts,
    body: &mut Option<Incoming>,
) -> Response<Bytes> {
    match Box::pin(endpoint.admit(head)).await {
        Err(refused) => refused,
        Ok(visitor) => match read(shared, body).await {
            Ok(body) => Box::pin(endpoint.call(&visitor, head, &body)).await,
            Err(unread) => closing(a2a::refusal(unread.0, unread.1)),
        },
    }
}

async fn mcp_answer(
    shared: &Shared,
    endpoint: &mcp::Endpoint,
    head: &Parts,
    body: &mut Option<Incoming>,
) -> Response<Bytes> {
    match Box::pin(endpoint.admit(head)).await {
        Err(refused) => refused,
        Ok(admission) => match read(shared, body).await {
            Ok(body) => Box::pin(endpoint.call(&admission, head, &body)).await,
            Err(unread) => admission.finish(closing(mcp::refusal(unread.0, unread.1))),
        },
    }
}

/// The whole body, taken so that nobody else sees to what is left of it.
async fn read(shared: &Shared, body: &mut Option<Incoming>) -> Result<Bytes, body::Unread> {
    match body.take() {
        Some(body) => body::read(body, &shared.settings).await,
        None => Ok(Bytes::new()),
    }
}

/// An answer to a body that was not read: what is left of it is not worth waiting for.
fn closing(mut answer: Response<Bytes>) -> Response<Bytes> {
    let close = HeaderValue::from_static("close");
    answer.headers_mut().insert(header::CONNECTION, close);
    answer
}

/// The requested host without its port, in lower case; `None` when there is not exactly one.
fn host(head: &Parts) -> Option<String> {
    let authority = match head.uri.authority() {
        Some(authority) => authority.clone(),
        None => only(&head.headers)?.to_str().ok()?.parse().ok()?,
    };
    let host = authority.host().trim_end_matches('.');
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}

fn only(headers: &HeaderMap) -> Option<&HeaderValue> {
    let mut lines = headers.get_all(header::HOST).iter();
    match (lines.next(), lines.next()) {
        (Some(line), None) => Some(line),
        _ => None,
    }
}

fn health(head: &Parts, good: bool) -> Response<Bytes> {
    if !document::is_read(&head.method) {
        return document::not_allowed();
    }
    let (status, word) = if good {
        (StatusCode::OK, "ok")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "not ready")
    };
    json_answer(status, &json!({"status": word}))
}

fn throttled(wait_s: u64) -> Response<Bytes> {
    let message = "Too many requests from this address; wait as long as Retry-After says.";
    let mut answer = problem(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message);
    answer
        .headers_mut()
        .insert(header::RETRY_AFTER, wait_s.into());
    answer
}

/// An error of the server itself, in JSON: clients that probe take a page of HTML for an answer.
pub(super) fn problem(status: StatusCode, code: &str, message: &str) -> Response<Bytes> {
    json_answer(status, &json!({"error": code, "message": message}))
}

fn json_answer(status: StatusCode, body: &serde_json::Value) -> Response<Bytes> {
    let mut answer = Response::new(Bytes::from(body.to_string()));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}
