//! The product: one call of one skill, whatever binding it came through. Must not know envelopes.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use tracing::Instrument as _;

use crate::contract::{AapError, Answer, Caller, Skill};
use crate::deployment::Deployment;
use crate::skills;

/// A decoded call.
#[derive(Debug)]
pub struct Call {
    pub skill: Skill,
    pub payload: Value,
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
    let (started, skill) = (Instant::now(), call.skill);
    let outcome = if skill.is_read() {
        run(deployment, caller, call).await
    } else {
        let (deployment, caller) = (Arc::clone(deployment), caller.clone());
        let lead = async move { run(&deployment, &caller, call).await };
        let finished = tokio::spawn(lead.in_current_span()).await;
        finished.unwrap_or_else(|lost| Err(AapError::internal(lost)))
    };
    report(deployment, caller, skill, started, outcome)
}

async fn run(deployment: &Deployment, caller: &Caller, call: Call) -> Result<Answer, AapError> {
    let skill = call.skill;
    if !deployment.offers(skill) {
        return Err(skills::fault::unsupported_skill(skill));
    }
    deployment.permit(caller, skill)?;
    let request = deployment.contract.validate(skill, call.payload)?;
    let answer = skills::run(deployment, caller, request).await?;
    skills::check(deployment, skill, &answer)?;
    Ok(answer)
}

/// The one place where an outcome is logged (AAP-145); nothing of request or answer enters (AAP-146).
fn report(
    deployment: &Deployment,
    caller: &Caller,
    skill: Skill,
    started: Instant,
    outcome: Result<Answer, AapError>,
) -> Result<Answer, Refusal> {
    let latency_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    let (deployment_id, caller) = (deployment.id.as_str(), caller.kind());
    let aap_version = deployment.contract.version();
    let error = match outcome {
        Ok(answer) => {
            tracing::info!(
                deployment = deployment_id,
                aap_version,
                caller,
                skill = skill.id(),
                outcome = "ok",
                latency_us,
                "call"
            );
            return Ok(answer);
        }
        Err(error) => error,
    };
    let error_id = format!("err_{}", uuid::Uuid::new_v4().simple());
    let (outcome, cause) = (error.code.id(), error.cause.as_deref().unwrap_or_default());
    if error.code == crate::contract::ErrorCode::InternalError {
        tracing::error!(
            deployment = deployment_id,
            aap_version,
            caller,
            skill = skill.id(),
            outcome,
            error_id,
            cause,
            latency_us,
            "call failed"
        );
    } else {
        tracing::info!(
            deployment = deployment_id,
            aap_version,
            caller,
            skill = skill.id(),
            outcome,
            error_id,
            cause,
            latency_us,
            "call refused"
        );
    }
    let created_at = deployment.clock.now().to_string();
    Err(Refusal {
        error,
        error_id,
        created_at,
    })
}
