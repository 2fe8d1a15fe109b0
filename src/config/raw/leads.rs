//! `[deployments.ID.leads]`: what happens to a buyer's inquiry.

use std::path::PathBuf;

use figment::value::Value;
use serde::Deserialize;

use super::super::secret::Secret;

/// One deployment's lead route.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Leads {
    /// Days for which a retried lead gets its original answer; at least 1. Default 7.
    pub retention_days: Option<u32>,
    /// The contact channels that this dealer's people can honour: `email`, `phone`, `sms`.
    /// Default all.
    pub honoured_channels: Option<Vec<String>>,
    /// The ADF profile. Default `standard`.
    pub adf_profile: Option<String>,
    /// The ways out; `kind` says which: `smtp` or `directory`. At least one.
    pub deliveries: Vec<Value>,
}

/// `kind = "smtp"`: an ADF mail to the CRM's address.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Smtp {
    /// `smtp`.
    pub kind: Option<String>,
    /// What this way is called in the ledger; must not change while leads are under way.
    /// Default its kind, or its kind and place where that is taken.
    pub name: Option<String>,
    /// The relay. Required.
    pub host: Option<String>,
    /// Default 587, or 465 with `tls = "implicit"`.
    pub port: Option<u16>,
    /// `starttls` (the default), `implicit`, or `danger_plaintext` for a relay on the same host.
    pub tls: Option<SmtpTls>,
    pub username: Option<String>,
    pub password: Option<Secret>,
    /// A file that holds the password.
    pub password_file: Option<PathBuf>,
    /// PEM of further trusted roots.
    pub extra_ca_file: Option<PathBuf>,
    /// An address of the operator's own domain. Required.
    pub from: Option<String>,
    /// The CRM's lead addresses. At least one.
    pub to: Vec<String>,
    /// The bounce address. Default `from`.
    pub bounce: Option<String>,
    /// Whether the bounce address carries the lead's correlation. Default false.
    pub verp: Option<bool>,
    /// Milliseconds for one step of the conversation. Default 30000.
    pub step_timeout_ms: Option<u64>,
}

/// How the connection to a relay is protected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SmtpTls {
    #[default]
    Starttls,
    Implicit,
    DangerPlaintext,
}

/// `kind = "directory"`: one ADF file per lead, renamed into place.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Directory {
    /// `directory`.
    pub kind: Option<String>,
    /// What this way is called in the ledger.
    pub name: Option<String>,
    /// The folder. Required.
    pub path: Option<PathBuf>,
}
