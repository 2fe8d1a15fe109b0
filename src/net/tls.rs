//! The TLS side of outbound connections: which authorities are trusted and which certificate is shown.

use std::path::Path;
use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use super::{ClientCertificate, NetError, Policy};

/// The public roots, the extra ones of the policy, and its client certificate.
pub(super) fn config(policy: &Policy) -> Result<ClientConfig, NetError> {
    let mut roots = RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    if let Some(file) = &policy.extra_ca_file {
        for certificate in certificates(file)? {
            roots
                .add(certificate)
                .map_err(|error| set_up(file, &error))?;
        }
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| NetError::SetUp(error.to_string()))?
        .with_root_certificates(roots);
    let mut config = match &policy.client_certificate {
        None => builder.with_no_client_auth(),
        Some(ClientCertificate {
            certificate_file,
            key_file,
        }) => {
            let key = PrivateKeyDer::from_pem_file(key_file).map_err(|e| set_up(key_file, &e))?;
            builder
                .with_client_auth_cert(certificates(certificate_file)?, key)
                .map_err(|error| set_up(certificate_file, &error))?
        }
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, NetError> {
    let found = CertificateDer::pem_file_iter(file)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| set_up(file, &error))?;
    if found.is_empty() {
        return Err(set_up(file, &"holds no certificate"));
    }
    Ok(found)
}

fn set_up(file: &Path, error: &dyn std::fmt::Display) -> NetError {
    NetError::SetUp(format!("{}: {error}", file.display()))
}
