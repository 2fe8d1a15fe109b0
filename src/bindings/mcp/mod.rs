//! MCP over Streamable HTTP: revision 2026-07-28 without state, and the revisions before it that begin
//! with `initialize`. Must not run a skill itself.

mod accept;
mod answer;
mod caller;
mod catalogue;
mod envelope;
mod headers;
mod ingress;
mod jsonrpc;
mod origin;
mod reply;
mod session;
#[cfg(feature = "conformance-tools")]
mod suite_tools;
mod texts;
mod version;

use std::sync::Arc;

use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode, header};
use serde_json::{Map, Value};
use tracing::Instrument as _;

use crate::bindings::access;
use crate::contract::{Binding, Caller, Payload, Rope, Skill};
use crate::deployment::Deployment;
use crate::dispatch::{Call, dispatch};
use crate::oauth::Visitor;
use accept::Format;
use caller::Gate;
use catalogue::Catalogue;
use ingress::{Accepted, Context};
use jsonrpc::{Fault, Id, Message};
pub use reply::refusal;
use reply::{Reply, invalid};
use version::Revision;

/// One deployment's MCP endpoint.
#[derive(Debug)]
pub struct Endpoint {
    deployment: Arc<Deployment>,
    catalogue: Catalogue,
    origins: origin::Allowed,
    gate: Gate,
}

/// The revisions that are served, newest first: discovery names these (AAP-057).
pub fn revisions() -> Vec<&'static str> {
    Revision::dates()
}

/// The tools as `tools/list` says them: discovery is held against these.
pub fn tools(deployment: &Deployment) -> Value {
    catalogue::tools(deployment).into()
}

/// What the request's head already decided.
#[derive(Clone, Debug)]
pub struct Admission {
    format: Format,
    /// The permitted origin, to be named in the answer.
    origin: Option<HeaderValue>,
    /// Who calls, as far as the head proves it.
    caller: Caller,
    /// The same as an outside issuer's access token says it, for what needs more of its scopes.
    visitor: Visitor,
    /// For the `DPoP-Nonce` header of the answer.
    nonce: Option<HeaderValue>,
}

impl Endpoint {
    /// Makes what every answer shares: tool list, discovery, origins.
    pub fn new(deployment: Arc<Deployment>) -> Self {
        Self {
            catalogue: Catalogue::new(&deployment),
            origins: origin::Allowed::new(&deployment),
            gate: Gate::new(&deployment),
            deployment,
        }
    }

    /// Judges a request by its head, before its body is read: nothing is read for a caller whose credentials
    /// do not hold (AAP-099). `Err` is the finished answer.
    pub async fn admit(&self, head: &Parts) -> Result<Admission, Response<Rope>> {
        let Ok(origin) = self.origins.check(&head.headers) else {
            return Err(refusal(
                StatusCode::FORBIDDEN,
                "This Origin may not call this endpoint.",
            ));
        };
        let mut admission = Admission {
            format: Format::Json,
            origin,
            caller: Caller::Anonymous,
            visitor: Visitor::default(),
            nonce: None,
        };
        let admitted = match admit_method(head, &mut admission) {
            Ok(()) => self.gate.admit(head, &mut admission).await,
            refused => refused,
        };
        match admitted {
            Ok(()) => Ok(admission),
            Err(answer) => Err(admission.finish(answer)),
        }
    }

    /// Answers a request whose head was admitted.
    pub async fn call(&self, admission: &Admission, head: &Parts, body: &[u8]) -> Response<Rope> {
        let answer = match jsonrpc::read(body, &self.deployment.contract) {
            Ok(Message::Request {
                id,
                method,
                params,
                arguments,
            }) => {
                #[cfg(feature = "conformance-tools")]
                if let Some(answer) = suite_tools::answer(
                    &self.deployment,
                    (admission, head),
                    &id,
                    (&method, &params),
                ) {
                    return admission.finish(answer);
                }
                let said = (method, params, arguments);
                self.request(admission, head, id, said).await
            }
            Ok(Message::Response) if version::is_modern_header(&head.headers) => {
                let message = "This revision has no requests from server to client to respond to.";
                Reply::fault(400, &Fault::new(None, jsonrpc::INVALID_REQUEST, message))
            }
            Ok(Message::Notification | Message::Response) => Reply::accepted(),
            Err(fault) => Reply::fault(400, &fault),
        };
        admission.finish(answer.encode(admission.format))
    }

    async fn request(
        &self,
        admission: &Admission,
        head: &Parts,
        id: Id,
        (method, params, arguments): (String, Map<String, Value>, Option<Payload>),
    ) -> Reply {
        let context = Context {
            headers: &head.headers,
            settings: &self.deployment.mcp,
            deployment_id: &self.deployment.id,
            caller: &admission.caller,
            now: self.deployment.clock.now(),
        };
        let accepted = match ingress::accept(&context, &method, &params) {
            Ok(accepted) => accepted,
            Err(refused) => return Reply::refused(refused, id),
        };
        match accepted {
            Accepted::Initialize => self.initialize(&context, &id, &params),
            Accepted::Current(revision) => {
                let asked = Asked {
                    revision,
                    admission,
                    params,
                    arguments,
                };
                self.method(id, &method, asked).await
            }
        }
    }

