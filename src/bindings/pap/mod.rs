//! PAP ("Poppy") 0.3: the issuer's two endpoints and the native API of signed-out Sessions. Must not
//! check a token or run a skill itself: the issuer and dispatch do.

use std::net::IpAddr;
use std::sync::Arc;

use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode, header};
use serde_json::{Map, Value};
use tracing::Instrument as _;

use crate::contract::{AapError, Answer, Binding, Caller, ErrorCode, Problem, Rope, Skill, json};
use crate::deployment::Deployment;
use crate::dispatch::{self, Call};
use crate::oauth::{Access, Code, Issuer, Refusal, Reply, Settings};

/// Which of a deployment's PAP endpoints a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Token,
    Revocation,
    /// A skill's operation; which one, the path says.
    Skill,
}

/// One deployment's PAP endpoints.
#[derive(Debug)]
pub struct Endpoint {
    deployment: Arc<Deployment>,
    issuer: Arc<Issuer>,
}

/// What the head of a request already decided.
#[derive(Debug)]
pub enum Admission {
    Form(Part),
    Call { name: String, access: Access },
}

impl Endpoint {
    /// The endpoints of a deployment that has an issuer.
    pub fn new(deployment: Arc<Deployment>) -> Option<Self> {
        let issuer = Arc::clone(deployment.pap.as_ref()?);
        Some(Self { deployment, issuer })
    }

    /// What the issuer's operator decided.
    pub fn issuer_settings(&self) -> &Settings {
        self.issuer.settings()
    }

    /// Judges a request by its head, before its body is read: a call is authenticated here, so nothing
    /// is read for strangers (AAP-281). `Err` is the finished answer.
    pub async fn admit(&self, part: Part, head: &Parts) -> Result<Admission, Response<Rope>> {
        if head.uri.path().ends_with('/') {
            // no other spelling of an endpoint is served, because a proof names one URL
            return Err(plain(StatusCode::NOT_FOUND, "not_found"));
        }
        if head.method != Method::POST {
            let mut answer = plain(StatusCode::METHOD_NOT_ALLOWED, "invalid_request");
            let allow = HeaderValue::from_static("POST");
            answer.headers_mut().insert(header::ALLOW, allow);
            return Err(answer);
        }
        if part != Part::Skill {
            return Ok(Admission::Form(part));
        }
        let path = head.uri.path();
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        let url = format!("{}/skills/{name}", self.issuer.settings().resource);
        let query = head.uri.query();
        let access = self
            .issuer
            .authenticate(head.method.as_str(), &url, query, &head.headers)
            .await;
        match access {
            Ok(access) => Ok(Admission::Call { name, access }),
            Err(refusal) => {
                note(head, "api", &refusal);
                Err(self.refused_call(&name, &refusal))
            }
        }
    }

    /// Answers a request whose head was admitted. `peer` is where it came from.
    pub async fn answer(
        &self,
        admission: Admission,
        head: &Parts,
        body: &[u8],
        peer: IpAddr,
    ) -> Response<Rope> {
        let query = head.uri.query();
        match admission {
            Admission::Form(Part::Token) => {
                let granted = self.issuer.token(&head.headers, query, body, peer).await;
                let reply = granted.map(|granted| granted.reply());
                issuer_answer(head, "token", reply)
            }
            Admission::Form(_) => {
                let reply = self.issuer.revoke(&head.headers, query, body, peer).await;
                issuer_answer(head, "revocation", reply)
            }
            Admission::Call { name, access } => self.call(&name, access, head, body).await,
        }
    }

    async fn call(&self, name: &str, access: Access, head: &Parts, body: &[u8]) -> Response<Rope> {
        let caller = Caller::Pap {
            client_id: access.client_id,
            user_id: access.user_id,
        };
        let span = tracing::info_span!("pap", binding = "pap");
        let outcome = self.run(name, &caller, head, body).instrument(span).await;
        let mut answer = match outcome {
            Ok(answer) => json_answer(StatusCode::OK, answer.into_text()),
            Err(refusal) => error_answer(&refusal),
        };
        let nonce = access.next_nonce;
        if let Some(nonce) = nonce.and_then(|nonce| HeaderValue::try_from(nonce).ok()) {
            answer.headers_mut().insert("dpop-nonce", nonce);
        }
        answer
    }

