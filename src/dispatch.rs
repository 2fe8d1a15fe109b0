//! The product: one call of one skill, whatever binding it came through. Must not know envelopes.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tracing::Instrument as _;

use crate::contract::{AapError, Answer, Binding, Caller, ErrorCode, Payload, Skill};
use crate::deployment::Deployment;
use crate::skills;
use crate::telemetry::trace::{self, Ended, Role, Word};

/// A decoded call.
#[derive(Debug)]
pub struct Call {
    pub binding: Binding,
    pub skill: Skill,
    pub payload: Payload,
}

/// A call that failed, with the id under which the log tells more.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub error: AapError,
    pub error_id: String,
    /// RFC 3339.
    pub created_at: String,
}

impl Refusal {
    /// The `aap.error` payload.
    pub fn to_value(&self) -> Value {
        self.error.to_value(&self.error_id, &self.created_at)
    }
}

/// Runs a call. A lead goes on when the client disconnects: whether it was accepted is decided by the
/// ledger, not by the socket.
pub async fn dispatch(
    deployment: &Arc<Deployment>,
    caller: &Caller,
    call: Call,
) -> Result<Answer, Refusal> {
    let (started, binding, skill) = (Instant::now(), call.binding, call.skill);
    let outcome = if skill.is_read() {
        run(deployment, caller, call).await
    } else {
        let (deployment, caller) = (Arc::clone(deployment), caller.clone());
        let lead = async move { run(&deployment, &caller, call).await };
        let finished = tokio::spawn(lead.in_current_span()).await;
        finished.unwrap_or_else(|lost| Err(AapError::internal(lost)))
    };
    let code = outcome.as_ref().err().map(|error| error.code);
    let took = started.elapsed();
    deployment.calls.note(binding, Some(skill), code, took);
    trace_skill(caller, (binding, skill), code, started);
    report(deployment, caller, skill.id(), started, outcome)
}

/// The skill's own part of the request, in its trace.
fn trace_skill(
    caller: &Caller,
    (binding, skill): (Binding, Skill),
    code: Option<ErrorCode>,
    began: Instant,
) {
    let Some(request) = trace::current() else {
        return;
    };
    request.note(Ended {
        name: Cow::Borrowed(skill.id()),
        role: Role::Internal,
        began,
        attributes: vec![
            ("aap.binding", Word::Fixed(binding.id())),
            ("aap.caller", Word::Fixed(caller.kind())),
            ("aap.outcome", Word::Fixed(code.map_or("ok", ErrorCode::id))),
        ],
        failed: code == Some(ErrorCode::InternalError),
    });
}

async fn run(deployment: &Deployment, caller: &Caller, call: Call) -> Result<Answer, AapError> {
    let skill = call.skill;
    if !deployment.offers(skill) {
        return Err(skills::fault::unsupported_skill(skill));
    }
    deployment.permit(caller, skill)?;
    let request = deployment.contract.request(skill, call.payload)?;
    let answer = skills::run(deployment, caller, &request).await?;
    skills::check(deployment, skill, &answer)?;
    Ok(answer)
}

/// The one place where an outcome is logged (AAP-145); nothing of request or answer enters (AAP-146).
fn report(
    deployment: &Deployment,
    caller: &Caller,
    skill: &'static str,
    started: Instant,
    outcome: Result<Answer, AapError>,
) -> Result<Answer, Refusal> {
    span(deployment, caller, skill, started).in_scope(|| match outcome {
        Ok(answer) => {
            tracing::info!(outcome = "ok", "call");
            Ok(answer)
        }
        Err(error) => Err(refusal(error, deployment)),
    })
}

/// Refuses a call that could not be decoded far enough to run, with an id and in the log like any other.
pub fn refuse(
    deployment: &Deployment,
    caller: &Caller,
    (binding, skill): (Binding, Option<Skill>),
    error: AapError,
) -> Refusal {
    let calls = &deployment.calls;
    calls.note(binding, skill, Some(error.code), Duration::ZERO);
    let skill = skill.map_or("unknown", Skill::id);
    span(deployment, caller, skill, Instant::now()).in_scope(|| refusal(error, deployment))
}

fn span(
    deployment: &Deployment,
    caller: &Caller,
    skill: &'static str,
    started: Instant,
) -> tracing::Span {
    tracing::info_span!(
        "call",
        deployment = deployment.id,
        aap_version = deployment.contract.version(),
        caller = caller.kind(),
        skill,
        latency_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
    )
}

fn refusal(error: AapError, deployment: &Deployment) -> Refusal {
    let error_id = format!("err_{}", uuid::Uuid::new_v4().simple());
    if error.code == ErrorCode::InternalError {
        log_failure(&error, &error_id);
    } else {
        log_refusal(&error, &error_id);
    }
    Refusal {
        error,
        error_id,
        created_at: deployment.clock.now().to_string(),
    }
}

fn log_failure(error: &AapError, error_id: &str) {
    let (outcome, cause) = (error.code.id(), error.cause.as_deref().unwrap_or_default());
    tracing::error!(outcome, error_id, cause, "call failed");
}

fn log_refusal(error: &AapError, error_id: &str) {
    let (outcome, cause) = (error.code.id(), error.cause.as_deref().unwrap_or_default());
    tracing::info!(outcome, error_id, cause, "call refused");
}
