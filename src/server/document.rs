//! A finished document with its validator and lifetime (AAP-046). Must not know what it says.

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode, header};

/// A document that is the same for everyone.
#[derive(Clone, Debug)]
pub(super) struct Document {
    content: Bytes,
    content_type: &'static str,
    etag: HeaderValue,
}

impl Document {
    pub(super) fn new(content: String, content_type: &'static str) -> Self {
        let hash = digest(&SHA256, content.as_bytes());
        let short = hash.as_ref().get(..12).unwrap_or_default();
        let etag = format!("\"{}\"", URL_SAFE_NO_PAD.encode(short));
        Self {
            content: content.into(),
            content_type,
            etag: HeaderValue::try_from(etag).unwrap_or(HeaderValue::from_static("\"\"")),
        }
    }

    /// The answer to GET or HEAD, conditional or not.
    pub(super) fn answer(&self, head: &Parts) -> Response<Bytes> {
        if !is_read(&head.method) {
            return not_allowed();
        }
        let known = head.headers.get(header::IF_NONE_MATCH);
        let unchanged = known.is_some_and(|known| self.matches(known));
        let mut answer = Response::new(if unchanged {
            Bytes::new()
        } else {
            self.content.clone()
        });
        if unchanged {
            *answer.status_mut() = StatusCode::NOT_MODIFIED;
        }
        let headers = answer.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static(self.content_type),
        );
        headers.insert(header::ETAG, self.etag.clone());
        let cache = HeaderValue::from_static("public, max-age=300");
        headers.insert(header::CACHE_CONTROL, cache);
        // Anyone may read a public document, pages of other sites too.
        let anyone = HeaderValue::from_static("*");
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, anyone);
        answer
    }

    fn matches(&self, known: &HeaderValue) -> bool {
        let (Ok(known), Ok(own)) = (known.to_str(), self.etag.to_str()) else {
            return false;
        };
        known
            .split(',')
            .map(|tag| tag.trim().trim_start_matches("W/"))
            .any(|tag| tag == own || tag == "*")
    }
}

/// Whether the method only reads.
pub(super) fn is_read(method: &Method) -> bool {
    method == Method::GET || method == Method::HEAD
}

/// 405 for what can only be read.
pub(super) fn not_allowed() -> Response<Bytes> {
    let mut answer = super::request::problem(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "Read this with GET.",
    );
    let allow = HeaderValue::from_static("GET, HEAD");
    answer.headers_mut().insert(header::ALLOW, allow);
    answer
}
