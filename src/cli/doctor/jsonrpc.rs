//! One JSON-RPC call as a client makes it. Must not know what a method means.

use http::{HeaderName, header};
use serde_json::{Value, json};

use super::visit::{Visitor, text};
use crate::contract::json;

/// What came back.
pub(super) enum Reply {
    Result(Value),
    /// The endpoint asks for a sign-in.
    SignIn,
}

/// Calls `method`; everything that is no result is an error in words.
pub(super) async fn call(
    visitor: &Visitor<'_>,
    url: &str,
    (method, params): (&str, Value),
    headers: &[(HeaderName, &str)],
) -> Result<Reply, String> {
    let body = json!({"jsonrpc": "2.0", "id": "doctor-1", "method": method, "params": params});
    let mut all = vec![
        (header::CONTENT_TYPE, "application/json"),
        (header::ACCEPT, "application/json, text/event-stream"),
    ];
    all.extend_from_slice(headers);
    let answer = visitor.post(url, &all, body.to_string()).await?;
    if answer.status == 401 {
        let challenge = text(&answer.headers, &header::WWW_AUTHENTICATE);
        if challenge.is_empty() {
            return Err(format!("{url} answers 401 without a challenge"));
        }
        return Ok(Reply::SignIn);
    }
    if answer.status.is_redirection() {
        let target = text(&answer.headers, &header::LOCATION);
        return Err(format!(
            "{url} redirects to {target:?}; clients do not follow"
        ));
    }
    let kind = answer.media_type().unwrap_or_default();
    let body = match kind.as_str() {
        "application/json" => answer.body.to_vec(),
        "text/event-stream" => first_event(&answer.body),
        _ => {
            let status = answer.status;
            return Err(format!("{url} answers {method} by {status} as {kind:?}"));
        }
    };
    let parsed = json::read(&body).map_err(|error| format!("{url}: no JSON: {error}"))?;
    result(url, method, parsed)
}

fn result(url: &str, method: &str, mut answer: Value) -> Result<Reply, String> {
    if let Some(error) = answer.get("error") {
        let code = error.get("code").unwrap_or(&Value::Null);
        let message = error.get("message").and_then(Value::as_str);
        let message = message.unwrap_or_default();
        return Err(format!("{url} refuses {method}: {code} {message}"));
    }
    if answer.get("id").and_then(Value::as_str) != Some("doctor-1") {
        return Err(format!("{url} answers {method} under another id"));
    }
    match answer.get_mut("result") {
        Some(result) => Ok(Reply::Result(result.take())),
        None => Err(format!("{url} answers {method} without a result")),
    }
}

/// The data of the first event of a stream.
fn first_event(body: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(body);
    let mut data = String::new();
    for line in text.lines() {
        match line.strip_prefix("data:") {
            Some(more) => data.push_str(more.trim_start()),
            None if line.is_empty() && !data.is_empty() => break,
            None => {}
        }
    }
    data.into_bytes()
}
