//! JSON-RPC 2.0 envelopes as MCP reads them: one message in, one out; an id that cannot be read is left out
//! of the answer, where A2A has null. Must not know methods.

use std::fmt;

use serde_json::{Map, Number, Value};

use super::envelope;
use crate::contract::json::{self, JsonError};
use crate::contract::{Contract, Payload, Skill};

/// JSON-RPC's own numbers.
pub(super) const PARSE_ERROR: i32 = -32700;
pub(super) const INVALID_REQUEST: i32 = -32600;
pub(super) const METHOD_NOT_FOUND: i32 = -32601;
pub(super) const INVALID_PARAMS: i32 = -32602;

/// A request id, echoed exactly as it was sent. Fractions and null are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Id {
    Text(String),
    Integer(Number),
}

impl Id {
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::Text(text.clone())),
            Value::Number(number) if number.is_i64() || number.is_u64() => {
                Some(Self::Integer(number.clone()))
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => None,
        }
    }
}

impl fmt::Display for Id {
    /// The id as JSON text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "{}", Value::from(text.as_str())),
            Self::Integer(number) => write!(f, "{number}"),
        }
    }
}

/// One message that a client may post.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every message is a request"
)]
pub(super) enum Message {
    Request {
        id: Id,
        method: String,
        /// Without `arguments`.
        params: Map<String, Value>,
        arguments: Option<Payload>,
    },
    /// Has no answer.
    Notification,
    /// An answer to a request of ours; we send none.
    Response,
}

/// A message that cannot be accepted; public text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fault {
    /// The id, where it could be read.
    pub(super) id: Option<Id>,
    pub(super) code: i32,
    pub(super) message: String,
    pub(super) data: Option<Value>,
}

impl Fault {
    /// A fault without `data`.
    pub(super) fn new(id: Option<Id>, code: i32, message: impl Into<String>) -> Self {
        Self {
            id,
            code,
            message: message.into(),
            data: None,
        }
    }

