//! Publishes an identity for development while a call lasts: two documents, by HTTPS on loopback. Must not make keys.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use super::super::failure::{Exit, Failure};
use super::jws::Key;

/// The one key of the set.
pub(super) const KID: &str = "agent-1";

/// Ends the server with the call.
pub(super) struct Publishing(JoinHandle<()>);

impl Drop for Publishing {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Serves the two documents of an identity until the value returned is dropped.
pub(super) async fn publish(
    acceptor: TlsAcceptor,
    address: SocketAddr,
    key: &Key,
) -> Result<(String, Publishing), Failure> {
    if address.ip() != IpAddr::V4(Ipv4Addr::LOCALHOST) {
        let words = "the identity for development is published on 127.0.0.1 only";
        return Err(Failure::new(Exit::Usage, words));
    }
    let unavailable = |error: std::io::Error| {
        Failure::new(
            Exit::Unavailable,
            format!("cannot listen on {address}: {error}"),
        )
    };
    let listener = TcpListener::bind(address).await.map_err(unavailable)?;
    let port = listener.local_addr().map_err(unavailable)?.port();
    let origin = format!("https://127.0.0.1:{port}");
    let mut jwk = key.jwk();
    if let Some(jwk) = jwk.as_object_mut() {
        for (name, value) in [("kid", KID), ("use", "sig"), ("alg", "ES256")] {
            jwk.insert(name.to_owned(), value.into());
        }
    }
    let client = json!({
        "client_id": format!("{origin}/client.json"),
        "client_name": "forecourt call",
        "jwks_uri": format!("{origin}/jwks.json"),
        "redirect_uris": [],
        "token_endpoint_auth_method": "private_key_jwt",
    });
    let documents = Arc::new((client, json!({ "keys": [jwk] })));
    let serving = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, documents) = (acceptor.clone(), Arc::clone(&documents));
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else {
                    return;
                };
                let service = service_fn(move |request: Request<Incoming>| {
                    let answer = document(&documents, request.uri().path());
                    async move { Ok::<_, Infallible>(answer) }
                });
                let io = TokioIo::new(stream);
                // a peer that goes away is no concern of the call
                drop(http1::Builder::new().serve_connection(io, service).await);
            });
        }
    });
    Ok((origin, Publishing(serving)))
}

fn document((client, keys): &(Value, Value), path: &str) -> Response<Full<Bytes>> {
    let found = match path {
        "/client.json" => Some(client),
        "/jwks.json" => Some(keys),
        _ => None,
    };
    let body = found.map_or_else(String::new, Value::to_string);
    let mut answer = Response::new(Full::new(Bytes::from(body)));
    if found.is_none() {
        *answer.status_mut() = StatusCode::NOT_FOUND;
    }
    let json = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(header::CONTENT_TYPE, json);
    answer
}
