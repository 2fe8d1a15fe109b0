//! `[deployments.ID.leads]`: what happens to a buyer's inquiry.

use std::collections::BTreeMap;
use std::path::PathBuf;

use figment::value::Value;
use serde::Deserialize;

use super::super::secret::Secret;

/// `[deployments.ID.leads]`: what happens to a buyer's inquiry.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Leads {
    /// Days for which a retried lead gets its original answer; at least 1. Default 7.
    pub retention_days: Option<u32>,
    /// The contact channels that this dealer's people can keep to: of `email`, `phone`, `sms`.
    /// Default all three.
    pub honoured_channels: Option<Vec<String>>,
    /// Whether leads are sealed at rest with the key file. Default true.
    pub seal_ledger: Option<bool>,
    /// A text for the answer to the agent; `{dealer}` and `{channels}` are replaced.
    pub answer_message: Option<String>,
    /// The name behind `<id source="…">`, for ADF profiles that send ids. Default `Forecourt`.
    pub id_source: Option<String>,
    /// How the store appears to the CRM, where the profile does not say it well.
    pub vendor: Vendor,
    /// The network's brand, for ADF profiles whose provider is the network.
    pub network: Option<Network>,
    /// The ways out, each under a name of its own (letters, digits, `-`); the name must stay while leads
    /// are under way. `kind` says which way: `smtp` or `directory`. At least one. Where several would
    /// take a lead, the order of names decides.
    pub deliveries: BTreeMap<String, Value>,
}

/// `[deployments.ID.leads.vendor]`: how the store appears to the CRM, where the profile does not say it well.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Vendor {
    pub name: Option<String>,
    pub contact_name: Option<String>,
    pub phone: Option<String>,
    pub email: Option<String>,
}

/// `[deployments.ID.leads.network]`: the network's brand.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Network {
    /// Required.
    pub name: Option<String>,
    pub url: Option<String>,
}

/// `[deployments.ID.leads.deliveries.NAME]`, of any kind: which leads go this way, and how patiently.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Delivery {
    /// `smtp` or `directory`. Required.
    pub kind: Option<String>,
    /// The ADF profile: a built-in name, or the path of a `.toml` file. Default `standard`.
    pub adf_profile: Option<String>,
    /// Only leads about these: of `new`, `used`, `cpo`, `service`, `trade_in`, `general`.
    pub subjects: Vec<String>,
    /// Only leads for these rooftops.
    pub rooftops: Vec<String>,
    /// Only leads for these sellers of an aggregate, by `dealer_id`.
    pub sellers: Vec<String>,
    /// Whether this way gets a copy, whatever else takes the lead. Default false.
    pub copy: bool,
    /// Where an inquiry without a vehicle goes, which ADF cannot carry: the name of another delivery.
    /// Default: this way, in plain words.
    pub vehicleless: Option<String>,
    /// Seconds to wait after the first failure; doubled after each. Default 30.
    pub retry_first_s: Option<u64>,
    /// Seconds to wait at most. Default 3600.
    pub retry_longest_s: Option<u64>,
    /// Seconds after which a person is told instead. Default 259200.
    pub give_up_after_s: Option<u64>,
    /// Deliveries under way at one time. Default 2.
    pub concurrency: Option<u16>,
}

/// The keys of [`Delivery`], which stand beside those of a kind.
pub(crate) const DELIVERY_KEYS: [&str; 11] = [
    "kind",
    "adf_profile",
    "subjects",
    "rooftops",
    "sellers",
    "copy",
    "vehicleless",
    "retry_first_s",
    "retry_longest_s",
    "give_up_after_s",
    "concurrency",
];

/// `[deployments.ID.leads.deliveries.NAME]` with `kind = "smtp"`: an ADF mail to the CRM's address.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Smtp {
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
    pub verp: bool,
    /// Seconds for one step of the conversation. Default 30.
    pub step_timeout_s: Option<u64>,
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

/// `[deployments.ID.leads.deliveries.NAME]` with `kind = "directory"`: one ADF file per lead, renamed into place.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Directory {
    /// The folder. Required.
    pub path: Option<PathBuf>,
}
