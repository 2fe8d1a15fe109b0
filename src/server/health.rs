//! Whether the process lives, has started and can answer, and why not. Must not decide what makes it ready.

use bytes::Bytes;
use http::{HeaderValue, Method, Response, StatusCode, header};
use serde_json::{Value, json};

use super::document;
use super::request::json_answer;

/// The state of the process as the composition root sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Whether traffic may come.
    pub ready: bool,
    /// What is wrong; some of it may leave the process ready.
    pub reasons: Vec<Reason>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// `inventory`, `store`, `outbox`.
    pub component: &'static str,
    pub deployment: Option<String>,
    /// For operators: holds no customer value.
    pub words: String,
}

impl Health {
    /// Nothing is wrong.
    pub fn good() -> Self {
        Self {
            ready: true,
            reasons: Vec::new(),
        }
    }

    /// The answer to a probe; the reasons are for those who operate it.
    pub(super) fn answer(&self, method: &Method, with_reasons: bool) -> Response<Bytes> {
        if !document::is_read(method) {
            return document::not_allowed();
        }
        let (status, word) = match (self.ready, self.reasons.is_empty()) {
            (true, true) => (StatusCode::OK, "ok"),
            (true, false) => (StatusCode::OK, "degraded"),
            (false, _) => (StatusCode::SERVICE_UNAVAILABLE, "not ready"),
        };
        let body = if with_reasons {
            let reasons: Vec<Value> = self.reasons.iter().map(Reason::to_value).collect();
            json!({ "status": word, "reasons": reasons })
        } else {
            json!({ "status": word })
        };
        json_answer(status, &body)
    }
}

impl Reason {
    fn to_value(&self) -> Value {
        json!({
            "component": self.component,
            "deployment": self.deployment,
            "reason": self.words,
        })
    }
}

/// A text in the format that scrapers of metrics read.
pub(super) fn metrics(text: String) -> Response<Bytes> {
    let mut answer = Response::new(Bytes::from(text));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    answer.headers_mut().insert(header::CONTENT_TYPE, kind);
    answer
}
