//! A finished document with its validators, its lifetime and its smaller form (AAP-046). Must not know what
//! it says.

use std::io::Write as _;
use std::sync::OnceLock;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use jiff::Timestamp;
use jiff::fmt::rfc2822;

use crate::bindings::discovery::Page;

/// How long a reader may keep a document without asking again.
const LIFETIME: &str = "public, max-age=300";

/// How the validator of the smaller form ends.
const GZIP_TAG: &str = ".gzip\"";

/// A document that is the same for everyone.
#[derive(Clone, Debug)]
pub(super) struct Document {
    plain: Form,
    /// Only where it is smaller, and made when somebody takes it: of a thousand deployments' documents most
    /// are never asked for.
    gzip: OnceLock<Option<Form>>,
    content_type: HeaderValue,
    links: HeaderValue,
    /// Since when it says what it says.
    modified: Timestamp,
}

/// One representation, with its strong validator.
#[derive(Clone, Debug)]
struct Form {
    content: Bytes,
    etag: String,
}

impl Document {
    /// `links` is its `Link` header, `modified` the moment since which it says this.
    pub(super) fn new(page: Page, links: &str, modified: Timestamp) -> Self {
        let hash = digest(&SHA256, page.text.as_bytes());
        let tag = URL_SAFE_NO_PAD.encode(hash.as_ref().get(..12).unwrap_or_default());
        Self {
            gzip: OnceLock::new(),
            plain: Form {
                content: page.text.into(),
                etag: format!("\"{tag}\""),
            },
            content_type: HeaderValue::from_static(page.content_type),
            links: value(links),
            modified,
        }
    }

    /// The answer to GET or HEAD, conditional or not, and to a browser that asks whether it may.
    pub(super) fn answer(&self, head: &Parts) -> Response<Bytes> {
        if head.method == Method::OPTIONS {
            return preflight();
        }
        if !is_read(&head.method) {
            return not_allowed();
        }
        let smaller = takes_gzip(&head.headers).then(|| self.gzip()).flatten();
        let form = smaller.unwrap_or(&self.plain);
        let unchanged = self.is_known(form, &head.headers);
        let mut answer = Response::new(if unchanged {
            Bytes::new()
        } else {
            form.content.clone()
        });
        if unchanged {
            *answer.status_mut() = StatusCode::NOT_MODIFIED;
        }
        self.describe(form, answer.headers_mut());
        answer
    }

    fn gzip(&self) -> Option<&Form> {
        let make = || {
            let content = gzip(&self.plain.content)?;
            let tag = self.plain.etag.trim_end_matches('"');
            let form = Form {
                content,
                etag: format!("{tag}{GZIP_TAG}"),
            };
            (form.content.len() < self.plain.content.len()).then_some(form)
        };
        self.gzip.get_or_init(make).as_ref()
    }

    fn describe(&self, form: &Form, headers: &mut HeaderMap) {
        let date = rfc2822::DateTimePrinter::new()
            .timestamp_to_rfc9110_string(&self.modified)
            .unwrap_or_default();
        headers.insert(header::CONTENT_TYPE, self.content_type.clone());
        headers.insert(header::ETAG, value(&form.etag));
        headers.insert(header::LAST_MODIFIED, value(&date));
        headers.insert(header::LINK, self.links.clone());
        if form.etag.ends_with(GZIP_TAG) {
            let gzip = HeaderValue::from_static("gzip");
            headers.insert(header::CONTENT_ENCODING, gzip);
        }
        for (name, said) in [
            (header::CACHE_CONTROL, LIFETIME),
            (header::VARY, "Accept-Encoding"),
            // Anyone may read a public document, pages of other sites too.
            (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
            (header::ACCESS_CONTROL_EXPOSE_HEADERS, "ETag, Link"),
        ] {
            headers.insert(name, HeaderValue::from_static(said));
        }
    }

    /// Whether the reader has this already. A date counts only without a tag (RFC 9110 section 13.1.3).
    fn is_known(&self, form: &Form, headers: &HeaderMap) -> bool {
        let mut tags = headers.get_all(header::IF_NONE_MATCH).iter().peekable();
        if tags.peek().is_some() {
            return tags.any(|known| matches(&form.etag, known));
        }
        let since = headers
            .get(header::IF_MODIFIED_SINCE)
            .and_then(|since| since.to_str().ok())
            .and_then(|since| rfc2822::DateTimeParser::new().parse_timestamp(since).ok());
        since.is_some_and(|since| self.modified.as_second() <= since.as_second())
    }
}

/// Weak comparison of one tag with a list of them.
fn matches(etag: &str, known: &HeaderValue) -> bool {
    let known = known.to_str().unwrap_or_default();
    known
        .split(',')
        .map(|tag| tag.trim().trim_start_matches("W/"))
        .any(|tag| tag == etag || tag == "*")
}

/// Whether the reader said that it takes gzip; who says nothing gets the plain form.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::ACCEPT_ENCODING).iter();
    let codings = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','));
    let mut named = None;
    for coding in codings {
        let (name, parameters) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = parameters.trim().strip_prefix("q=").unwrap_or("1");
        let taken = weight.parse::<f32>().is_ok_and(|weight| weight > 0.0);
        match name.trim() {
            name if name.eq_ignore_ascii_case("gzip") => return taken,
            "*" => named = Some(taken),
            _ => {}
        }
    }
    named.unwrap_or(false)
}

fn gzip(content: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).ok()?;
    Some(encoder.finish().ok()?.into())
}

fn value(text: &str) -> HeaderValue {
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""))
}

/// Whether the method only reads.
pub(super) fn is_read(method: &Method) -> bool {
    method == Method::GET || method == Method::HEAD
}

fn preflight() -> Response<Bytes> {
    let mut answer = Response::new(Bytes::new());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    for (name, said) in [
        (header::ALLOW, "GET, HEAD, OPTIONS"),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "*"),
        (header::ACCESS_CONTROL_MAX_AGE, "86400"),
    ] {
        answer
            .headers_mut()
            .insert(name, HeaderValue::from_static(said));
    }
    answer
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
