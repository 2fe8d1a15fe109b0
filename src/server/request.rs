//! One request: its id, its host, its surface, and the headers every answer has. Must not decide what a
//! surface answers.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use serde_json::json;
use tracing::Instrument as _;

use super::connection::Origin;
use super::health::Health;
use super::proxies::{Asker, asker};
use super::router::{Place, Route, Surface};
use super::stats::{Answerer, Limit};
use super::surface::{self, closing};
use super::throttle::{Left, network};
use super::written::{Written, head_only};
use super::{Shared, body, record};
use crate::bindings::Rope;
use crate::deployment::Deployment;
use crate::telemetry::trace::Active;

/// An answer and who gave it.
pub(super) struct Answered {
    pub(super) answer: Response<Written>,
    pub(super) by: Answerer,
    pub(super) deployment: Option<Arc<Deployment>>,
}

impl Answered {
    fn ours(by: Answerer, answer: Response<impl Into<Rope>>) -> Self {
        Self {
            answer: answer.map(|body| body.into().into()),
            by,
            deployment: None,
        }
    }
}

/// Answers one request, whatever it is.
pub(super) async fn answer(
    shared: &Shared,
    origin: Origin,
    request: Request<Incoming>,
) -> Response<Written> {
    let started = Instant::now();
    let request_id = uuid::Uuid::now_v7().simple().to_string();
    let span = tracing::info_span!("request", request_id);
    let (method, version) = (record::method(request.method()), request.version());
    let settings = &shared.settings;
    let trusted = &settings.trusted_proxies;
    let asker = asker(request.headers(), origin.peer.ip(), origin.tls, trusted);
    let (head, body) = request.into_parts();
    let mut body = Some(body);
    let place = traceparent(&head.headers);
    let traced = settings
        .tracer
        .as_ref()
        .and_then(|spans| spans.begin(place));
    let routed = route(shared, origin, asker, (&head, &mut body));
    let routed = Active::within(traced.as_ref(), routed.instrument(span.clone()));
    let mut answered = routed.await;
    if let Some(unread) = body
        && !body::pass_by(unread, settings).await
    {
        answered.answer = closing(answered.answer);
    }
    if head.method == Method::HEAD {
        answered.answer = head_only(answered.answer);
    }
    let headers = answered.answer.headers_mut();
    if let Ok(id) = HeaderValue::try_from(&request_id) {
        headers.insert("x-request-id", id);
    }
    if answered.by != Answerer::Website {
        let nosniff = HeaderValue::from_static("nosniff");
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
        if asker.secure && settings.hsts_s > 0 {
            let text = format!("max-age={}", settings.hsts_s);
            if let Ok(value) = HeaderValue::try_from(text) {
                headers.insert(header::STRICT_TRANSPORT_SECURITY, value);
            }
        }
    }
    let status = answered.answer.status().as_u16();
    shared.stats.request(answered.by, status, started.elapsed());
    span.in_scope(|| record::log(&answered, (method, version), status, started));
    if let Some(traced) = traced.filter(|_| answered.by != Answerer::Health) {
        record::trace(traced, &answered, method, request_id);
    }
    answered.answer
}

/// The caller's place in its own trace, where there is exactly one line of it.
fn traceparent(headers: &HeaderMap) -> Option<&str> {
    only(headers, &HeaderName::from_static("traceparent"))?
        .to_str()
        .ok()
}

/// Whoever reads the body takes it.
async fn route(
    shared: &Shared,
    origin: Origin,
    asker: Asker,
    (head, body): (&Parts, &mut Option<Incoming>),
) -> Answered {
    if let Some(answer) = probe(shared, origin, head).await {
        return Answered::ours(Answerer::Health, answer);
    }
    let nothing = |answer| Answered::ours(Answerer::Nothing, answer);
    let mut lefts = Vec::new();
    if let Err(refused) = admit(shared, origin, asker, &mut lefts) {
        return nothing(refused);
    }
    let Some(host) = host(head) else {
        return nothing(problem(
            StatusCode::BAD_REQUEST,
            "bad_host",
            "The request must name exactly one host.",
        ));
    };
    let found = shared.site.load().route(&host, head.uri.path());
    let mut answered = match found {
        Route::NoSuchHost => nothing(problem(
            StatusCode::MISDIRECTED_REQUEST,
            "unknown_host",
            "This host name is not served here.",
        )),
        Route::NoSuchPath => nothing(problem(
            StatusCode::NOT_FOUND,
            "not_found",
            "There is nothing at this address.",
        )),
        Route::Found(place) => {
            place_answer(shared, asker, (&place, &host), (head, body), &mut lefts).await
        }
    };
    for left in lefts {
        left.tell(answered.answer.headers_mut());
    }
    answered
}

