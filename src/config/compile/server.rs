//! `[server]`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use super::super::raw;
use super::{Scope, Server};
use crate::server::{CertificateFiles, Networks, Settings, Tls, TlsSettings};

const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

pub(super) fn compile(scope: &mut Scope<'_>, raw: &raw::Server) -> Option<Server> {
    let default = Settings::default();
    let grace_ms = u64::try_from(default.shutdown_grace.as_millis()).unwrap_or(1_500);
    let grace_ms = scope.bounded(
        "shutdown_grace_ms",
        raw.shutdown_grace_ms,
        grace_ms,
        (0, 600_000),
    );
    let settings = Settings {
        max_connections: scope.bounded(
            "max_connections",
            raw.max_connections,
            default.max_connections,
            (1, 1_000_000),
        ),
        max_header_bytes: scope.bounded(
            "max_header_bytes",
            raw.max_header_bytes,
            default.max_header_bytes,
            (8_192, 1 << 20),
        ),
        max_body_bytes: scope.bounded(
            "max_body_bytes",
            raw.max_body_bytes,
            default.max_body_bytes,
            (16_384, 16 << 20),
        ),
        header_timeout: seconds(
            scope,
            "header_timeout_s",
            raw.header_timeout_s,
            default.header_timeout,
        ),
        body_timeout: seconds(
            scope,
            "body_timeout_s",
            raw.body_timeout_s,
            default.body_timeout,
        ),
        shutdown_grace: Duration::from_millis(grace_ms),
        requests_per_minute_per_address: scope.limit(
            "requests_per_minute_per_address",
            raw.requests_per_minute_per_address,
        ),
        max_connections_per_address: scope.bounded(
            "max_connections_per_address",
            raw.max_connections_per_address,
            default.max_connections_per_address,
            (1, 1_000_000),
        ),
        trusted_proxies: proxies(scope, &raw.trusted_proxies),
        tls: None,
        hsts_s: scope.bounded("hsts_s", raw.hsts_s, default.hsts_s, (0, 63_072_000)),
        tracer: None,
    };
    let listen = address(scope, "listen", raw.listen.as_deref());
    let admin_listen = address(scope, "admin_listen", raw.admin_listen.as_deref());
    let tls = tls(&mut scope.below("tls"), &raw.tls);
    let listen = match (&raw.listen, listen) {
        (Some(_), listen) => listen?,
        (None, _) => DEFAULT_LISTEN,
    };
    if !listen.ip().is_loopback() && tls.is_none() && settings.trusted_proxies.is_empty() {
        let reason = "is plain HTTP beyond this machine";
        let remedy =
            "set [server.tls], or name the proxy that terminates TLS in server.trusted_proxies";
        scope.fault("listen", reason, remedy);
    }
    Some(Server {
        listen,
        admin_listen,
        tls,
        settings,
    })
}

fn address(scope: &mut Scope<'_>, key: &str, text: Option<&str>) -> Option<SocketAddr> {
    let parsed = text?.parse().ok();
    if parsed.is_none() {
        let remedy = "write e.g. 127.0.0.1:8080 or [::]:8080";
        scope.fault(key, "is not an address and port", remedy);
    }
    parsed
}

fn proxies(scope: &mut Scope<'_>, texts: &[String]) -> Networks {
    match Networks::parse(texts.iter().map(String::as_str)) {
        Ok(networks) => networks,
        Err(text) => {
            let reason = format!("holds {text:?}, which is no address or network");
            let remedy = "write e.g. 10.0.0.0/8, 2001:db8::1 or loopback";
            scope.fault("trusted_proxies", reason, remedy);
            Networks::default()
        }
    }
}

/// TLS, where a certificate is named. Every file is read once now, so that a fault in one is found.
fn tls(scope: &mut Scope<'_>, raw: &raw::Tls) -> Option<TlsSettings> {
    let mut certificates = Vec::new();
    if raw.certificate_file.is_some() || raw.key_file.is_some() {
        let own = raw::Certificate {
            certificate_file: raw.certificate_file.clone(),
            key_file: raw.key_file.clone(),
        };
        certificates.extend(certificate(scope, &own));
    }
    for (index, raw) in raw.certificates.iter().enumerate() {
        let mut scope = scope.below(&format!("certificates.{index}"));
        certificates.extend(certificate(&mut scope, raw));
    }
    let client_ca_file = raw.client_ca_file.as_ref();
    let client_ca_file = client_ca_file.map(|file| scope.path("client_ca_file", file));
    if certificates.is_empty() {
        if client_ca_file.is_some() {
            scope.fault("client_ca_file", "stands alone", "name a certificate, too");
        }
        return None;
    }
    let settings = TlsSettings {
        certificates,
        client_ca_file,
    };
    if let Err(error) = Tls::open(&settings) {
        scope.fault(
            "",
            error.to_string(),
            "name readable PEM files that go together",
        );
    }
    Some(settings)
}

fn certificate(scope: &mut Scope<'_>, raw: &raw::Certificate) -> Option<CertificateFiles> {
    let mut file = |key: &str, path: Option<&PathBuf>| {
        let path = scope.need(key, path, "name the PEM file")?;
        Some(scope.path(key, path))
    };
    let certificate_file = file("certificate_file", raw.certificate_file.as_ref());
    let key_file = file("key_file", raw.key_file.as_ref());
    Some(CertificateFiles {
        certificate_file: certificate_file?,
        key_file: key_file?,
    })
}

fn seconds(scope: &mut Scope<'_>, key: &str, value: Option<u64>, default: Duration) -> Duration {
    Duration::from_secs(scope.bounded(key, value, default.as_secs(), (1, 3_600)))
}
