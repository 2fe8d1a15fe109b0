//! Which revision a request is made under, and whether its metadata agrees with itself: the rules between
//! envelope and method, in the order in which MCP gives their errors. Must not run anything.

use http::HeaderMap;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::headers::Mirror;
use super::jsonrpc::{INVALID_PARAMS, INVALID_REQUEST};
use super::session::{self, Session};
use super::version::{self, Revision};
use crate::contract::Caller;
use crate::deployment::McpSettings;
use crate::telemetry::trace;

/// MCP's own numbers.
pub(super) const HEADER_MISMATCH: i32 = -32020;
pub(super) const UNSUPPORTED_VERSION: i32 = -32022;

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const META_TRACE: &str = "traceparent";
const META_LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const LOG_LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

/// What besides the message decides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context<'a> {
    pub(super) headers: &'a HeaderMap,
    pub(super) settings: &'a McpSettings,
    pub(super) deployment_id: &'a str,
    /// Who calls; a session is its own caller's (AAP-132).
    pub(super) caller: &'a Caller,
    pub(super) now: Timestamp,
}

/// An acceptable request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Accepted {
    /// `initialize` of an older revision.
    Initialize,
    /// Any other method under this revision.
    Current(Revision),
}

/// Why a request cannot be accepted; the texts say what to correct.
#[derive(Debug, PartialEq)]
pub(super) struct Refused {
    pub(super) status: u16,
    pub(super) code: i32,
    pub(super) message: String,
    pub(super) data: Option<Value>,
}

/// Judges one request. Nothing is remembered between requests (AAP-132), nothing supplied is overwritten
/// (AAP-131).
pub(super) fn accept(
    context: &Context<'_>,
    method: &str,
    params: &Map<String, Value>,
) -> Result<Accepted, Refused> {
    let header = Mirror::read(context.headers, version::HEADER);
    let meta = params.get("_meta");
    follow_trace(meta);
    let in_body = meta.and_then(|meta| meta.get(META_VERSION));
    let claims_modern =
        in_body.is_some() || meta.is_some_and(|meta| meta.get(META_CAPABILITIES).is_some());
    if claims_modern || (header_is_modern(&header) && method != "initialize") {
        return self_described(context, &header, method, params);
    }
    if method == "initialize" {
        let requested = params.get("protocolVersion").and_then(Value::as_str);
        if requested.is_some() && header.conflicts(requested) {
            return Err(version_conflict(&header, requested.unwrap_or_default()));
        }
        return Ok(Accepted::Initialize);
    }
    negotiated(context, &header)
}

/// A client that traces says in the body where it stands, if not in a header.
fn follow_trace(meta: Option<&Value>) {
    let place = meta.and_then(|meta| meta.get(META_TRACE)?.as_str());
    if let (Some(place), Some(request)) = (place, trace::current()) {
        request.adopt(place);
    }
}

fn header_is_modern(header: &Mirror) -> bool {
    matches!(header, Mirror::Value(date) if date == Revision::Current.date())
}

/// A request that carries its revision in `params._meta`.
fn self_described(
    context: &Context<'_>,
    header: &Mirror,
    method: &str,
    params: &Map<String, Value>,
) -> Result<Accepted, Refused> {
    let meta = params.get("_meta").and_then(Value::as_object);
    let date = meta
        .and_then(|meta| meta.get(META_VERSION))
        .and_then(Value::as_str)
        .ok_or_else(|| bad_meta(META_VERSION, "a revision date, as text"))?;
    // A revision that begins with `initialize` has no client capabilities in its requests.
    let revision = Revision::from_date(date);
    let older = revision.is_some_and(|revision| !revision.is_modern());
    let capabilities = meta.and_then(|meta| meta.get(META_CAPABILITIES));
    if !older && !capabilities.is_some_and(Value::is_object) {
        return Err(bad_meta(
            META_CAPABILITIES,
            "an object; {} when there are none",
        ));
    }
    if header.conflicts(Some(date)) {
        return Err(version_conflict(header, date));
    }
    let revision = revision.ok_or_else(|| unsupported(date))?;
    if revision.is_modern() {
        mirrors(context, header, method, params)?;
        log_level(meta)?;
    }
    Ok(Accepted::Current(revision))
}

