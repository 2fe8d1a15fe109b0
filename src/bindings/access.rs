//! Who calls over MCP or A2A, where an endpoint asks for access tokens. Must not verify one itself: the
//! gate does.

use std::sync::Arc;

use http::request::Parts;
use http::{HeaderValue, Response, StatusCode, header};

use crate::contract::{Caller, Rope, Skill};
use crate::oauth::{Challenge, Gate, Visitor};

/// The visitor, or why it may not enter. Where nothing is protected, credentials are not even looked at.
pub(super) async fn admit(gate: Option<&Arc<Gate>>, head: &Parts) -> Result<Visitor, Challenge> {
    match gate {
        Some(gate) => Box::pin(gate.admit(head)).await,
        None => Ok(Visitor::default()),
    }
}

/// Whether the visitor may call this skill (AAP-091).
pub(super) fn permit(
    gate: Option<&Arc<Gate>>,
    visitor: &Visitor,
    skill: Skill,
) -> Result<(), Challenge> {
    match gate {
        Some(gate) => gate.permit(visitor, !skill.is_read()),
        None => Ok(()),
    }
}

/// The caller as AAP knows one.
pub(super) fn caller(visitor: &Visitor) -> Caller {
    match &visitor.identity {
        None => Caller::Anonymous,
        Some((issuer, subject)) => Caller::OAuth {
            issuer: issuer.clone(),
            subject: subject.clone(),
        },
    }
}

/// Makes an answer say no: its status, the challenge, and in the log what an operator may know of it, which
/// is never a token or an identity (AAP-146).
pub(super) fn challenge(
    mut answer: Response<Rope>,
    challenge: &Challenge,
    binding: &'static str,
) -> Response<Rope> {
    let (status, stage) = (challenge.status, challenge.stage);
    tracing::info!(binding, status, stage, "access refused");
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *answer.status_mut() = status;
    let value = challenge.header.as_deref().map(HeaderValue::try_from);
    if let Some(Ok(value)) = value {
        answer.headers_mut().insert(header::WWW_AUTHENTICATE, value);
    }
    if status == StatusCode::SERVICE_UNAVAILABLE {
        let wait = HeaderValue::from_static("30");
        answer.headers_mut().insert(header::RETRY_AFTER, wait);
    }
    answer
}
