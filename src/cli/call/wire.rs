//! The wire of `call`: requests go out and are written down with their answers, and nothing that a log
//! must not hold is ever written: tokens, assertions, proofs, nonces (AAP-264, AAP-341).

use std::fmt::Write as _;
use std::path::PathBuf;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::{Map, Value, json};

use super::super::failure::{Exit, Failure};
use crate::net::{Client, NetError, Policy, Request};

const REDACTED: &str = "[redacted]";
/// Fields of a form that are no secret; every other is.
const PLAIN_FIELDS: [&str; 4] = [
    "grant_type",
    "client_id",
    "client_assertion_type",
    "resource",
];
/// Members of an answer that are.
const SECRET_MEMBERS: [&str; 3] = ["access_token", "refresh_token", "id_token"];
/// Headers worth showing; the first three only as being there.
const SHOWN_HEADERS: [&str; 11] = [
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
const SHOWN_CHARACTERS: usize = 2000;

pub(super) struct Wire {
    client: Client,
    exchanges: Vec<Value>,
}

/// What came back.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    body: Bytes,
}

impl Answer {
    /// The JSON body, or that of the one event of a stream.
    pub(super) fn json(&self) -> Result<Value, Failure> {
        let body = std::str::from_utf8(&self.body).unwrap_or_default();
        let event = body.lines().find_map(|line| line.strip_prefix("data:"));
        let is_stream = self.media_type() == Some("text/event-stream");
        let text = event.filter(|_| is_stream).unwrap_or(body);
        serde_json::from_str(text).map_err(|_| {
            let words = format!("HTTP {} with a body that is no JSON", self.status);
            Failure::new(Exit::Findings, words)
        })
    }

    fn media_type(&self) -> Option<&str> {
        let value = self.headers.get("content-type")?.to_str().ok()?;
        value.split(';').next().map(str::trim)
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

impl Wire {
    pub(super) fn new(ca: Option<PathBuf>) -> Result<Self, Failure> {
        let policy = Policy {
            allow_http: true,
            extra_ca_file: ca,
            ..Policy::for_operator()
        };
        let client =
            Client::new(policy).map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
        Ok(Self {
            client,
            exchanges: Vec::new(),
        })
    }

    pub(super) async fn get(&mut self, url: &str) -> Result<Answer, Failure> {
        let accept = [("accept", "application/json".to_owned())];
        self.send(Method::GET, url, &accept, String::new()).await
    }

    pub(super) async fn post(
        &mut self,
        url: &str,
        headers: &[(&'static str, String)],
        body: String,
    ) -> Result<Answer, Failure> {
        self.send(Method::POST, url, headers, body).await
    }

    async fn send(
        &mut self,
        method: Method,
        url: &str,
        headers: &[(&'static str, String)],
        body: String,
    ) -> Result<Answer, Failure> {
        if !is_safe(url) {
            let words = format!("{url:?} is neither https nor http on loopback");
            return Err(Failure::new(Exit::Usage, words));
        }
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let value = HeaderValue::from_str(value)
                .map_err(|_| Failure::new(Exit::Internal, format!("header {name}")))?;
            map.insert(HeaderName::from_static(name), value);
        }
        let mut exchange = json!({
            "request": {
                "method": method.as_str(),
                "url": url,
                "headers": shown_headers(&map),
                "body": shown_body(media_type(&map), body.as_bytes()),
            },
        });
        let request = Request {
            method,
            url: url.to_owned(),
            headers: map,
            body: body.into(),
        };
        let sent = self.client.send(request).await;
        let answer = sent.map_err(|error| unreachable(url, &error))?;
        let response = json!({
            "status": answer.status.as_u16(),
            "headers": shown_headers(&answer.headers),
            "body": shown_body(media_type(&answer.headers), &answer.body),
        });
        if let Some(exchange) = exchange.as_object_mut() {
            exchange.insert("response".to_owned(), response);
        }
        self.exchanges.push(exchange);
        Ok(Answer {
            status: answer.status.as_u16(),
            headers: answer.headers,
            body: answer.body,
        })
    }

    /// Everything that went over the wire.
    pub(super) fn exchanges(&self) -> &[Value] {
        &self.exchanges
    }

    /// The same for people; bodies are shortened, all but the last.
    pub(super) fn transcript(&self) -> String {
        let mut text = String::new();
        let last = self.exchanges.len().saturating_sub(1);
        for (index, exchange) in self.exchanges.iter().enumerate() {
            let limit = if index == last {
                usize::MAX
            } else {
                SHOWN_CHARACTERS
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

/// Tokens and customers' data go over TLS, or stay on this machine.
fn is_safe(url: &str) -> bool {
    let loopback = ["127.0.0.1", "localhost", "[::1]"].iter().any(|host| {
        let rest = url
            .strip_prefix("http://")
            .and_then(|rest| rest.strip_prefix(host));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
    });
    loopback || url.starts_with("https://")
}

fn unreachable(url: &str, error: &NetError) -> Failure {
    Failure::new(Exit::Unavailable, format!("{url}: {error}"))
        .hint("is the dealer's endpoint up? `forecourt demo` starts one on this machine")
}

fn media_type(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get("content-type")?.to_str().ok()?;
    value.split(';').next().map(str::trim)
}

fn shown_headers(headers: &HeaderMap) -> Value {
    let mut shown = Map::new();
    for name in SHOWN_HEADERS {
        for value in headers.get_all(name) {
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

fn shown_body(media_type: Option<&str>, body: &[u8]) -> Value {
    if body.is_empty() {
        return Value::Null;
    }
    let text = String::from_utf8_lossy(body);
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
