//! `[telemetry]`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use super::super::secret::Secret;

/// `[telemetry]`: what this process tells to others than its log and `/metrics`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Telemetry {
    pub otlp: Otlp,
}

/// `[telemetry.otlp]`: traces and metrics for an OpenTelemetry collector, over HTTP in protobuf. A change needs a
/// restart.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Otlp {
    /// The collector's base URL, e.g. `http://collector:4318`; `/v1/traces` and `/v1/metrics` are put behind it.
    /// Default none: nothing is sent.
    pub endpoint: Option<String>,
    /// Headers of each request, for collectors that ask who sends.
    pub headers: BTreeMap<String, Secret>,
    /// PEM of an authority trusted beside the public ones.
    pub extra_ca_file: Option<PathBuf>,
    /// The part of all traces that is recorded, 0 to 1. Default 1.
    pub trace_share: Option<f64>,
    /// Seconds between two sendings of all metrics; 0 sends none. Default 60.
    pub metrics_interval_s: Option<u64>,
    /// The name of this service. Default `forecourt`.
    pub service_name: Option<String>,
}
