//! Who the agent of `call` is: an identity that is published already, or one for development, published by
//! a small HTTPS server on loopback while the call lasts. Its authority's key is thrown away once it has
//! signed the one certificate, so whoever trusts it trusts that certificate and no other.

use std::convert::Infallible;
use std::fs;
use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use super::super::failure::{Exit, Failure};
use super::jws::{self, Key};
use crate::app;

const KID: &str = "agent-1";

/// Who calls.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Who calls, with --via pap")]
pub(super) struct Who {
    /// The folder of an identity for development; made when absent. `forecourt demo` trusts the one in its
    /// own data folder, other servers with --trust-agent-ca DIR/ca.pem
    #[arg(long, value_name = "DIR", default_value = "forecourt-data/agent")]
    agent: PathBuf,
    /// Where on 127.0.0.1 that identity is published meanwhile; a fixed port keeps its name
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    publish: SocketAddr,
    /// Another identity: the URL of the client metadata under which it is published
    #[arg(long, value_name = "URL", requires = "key")]
    client_id: Option<String>,
    /// The PKCS#8 PEM file of its P-256 key
    #[arg(long, value_name = "FILE", requires = "client_id")]
    key: Option<PathBuf>,
    /// The kid of that key
    #[arg(long, value_name = "KID", requires = "client_id")]
    kid: Option<String>,
    /// The User ID to sign in with [default: a fresh one]
    #[arg(long, value_name = "ID")]
    user: Option<String>,
}

/// An identity that is published.
pub(super) struct Identity {
    pub(super) client_id: String,
    pub(super) key: Key,
    pub(super) kid: Option<String>,
    pub(super) user: String,
    /// The server that publishes it, where that is ours.
    _publishing: Option<Publishing>,
}

/// Ends the server with the call.
struct Publishing(JoinHandle<()>);

impl Drop for Publishing {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Identity {
    /// Finds the identity, and publishes it where that is left to us.
    pub(super) async fn establish(arguments: &Who) -> Result<Self, Failure> {
        let user = match &arguments.user {
            Some(user) => user.clone(),
            None => jws::random_id()?,
        };
        if let (Some(client_id), Some(file)) = (&arguments.client_id, &arguments.key) {
            return Ok(Self {
                client_id: client_id.clone(),
                key: read_key(file)?,
                kid: arguments.kid.clone(),
                user,
                _publishing: None,
            });
        }
        let files = Files::make(&arguments.agent)?;
        let key = read_key(&files.identity)?;
        let (origin, publishing) = publish(&files, arguments.publish, &key).await?;
        Ok(Self {
            client_id: format!("{origin}/client.json"),
            key,
            kid: Some(KID.to_owned()),
            user,
            _publishing: Some(publishing),
        })
    }
}

fn read_key(file: &Path) -> Result<Key, Failure> {
    let pem = fs::read_to_string(file).map_err(|error| at(file, &error))?;
    Key::from_pem(&pem).ok_or_else(|| {
        let words = format!("{}: no P-256 key in PKCS#8 PEM", file.display());
        Failure::new(Exit::Usage, words)
    })
}

fn at(file: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::new(Exit::Usage, format!("{}: {error}", file.display()))
}

/// The files of an identity for development.
pub(in super::super) struct Files {
    /// What a server must trust.
    pub(in super::super) authority: PathBuf,
    certificate: PathBuf,
    certificate_key: PathBuf,
    identity: PathBuf,
}

impl Files {
    /// Makes what is not there yet.
    pub(in super::super) fn make(folder: &Path) -> Result<Self, Failure> {
        app::make_private_folder(folder)?;
        let files = Self {
            authority: folder.join("ca.pem"),
            certificate: folder.join("server.pem"),
            certificate_key: folder.join("server-key.pem"),
            identity: folder.join("identity-key.pem"),
        };
        if !files.identity.exists() {
            let key = Key::fresh()?;
            let pem = key.to_pem().unwrap_or_default();
            write_private(&files.identity, &pem)?;
        }
        // the authority is written last: with it everything is there
        if !files.authority.exists() {
            files
                .certify()
                .map_err(|error| at(&files.certificate, &error))??;
        }
        Ok(files)
    }

    fn certify(&self) -> Result<Result<(), Failure>, rcgen::Error> {
        let mut authority = CertificateParams::new(Vec::new())?;
        authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;
        let key = KeyPair::generate()?;
        let names = ["127.0.0.1".to_owned(), "localhost".to_owned()];
        let leaf = CertificateParams::new(names)?.signed_by(&key, &authority)?;
        Ok(write_private(&self.certificate_key, &key.serialize_pem())
            .and_then(|()| write_private(&self.certificate, &leaf.pem()))
            .and_then(|()| write_private(&self.authority, &authority.pem())))
    }

    fn acceptor(&self) -> Result<TlsAcceptor, Failure> {
        let chain: Result<Vec<_>, _> =
            CertificateDer::pem_file_iter(&self.certificate).and_then(Iterator::collect);
        let chain = chain.map_err(|error| at(&self.certificate, &error))?;
        let key = PrivateKeyDer::from_pem_file(&self.certificate_key)
            .map_err(|error| at(&self.certificate_key, &error))?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
            .map(|config| TlsAcceptor::from(Arc::new(config)))
            .map_err(|error| at(&self.certificate, &error))
    }
}

fn write_private(path: &Path, text: &str) -> Result<(), Failure> {
    let open = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path);
    open.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| at(path, &error))
}

/// Serves the two documents of an identity until the value returned is dropped.
async fn publish(
    files: &Files,
    address: SocketAddr,
    key: &Key,
) -> Result<(String, Publishing), Failure> {
    if address.ip() != IpAddr::V4(Ipv4Addr::LOCALHOST) {
        let words = "the identity for development is published on 127.0.0.1 only";
        return Err(Failure::new(Exit::Usage, words));
    }
    let acceptor = files.acceptor()?;
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
