//! `[deployments.ID.profile]`: what the dealer is, in AAP's own words (`dealer.information`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// `[deployments.ID.profile]`: what the dealer is, in AAP's own words.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    /// The dealer's name. Required.
    pub name: Option<String>,
    /// What an agent may say in greeting.
    pub welcome_message: Option<String>,
    /// The dealer's places; at least one, unless the mapping's `[profile]` reads them from the source.
    pub rooftops: Vec<Rooftop>,
}

/// `[[deployments.ID.profile.rooftops]]`: one place of the dealer. What is absent is unknown.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rooftop {
    /// Unique; the value of a vehicle's `rooftop`. Required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub legal_name: Option<String>,
    /// A URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website: Option<String>,
    /// WGS84 degrees. Search by distance needs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geo: Option<Geo>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub emails: Vec<ContactPoint>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phones: Vec<ContactPoint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub schedules: Vec<Schedule>,
    /// An IANA name, e.g. `America/Los_Angeles`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// Default fees for display only; an empty list says that there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fees: Option<Vec<Fee>>,
    /// Free words such as `sales`, `service`, `parts`, `financing`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
}

/// `rooftops.geo`: a point on the globe.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Geo {
    /// -90 to 90. Required.
    pub latitude: Option<f64>,
    /// -180 to 180. Required.
    pub longitude: Option<f64>,
}

/// `rooftops.emails` and `rooftops.phones`: lists of an address or number with its label.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContactPoint {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Required.
    pub value: Option<String>,
}

/// `rooftops.address`: a postal address. An absent `country` is `US`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Address {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address_line_1: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address_line_2: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zip: Option<String>,
}

/// `rooftops.schedules`: a list of weekly hours in the rooftop's local time.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Schedule {
    /// E.g. `sales`, `service`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `monday` … `sunday`, each `"09:00-18:00"` or `"closed"`; an absent day is unknown. Required.
    pub value: BTreeMap<String, String>,
}

/// `rooftops.fees`: a list of fees.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fee {
    /// Required.
    pub name: Option<String>,
    /// Whole dollars. Required.
    pub amount: Option<u64>,
}