/// `Mcp-Method` and `Mcp-Name` against the body (AAP-126, AAP-127).
fn mirrors(
    context: &Context<'_>,
    version: &Mirror,
    method: &str,
    params: &Map<String, Value>,
) -> Result<(), Refused> {
    let in_method = Mirror::read(context.headers, "mcp-method");
    if in_method.conflicts(Some(method)) {
        return Err(mismatch(
            "Mcp-Method does not equal the method in the body.",
        ));
    }
    let is_call = method == "tools/call";
    let in_name = Mirror::read(context.headers, "mcp-name").decoded();
    let name = params.get("name").and_then(Value::as_str);
    if is_call && in_name.conflicts(name) {
        return Err(mismatch("Mcp-Name does not equal params.name in the body."));
    }
    let missing = [
        (*version == Mirror::Absent, "MCP-Protocol-Version"),
        (in_method == Mirror::Absent, "Mcp-Method"),
        (is_call && in_name == Mirror::Absent, "Mcp-Name"),
    ];
    match missing.iter().find(|(missing, _)| *missing) {
        Some((_, name)) if context.settings.strict_headers => {
            Err(mismatch(format!("The header {name} is missing.")))
        }
        _ => Ok(()),
    }
}

fn log_level(meta: Option<&Map<String, Value>>) -> Result<(), Refused> {
    match meta.and_then(|meta| meta.get(META_LOG_LEVEL)) {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(level)) if LOG_LEVELS.contains(&level.as_str()) => Ok(()),
        Some(_) => Err(bad_meta(META_LOG_LEVEL, "one of MCP's log levels")),
    }
}

/// A request of an older revision: its version stands in the header, or in this client's session. It is
/// never guessed (AAP-134).
fn negotiated(context: &Context<'_>, header: &Mirror) -> Result<Accepted, Refused> {
    let session = session::read(context);
    if session == Session::Unknown {
        return Err(Refused {
            status: 404,
            code: INVALID_REQUEST,
            message: "This session is unknown or has ended. Begin again with initialize."
                .to_owned(),
            data: None,
        });
    }
    let revision = match (header, session) {
        (Mirror::Absent, Session::Known(revision)) => revision,
        (Mirror::Absent, Session::None | Session::Unknown) => return Err(unresolvable()),
        (Mirror::Unreadable, _) => {
            return Err(mismatch(
                "MCP-Protocol-Version must be sent once, as plain text.",
            ));
        }
        (Mirror::Value(date), Session::Known(revision)) if date != revision.date() => {
            return Err(version_conflict(header, revision.date()));
        }
        (Mirror::Value(date), _) => Revision::from_date(date).ok_or_else(|| unsupported(date))?,
    };
    Ok(Accepted::Current(revision))
}

/// What `initialize` agrees on. Its three members are required (AAP-063); any version is answered.
pub(super) fn negotiate(params: &Map<String, Value>) -> Result<Revision, &'static str> {
    let requested = params.get("protocolVersion").and_then(Value::as_str);
    let requested = requested.ok_or("params.protocolVersion must be a revision date, as text.")?;
    if !params.get("capabilities").is_some_and(Value::is_object) {
        return Err("params.capabilities must be an object.");
    }
    if !params.get("clientInfo").is_some_and(Value::is_object) {
        return Err("params.clientInfo must be an object.");
    }
    Ok(Revision::negotiate(requested))
}

fn bad_meta(key: &str, wanted: &str) -> Refused {
    Refused {
        status: 400,
        code: INVALID_PARAMS,
        message: format!("params._meta[\"{key}\"] must be {wanted}."),
        data: None,
    }
}

fn mismatch(message: impl Into<String>) -> Refused {
    Refused {
        status: 400,
        code: HEADER_MISMATCH,
        message: message.into(),
        data: None,
    }
}

fn version_conflict(header: &Mirror, body: &str) -> Refused {
    let header = match header {
        Mirror::Value(date) => shown(date),
        Mirror::Absent | Mirror::Unreadable => "something unreadable".to_owned(),
    };
    mismatch(format!(
        "MCP-Protocol-Version says {header}, the request or its session {}.",
        shown(body)
    ))
}

/// A client's own version text, shortened: it goes back to that client only.
fn shown(date: &str) -> String {
    date.chars().filter(|c| !c.is_control()).take(32).collect()
}

fn unsupported(requested: &str) -> Refused {
    refused_version("This MCP revision is not supported.", &shown(requested))
}

fn unresolvable() -> Refused {
    refused_version(
        "The request says no MCP revision: send the MCP-Protocol-Version header, or params._meta as the current revision wants it.",
        "",
    )
}

fn refused_version(message: &str, requested: &str) -> Refused {
    Refused {
        status: 400,
        code: UNSUPPORTED_VERSION,
        message: message.to_owned(),
        data: Some(json!({"supported": Revision::dates(), "requested": requested})),
    }
}