    async fn run(
        &self,
        name: &str,
        caller: &Caller,
        head: &Parts,
        body: &[u8],
    ) -> Result<Answer, dispatch::Refusal> {
        let refuse =
            |skill, error| dispatch::refuse(&self.deployment, caller, (Binding::Pap, skill), error);
        let Some(skill) = Skill::from_id(name) else {
            return Err(refuse(None, unknown_skill()));
        };
        if !is_json(head) {
            let error = malformed("content-type", "Send the request as application/json.");
            return Err(refuse(Some(skill), error));
        }
        match json::read(body) {
            Ok(payload) => {
                let call = Call {
                    binding: Binding::Pap,
                    skill,
                    payload: payload.into(),
                };
                dispatch::dispatch(&self.deployment, caller, call).await
            }
            Err(error) => Err(refuse(Some(skill), malformed("json", &error.to_string()))),
        }
    }

    /// A refusal before any skill: a challenge, or for a rate limit the AAP error that says how long.
    fn refused_call(&self, name: &str, refusal: &Refusal) -> Response<Rope> {
        if refusal.code != Code::RateLimited {
            return wire(refusal.at_api());
        }
        let wait_ms = u64::from(refusal.retry_after_s().unwrap_or(1)) * 1000;
        let error = AapError::rate_limited("This Session calls too often.", wait_ms);
        let of = (Binding::Pap, Skill::from_id(name));
        // who calls is not told again: the limit is the Session's, and the log needs no identity
        let refusal = dispatch::refuse(&self.deployment, &Caller::Anonymous, of, error);
        error_answer(&refusal)
    }
}

fn unknown_skill() -> AapError {
    AapError::new(
        ErrorCode::UnsupportedSkill,
        "There is no such skill at this API.",
    )
    .with_hint("Use one of the operations that the OpenAPI document describes.")
}

fn malformed(keyword: &str, words: &str) -> AapError {
    AapError::new(
        ErrorCode::SchemaValidationFailed,
        "The request body is not a JSON request.",
    )
    .with_problems(&[Problem::new("", keyword, words)])
}

fn is_json(head: &Parts) -> bool {
    head.headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|media_type| media_type.trim().eq_ignore_ascii_case("application/json"))
}

fn issuer_answer(
    head: &Parts,
    route: &'static str,
    reply: Result<Reply, Refusal>,
) -> Response<Rope> {
    match reply {
        Ok(reply) => {
            tracing::info!(binding = "pap", route, status = reply.status, "issuer");
            wire(reply)
        }
        Err(refusal) => {
            note(head, route, &refusal);
            wire(refusal.at_issuer())
        }
    }
}

/// What an operator may know of a refusal (AAP-340): the code, the stage, what was there. No value of
/// the request enters (AAP-341).
fn note(head: &Parts, route: &'static str, refusal: &Refusal) {
    tracing::info!(
        binding = "pap",
        route,
        error = refusal.code.id(),
        stage = refusal.stage,
        has_dpop = head.headers.contains_key("dpop"),
        has_authorization = head.headers.contains_key(header::AUTHORIZATION),
        "refused"
    );
}

/// An answer of the issuer as it goes out.
fn wire(reply: Reply) -> Response<Rope> {
    let body = Value::Object(reply.body).to_string();
    let mut answer = Response::new(Rope::from(body));
    *answer.status_mut() =
        StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *answer.headers_mut() = reply.headers;
    answer
}

/// A skill's error: the standalone payload with its status (AAP-293 … AAP-298).
fn error_answer(refusal: &dispatch::Refusal) -> Response<Rope> {
    let status = StatusCode::from_u16(refusal.error.code.pap_status());
    let mut answer = json_answer(
        status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        refusal.to_value().to_string(),
    );
    let wait_ms = refusal.error.details.get("retry_after_ms");
    if let Some(wait_ms) = wait_ms.and_then(Value::as_u64) {
        let seconds = HeaderValue::from(wait_ms.div_ceil(1000).max(1));
        answer.headers_mut().insert(header::RETRY_AFTER, seconds);
    }
    answer
}

/// A refusal of the transport, before anything was understood.
pub fn plain(status: StatusCode, error: &str) -> Response<Rope> {
    let mut body = Map::new();
    body.insert("error".to_owned(), error.into());
    json_answer(status, Value::Object(body).to_string())
}

fn json_answer(status: StatusCode, body: impl Into<Rope>) -> Response<Rope> {
    let mut answer = Response::new(body.into());
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    let json = HeaderValue::from_static("application/json");
    headers.insert(header::CONTENT_TYPE, json);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

#[cfg(test)]
mod tests;