    /// The error response. An id that could not be read is left out: `null` is not in MCP's schema.
    pub(super) fn to_json(&self) -> String {
        let member = |name: &str, value: Option<String>| {
            value.map_or(String::new(), |value| format!(r#","{name}":{value}"#))
        };
        let id = member("id", self.id.as_ref().map(Id::to_string));
        let data = member("data", self.data.as_ref().map(Value::to_string));
        let message = Value::from(self.message.as_str());
        let code = self.code;
        format!(r#"{{"jsonrpc":"2.0"{id},"error":{{"code":{code},"message":{message}{data}}}}}"#)
    }
}

/// The response with this finished `result`.
pub(super) fn result(id: &Id, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// Reads exactly one message, and of its arguments what `contract` has not read before. A batch is refused:
/// neither MCP since 2025-06-18 nor A2A knows one.
pub(super) fn read(body: &[u8], contract: &Contract) -> Result<Message, Fault> {
    if let Some(envelope) = envelope::read(body)
        && let Some(arguments) = arguments(&envelope, contract)
    {
        return message_of(envelope.message, Some(arguments));
    }
    match json::read(body) {
        Ok(Value::Object(message)) => message_of(message, None),
        Ok(Value::Array(_)) => Err(invalid(
            None,
            "Send one JSON-RPC message per request; batches are not accepted.",
        )),
        Ok(_) => Err(invalid(None, "A JSON-RPC message is a JSON object.")),
        Err(error @ JsonError::TooDeep) => Err(invalid(None, format!("Invalid request: {error}."))),
        Err(error) => Err(Fault::new(
            None,
            PARSE_ERROR,
            format!("Parse error: {error}."),
        )),
    }
}

/// The arguments of a tool as far as they are sound; the rest of the message is.
fn arguments(envelope: &envelope::Envelope<'_>, contract: &Contract) -> Option<Payload> {
    let text = envelope.arguments;
    let name = envelope
        .message
        .get("params")
        .and_then(|params| params.get("name"));
    let skill = name.and_then(Value::as_str).and_then(Skill::from_tool_name);
    if let Some(known) = skill.and_then(|skill| contract.known(skill, text)) {
        return Some(known);
    }
    let value = json::read_inside(envelope::AROUND, text).ok()?;
    Some(match skill {
        Some(skill) => Payload::of_text(skill, value, text),
        None => value.into(),
    })
}

fn message_of(
    mut message: Map<String, Value>,
    arguments: Option<Payload>,
) -> Result<Message, Fault> {
    let id =
        match message.get("id") {
            None => None,
            Some(value) => Some(Id::read(value).ok_or_else(|| {
                invalid(None, "Invalid request: id must be a string or an integer.")
            })?),
        };
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(invalid(id, r#"Invalid request: jsonrpc must be "2.0"."#));
    }
    let Some(method) = message.get("method") else {
        if message.contains_key("result") || message.contains_key("error") {
            return Ok(Message::Response);
        }
        return Err(invalid(id, "Invalid request: method is missing."));
    };
    let Some(method) = method.as_str().map(str::to_owned) else {
        return Err(invalid(id, "Invalid request: method must be a string."));
    };
    let mut params = match message.remove("params") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return Err(invalid(id, "Invalid request: params must be an object.")),
    };
    let arguments = arguments.or_else(|| params.remove("arguments").map(Payload::from));
    Ok(match id {
        Some(id) => Message::Request {
            id,
            method,
            params,
            arguments,
        },
        None => Message::Notification,
    })
}

fn invalid(id: Option<Id>, message: impl Into<String>) -> Fault {
    Fault::new(id, INVALID_REQUEST, message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn contract() -> std::sync::Arc<Contract> {
        Contract::v3_0().unwrap()
    }

    fn read(body: &[u8]) -> Result<Message, Fault> {
        super::read(body, &contract())
    }

    fn fault(body: &str) -> (i32, Option<String>) {
        let fault = read(body.as_bytes()).unwrap_err();
        (fault.code, fault.id.map(|id| id.to_string()))
    }

    // AAP-097
    #[test]
    fn what_is_not_one_message_is_refused_with_the_id_where_it_can_be_read() {
        assert_eq!(fault("{bad"), (PARSE_ERROR, None));
        assert_eq!(fault(""), (PARSE_ERROR, None));
        assert_eq!(fault("[]"), (INVALID_REQUEST, None));
        assert_eq!(fault("7"), (INVALID_REQUEST, None));
        assert_eq!(
            fault(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#),
            (INVALID_REQUEST, None)
        );
        for id in ["null", "1.5", "{}", "true", "[]"] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            assert_eq!(fault(&body), (INVALID_REQUEST, None), "id {id}");
        }
        let seven = Some("7".to_owned());
        assert_eq!(
            fault(r#"{"id":7,"method":"ping"}"#),
            (INVALID_REQUEST, seven.clone())
        );
        assert_eq!(
            fault(r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#),
            (INVALID_REQUEST, seven.clone())
        );
        assert_eq!(
            fault(r#"{"jsonrpc":"2.0","id":7}"#),
            (INVALID_REQUEST, seven.clone())
        );
        assert_eq!(
            fault(r#"{"jsonrpc":"2.0","id":7,"method":1}"#),
            (INVALID_REQUEST, seven.clone())
        );
        assert_eq!(
            fault(r#"{"jsonrpc":"2.0","id":7,"method":"a","params":[1]}"#),
            (INVALID_REQUEST, seven)
        );
        assert_eq!(
            fault(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}"#),
            (PARSE_ERROR, None)
        );
    }

    // AAP-097: ids come back type-exactly.
    #[test]
    fn ids_are_echoed_as_they_came() {
        for id in [r#""7""#, "7", "-1", "0", "18446744073709551615", r#""é\"""#] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping","params":null}}"#);
            let Message::Request { id: read, .. } = read(body.as_bytes()).unwrap() else {
                panic!("a request");
            };
            assert_eq!(read.to_string(), id);
            assert_eq!(
                result(&read, "{}"),
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
            );
        }
    }

    // AAP-113
    #[test]
    fn messages_without_an_id_are_notifications_and_answers_are_told_apart() {
        let note = read(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).unwrap();
        assert!(matches!(note, Message::Notification));
        let answer = read(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#).unwrap();
        assert!(matches!(answer, Message::Response));
    }

    fn call(arguments: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"aap_inventory_search","arguments":{arguments}}}}}"#
        )
    }

    // AAP-097: whether arguments are read with the message or apart from it, their faults are the message's.
    #[test]
    fn faulty_arguments_are_a_faulty_message_at_their_place() {
        let twice = call("\n{\"a\":1,\"a\":2}");
        let fault = read(twice.as_bytes()).unwrap_err();
        assert_eq!(fault.code, PARSE_ERROR);
        assert!(
            fault.message.contains("line 2, column 13"),
            "{}",
            fault.message
        );
        let deepest = |levels| call(&format!("{}{}", "[".repeat(levels), "]".repeat(levels)));
        assert!(read(deepest(62).as_bytes()).is_ok());
        assert_eq!(
            read(deepest(63).as_bytes()).unwrap_err().code,
            INVALID_REQUEST
        );
        let surrogate = call(r#"{"a":"\ud800"}"#);
        assert_eq!(read(surrogate.as_bytes()).unwrap_err().code, PARSE_ERROR);
    }

    // AAP-097
    #[test]
    fn arguments_that_were_valid_before_are_not_read_again_and_say_the_same() {
        let (contract, skill) = (contract(), Skill::InventorySearch);
        let said = |text: &str| {
            let message = super::read(call(text).as_bytes(), &contract).unwrap();
            let Message::Request { arguments, .. } = message else {
                panic!("a request");
            };
            contract.request(skill, arguments.unwrap())
        };
        let search =
            json!({"type": skill.request_type(), "filters": {"make": ["Kia"]}}).to_string();
        assert!(contract.known(skill, &search).is_none());
        let first = said(&search).unwrap();
        assert!(contract.known(skill, &search).is_some());
        assert!(contract.known(Skill::InventoryFacets, &search).is_none());
        assert!(std::sync::Arc::ptr_eq(&first, &said(&search).unwrap()));
        let other = said(&search.replace("Kia", "kia")).unwrap();
        assert!(!std::sync::Arc::ptr_eq(&first, &other));
        for refused in [
            search.replace("make", "maker"),
            search.replace("[\"Kia\"]", "[]"),
        ] {
            let fault = said(&refused).unwrap_err();
            assert_eq!(said(&refused).unwrap_err().code, fault.code);
            assert!(contract.known(skill, &refused).is_none());
        }
    }
}
