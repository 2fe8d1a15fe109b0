//! Which browser origins may call, and what a browser must be told. Must not judge callers: an origin is
//! no identity, and its absence says nothing (AAP-072).

use http::uri::Uri;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};

use crate::contract::Rope;
use crate::deployment::Deployment;

const ALLOW_HEADERS: &str = "accept, authorization, content-type, dpop, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id, traceparent, tracestate";
const EXPOSE_HEADERS: &str =
    "dpop-nonce, mcp-session-id, retry-after, www-authenticate, x-request-id";

/// The origins of one endpoint.
#[derive(Debug)]
pub(super) struct Allowed {
    any: bool,
    /// Lower case.
    exact: Vec<String>,
    /// Whether every loopback origin is at home here.
    loopback: bool,
}

/// The origin may not call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Forbidden;

impl Allowed {
    /// The configured origins, and the endpoint's own.
    pub(super) fn new(deployment: &Deployment) -> Self {
        let settings = &deployment.mcp.allowed_origins;
        let own = deployment.urls.mcp.parse::<Uri>().ok();
        let own = own.as_ref().and_then(|uri| {
            let (scheme, authority) = (uri.scheme_str()?, uri.authority()?);
            Some(format!("{scheme}://{authority}").to_ascii_lowercase())
        });
        let exact = settings
            .iter()
            .map(|origin| origin.trim_end_matches('/').to_ascii_lowercase());
        Self {
            any: settings.iter().any(|origin| origin == "*"),
            loopback: own.as_deref().is_some_and(is_loopback),
            exact: exact.chain(own.clone()).collect(),
        }
    }

    /// The permitted origin of a request, or none when it sent none (AAP-071).
    pub(super) fn check(&self, headers: &HeaderMap) -> Result<Option<HeaderValue>, Forbidden> {
        let mut lines = headers.get_all(header::ORIGIN).iter();
        let (line, more) = (lines.next(), lines.next());
        let Some(line) = line else {
            return Ok(None);
        };
        let origin = line.to_str().map_err(|_| Forbidden)?.to_ascii_lowercase();
        let allowed = more.is_none()
            && is_origin(&origin)
            && (self.any
                || self.exact.contains(&origin)
                || (self.loopback && is_loopback(&origin)));
        if allowed {
            Ok(Some(line.clone()))
        } else {
            Err(Forbidden)
        }
    }
}

/// Scheme, host and optional port, nothing more (RFC 6454 §7).
fn is_origin(text: &str) -> bool {
    let Some((scheme, host)) = text.split_once("://") else {
        return false;
    };
    let scheme_ok = !scheme.is_empty()
        && scheme
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    scheme_ok
        && !host.contains(['/', '@', '?', '#'])
        && host.parse::<http::uri::Authority>().is_ok()
}

fn is_loopback(origin: &str) -> bool {
    let Some(Ok(authority)) = origin
        .split_once("://")
        .map(|(_, host)| host.parse::<http::uri::Authority>())
    else {
        return false;
    };
    matches!(authority.host(), "localhost" | "127.0.0.1" | "[::1]")
}

/// The answer to a browser that asks first; no authorization is involved.
pub(super) fn preflight() -> Response<Rope> {
    let mut answer = Response::new(Rope::default());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    let fields: [(HeaderName, &'static str); 3] = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "POST"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, ALLOW_HEADERS),
        (header::ACCESS_CONTROL_MAX_AGE, "7200"),
    ];
    for (name, value) in fields {
        answer
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    answer
}

/// Lets the page of a permitted origin read the answer.
pub(super) fn expose(headers: &mut HeaderMap, origin: &HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.insert(
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static(EXPOSE_HEADERS),
    );
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
}
