//! A small HTTPS site on loopback for tests of this room and of those above it: it answers scripted
//! bytes, so that it can also answer what no honest server would.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::ClientCertificate;

/// What the site does with a request line's path: the raw bytes to answer, or silence.
pub(crate) type Script = Arc<dyn Fn(&str) -> Option<Vec<u8>> + Send + Sync>;

/// What clients must show to be let in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    Open,
    /// A certificate of the site's own authority.
    Certificate,
}

pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    pub(crate) ca_file: PathBuf,
    /// What a site behind [`Door::Certificate`] lets in.
    pub(crate) client: ClientCertificate,
    requests: Arc<Mutex<Vec<String>>>,
    _directory: tempfile::TempDir,
}

impl Site {
    /// Serves `script` under `names` with a certificate of a fresh authority.
    pub(crate) async fn start(names: &[&str], script: Script) -> Self {
        let by_path: Script =
            Arc::new(move |request| script(request.split(' ').nth(1).unwrap_or_default()));
        Self::start_behind(Door::Open, names, by_path).await
    }

    /// The same, with the whole request, head and body, told to `script`.
    pub(crate) async fn start_behind(door: Door, names: &[&str], script: Script) -> Self {
        let mut ca = CertificateParams::new(Vec::new()).unwrap();
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let ca = CertifiedIssuer::self_signed(ca, KeyPair::generate().unwrap()).unwrap();
        let issue = |names: &[&str]| {
            let key = KeyPair::generate().unwrap();
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let leaf = CertificateParams::new(names).unwrap();
            (leaf.signed_by(&key, &ca).unwrap(), key)
        };
        let (leaf, key) = issue(names);
        let (client, client_key) = issue(&["client.example"]);
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = directory.path().join(name);
            std::fs::File::create(&path)
                .and_then(|mut file| file.write_all(text.as_bytes()))
                .unwrap();
            path
        };
        let ca_file = write("ca.pem", &ca.pem());
        let client = ClientCertificate {
            certificate_file: write("client.pem", &client.pem()),
            key_file: write("client-key.pem", &client_key.serialize_pem()),
        };
        let config = tls(door, &ca, leaf.der().clone(), &key);
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&requests);
        tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else {
                    return;
                };
                let (acceptor, script, log) = (acceptor.clone(), script.clone(), log.clone());
                tokio::spawn(async move {
                    let Ok(mut stream) = acceptor.accept(stream).await else {
                        return;
                    };
                    let request = read_request(&mut stream).await;
                    log.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(request.clone());
                    match script(&request) {
                        Some(bytes) => {
                            let _sent = stream.write_all(&bytes).await;
                            let _closed = stream.shutdown().await;
                        }
                        None => std::future::pending().await,
                    }
                });
            }
        });
        Self {
            address,
            ca_file,
            client,
            requests,
            _directory: directory,
        }
    }

    /// All requests so far, head and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

fn tls(
    door: Door,
    ca: &CertifiedIssuer<'_, KeyPair>,
    leaf: CertificateDer<'static>,
    key: &KeyPair,
) -> rustls::ServerConfig {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = match door {
        Door::Open => builder.with_no_client_auth(),
        Door::Certificate => {
            let mut roots = rustls::RootCertStore::empty();
            roots.add(ca.der().clone()).unwrap();
            let verifier = rustls::server::WebPkiClientVerifier::builder_with_provider(
                Arc::new(roots),
                provider,
            );
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    builder
        .with_single_cert(
            vec![leaf],
            PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap(),
        )
        .unwrap()
}

async fn read_request<S: tokio::io::AsyncRead + Unpin>(stream: &mut S) -> String {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte).await {
            Ok(1) => request.extend_from_slice(&byte),
            _ => break,
        }
    }
    let head = String::from_utf8_lossy(&request).to_lowercase();
    let length = head
        .split_once("content-length: ")
        .and_then(|(_, rest)| rest.split("\r\n").next()?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    if stream.read_exact(&mut body).await.is_ok() {
        request.extend_from_slice(&body);
    }
    String::from_utf8_lossy(&request).into_owned()
}

/// A complete response.
pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status} x\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        text.push_str(name);
        text.push_str(": ");
        text.push_str(value);
        text.push_str("\r\n");
    }
    text.push_str("\r\n");
    text.push_str(body);
    text.into_bytes()
}
