//! A URL that passed the policy, and the message that goes there. Must not open a connection.

use bytes::Bytes;
use http::Uri;
use http::header::{self, HeaderName, HeaderValue};
use http::uri::Scheme;
use http_body_util::Full;

use super::{NetError, Policy, Request};

const MAX_URL_BYTES: usize = 8 * 1024;
/// What the client itself decides about a message.
const OWN_HEADERS: [HeaderName; 7] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::CONNECTION,
    header::UPGRADE,
    header::TE,
    header::TRAILER,
];

/// A URL that passed the policy.
pub(super) struct Target {
    pub(super) secure: bool,
    /// Without brackets.
    pub(super) host: String,
    pub(super) port: u16,
    /// `host[:port]` as written, for the `Host` header.
    authority: HeaderValue,
    path: Uri,
}

impl Target {
    pub(super) fn parse(url: &str, policy: &Policy) -> Result<Self, NetError> {
        if url.len() > MAX_URL_BYTES {
            return Err(NetError::Url("too long"));
        }
        let uri: Uri = url.parse().map_err(|_| NetError::Url("malformed"))?;
        let secure = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP && policy.allow_http => false,
            _ => return Err(NetError::Url("its scheme is not permitted")),
        };
        let authority = uri.authority().ok_or(NetError::Url("no host"))?;
        if authority.as_str().contains('@') {
            return Err(NetError::Url("it carries user information"));
        }
        let default = if secure { 443 } else { 80 };
        let host = authority.host();
        let port = match authority.as_str().strip_prefix(host) {
            Some("" | ":") => default,
            // what is no port at all is not the default one
            _ => authority.port_u16().ok_or(NetError::Url("malformed"))?,
        };
        if port != default && !policy.any_port {
            return Err(NetError::Url("its port is not permitted"));
        }
        let host = host.trim_matches(['[', ']']);
        if host.is_empty() {
            return Err(NetError::Url("no host"));
        }
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(Self {
            secure,
            host: host.to_owned(),
            port,
            authority: HeaderValue::from_str(authority.as_str())
                .map_err(|_| NetError::Url("malformed"))?,
            path: path.parse().map_err(|_| NetError::Url("malformed"))?,
        })
    }

    /// The request as it goes over the wire.
    pub(super) fn message(self, request: Request) -> http::Request<Full<Bytes>> {
        let mut headers = request.headers;
        for own in OWN_HEADERS {
            headers.remove(own);
        }
        headers.insert(header::HOST, self.authority);
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        let mut default = |name, value| {
            headers
                .entry(name)
                .or_insert(HeaderValue::from_static(value));
        };
        default(
            header::USER_AGENT,
            concat!("forecourt/", env!("CARGO_PKG_VERSION")),
        );
        default(header::ACCEPT_ENCODING, "identity");
        let mut message = http::Request::new(Full::new(request.body));
        *message.method_mut() = request.method;
        *message.uri_mut() = self.path;
        *message.headers_mut() = headers;
        message
    }
}
