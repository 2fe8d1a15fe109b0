//! One request, one connection: dial, shake hands, send, read up to the limit.

use std::fmt;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http::header::{self, HeaderMap};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1::{self, Connection, SendRequest};
use hyper_util::rt::TokioIo;
use rustls_pki_types::ServerName;
use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

use super::tally::Tally;
use super::target::Target;
use super::{NetError, Policy, Request, Response, dial, tls};

/// Bytes of a response's status line and headers.
const MAX_HEAD_BYTES: usize = 64 * 1024;
const MAX_HEADERS: usize = 100;

/// Sends requests under one policy. Cheap to clone.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    policy: Policy,
    tls: TlsConnector,
    tally: Tally,
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
        self.counted(request, None).await
    }

    /// The same, but the body of a 200 goes into `file`, up to `limit` bytes, and not into memory. The
    /// policy's size holds for every other answer.
    pub async fn save(
        &self,
        request: Request,
        file: &mut File,
        limit: u64,
    ) -> Result<Response, NetError> {
        self.counted(request, Some((file, limit))).await
    }

    async fn counted(
        &self,
        request: Request,
        file: Option<(&mut File, u64)>,
    ) -> Result<Response, NetError> {
        let ended = self.send_into(request, file).await;
        self.0.tally.note(&ended);
        ended
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
        let into = Sink {
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

/// Ends the connection's task with the exchange, however that ends.
struct Task(tokio::task::JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Where a body goes, and how much of it.
struct Sink<'a> {
    limit: usize,
    file: Option<(&'a mut File, u64)>,
}

/// Begins HTTP/1.1 on a connection, with bounds on what a head may hold.
pub(super) async fn hello<S, B>(
    stream: S,
) -> Result<(SendRequest<B>, Connection<TokioIo<S>, B>), NetError>
where
    S: AsyncRead + AsyncWrite + Unpin,
    B: Body + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    http1::Builder::new()
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(NetError::Lost)
}

async fn exchange<S>(
    stream: S,
    message: http::Request<Full<Bytes>>,
    into: Sink<'_>,
) -> Result<Response, NetError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = hello(stream).await?;
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
