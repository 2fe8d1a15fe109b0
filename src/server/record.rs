//! What is told of an answered request: a line of the access log, a span. Must not hold anything that the request
//! said.

use std::borrow::Cow;
use std::time::Instant;

use http::{Method, Version};

use super::request::Answered;
use super::stats::Answerer;
use crate::telemetry::trace::{Active, Word};

/// The access log: no path, query, address or header of the request enters (AAP-340, AAP-341).
pub(super) fn log(
    answered: &Answered,
    (method, version): (&'static str, Version),
    status: u16,
    started: Instant,
) {
    if answered.by == Answerer::Health {
        return;
    }
    tracing::info!(
        target: "forecourt::access",
        protocol = ?version,
        method,
        surface = answered.by.id(),
        deployment = answered.deployment.as_ref().map(|deployment| deployment.id.as_str()),
        status,
        latency_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
        "request"
    );
}

/// The same for a collector: names are ours, as in the log.
pub(super) fn trace(traced: Active, answered: &Answered, method: &'static str, request_id: String) {
    let (surface, status) = (answered.by.id(), answered.answer.status().as_u16());
    let mut attributes = vec![
        ("http.request.method", Word::Fixed(method)),
        ("http.response.status_code", Word::Number(status.into())),
        ("forecourt.surface", Word::Fixed(surface)),
        ("forecourt.request_id", Word::Text(request_id)),
    ];
    if let Some(deployment) = &answered.deployment {
        attributes.push(("forecourt.deployment", Word::Text(deployment.id.clone())));
    }
    let name = Cow::Owned(format!("{method} {surface}"));
    traced.end(name, attributes, status >= 500);
}

/// The method, unless it is of the client's own making.
pub(super) fn method(method: &Method) -> &'static str {
    const KNOWN: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"];
    let known = KNOWN.into_iter().find(|known| *known == method.as_str());
    known.unwrap_or("other")
}
