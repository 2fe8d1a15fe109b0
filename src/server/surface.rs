//! One request at its surface: admitted by its head alone, then its body read and answered. Must not know hosts
//! or paths.

use std::net::IpAddr;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, Response, header};
use hyper::body::Incoming;

use super::router::Surface;
use super::{Shared, body, document};
use crate::bindings::{Rope, a2a, discovery, mcp, pap};
use crate::telemetry::trace;

/// What the surface says; whoever reads the body takes it.
pub(super) async fn answer(
    shared: &Shared,
    asker: IpAddr,
    surface: &Surface,
    head: &Parts,
    body: &mut Option<Incoming>,
) -> Response<Rope> {
    match surface {
        Surface::Document(document) => document.answer(head).map(Rope::from),
        Surface::InventoryPage(deployment) if document::is_read(&head.method) => {
            let query = head.uri.query().unwrap_or_default();
            let page = discovery::inventory_page::answer(deployment, query);
            Box::pin(page).await.map(Rope::from)
        }
        Surface::InventoryPage(_) | Surface::Website(_) => document::not_allowed().map(Rope::from),
        Surface::Pap(part, endpoint) => {
            pap_answer(shared, asker, *part, endpoint, (head, body)).await
        }
        Surface::A2a(endpoint) => a2a_answer(shared, endpoint, head, body).await,
        Surface::Mcp(endpoint) => mcp_answer(shared, endpoint, head, body).await,
    }
}

async fn pap_answer(
    shared: &Shared,
    asker: IpAddr,
    part: pap::Part,
    endpoint: &pap::Endpoint,
    (head, body): (&Parts, &mut Option<Incoming>),
) -> Response<Rope> {
    match admitted(endpoint.admit(part, head)).await {
        Err(refused) => refused,
        Ok(admission) => match read(shared, body).await {
            Ok(body) => Box::pin(endpoint.answer(admission, head, &body, asker)).await,
            Err(unread) => closing(pap::plain(unread.0, "invalid_request")),
        },
    }
}

async fn a2a_answer(
    shared: &Shared,
    endpoint: &a2a::Endpoint,
    head: &Parts,
    body: &mut Option<Incoming>,
) -> Response<Rope> {
    match admitted(endpoint.admit(head)).await {
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
) -> Response<Rope> {
    match admitted(endpoint.admit(head)).await {
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
pub(super) fn closing<B>(mut answer: Response<B>) -> Response<B> {
    let close = HeaderValue::from_static("close");
    answer.headers_mut().insert(header::CONNECTION, close);
    answer
}

/// The stage before the body: who calls, and whether it may. A stage of its own in traces, so that a caller that
/// was not let in cannot be mistaken for a skill that failed.
async fn admitted<A, R>(admission: impl Future<Output = Result<A, R>>) -> Result<A, R> {
    trace::stage("admission", Box::pin(admission), Result::is_err).await
}
