//! Outbound HTTP: one request over one fresh connection to an address that was checked just before it
//! was dialled. Follows no redirect, obeys no proxy variable, reads no more than it was told to. Must
//! not know what a request means or who asked for it.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};

mod address;
mod client;
mod dial;
mod fake;
mod tally;
mod target;
mod tls;
mod upstream;

pub use client::Client;
pub use dial::Network;
pub use fake::FakeNetwork;
pub use upstream::Upstream;

/// How far connections may go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Public unicast addresses only: for URLs that a peer named.
    #[default]
    Public,
    /// Public addresses and this machine's own: for development beside agents on it.
    Loopback,
    /// Public, loopback and private addresses, but no link-local (cloud metadata) or other special
    /// range: for URLs that the operator wrote.
    Site,
    /// Everything: for development (`danger_allow_private_addresses`).
    Any,
}

/// What a client may do. Start from [`Policy::for_peers`] or [`Policy::for_operator`].
#[derive(Clone, Debug)]
pub struct Policy {
    pub reach: Reach,
    /// Permits `http:` URLs; `https:` ones always work.
    pub allow_http: bool,
    /// Permits another port than the scheme's own.
    pub any_port: bool,
    /// PEM file of authorities trusted beside the public ones.
    pub extra_ca_file: Option<PathBuf>,
    /// The certificate that this client shows.
    pub client_certificate: Option<ClientCertificate>,
    /// Name look-up, connection and TLS handshake together.
    pub connect_timeout: Duration,
    /// The whole request, connecting included.
    pub timeout: Duration,
    /// Largest response body; one byte more is an error.
    pub max_body_bytes: usize,
    /// The network below: the system's, or a test's.
    pub network: Network,
}

/// PEM files of a client certificate chain and its private key.
#[derive(Clone, Debug)]
pub struct ClientCertificate {
    pub certificate_file: PathBuf,
    pub key_file: PathBuf,
}

impl Policy {
    /// For URLs that a stranger named: public addresses, default port, small answers, seconds
    /// (AAP-233, AAP-234).
    pub fn for_peers() -> Self {
        Self {
            reach: Reach::Public,
            allow_http: false,
            any_port: false,
            extra_ca_file: None,
            client_certificate: None,
            connect_timeout: Duration::from_secs(3),
            timeout: Duration::from_secs(5),
            max_body_bytes: 100 * 1024,
            network: Network::System,
        }
    }

    /// For URLs that the operator wrote: the dealer's own systems included, any port.
    pub fn for_operator() -> Self {
        Self {
            reach: Reach::Site,
            any_port: true,
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(30),
            max_body_bytes: 64 * 1024 * 1024,
            ..Self::for_peers()
        }
    }

    /// The same for development: this machine, too, and any port (`net.danger_allow_loopback`).
    #[must_use]
    pub fn danger_allow_loopback(mut self) -> Self {
        self.reach = Reach::Loopback;
        self.any_port = true;
        self
    }

    /// The same for development: every address and port (`net.danger_allow_private_addresses`).
    #[must_use]
    pub fn danger_allow_private_addresses(mut self) -> Self {
        self.reach = Reach::Any;
        self.any_port = true;
        self
    }
}

/// One request. `Host`, `Content-Length` and connection headers are set by the client itself.
#[derive(Clone)]
pub struct Request {
    pub method: Method,
    /// Absolute URL; a fragment is not sent.
    pub url: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Request {
    /// A request without headers and body.
    pub fn get(url: impl Into<String>) -> Self {
        Self {
            method: Method::GET,
            url: url.into(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
        }
    }
}

// headers and URLs of requests carry credentials
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

/// A complete response, whatever its status; a redirect is a response like others.
#[derive(Clone)]
pub struct Response {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Response {
    /// The media type without parameters, in lower case.
    pub fn media_type(&self) -> Option<String> {
        let value = self
            .headers
            .get(http::header::CONTENT_TYPE)?
            .to_str()
            .ok()?;
        let essence = value.split(';').next().unwrap_or(value);
        Some(essence.trim().to_ascii_lowercase())
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("status", &self.status)
            .field("bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// Why there is no response. Texts name no address and no URL, so they may stand in a log.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// The URL, its scheme or its port is not permitted; nothing was looked up.
    #[error("URL refused: {0}")]
    Url(&'static str),
    /// The name has an address that this client may not go to; nothing was dialled.
    #[error("address refused")]
    Address,
    #[error("the host name could not be resolved")]
    Resolve(#[source] Option<std::io::Error>),
    #[error("no connection")]
    Connect(#[source] std::io::Error),
    #[error("TLS handshake failed")]
    Tls(#[source] std::io::Error),
    #[error("no connection in time")]
    ConnectTimeout,
    /// The request was under way when time ran out.
    #[error("no complete answer in time")]
    Timeout,
    /// The connection broke or the peer does not speak HTTP; the request was under way.
    #[error("the connection was lost")]
    Lost(#[source] hyper::Error),
    /// The peer has answered with this status, but with more than is read.
    #[error("the answer is too large")]
    TooLarge(StatusCode),
    /// The answer could not be kept on this machine.
    #[error("the answer cannot be stored")]
    Write(#[source] std::io::Error),
    /// Files or TLS parameters of the client itself.
    #[error("client set-up: {0}")]
    SetUp(String),
}

impl NetError {
    /// Whether the peer may have received the request, wholly or in part. Where this is false a
    /// repetition cannot do the same thing twice.
    pub fn may_have_arrived(&self) -> bool {
        match self {
            Self::Timeout | Self::Lost(_) | Self::TooLarge(_) | Self::Write(_) => true,
            Self::Url(_)
            | Self::Address
            | Self::Resolve(_)
            | Self::Connect(_)
            | Self::Tls(_)
            | Self::ConnectTimeout
            | Self::SetUp(_) => false,
        }
    }
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
