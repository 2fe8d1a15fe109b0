//! Tools that MCP's official conformance suite wants to call. Compiled only with the feature
//! `conformance-tools`, and listed only on loopback; no release has them. Must not reach a skill.

use http::request::Parts;
use http::{Response, StatusCode};
use serde_json::{Map, Value, json};

use super::ingress::{self, Accepted, Context};
use super::jsonrpc::{self, Fault, Id};
use super::version::Revision;
use super::{Admission, answer};
use crate::contract::Rope;
use crate::deployment::Deployment;

const MISSING_CAPABILITY: i32 = -32021;
/// One transparent pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/// A wave file without a sample.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

const NAMES: [&str; 10] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_progress",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_logging_tool",
];
const SCHEMA_TOOL: &str = "json_schema_2020_12_tool";

/// The tools, behind a deployment's own; none where it is published.
pub(super) fn tools(deployment: &Deployment) -> Vec<Value> {
    if !is_local(deployment) {
        return Vec::new();
    }
    let plain = NAMES.map(|name| tool(name, &json!({"type": "object"})));
    plain
        .into_iter()
        .chain([tool(SCHEMA_TOOL, &schema())])
        .collect()
}

fn tool(name: &str, input: &Value) -> Value {
    json!({"name": name, "description": "For the conformance suite.", "inputSchema": input})
}

/// Plain HTTP is for loopback only, and the configuration holds to it.
fn is_local(deployment: &Deployment) -> bool {
    deployment.urls.mcp.starts_with("http://")
}

/// The keywords that the suite looks for in the list.
fn schema() -> Value {
    let text = || json!({"type": "string"});
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {
            "$anchor": "addressDef", "type": "object",
            "properties": {"street": text(), "city": text()},
        }},
        "properties": {
            "name": text(),
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": text(),
            "email": text(),
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {
            "properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"],
        },
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}

/// The answer to a call of one of them; `None` for everything else, refusals of ingress too.
pub(super) fn answer(
    deployment: &Deployment,
    (admission, head): (&Admission, &Parts),
    id: &Id,
    (method, params): (&str, &Map<String, Value>),
) -> Option<Response<Rope>> {
    let name = params.get("name").and_then(Value::as_str)?;
    let known = NAMES.contains(&name) || name == SCHEMA_TOOL;
    if method != "tools/call" || !known || !is_local(deployment) {
        return None;
    }
    let context = Context {
        headers: &head.headers,
        settings: &deployment.mcp,
        deployment_id: &deployment.id,
        caller: &admission.caller,
        now: deployment.clock.now(),
    };
    let Ok(Accepted::Current(revision)) = ingress::accept(&context, method, params) else {
        return None;
    };
    let meta = params.get("_meta");
    if name == "test_missing_capability" && !declares_sampling(meta) {
        let mut fault = Fault::new(Some(id.clone()), MISSING_CAPABILITY, "Sampling is needed.");
        fault.data = Some(json!({"requiredCapabilities": {"sampling": {}}}));
        return Some(answer::json(StatusCode::BAD_REQUEST, fault.to_json()));
    }
    let result = jsonrpc::result(id, &result(revision, name));
    let token = meta.and_then(|meta| meta.get("progressToken"));
    Some(match token {
        Some(token) if name == "test_tool_with_progress" => progress(token, &result),
        _ => answer::json(StatusCode::OK, result),
    })
}

fn declares_sampling(meta: Option<&Value>) -> bool {
    meta.and_then(|meta| meta.get("io.modelcontextprotocol/clientCapabilities"))
        .is_some_and(|capabilities| capabilities.get("sampling").is_some())
}

fn result(revision: Revision, name: &str) -> String {
    let text = json!({"type": "text", "text": "This is for the conformance suite."});
    let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
    let resource = json!({"type": "resource", "resource": {
        "uri": "test://embedded-resource", "mimeType": "text/plain", "text": "Embedded.",
    }});
    let content = match name {
        "test_image_content" => json!([image]),
        "test_audio_content" => json!([{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]),
        "test_embedded_resource" => json!([resource]),
        "test_multiple_content_types" => json!([text, image, resource]),
        _ => json!([text]),
    };
    let mut result = json!({"content": content, "isError": name == "test_error_handling"});
    if let (true, Some(members)) = (revision.is_modern(), result.as_object_mut()) {
        members.insert("resultType".to_owned(), "complete".into());
    }
    result.to_string()
}

/// A stream of three notes and the result.
fn progress(token: &Value, result: &str) -> Response<Rope> {
    let note = |progress: u32| {
        let params = json!({"progressToken": token, "progress": progress, "total": 100});
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}).to_string()
    };
    let mut events = Rope::default();
    for note in [note(0), note(50), note(100)] {
        events.append(answer::event(note.into()).into_body());
    }
    answer::event(result.to_owned().into()).map(|last| {
        events.append(last);
        events
    })
}
