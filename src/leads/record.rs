//! What the ledger keeps of one lead: everything that is needed to answer for it and to deliver it, as it
//! was at acceptance. Must not be changed afterwards.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::contract::Caller;
use crate::profile::{Profile, Rooftop};
use crate::seal::{KeyRing, SealError};

/// What ledger records are sealed for.
const PURPOSE: &str = "ledger";

/// One ledger record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The complete request, its `ConsentGrant` included (AAP-561).
    pub request: Value,
    pub caller: RecordedCaller,
    pub receiver: Receiver,
    /// The verified listing behind `vehicle_of_interest`, when there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listing: Option<Value>,
    /// What the scheduling system said of the appointment, where one was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub booking: Option<Value>,
}

/// Who called, as far as it was verified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum RecordedCaller {
    Anonymous,
    Pap { client_id: String, user_id: String },
    OAuth { issuer: String, subject: String },
}

/// The receiving dealership as it stood then: a delivery days later says the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Receiver {
    pub dealer_id: Option<String>,
    pub name: String,
    pub rooftop: String,
    pub timezone: Option<String>,
    pub contact_name: Option<String>,
    pub phone: Option<String>,
    pub email: Option<String>,
}

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("the ledger record is sealed with a key that this key ring does not hold")]
    Sealed,
    #[error("the ledger record is unreadable")]
    Unreadable,
    #[error(transparent)]
    Seal(#[from] SealError),
}

impl Record {
    /// The record as the store keeps it. Sealed, it opens only under its own lead's id.
    pub(super) fn to_text(
        &self,
        lead_id: &str,
        keys: Option<&KeyRing>,
    ) -> Result<String, RecordError> {
        let plain = serde_json::to_string(self).map_err(|_| RecordError::Unreadable)?;
        match keys {
            Some(keys) => Ok(keys.seal(PURPOSE, lead_id.as_bytes(), plain.as_bytes())?),
            None => Ok(plain),
        }
    }

    /// Reads what the ledger holds of the lead, sealed or not.
    pub fn from_text(text: &str, lead_id: &str, keys: &KeyRing) -> Result<Self, RecordError> {
        if text.starts_with('{') {
            return serde_json::from_str(text).map_err(|_| RecordError::Unreadable);
        }
        let plain = keys
            .open(PURPOSE, lead_id.as_bytes(), text)
            .ok_or(RecordError::Sealed)?;
        serde_json::from_slice(&plain).map_err(|_| RecordError::Unreadable)
    }
}

impl From<&Caller> for RecordedCaller {
    fn from(caller: &Caller) -> Self {
        match caller.clone() {
            Caller::Anonymous => Self::Anonymous,
            Caller::Pap { client_id, user_id } => Self::Pap { client_id, user_id },
            Caller::OAuth { issuer, subject } => Self::OAuth { issuer, subject },
        }
    }
}

impl Receiver {
    /// The dealership and, of its rooftops, the one that holds the vehicle: as the verified listing says,
    /// else as the buyer says, else the first that sells.
    pub fn of(profile: &Profile, request: &Value, listing: Option<&Value>) -> Self {
        let named = listing
            .and_then(|listing| listing.get("rooftop"))
            .or_else(|| request.pointer("/vehicle_of_interest/rooftop"))
            .and_then(Value::as_str)
            .and_then(|name| profile.rooftop(name));
        let sells = |rooftop: &&Rooftop| {
            let tags = rooftop.public.get("capabilities").and_then(Value::as_array);
            tags.is_some_and(|tags| tags.iter().any(|tag| tag == "sales"))
        };
        let rooftop = named
            .or_else(|| profile.rooftops.iter().find(sells))
            .or_else(|| profile.rooftops.first());
        let phone = rooftop.and_then(|rooftop| sales_contact(rooftop, "phones"));
        let email = rooftop.and_then(|rooftop| sales_contact(rooftop, "emails"));
        let label = phone
            .as_ref()
            .or(email.as_ref())
            .and_then(|(label, _)| label.clone());
        Self {
            dealer_id: profile.dealer_id.clone(),
            name: profile.name.clone(),
            rooftop: rooftop.map_or_else(|| profile.name.clone(), |rooftop| rooftop.name.clone()),
            timezone: rooftop.and_then(|rooftop| rooftop.timezone.clone()),
            contact_name: label,
            phone: phone.map(|(_, value)| value),
            email: email.map(|(_, value)| value),
        }
    }
}

/// The contact point of sales, else the first: its label and value.
fn sales_contact(rooftop: &Rooftop, kind: &str) -> Option<(Option<String>, String)> {
    let points = rooftop.public.get(kind)?.as_array()?;
    let label = |point: &Value| point.get("name").and_then(Value::as_str).map(str::to_owned);
    let sales =
        |point: &&Value| label(point).is_some_and(|name| name.to_lowercase().contains("sales"));
    let point = points.iter().find(sales).or_else(|| points.first())?;
    let value = point.get("value")?.as_str()?.trim();
    (!value.is_empty()).then(|| (label(point), value.to_owned()))
}
