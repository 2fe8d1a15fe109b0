//! A2A errors: JSON-RPC numbers with standard ProtoJSON detail objects. Must not put a bare AAP object into
//! `error.data` (AAP-187).

use serde_json::{Value, json};

use super::envelope::RawId;
use super::{EXTENSIONS, VERSION};
use crate::contract::ErrorCode;
use crate::dispatch::Refusal;

const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
const BAD_REQUEST: &str = "type.googleapis.com/google.rpc.BadRequest";
const STRUCT: &str = "type.googleapis.com/google.protobuf.Struct";
/// The domain of A2A's own reasons.
const A2A_DOMAIN: &str = "a2a-protocol.org";
/// The domain of AAP codes (AAP-535).
const AAP_DOMAIN: &str = "autoagentprotocol.org";

/// A failed call; all of it is public.
#[derive(Debug, PartialEq)]
pub(super) struct Fault {
    pub(super) code: i32,
    message: String,
    details: Vec<Value>,
}

impl Fault {
    fn plain(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: Vec::new(),
        }
    }

    /// One of A2A's own errors, with its `ErrorInfo` (AAP-542).
    fn typed(code: i32, reason: &str, message: impl Into<String>, metadata: Value) -> Self {
        let mut info = json!({"@type": ERROR_INFO, "reason": reason, "domain": A2A_DOMAIN});
        if let (Some(info), true) = (info.as_object_mut(), metadata.is_object()) {
            info.insert("metadata".to_owned(), metadata);
        }
        Self {
            details: vec![info],
            ..Self::plain(code, message)
        }
    }

    pub(super) fn parse(words: &str) -> Self {
        Self::plain(-32700, format!("Invalid JSON payload: {words}."))
    }

    pub(super) fn invalid_request(words: &str) -> Self {
        Self::plain(-32600, words)
    }

    pub(super) fn method_not_found() -> Self {
        Self::plain(
            -32601,
            "Method not found; AAP skills are called with SendMessage.",
        )
    }

    /// A parameter of the envelope that is wrong, by its path in `params`.
    pub(super) fn invalid_params(field: &str, words: &str) -> Self {
        let violation = json!({"field": field, "description": words});
        Self {
            details: vec![json!({"@type": BAD_REQUEST, "fieldViolations": [violation]})],
            ..Self::plain(-32602, format!("Invalid parameters: {field}: {words}"))
        }
    }

    pub(super) fn task_not_found() -> Self {
        let words = "There is no such task: this endpoint answers with messages only.";
        Self::typed(-32001, "TASK_NOT_FOUND", words, Value::Null)
    }

    pub(super) fn push_not_supported() -> Self {
        let words = "Push notifications are not supported.";
        Self::typed(
            -32003,
            "PUSH_NOTIFICATION_NOT_SUPPORTED",
            words,
            Value::Null,
        )
    }

    pub(super) fn unsupported_operation(method: &str) -> Self {
        let words = format!("{method} is not supported; AAP skills are called with SendMessage.");
        Self::typed(-32004, "UNSUPPORTED_OPERATION", words, Value::Null)
    }

    pub(super) fn content_type(words: &str) -> Self {
        Self::typed(-32005, "CONTENT_TYPE_NOT_SUPPORTED", words, Value::Null)
    }

    /// Names URI and header, in words and for machines (AAP-183, AAP-543).
    pub(super) fn extension_required(uri: &str) -> Self {
        let words = format!("Activate the supported AAP profile with {EXTENSIONS}: {uri}");
        let metadata = json!({"extensionUri": uri, "requiredHeader": EXTENSIONS});
        Self::typed(-32008, "EXTENSION_SUPPORT_REQUIRED", words, metadata)
    }

    pub(super) fn version() -> Self {
        let words = format!("This endpoint speaks A2A 1.0; send {VERSION}: 1.0 or leave it out.");
        let metadata = json!({"supportedVersions": "1.0"});
        Self::typed(-32009, "VERSION_NOT_SUPPORTED", words, metadata)
    }

    /// The error response under this id.
    pub(super) fn to_json(&self, id: &RawId) -> String {
        let mut error = json!({"code": self.code, "message": self.message});
        if let (Some(error), false) = (error.as_object_mut(), self.details.is_empty()) {
            error.insert("data".to_owned(), self.details.clone().into());
        }
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
    }
}

/// A failed skill: `ErrorInfo` first, then the violations, then the typed error (AAP-185 … AAP-190, AAP-535).
/// An internal error has no violations: a client in use takes them for a fault of the request.
pub(super) fn of_skill(refusal: &Refusal) -> Fault {
    let error = &refusal.error;
    let code = error.code.id();
    let mut details = vec![json!({
        "@type": ERROR_INFO,
        "reason": code,
        "domain": AAP_DOMAIN,
        "metadata": {
            "code": code,
            "error_id": refusal.error_id,
            "retryable": error.retryable.to_string(),
            "created_at": refusal.created_at,
        },
    })];
    let problems = error.details.get("errors").and_then(Value::as_array);
    if let (Some(problems), true) = (problems, error.code != ErrorCode::InternalError) {
        let violations: Vec<_> = problems.iter().map(violation).collect();
        details.push(json!({"@type": BAD_REQUEST, "fieldViolations": violations}));
    }
    details.push(json!({"@type": STRUCT, "value": refusal.to_value()}));
    Fault {
        code: error.code.a2a_number(),
        message: error.message.clone(),
        details,
    }
}

fn violation(problem: &Value) -> Value {
    let text = |member: &str| {
        problem
            .get(member)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    json!({
        "field": text("instanceLocation"),
        "description": format!("{}: {}", text("keyword"), text("error")),
    })
}
