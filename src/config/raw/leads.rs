//! `[deployments.ID.leads]`: what happens to a buyer's inquiry.

use std::collections::BTreeMap;
use std::path::PathBuf;

use figment::value::Value;
use serde::Deserialize;

use super::super::secret::Secret;
use super::Auth;

/// `[deployments.ID.leads]`: what happens to a buyer's inquiry.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Leads {
    /// Days for which a retried lead gets its original answer; at least 1. Default 7.
    pub retention_days: Option<u32>,
    /// The contact channels that this dealer's people can keep to: of `email`, `phone`, `sms`.
    /// Default all three.
    pub honoured_channels: Option<Vec<String>>,
    /// Days after which delivered leads leave the ledger by themselves; at least `retention_days`. Default
    /// never.
    pub keep_ledger_days: Option<u32>,
    /// Whether leads are sealed at rest with the key file. Default true.
    pub seal_ledger: Option<bool>,
    /// A text for the answer to the agent; `{dealer}` and `{channels}` are replaced.
    pub answer_message: Option<String>,
    /// The name behind `<id source="…">`, for ADF profiles that send ids. Default `Forecourt`.
    pub id_source: Option<String>,
    /// Ids by which CRMs know where leads come from, source and value, e.g. `{ GM = "CAMPAIGN" }`: each
    /// becomes an `<id source="…">` of the provider.
    pub provider_ids: BTreeMap<String, String>,
    /// How the store appears to the CRM, where the profile does not say it well.
    pub vendor: Vendor,
    /// The network's brand, for ADF profiles whose provider is the network.
    pub network: Option<Network>,
    /// The ways out, each under a name of its own (letters, digits, `-`); the name must stay while leads
    /// are under way. `kind` says which way: `smtp`, `http` or `directory`. At least one. Where several would
    /// take a lead, the order of names decides.
    pub deliveries: BTreeMap<String, Value>,
    /// The system that books appointments. Without it every appointment is `requested`, and people book.
    pub scheduling: Option<Scheduling>,
    /// Ways to tell the operator that something needs a person, each under a name of its own, with
    /// `kind = "smtp"` or `"http"` and that kind's keys. No message holds customers' data.
    pub alerts: BTreeMap<String, Value>,
}

/// `[deployments.ID.leads.vendor]`: how the store appears to the CRM, where the profile does not say it well.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Vendor {
    /// Ids by which CRMs know the store, source and value, e.g. `{ BAC = "123456" }`: each becomes an
    /// `<id source="…">` of the vendor.
    pub ids: BTreeMap<String, String>,
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

/// `[deployments.ID.leads.scheduling]`: a system that books appointments, asked once by a POST of JSON. What it
/// does not clearly say is `requested`, and a person is told.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scheduling {
    /// The system's URL. Required, or `url_file`.
    pub url: Option<Secret>,
    /// A file that holds the URL.
    pub url_file: Option<PathBuf>,
    pub auth: Option<Auth>,
    /// Sent with every question.
    pub headers: BTreeMap<String, Secret>,
    /// The header that carries the key of the inquiry, by which the system knows it again. Default
    /// `Idempotency-Key`.
    pub key_header: Option<String>,
    /// Seconds that it may take, 1 to 20. Default 5.
    pub timeout_s: Option<u64>,
    /// The members of the question: name and expression over `lead` (the request), `vehicle` (the verified
    /// listing), `dealer`, `lead_id`, `appointment_id` and `key`. Default: ids, rooftop, appointment, vehicle
    /// and customer.
    pub request: BTreeMap<String, String>,
    /// An expression over the answer's `status`, `json` and `body` that yields `requested`, `proposed`,
    /// `confirmed`, `rejected` (the appointment; the inquiry is taken) or `unavailable` (no time can be had,
    /// and nothing is taken: the agent gets `APPOINTMENT_TIME_UNAVAILABLE`). Required.
    pub outcome: Option<String>,
    /// Yields the booked time, for `confirmed`.
    pub confirmed_at: Option<String>,
    /// Yields the list of alternatives, for `proposed`.
    pub proposed_times: Option<String>,
    /// Holds when the whole inquiry is declined with the appointment, for another reason than its time.
    pub reject_lead: Option<String>,
    /// PEM of further trusted roots.
    pub extra_ca_file: Option<PathBuf>,
    /// Permits plain HTTP. Default false.
    pub danger_allow_http: bool,
}