/// Probes, whatever their host. Reasons are for this machine only.
async fn probe(shared: &Shared, origin: Origin, head: &Parts) -> Option<Response<Bytes>> {
    let method = &head.method;
    match head.uri.path() {
        "/livez" | "/startupz" => Some(Health::good().answer(method, false)),
        "/readyz" => {
            let near = origin.peer.ip().to_canonical().is_loopback();
            Some((shared.ready)().await.answer(method, near))
        }
        _ => None,
    }
}

/// What is judged before the request is looked at.
fn admit(
    shared: &Shared,
    origin: Origin,
    asker: Asker,
    lefts: &mut Vec<Left>,
) -> Result<(), Response<Bytes>> {
    let peer = origin.peer.ip().to_canonical();
    let near = peer.is_loopback() || shared.settings.trusted_proxies.contain(peer);
    if !origin.tls && !near {
        shared.stats.limit(Limit::PlainHttp);
        return Err(problem(
            StatusCode::FORBIDDEN,
            "https_required",
            "Plain HTTP is answered on this machine and to its own proxies only. Use HTTPS.",
        ));
    }
    let Some(quota) = shared.settings.requests_per_minute_per_address else {
        return Ok(());
    };
    let address = network(asker.address);
    let now = Instant::now();
    let left = shared.addresses.take("address", quota, address, now);
    lefts.push(left);
    if left.spent {
        shared.stats.limit(Limit::Address);
        return Err(throttled(left, "this address"));
    }
    Ok(())
}

async fn place_answer(
    shared: &Shared,
    asker: Asker,
    (place, host): (&Place, &str),
    (head, body): (&Parts, &mut Option<Incoming>),
    lefts: &mut Vec<Left>,
) -> Answered {
    let deployment = Some(Arc::clone(&place.deployment));
    let by = place.surface.answerer();
    if let Some(quota) = place.deployment.requests_per_minute() {
        let (id, now) = (place.deployment.id.clone(), Instant::now());
        let left = shared.deployments.take("deployment", quota, id, now);
        lefts.push(left);
        if left.spent {
            shared.stats.limit(Limit::Deployment);
            return Answered {
                deployment,
                ..Answered::ours(by, throttled(left, "all callers of this dealer"))
            };
        }
    }
    if let (Surface::Website(website), Some(body)) =
        (&place.surface, body.take_if(|_| by == Answerer::Website))
    {
        let request = Request::from_parts(head.clone(), body);
        let answer = Box::pin(website.answer(asker, host, request)).await;
        return Answered {
            answer,
            by,
            deployment,
        };
    }
    let answer = surface::answer(shared, asker.address, &place.surface, head, body).await;
    Answered {
        deployment,
        ..Answered::ours(by, answer)
    }
}

/// The requested host without its port, in lower case; `None` when there is not exactly one.
fn host(head: &Parts) -> Option<String> {
    let authority = match head.uri.authority() {
        Some(authority) => authority.clone(),
        None => only(&head.headers, &header::HOST)?
            .to_str()
            .ok()?
            .parse()
            .ok()?,
    };
    let host = authority.host().trim_end_matches('.');
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}

fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut lines = headers.get_all(name).iter();
    match (lines.next(), lines.next()) {
        (Some(line), None) => Some(line),
        _ => None,
    }
}

fn throttled(left: Left, whose: &str) -> Response<Bytes> {
    let message = format!("Too many requests from {whose}; wait as long as Retry-After says.");
    let mut answer = problem(StatusCode::TOO_MANY_REQUESTS, "rate_limited", &message);
    let wait = HeaderValue::from(left.reset_s);
    answer.headers_mut().insert(header::RETRY_AFTER, wait);
    left.tell(answer.headers_mut());
    answer
}

/// An error of the server itself, in JSON: clients that probe take a page of HTML for an answer.
pub(super) fn problem(status: StatusCode, code: &str, message: &str) -> Response<Bytes> {
    json_answer(status, &json!({"error": code, "message": message}))
}

pub(super) fn json_answer(status: StatusCode, body: &serde_json::Value) -> Response<Bytes> {
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
