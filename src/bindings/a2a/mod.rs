//! A2A 1.0 over JSON-RPC, messages only: one `SendMessage` in, one message out; no task, stream or push.
//! Must not run a skill itself, nor read prose for one (AAP-157).

mod activation;
mod answer;
mod envelope;
mod fault;
mod message;
mod protojson;

use std::sync::Arc;

use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode, header};
use serde_json::{Map, Value};
use tracing::Instrument as _;

use crate::bindings::access;
use crate::contract::{AapError, Binding, Caller, ErrorCode, Rope, Skill};
use crate::deployment::Deployment;
use crate::dispatch::{self, Call};
use crate::oauth::{Challenge, Visitor};
use envelope::{Envelope, RawId};
use fault::Fault;
use message::{Operation, SendMessage};

/// The header that names the protocol version, and the header and query member of the same name.
pub const VERSION: &str = "A2A-Version";
/// The header that activates extensions.
pub const EXTENSIONS: &str = "A2A-Extensions";

/// One deployment's A2A endpoint.
#[derive(Debug)]
pub struct Endpoint {
    deployment: Arc<Deployment>,
}

impl Endpoint {
    /// The endpoint of a deployment; its URL and its contract are pinned to each other (AAP-152).
    pub fn new(deployment: Arc<Deployment>) -> Self {
        Self { deployment }
    }

    /// Judges a request by its head, before its body is read. `Err` is the finished answer.
    pub async fn admit(&self, head: &Parts) -> Result<Visitor, Response<Rope>> {
        if head.method != Method::POST {
            let words = "Send A2A messages with POST.";
            let mut answer = refusal(StatusCode::METHOD_NOT_ALLOWED, words);
            let allow = HeaderValue::from_static("POST");
            answer.headers_mut().insert(header::ALLOW, allow);
            return Err(answer);
        }
        if !is_json(head) {
            let words = "Send the message with Content-Type: application/json.";
            let fault = Fault::content_type(words);
            return Err(respond(&RawId::null(), Err(fault), None));
        }
        let visitor = access::admit(self.deployment.gates.a2a.as_ref(), head).await;
        visitor.map_err(|challenge| challenged(&RawId::null(), &challenge))
    }

    /// Answers a request whose head was admitted. Whatever reached JSON-RPC is answered with HTTP 200:
    /// clients lose the error otherwise.
    pub async fn call(&self, visitor: &Visitor, head: &Parts, body: &[u8]) -> Response<Rope> {
        let envelope = match envelope::read(body) {
            Ok(envelope) => envelope,
            Err((id, fault)) => return respond(&id, Err(fault), None),
        };
        let Envelope { id, method, params } = envelope;
        let uri = self.deployment.contract.extension_uri();
        let outcome = match activation::check(head, uri) {
            Ok(()) => self.method(visitor, &method, params).await,
            Err(fault) => Err(fault.into()),
        };
        let outcome = match outcome {
            Err(No::Access(challenge)) => return challenged(&id, &challenge),
            Err(No::Fault(fault)) => Err(fault),
            Ok(answer) => Ok(answer),
        };
        if let Err(fault) = &outcome {
            tracing::info!(code = fault.code, "a2a refused");
        }
        respond(&id, outcome, Some(uri))
    }

    async fn method(
        &self,
        visitor: &Visitor,
        method: &str,
        params: Option<Value>,
    ) -> Result<Rope, No> {
        match Operation::named(method) {
            Operation::SendMessage => {
                let request = message::read(params)?;
                self.send(visitor, request).await
            }
            Operation::Unsupported => Err(Fault::unsupported_operation(method).into()),
            Operation::Push => Err(Fault::push_not_supported().into()),
            Operation::Unknown => Err(Fault::method_not_found().into()),
        }
    }

    async fn send(&self, visitor: &Visitor, request: SendMessage) -> Result<Rope, No> {
        let SendMessage {
            part,
            context_id,
            accepted,
        } = request;
        let media_type = part.media_type.unwrap_or_default();
        let skill = match named_skill(&part.data, &media_type)? {
            Ok(skill) => skill,
            Err(UnknownSkill) => return Err(self.unknown_skill().into()),
        };
        let gate = self.deployment.gates.a2a.as_ref();
        access::permit(gate, visitor, skill).map_err(No::Access)?;
        if !accepted.admits(&skill.response_media_type()) {
            let words = format!(
                "Accept {} in acceptedOutputModes.",
                skill.response_media_type()
            );
            return Err(Fault::content_type(&words).into());
        }
        let span = tracing::info_span!("a2a", binding = "a2a", revision = "1.0");
        let call = Call {
            binding: Binding::A2a,
            skill,
            payload: part.data.into(),
        };
        let caller = access::caller(visitor);
        let outcome = dispatch::dispatch(&self.deployment, &caller, call);
        match outcome.instrument(span).await {
            Ok(answer) => Ok(answer::message(skill, &answer, context_id)),
            Err(refusal) => Err(fault::of_skill(&refusal).into()),
        }
    }

