//! The wire of `call`: requests go out and are kept with their answers, as far as they may be shown. Must not decide
//! what that is.

use std::path::PathBuf;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::{Value, json};

use super::super::failure::{Exit, Failure};
use super::shown;
use crate::net::{Client, NetError, Policy, Request};

/// Sends one request after another, and keeps what may be shown of each.
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
        let is_stream = media_type(&self.headers) == Some("text/event-stream");
        let text = event.filter(|_| is_stream).unwrap_or(body);
        serde_json::from_str(text).map_err(|_| {
            let words = format!("HTTP {} with a body that is no JSON", self.status);
            Failure::new(Exit::Findings, words)
        })
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
                "headers": shown::headers(&map),
                "body": shown::body(media_type(&map), body.as_bytes()),
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
            "headers": shown::headers(&answer.headers),
            "body": shown::body(media_type(&answer.headers), &answer.body),
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
