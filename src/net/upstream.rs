//! One operator's server that requests are passed on to as they come: bodies stream both ways, and a
//! connection may change its protocol. Must not read what passes.

use std::fmt;
use std::sync::Arc;

use http::{Request, Response};
use hyper::body::{Body, Incoming};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::client::{Link, hello};
use super::target::Target;
use super::{NetError, Policy, dial, tls};

/// A server that is passed on to.
pub struct Upstream {
    policy: Policy,
    target: Target,
    tls: TlsConnector,
}

impl Upstream {
    /// A server by its base URL; what stands after host and port is not used.
    pub fn new(url: &str, policy: Policy) -> Result<Self, NetError> {
        Ok(Self {
            target: Target::parse(url, &policy)?,
            tls: TlsConnector::from(Arc::new(tls::config(&policy)?)),
            policy,
        })
    }

    /// Sends one request, whose head is sent as it stands, over a connection of its own. The answer's body
    /// is read by whoever wants it; the connection ends with it, or lives on after an upgrade.
    pub async fn send<B>(&self, request: Request<B>) -> Result<Response<Incoming>, NetError>
    where
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (policy, target) = (&self.policy, &self.target);
        let link = timeout(policy.connect_timeout, async {
            let stream = dial::connect(&policy.network, policy.reach, &target.host, target.port);
            Link::open(stream.await?, target, &self.tls).await
        });
        match link.await.map_err(|_| NetError::ConnectTimeout)?? {
            Link::Plain(stream) => exchange(stream, request).await,
            Link::Tls(stream) => exchange(*stream, request).await,
        }
    }
}

async fn exchange<S, B>(stream: S, request: Request<B>) -> Result<Response<Incoming>, NetError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (mut sender, connection) = hello(stream).await?;
    // It ends when the sender and the answer's body are gone.
    tokio::spawn(async move {
        drop(connection.with_upgrades().await);
    });
    sender.send_request(request).await.map_err(NetError::Lost)
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream").finish_non_exhaustive()
    }
}