    /// A payload that names a skill nobody has (AAP-188).
    fn unknown_skill(&self) -> Fault {
        let offered: Vec<_> = self
            .deployment
            .skills
            .iter()
            .map(|skill| skill.id())
            .collect();
        let words = format!("No such skill. Implemented here: {}.", offered.join(", "));
        let error = AapError::new(ErrorCode::UnsupportedSkill, words);
        let of = (Binding::A2a, None);
        let refusal = dispatch::refuse(&self.deployment, &Caller::Anonymous, of, error);
        fault::of_skill(&refusal)
    }
}

/// Why there is no message.
enum No {
    Fault(Fault),
    /// The caller's credentials do not cover the skill; that is HTTP's matter, not JSON-RPC's.
    Access(Challenge),
}

impl From<Fault> for No {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// HTTP's own refusal, with a body in JSON-RPC form.
fn challenged(id: &RawId, challenge: &Challenge) -> Response<Rope> {
    let body = Fault::invalid_request(challenge.message).to_json(id);
    access::challenge(json(StatusCode::UNAUTHORIZED, body), challenge, "a2a")
}

/// A payload whose form is AAP's and whose skill is nobody's.
struct UnknownSkill;

/// The skill that the payload's `type` names, held against the part's media type (AAP-156). A payload
/// without a known type is judged by the skill of its media type.
fn named_skill(data: &Value, media_type: &str) -> Result<Result<Skill, UnknownSkill>, Fault> {
    let by_media = Skill::ALL
        .into_iter()
        .find(|skill| skill.request_media_type().eq_ignore_ascii_case(media_type));
    let Some(kind) = data.get("type").and_then(Value::as_str) else {
        return by_media.map(Ok).ok_or_else(|| {
            Fault::content_type("The first part needs an AAP request and its vendor mediaType.")
        });
    };
    let id = kind.strip_suffix(".request").unwrap_or(kind);
    match (Skill::from_id(id), by_media) {
        (Some(named), Some(media)) if named == media => Ok(Ok(named)),
        (Some(named), _) => {
            let words = format!(
                "The first part's mediaType must be {}.",
                named.request_media_type()
            );
            Err(Fault::content_type(&words))
        }
        (None, Some(media)) => Ok(Ok(media)),
        (None, None) if is_vendor(media_type) => Ok(Err(UnknownSkill)),
        (None, None) => Err(Fault::content_type(
            "The first part needs an AAP request and its vendor mediaType.",
        )),
    }
}

fn is_vendor(media_type: &str) -> bool {
    let media_type = media_type.to_ascii_lowercase();
    media_type.starts_with("application/vnd.autoagent.") && media_type.ends_with("-request+json")
}

fn is_json(head: &Parts) -> bool {
    let mut lines = head.headers.get_all(header::CONTENT_TYPE).iter();
    let (Some(line), None) = (lines.next(), lines.next()) else {
        return false;
    };
    let essence = line
        .to_str()
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

/// The JSON-RPC response. The activated extension is echoed on success (AAP-182).
fn respond(id: &RawId, outcome: Result<Rope, Fault>, extension: Option<&str>) -> Response<Rope> {
    let (body, activated) = match outcome {
        Ok(result) => {
            let mut body = Rope::from(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#));
            body.append(result);
            body.push("}");
            (body, extension)
        }
        Err(fault) => (fault.to_json(id).into(), None),
    };
    let mut answer = json(StatusCode::OK, body);
    if let Some(Ok(uri)) = activated.map(HeaderValue::try_from) {
        answer.headers_mut().insert("a2a-extensions", uri);
    }
    answer
}

/// A refusal of the transport, in JSON-RPC form without a readable id.
pub fn refusal(status: StatusCode, words: &str) -> Response<Rope> {
    json(
        status,
        Fault::invalid_request(words).to_json(&RawId::null()),
    )
}

fn json(status: StatusCode, body: impl Into<Rope>) -> Response<Rope> {
    let mut answer = Response::new(body.into());
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// A JSON object's members.
type Object = Map<String, Value>;
