//! What a `SendMessage` says: its first part, its context, the answers it accepts. Must not judge the
//! payload.

use serde_json::Value;

use super::Object;
use super::fault::Fault;
use super::protojson::{boolean, count, list, member, object, path, string, strings};

/// The longest context id that is kept.
const MAX_CONTEXT: usize = 256;
/// The kinds of content, one of which a part has.
const CONTENTS: [&str; 4] = ["text", "raw", "url", "data"];

/// What a method name asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    SendMessage,
    /// Known to A2A 1.0 and not served (AAP-165, AAP-167, AAP-168).
    Unsupported,
    /// Push configuration (AAP-166).
    Push,
    Unknown,
}

impl Operation {
    /// By A2A 1.0's own names, which are case-sensitive.
    pub(super) fn named(method: &str) -> Self {
        match method {
            "SendMessage" => Self::SendMessage,
            "SendStreamingMessage"
            | "SubscribeToTask"
            | "GetTask"
            | "ListTasks"
            | "CancelTask"
            | "GetExtendedAgentCard" => Self::Unsupported,
            "CreateTaskPushNotificationConfig"
            | "GetTaskPushNotificationConfig"
            | "ListTaskPushNotificationConfigs"
            | "DeleteTaskPushNotificationConfig" => Self::Push,
            _ => Self::Unknown,
        }
    }
}

/// A message that was read.
#[derive(Debug)]
pub(super) struct SendMessage {
    pub(super) part: DataPart,
    pub(super) context_id: Option<String>,
    pub(super) accepted: Accepted,
}

/// The first part.
#[derive(Debug)]
pub(super) struct DataPart {
    pub(super) data: Value,
    pub(super) media_type: Option<String>,
}

/// The media types that a client takes: alternatives (AAP-160). None named means any.
#[derive(Debug)]
pub(super) struct Accepted(Vec<String>);

impl Accepted {
    /// Whether an answer of this type is acceptable.
    pub(super) fn admits(&self, media_type: &str) -> bool {
        let matches = |mode: &str| {
            let mode = mode.split(';').next().unwrap_or_default().trim();
            mode == "*/*" || mode == "application/*" || mode.eq_ignore_ascii_case(media_type)
        };
        self.0.is_empty() || self.0.iter().any(|mode| matches(mode))
    }
}

/// Reads `params` of a `SendMessage`.
pub(super) fn read(params: Option<Value>) -> Result<SendMessage, Fault> {
    let Some(Value::Object(params)) = params else {
        return Err(Fault::invalid_params(
            "params",
            "must be an object with message",
        ));
    };
    let Some(message) = object(&params, "", "message")? else {
        return Err(Fault::invalid_params("message", "is required"));
    };
    let first = content(message)?;
    let context_id = context(message)?;
    object(message, "message", "metadata")?;
    let accepted = configuration(&params)?;
    if string(message, "message", "taskId")?.is_some_and(|id| !id.is_empty()) {
        return Err(Fault::task_not_found());
    }
    // No tenant is declared on the card, so none can match (AAP-184).
    if string(&params, "", "tenant")?.is_some_and(|tenant| !tenant.is_empty()) {
        return Err(Fault::invalid_params(
            "tenant",
            "this interface declares none; leave it out",
        ));
    }
    let part = first.ok_or_else(|| {
        Fault::content_type("The first part must be a data part with an AAP request.")
    })?;
    Ok(SendMessage {
        part,
        context_id,
        accepted,
    })
}

/// The parts, of which the first is kept when it is data.
fn content(message: &Object) -> Result<Option<DataPart>, Fault> {
    if string(message, "message", "messageId")?.is_none_or(str::is_empty) {
        return Err(Fault::invalid_params(
            "message.messageId",
            "must be a nonempty string",
        ));
    }
    role(message)?;
    let parts = list(message, "message", "parts")?.unwrap_or_default();
    let mut read = Vec::with_capacity(parts.len().min(16));
    for (index, part) in parts.iter().enumerate() {
        read.push(self::part(part, &format!("message.parts[{index}]"))?);
    }
    let first = read.into_iter().next();
    first.ok_or_else(|| Fault::invalid_params("message.parts", "must hold at least one part"))
}

/// `ROLE_USER`, by name or by its number.
fn role(message: &Object) -> Result<(), Fault> {
    let role = member(message, "message", "role")?;
    if role.is_some_and(|role| role == "ROLE_USER" || role.as_f64() == Some(1.0)) {
        return Ok(());
    }
    Err(Fault::invalid_params("message.role", "must be ROLE_USER"))
}

/// A part with exactly one content; `None` when that is no data.
fn part(part: &Value, at: &str) -> Result<Option<DataPart>, Fault> {
    let Value::Object(part) = part else {
        return Err(Fault::invalid_params(at, "must be an object"));
    };
    // `data` may be null; for the others null is unset.
    let has = |name: &&str| {
        part.get(*name)
            .is_some_and(|value| *name == "data" || !value.is_null())
    };
    let contents: Vec<_> = CONTENTS.iter().copied().filter(has).collect();
    let [content] = contents.as_slice() else {
        return Err(Fault::invalid_params(
            at,
            "must have exactly one of text, raw, url and data",
        ));
    };
    let media_type = string(part, at, "mediaType")?.map(essence);
    string(part, at, "filename")?;
    object(part, at, "metadata")?;
    if *content != "data" {
        string(part, at, content)?;
        return Ok(None);
    }
    let data = part.get("data").cloned().unwrap_or_default();
    Ok(Some(DataPart { data, media_type }))
}

/// A media type without its parameters.
fn essence(media_type: &str) -> String {
    media_type
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// A context id that is kept as it is, or refused (A2A §3.4.1); an empty one is none.
fn context(message: &Object) -> Result<Option<String>, Fault> {
    let Some(id) = string(message, "message", "contextId")?.filter(|id| !id.is_empty()) else {
        return Ok(None);
    };
    if id.len() > MAX_CONTEXT || id.chars().any(char::is_control) {
        return Err(Fault::invalid_params(
            "message.contextId",
            "must be at most 256 bytes without control characters",
        ));
    }
    Ok(Some(id.to_owned()))
}

fn configuration(params: &Object) -> Result<Accepted, Fault> {
    let Some(settings) = object(params, "", "configuration")? else {
        return Ok(Accepted(Vec::new()));
    };
    let at = "configuration";
    if member(settings, at, "taskPushNotificationConfig")?.is_some() {
        return Err(Fault::push_not_supported());
    }
    boolean(settings, at, "returnImmediately")?;
    count(settings, at, "historyLength")?;
    let modes = strings(settings, at, "acceptedOutputModes")?;
    if modes.iter().any(String::is_empty) {
        let field = path(at, "acceptedOutputModes");
        return Err(Fault::invalid_params(&field, "must name media types"));
    }
    Ok(Accepted(modes))
}
