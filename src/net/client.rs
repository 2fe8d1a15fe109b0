//! One request, one connection: parse the URL, dial, shake hands, send, read up to the limit.

use std::fmt;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::uri::Scheme;
use http::{StatusCode, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls_pki_types::ServerName;
use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

use super::tally::Tally;
use super::{NetError, Policy, Request, Response, dial, tls};

/// Bytes of a response's status line and headers.
pub(super) const MAX_HEAD_BYTES: usize = 64 * 1024;
pub(super) const MAX_HEADERS: usize = 100;
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

/// Sends requests under one policy. Cheap to clone.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    policy: Policy,
    tls: TlsConnector,
    tally: Tally,
}

/// A URL that passed the policy.
pub(super) struct Target {
    secure: bool,
    /// Without brackets.
    pub(super) host: String,
    pub(super) port: u16,
    /// `host[:port]` as written, for the `Host` header.
    authority: HeaderValue,
    path: Uri,
}

impl Client {
    /// Reads the policy's certificate files once.
    pub fn new(policy: Policy) -> Result<Self, NetError> {
        let tls = TlsConnector::from(Arc::new(tls::config(&policy)?));
        Ok(Self(Arc::new(Inner {
            policy,
            tls,
            tally: Tally::default(),
        })))
    }

    /// How the requests so far ended.
    pub fn tally(&self) -> Vec<(&'static str, u64)> {
        self.0.tally.read()
    }

    /// Sends one request and reads its whole answer, within the policy's times and sizes.
    pub async fn send(&self, request: Request) -> Result<Response, NetError> {
        let ended = self.send_into(request, None).await;
        self.0.tally.note(&ended);
        ended
    }

    /// The same, but the body of a 200 goes into `file`, up to `limit` bytes, and not into memory. The
    /// policy's size holds for every other answer.
    pub async fn save(
        &self,
        request: Request,
        file: &mut File,
        limit: u64,
    ) -> Result<Response, NetError> {
        self.send_into(request, Some((file, limit))).await
    }

    async fn send_into(
        &self,
        request: Request,
        file: Option<(&mut File, u64)>,
    ) -> Result<Response, NetError> {
        let policy = &self.0.policy;
        let target = Target::parse(&request.url, policy)?;
        let start = Instant::now();
        let deadline = start + policy.timeout;
        let stream = timeout_at(deadline.min(start + policy.connect_timeout), async {
            let stream = dial::connect(&policy.network, policy.reach, &target.host, target.port);
            Link::open(stream.await?, &target, &self.0.tls).await
        })
        .await
        .map_err(|_| NetError::ConnectTimeout)??;
        let message = target.message(request);
        let into = Into {
            limit: policy.max_body_bytes,
            file,
        };
        timeout_at(deadline, async {
            match stream {
                Link::Plain(stream) => exchange(stream, message, into).await,
                Link::Tls(stream) => exchange(*stream, message, into).await,
            }
        })
        .await
        .map_err(|_| NetError::Timeout)?
    }
}

pub(super) enum Link {
    Plain(TcpStream),
    Tls(Box<tokio_rustls::client::TlsStream<TcpStream>>),
}

impl Link {
    pub(super) async fn open(
        stream: TcpStream,
        target: &Target,
        tls: &TlsConnector,
    ) -> Result<Self, NetError> {
        if !target.secure {
            return Ok(Self::Plain(stream));
        }
        let name = ServerName::try_from(target.host.clone())
            .map_err(|_| NetError::Url("its host cannot stand in a certificate"))?;
        let stream = tls.connect(name, stream).await.map_err(NetError::Tls)?;
        Ok(Self::Tls(Box::new(stream)))
    }
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
        let port = match authority.port() {
            None => default,
            Some(port) if policy.any_port || port.as_u16() == default => port.as_u16(),
            Some(_) => return Err(NetError::Url("its port is not permitted")),
        };
        let host = authority.host().trim_matches(['[', ']']);
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

    fn message(self, request: Request) -> http::Request<Full<Bytes>> {
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

/// Ends the connection's task with the exchange, however that ends.
struct Task(tokio::task::JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Where a body goes, and how much of it.
struct Into<'a> {
    limit: usize,
    file: Option<(&'a mut File, u64)>,
}

async fn exchange<S>(
    stream: S,
    message: http::Request<Full<Bytes>>,
    into: Into<'_>,
) -> Result<Response, NetError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(NetError::Lost)?;
    let _task = Task(tokio::spawn(async move {
        // its error reaches the sender or the body as well
        drop(connection.await);
    }));
    let answer = sender.send_request(message).await.map_err(NetError::Lost)?;
    let (head, body) = answer.into_parts();
    let body = match into.file {
        Some((file, limit)) if head.status == StatusCode::OK => {
            write(&head.headers, body, file, limit).await?;
            Bytes::new()
        }
        _ => read(head.status, &head.headers, body, into.limit).await?,
    };
    Ok(Response {
        status: head.status,
        headers: head.headers,
        body,
    })
}

/// Whether the answer says beforehand that it is longer.
fn announces_more(headers: &HeaderMap, limit: u64) -> bool {
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.parse::<u64>().ok());
    announced.is_some_and(|bytes| bytes > limit)
}

async fn read(
    status: StatusCode,
    headers: &HeaderMap,
    mut body: Incoming,
    limit: usize,
) -> Result<Bytes, NetError> {
    if announces_more(headers, u64::try_from(limit).unwrap_or(u64::MAX)) {
        return Err(NetError::TooLarge(status));
    }
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(NetError::Lost)?;
        if let Some(data) = frame.data_ref() {
            if data.len() > limit.saturating_sub(whole.len()) {
                return Err(NetError::TooLarge(status));
            }
            whole.extend_from_slice(data);
        }
    }
    Ok(whole.freeze())
}

async fn write(
    headers: &HeaderMap,
    mut body: Incoming,
    file: &mut File,
    limit: u64,
) -> Result<(), NetError> {
    if announces_more(headers, limit) {
        return Err(NetError::TooLarge(StatusCode::OK));
    }
    let mut left = limit;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(NetError::Lost)?;
        if let Some(data) = frame.data_ref() {
            left = left
                .checked_sub(data.len() as u64)
                .ok_or(NetError::TooLarge(StatusCode::OK))?;
            file.write_all(data).await.map_err(NetError::Write)?;
        }
    }
    file.flush().await.map_err(NetError::Write)
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}
