//! The JSON-RPC envelope as A2A reads it: an id is required and echoed to the letter. Must not know methods.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::fault::Fault;
use crate::contract::json;

/// A request's id as its own JSON text: numbers beyond 2^53 come back as they were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawId(String);

impl RawId {
    /// The id of an answer to what had no readable one.
    pub(super) fn null() -> Self {
        Self("null".to_owned())
    }

    /// A string, an integer or null; fractions and structures are no ids.
    fn read(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let integer = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        let known = text == "null" || text.starts_with('"') || integer;
        known.then(|| Self(text.to_owned()))
    }
}

impl fmt::Display for RawId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One call, not yet understood.
#[derive(Debug)]
pub(super) struct Envelope {
    pub(super) id: RawId,
    pub(super) method: String,
    pub(super) params: Option<Value>,
}

/// The id alone, unparsed.
#[derive(Deserialize)]
struct OnlyId<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
}

/// Reads exactly one call; the error comes with the id to answer under.
pub(super) fn read(body: &[u8]) -> Result<Envelope, (RawId, Fault)> {
    let broken = |error: json::JsonError| (RawId::null(), Fault::parse(&error.to_string()));
    let value = json::read(body).map_err(broken)?;
    let Value::Object(mut members) = value else {
        let words = "Send one JSON-RPC object; batches are not accepted.";
        return Err((RawId::null(), Fault::invalid_request(words)));
    };
    let refused = |id: RawId, words: &str| Err((id, Fault::invalid_request(words)));
    let raw = serde_json::from_slice::<OnlyId<'_>>(body)
        .ok()
        .and_then(|only| only.id);
    let id = match (members.contains_key("id"), raw) {
        // The borrowed form takes `null` for absent.
        (true, None) => Some(RawId::null()),
        (true, Some(raw)) => RawId::read(raw.get()),
        (false, _) => None,
    };
    let Some(id) = id else {
        return refused(
            RawId::null(),
            "A request needs an id: a string or an integer.",
        );
    };
    if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refused(id, "jsonrpc must be \"2.0\".");
    }
    let method = match members.remove("method") {
        Some(Value::String(method)) if !method.is_empty() => method,
        _ => return refused(id, "method must name an operation."),
    };
    let params = match members.remove("params") {
        None | Some(Value::Null) => None,
        Some(params @ (Value::Object(_) | Value::Array(_))) => Some(params),
        Some(_) => return refused(id, "params must be an object."),
    };
    Ok(Envelope { id, method, params })
}