    fn initialize(&self, context: &Context<'_>, id: &Id, params: &Map<String, Value>) -> Reply {
        match ingress::negotiate(params) {
            Ok(revision) => {
                let session = session::issue(context, revision);
                let body = jsonrpc::result(id, &self.catalogue.initialize(revision));
                Reply::ok(body).with_session(session)
            }
            Err(message) => {
                let fault = Fault::new(Some(id.clone()), jsonrpc::INVALID_PARAMS, message);
                Reply::fault(200, &fault)
            }
        }
    }

    async fn method(&self, id: Id, method: &str, asked: Asked<'_>) -> Reply {
        let revision = asked.revision;
        match method {
            "tools/list" => match asked.params.get("cursor") {
                None | Some(Value::Null) => {
                    Reply::ok(jsonrpc::result(&id, &self.catalogue.tools(revision)))
                }
                Some(_) => invalid(id, "There is one page of tools; list it without a cursor."),
            },
            "tools/call" => self.tool(id, asked).await,
            "server/discover" if revision.is_modern() => {
                Reply::ok(jsonrpc::result(&id, self.catalogue.discover()))
            }
            "ping" if !revision.is_modern() => Reply::ok(jsonrpc::result(&id, "{}")),
            _ => {
                let message = "This endpoint has no such method.";
                let fault = Fault::new(Some(id), jsonrpc::METHOD_NOT_FOUND, message);
                // With 400 or 404 clients of the older revisions lose the code.
                Reply::fault(if revision.is_modern() { 404 } else { 200 }, &fault)
            }
        }
    }

    async fn tool(&self, id: Id, asked: Asked<'_>) -> Reply {
        let revision = asked.revision;
        let name = asked.params.get("name").and_then(Value::as_str);
        let Some(name) = name else {
            return invalid(id, "params.name must be the name of a tool.");
        };
        let skill = Skill::from_tool_name(name).filter(|skill| self.deployment.offers(*skill));
        let Some(skill) = skill else {
            return invalid(
                id,
                "Unknown tool. tools/list names the tools of this endpoint.",
            );
        };
        let gate = self.deployment.gates.mcp.as_ref();
        if let Err(challenge) = access::permit(gate, &asked.admission.visitor, skill) {
            return Reply::challenged(challenge, id);
        }
        let payload = match asked.arguments {
            None => Value::Object(Map::new()).into(),
            Some(arguments) if arguments.is_null() => Value::Object(Map::new()).into(),
            Some(arguments) if arguments.is_object() => arguments,
            Some(_) => return invalid(id, "params.arguments must be an object."),
        };
        let span = tracing::info_span!("mcp", binding = "mcp", revision = revision.date());
        let call = Call {
            binding: Binding::Mcp,
            skill,
            payload,
        };
        let outcome = dispatch(&self.deployment, &asked.admission.caller, call)
            .instrument(span)
            .await;
        let server_info = self.catalogue.server_info();
        Reply::ok(answer::tool_response(&id, revision, &outcome, server_info))
    }
}

/// An accepted request: under which revision, whose, and what it says.
struct Asked<'a> {
    revision: Revision,
    admission: &'a Admission,
    params: Map<String, Value>,
    arguments: Option<Payload>,
}

/// Method, body type and the form of the answer.
fn admit_method(head: &Parts, admission: &mut Admission) -> Result<(), Response<Rope>> {
    if head.method == Method::OPTIONS && admission.origin.is_some() {
        return Err(origin::preflight());
    }
    if head.method != Method::POST {
        let mut answer = refusal(
            StatusCode::METHOD_NOT_ALLOWED,
            "Send MCP messages with POST.",
        );
        let allow = HeaderValue::from_static("POST");
        answer.headers_mut().insert(header::ALLOW, allow);
        return Err(answer);
    }
    if !accept::is_json(&head.headers) {
        let message = "Send the message with Content-Type: application/json.";
        return Err(refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    admission.format = accept::format(&head.headers).ok_or_else(|| {
        let message =
            "This endpoint answers application/json or text/event-stream; Accept excludes both.";
        refusal(StatusCode::NOT_ACCEPTABLE, message)
    })?;
    Ok(())
}

impl Admission {
    /// Adds what a browser needs to see the answer.
    pub fn finish(&self, mut answer: Response<Rope>) -> Response<Rope> {
        if let Some(allowed) = &self.origin {
            origin::expose(answer.headers_mut(), allowed);
        }
        if let Some(nonce) = &self.nonce {
            answer.headers_mut().insert("dpop-nonce", nonce.clone());
        }
        answer
    }
}
