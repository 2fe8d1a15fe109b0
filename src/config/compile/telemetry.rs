//! `[telemetry]`.

use std::time::Duration;

use super::super::raw;
use super::Scope;
use crate::net::Policy;

/// For one sending.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where traces and metrics go.
#[derive(Clone)]
pub struct Otlp {
    pub traces_url: String,
    pub metrics_url: String,
    /// May hold a secret.
    pub headers: Vec<(String, String)>,
    pub policy: Policy,
    pub trace_share: f64,
    pub metrics_every: Option<Duration>,
    pub service_name: String,
}

// URL and headers may hold credentials
impl std::fmt::Debug for Otlp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Otlp").finish_non_exhaustive()
    }
}

pub(super) fn compile(scope: &mut Scope<'_>, raw: &raw::Telemetry) -> Option<Otlp> {
    let (mut scope, raw) = (scope.below("otlp"), &raw.otlp);
    let trace_share = scope.bounded("trace_share", raw.trace_share, 1.0, (0.0, 1.0));
    let every = scope.bounded(
        "metrics_interval_s",
        raw.metrics_interval_s,
        60,
        (0, 86_400),
    );
    let endpoint = raw.endpoint.as_deref()?.trim_end_matches('/');
    let uri: Option<http::Uri> = endpoint.parse().ok();
    let plain = uri.filter(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https"))
            && uri.query().is_none()
            && uri
                .authority()
                .is_some_and(|authority| !authority.as_str().contains('@'))
    });
    if plain.is_none() {
        let remedy = "write e.g. http://collector:4318; credentials go under headers";
        scope.fault("endpoint", "is not the base URL of a collector", remedy);
        return None;
    }
    for (name, value) in &raw.headers {
        let fits = http::HeaderName::try_from(name.as_str()).is_ok()
            && http::HeaderValue::try_from(value.expose()).is_ok();
        if !fits {
            scope.fault(
                &format!("headers.{name}"),
                "is no HTTP header",
                "correct name and value",
            );
        }
    }
    let extra_ca_file = raw.extra_ca_file.as_ref();
    Some(Otlp {
        traces_url: format!("{endpoint}/v1/traces"),
        metrics_url: format!("{endpoint}/v1/metrics"),
        headers: raw
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), value.expose().to_owned()))
            .collect(),
        policy: Policy {
            allow_http: true,
            timeout: PATIENCE,
            max_body_bytes: 64 * 1024,
            extra_ca_file: extra_ca_file.map(|file| scope.authorities("extra_ca_file", file).0),
            ..Policy::for_operator()
        },
        trace_share,
        metrics_every: (every > 0).then(|| Duration::from_secs(every)),
        service_name: raw
            .service_name
            .clone()
            .unwrap_or_else(|| "forecourt".to_owned()),
    })
}
