//! `[deployments.ID.leads.deliveries.NAME]`: the ways out.

use std::collections::BTreeMap;
use std::path::PathBuf;

use figment::value::Value;
use serde::Deserialize;

use super::super::secret::Secret;
use super::Auth;

/// `[deployments.ID.leads.deliveries.NAME]`, of any kind: which leads go this way, and how patiently.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Delivery {
    /// `smtp`, `http` or `directory`. Required.
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
    /// Where an inquiry without a vehicle goes, which ADF cannot carry: `plain_text` (this way, in words)
    /// or the name of another delivery. Default `plain_text`; with `kind = "http"` it must be said.
    pub vehicleless: Option<String>,
    /// Seconds to wait after the first failure; doubled after each. Default 30.
    pub retry_first_s: Option<u64>,
    /// Seconds to wait at most, also where a receiver asks for more by `Retry-After`. Default 3600.
    pub retry_longest_s: Option<u64>,
    /// Seconds after which a person is told instead. Default 259200.
    pub give_up_after_s: Option<u64>,
    /// Deliveries under way at one time. Default 2.
    pub concurrency: Option<u16>,
    /// Attempts a minute at most. Default unlimited.
    pub per_minute: Option<u32>,
}

/// The keys of [`Delivery`], which stand beside those of a kind.
pub(crate) const DELIVERY_KEYS: [&str; 12] = [
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
    "per_minute",
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
    /// Seconds for one step of the conversation, 1 to 240. Default 30.
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

/// `[deployments.ID.leads.deliveries.NAME]` with `kind = "http"`: a POST to the CRM's intake. There is no ADF
/// response format, so expressions say how its answers are to be read; they know `status`, `media_type`,
/// `body` (text) and `json` (the parsed body, if it is JSON), and are asked in this order.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Http {
    /// The intake's URL. Required, or `url_file`.
    pub url: Option<Secret>,
    /// A file that holds the URL, for one with a key in it.
    pub url_file: Option<PathBuf>,
    /// `plain` (the document is the body, the default) or `json` (it is one member of an object).
    pub form: Option<HttpForm>,
    /// The type of a plain document. Default `application/xml`.
    pub content_type: Option<String>,
    /// The member that holds the document. Default `adf`.
    pub json_member: Option<String>,
    /// Fixed members beside it.
    pub json_others: BTreeMap<String, Value>,
    pub auth: Option<Auth>,
    /// Sent with every request.
    pub headers: BTreeMap<String, Secret>,
    /// The header for the HMAC-SHA256 of the body in hexadecimal, e.g. `x-adf-signature`.
    pub signature_header: Option<String>,
    pub signature_secret: Option<Secret>,
    /// A file that holds the secret of the signature.
    pub signature_secret_file: Option<PathBuf>,
    /// The header that carries the delivery's own id, the same at each attempt.
    pub correlation_header: Option<String>,
    /// The receiver has the lead, e.g. `status == 200 and json.success`. Default: a plain 200, 201, 202 or
    /// 204 that is no HTML page.
    pub delivered: Option<String>,
    /// It certainly has not, and may be asked again, e.g. `status in [429, 503]`. Default: 429.
    pub retry: Option<String>,
    /// It will never take it, e.g. `body is startingwith("ERROR")`. Default: 3xx and 4xx. What no rule
    /// settles is held for a person.
    pub refused: Option<String>,
    /// Whether the receiver makes no second lead of a correlation that it knows: then what is unknown is
    /// sent again. Default false.
    pub deduplicates: bool,
    /// Seconds for one attempt. Default 30.
    pub timeout_s: Option<u64>,
    /// PEM of further trusted roots.
    pub extra_ca_file: Option<PathBuf>,
    /// Permits plain HTTP, which shows customers' data to everybody on the way. Default false.
    pub danger_allow_http: bool,
}

/// How the document stands in the body of a POST.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HttpForm {
    #[default]
    Plain,
    Json,
}
