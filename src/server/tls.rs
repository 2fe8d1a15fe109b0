//! TLS of the listener: certificates by server name, read again without a restart. Must not know HTTP.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use rustls::RootCertStore;
use rustls::client::verify_server_name;
use rustls::crypto::CryptoProvider;
use rustls::server::{
    ClientHello, ParsedCertificate, ResolvesServerCert, ServerConfig, WebPkiClientVerifier,
};
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::TlsAcceptor;

/// Where certificates and keys lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsSettings {
    /// Each with the names that it is valid for; the first also answers clients that name no host.
    pub certificates: Vec<CertificateFiles>,
    /// Authorities of client certificates; where set, every client must show one of theirs.
    pub client_ca_file: Option<PathBuf>,
}

/// PEM files of a certificate chain and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    pub certificate_file: PathBuf,
    pub key_file: PathBuf,
}

/// Why TLS cannot be offered.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("{file}: {reason}")]
    File { file: PathBuf, reason: String },
    #[error("TLS: {0}")]
    Library(#[from] rustls::Error),
    #[error("client certificates: {0}")]
    Clients(String),
}

/// The listener's side of TLS. New connections use what was read last.
pub struct Tls(ArcSwap<ServerConfig>);

impl Tls {
    /// Reads every file.
    pub fn open(settings: &TlsSettings) -> Result<Self, TlsError> {
        Ok(Self(ArcSwap::from_pointee(config(settings)?)))
    }

    /// Reads every file again; on any error what is in use stays.
    pub fn replace(&self, settings: &TlsSettings) -> Result<(), TlsError> {
        self.0.store(Arc::new(config(settings)?));
        Ok(())
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.0.load_full())
    }
}

fn config(settings: &TlsSettings) -> Result<ServerConfig, TlsError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut keys = Vec::new();
    for files in &settings.certificates {
        keys.push(Arc::new(certified(files, &provider)?));
    }
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    let builder = match &settings.client_ca_file {
        None => builder.with_no_client_auth(),
        Some(file) => {
            let mut roots = RootCertStore::empty();
            for certificate in chain(file)? {
                roots.add(certificate)?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            let verifier = verifier.build();
            builder.with_client_cert_verifier(
                verifier.map_err(|error| TlsError::Clients(error.to_string()))?,
            )
        }
    };
    let mut config = builder.with_cert_resolver(Arc::new(ByName(keys)));
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn certified(
    files: &CertificateFiles,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, TlsError> {
    let chain = chain(&files.certificate_file)?;
    let failed = |reason: String| TlsError::File {
        file: files.key_file.clone(),
        reason,
    };
    let key = PrivateKeyDer::from_pem_file(&files.key_file);
    let key = key.map_err(|error| failed(error.to_string()))?;
    let certified = CertifiedKey::from_der(chain, key, provider);
    certified.map_err(|error| failed(format!("does not go with its certificate: {error}")))
}

fn chain(file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let failed = |reason: String| TlsError::File {
        file: file.to_owned(),
        reason,
    };
    let found = CertificateDer::pem_file_iter(file)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| failed(error.to_string()))?;
    if found.is_empty() {
        return Err(failed("holds no certificate".to_owned()));
    }
    Ok(found)
}

/// The first certificate that is valid for the name that the client says.
struct ByName(Vec<Arc<CertifiedKey>>);

impl ResolvesServerCert for ByName {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let Some(name) = hello.server_name() else {
            return self.0.first().cloned();
        };
        let name = ServerName::try_from(name).ok()?;
        let fits = |key: &&Arc<CertifiedKey>| {
            let certificate = key.end_entity_cert();
            certificate
                .and_then(ParsedCertificate::try_from)
                .is_ok_and(|parsed| verify_server_name(&parsed, &name).is_ok())
        };
        self.0.iter().find(fits).cloned()
    }
}

impl fmt::Debug for ByName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ByName").field(&self.0.len()).finish()
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}
