//! Who the agent of `call` is: an identity that is published already, or one for development. Its authority's key is
//! thrown away once it has signed the one certificate, so whoever trusts it trusts that certificate and no other.

use std::fs;
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use super::super::failure::{Exit, Failure};
use super::jws::{self, Key};
use super::publish::{KID, Publishing, publish};
use crate::app;

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
        let (origin, publishing) = publish(files.acceptor()?, arguments.publish, &key).await?;
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
