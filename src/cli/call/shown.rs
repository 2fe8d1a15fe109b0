//! What `call` shows of an exchange: nothing that a log must not hold, i.e. tokens, assertions, proofs, nonces
//! (AAP-264, AAP-341). Must not send.

use std::fmt::Write as _;

use http::HeaderMap;
use serde_json::{Map, Value};

const REDACTED: &str = "[redacted]";
/// Fields of a form that are no secret; every other is.
const PLAIN_FIELDS: [&str; 4] = [
    "grant_type",
    "client_id",
    "client_assertion_type",
    "resource",
];
/// Members of an answer that are secret.
const SECRET_MEMBERS: [&str; 3] = ["access_token", "refresh_token", "id_token"];
/// Headers worth showing; of the first three not what they say.
const HEADERS: [&str; 11] = [
    "authorization",
    "dpop",
    "dpop-nonce",
    "content-type",
    "accept",
    "mcp-protocol-version",
    "a2a-version",
    "a2a-extensions",
    "www-authenticate",
    "retry-after",
    "cache-control",
];
/// Characters shown of all bodies but the last.
const CHARACTERS: usize = 2000;

/// Exchanges for people; bodies are shortened, all but the last.
pub(super) fn transcript(exchanges: &[Value]) -> String {
    let mut text = String::new();
    let last = exchanges.len().saturating_sub(1);
    for (index, exchange) in exchanges.iter().enumerate() {
        let limit = if index == last {
            usize::MAX
        } else {
            CHARACTERS
        };
        let part = |pointer: &str| exchange.pointer(pointer).unwrap_or(&Value::Null);
        let word = |pointer: &str| part(pointer).as_str().unwrap_or_default();
        let (method, url) = (word("/request/method"), word("/request/url"));
        write_side(
            &mut text,
            '>',
            &format!("{method} {url}"),
            part("/request"),
            limit,
        );
        let status = part("/response/status");
        write_side(
            &mut text,
            '<',
            &status.to_string(),
            part("/response"),
            limit,
        );
    }
    text
}

fn write_side(text: &mut String, mark: char, head: &str, side: &Value, limit: usize) {
    // writing to a String cannot fail
    let _written = writeln!(text, "{mark} {head}");
    let headers = side.get("headers").and_then(Value::as_object);
    for (name, value) in headers.into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        let _written = writeln!(text, "{mark} {name}: {value}");
    }
    let body = match side.get("body") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(words)) => words.clone(),
        Some(body) => format!("{body:#}"),
    };
    if !body.is_empty() {
        text.extend(body.chars().take(limit));
        if body.chars().nth(limit).is_some() {
            text.push_str(" … (shortened; --output json shows all)");
        }
        text.push('\n');
    }
    text.push('\n');
}

/// The headers worth showing.
pub(super) fn headers(all: &HeaderMap) -> Value {
    let mut shown = Map::new();
    for name in HEADERS {
        for value in all.get_all(name) {
            let value = value.to_str().unwrap_or("[not text]");
            let value = match name {
                "authorization" => {
                    let scheme = value.split(' ').next().unwrap_or_default();
                    format!("{scheme} {REDACTED}")
                }
                "dpop" | "dpop-nonce" => REDACTED.to_owned(),
                _ => value.to_owned(),
            };
            shown.insert(name.to_owned(), value.into());
        }
    }
    Value::Object(shown)
}

/// A body, as JSON where it is one or a form.
pub(super) fn body(media_type: Option<&str>, bytes: &[u8]) -> Value {
    if bytes.is_empty() {
        return Value::Null;
    }
    let text = String::from_utf8_lossy(bytes);
    if media_type == Some("application/x-www-form-urlencoded") {
        let fields = text.split('&').map(|field| {
            let (name, value) = field.split_once('=').unwrap_or((field, ""));
            let value = if PLAIN_FIELDS.contains(&name) {
                value.replace("%3A", ":").replace("%2F", "/")
            } else {
                REDACTED.to_owned()
            };
            (name.to_owned(), Value::from(value))
        });
        return Value::Object(fields.collect());
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(mut value) => {
            redact(&mut value);
            value
        }
        Err(_) => text.into_owned().into(),
    }
}

fn redact(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if SECRET_MEMBERS.contains(&name.as_str()) {
                    *member = REDACTED.into();
                } else {
                    redact(member);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(redact),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
