//! What an operator decides about one deployment's leads, compiled from its configuration.

use std::time::Duration;

use super::adf::AdfProfile;
use crate::delivery;

/// The least time a key is remembered (AAP-473).
pub const MIN_RETENTION: Duration = Duration::from_hours(24);

/// One deployment's lead desk.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The deployment's id: part of every key's scope.
    pub deployment: String,
    /// How long a key is remembered; at least [`MIN_RETENTION`].
    pub retention: Duration,
    /// How far a grant's time may lie ahead of our clock.
    pub granted_at_tolerance: Duration,
    /// The channels the dealer's follow-up can keep to: of `email`, `phone`, `sms`.
    pub honoured_channels: Vec<String>,
    /// Whether ledger records are sealed with the key ring.
    pub seal_ledger: bool,
    /// How long delivered leads stay in the ledger; `None` keeps them until a person purges them.
    pub keep_ledger: Option<Duration>,
    /// A public text for the answer; `None` for the usual one. `{dealer}` and `{channels}` are replaced.
    pub answer_message: Option<String>,
    /// How the vendor appears to the CRM, where the dealer's profile does not say it well.
    pub vendor: Vendor,
    /// The name behind `<id source="…">` of a prospect, for profiles that send ids.
    pub id_source: String,
    /// Ids by which receivers know where leads come from: source and value.
    pub provider_ids: Vec<(String, String)>,
    /// The network's brand, for profiles whose provider is the network.
    pub network: Option<Network>,
    /// At least one; names are unique.
    pub targets: Vec<TargetSettings>,
    /// Who books appointments; `None`: people do.
    pub scheduling: Option<Scheduling>,
    /// Ways to tell the operator what needs a person.
    pub alerts: Vec<AlertSettings>,
}

/// A way to the operator.
#[derive(Clone, Debug)]
pub struct AlertSettings {
    pub name: String,
    pub delivery: delivery::Settings,
}

/// A system that books appointments, asked by one POST of JSON.
#[derive(Clone, Debug)]
pub struct Scheduling {
    pub http: delivery::HttpSettings,
    /// Member → expression over `lead`, `vehicle` (the verified listing), `dealer`, `lead_id`,
    /// `appointment_id` and `key`. Empty for the usual members.
    pub request: Vec<(String, String)>,
    /// Expressions over `status`, `json` and `body` of the answer.
    pub answer: SchedulingAnswer,
    /// How long the hook may take.
    pub timeout: Duration,
}

/// How the hook's answer is read.
#[derive(Clone, Debug)]
pub struct SchedulingAnswer {
    /// Yields `requested`, `proposed`, `confirmed`, `rejected` or `unavailable`.
    pub outcome: String,
    /// Yields the booked time, for `confirmed`.
    pub confirmed_at: Option<String>,
    /// Yields the alternatives, for `proposed`.
    pub proposed_times: Option<String>,
    /// Holds when the whole inquiry is declined with the appointment.
    pub reject_lead: Option<String>,
}

/// Overrides of what the receiving dealer's profile says.
#[derive(Clone, Debug, Default)]
pub struct Vendor {
    /// Ids by which receivers know the store: source and value.
    pub ids: Vec<(String, String)>,
    pub name: Option<String>,
    pub contact_name: Option<String>,
    pub phone: Option<String>,
    pub email: Option<String>,
}

/// A lead network that delivers on behalf of agents (AAP-570).
#[derive(Clone, Debug)]
pub struct Network {
    pub name: String,
    pub url: Option<String>,
}

/// One way out, as an operator names it.
#[derive(Clone, Debug)]
pub struct TargetSettings {
    /// Letters, digits, `-`; the delivery's name in ledger and log.
    pub name: String,
    pub delivery: delivery::Settings,
    pub profile: AdfProfile,
    /// Which leads go this way. Of several that would take one the first does, and of none that would the first does.
    pub route: Route,
    pub vehicleless: Vehicleless,
    pub retry: Retry,
    /// How many deliveries run at once.
    pub concurrency: u16,
    /// How many attempts a minute; `None` for no limit.
    pub per_minute: Option<u32>,
}

/// Which leads a target takes. Empty lists do not restrict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// Of `new`, `used`, `cpo`, `service`, `trade_in`, `general`.
    pub subjects: Vec<String>,
    /// Rooftop names.
    pub rooftops: Vec<String>,
    /// Sellers of an aggregate, by `dealer_id`.
    pub sellers: Vec<String>,
    /// A copy goes out beside whatever else takes the lead.
    pub copy: bool,
}

impl Route {
    /// Whether a lead of this seller may go this way at all.
    pub fn admits(&self, dealer_id: Option<&str>) -> bool {
        self.sellers.is_empty()
            || dealer_id.is_some_and(|id| self.sellers.iter().any(|seller| seller == id))
    }
}

/// What happens to an inquiry that has no valid ADF form, because no vehicle is known (AAP-575).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Vehicleless {
    /// It goes the same way in plain words, never called ADF.
    #[default]
    PlainText,
    /// It goes to another target, e.g. the CRM's own address for general inquiries.
    Target(String),
}

/// When to try again, and when to stop.
#[derive(Clone, Copy, Debug)]
pub struct Retry {
    /// The pause after the first failure; it doubles with each.
    pub first: Duration,
    pub longest: Duration,
    /// A lead that could not be delivered for so long is given up and put before a person.
    pub give_up_after: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(30),
            longest: Duration::from_hours(1),
            give_up_after: Duration::from_hours(3 * 24),
        }
    }
}

impl Settings {
    /// The usual settings of a deployment that delivers by `targets`.
    pub fn new(deployment: impl Into<String>, targets: Vec<TargetSettings>) -> Self {
        Self {
            deployment: deployment.into(),
            retention: Duration::from_hours(7 * 24),
            granted_at_tolerance: Duration::from_mins(1),
            honoured_channels: ["email", "phone", "sms"].map(str::to_owned).to_vec(),
            seal_ledger: true,
            keep_ledger: None,
            answer_message: None,
            vendor: Vendor::default(),
            id_source: "Forecourt".to_owned(),
            provider_ids: Vec::new(),
            network: None,
            targets,
            scheduling: None,
            alerts: Vec::new(),
        }
    }
}

impl TargetSettings {
    /// A target that takes every lead, in the words of `profile`.
    pub fn new(name: impl Into<String>, delivery: delivery::Settings, profile: AdfProfile) -> Self {
        Self {
            name: name.into(),
            delivery,
            profile,
            route: Route::default(),
            vehicleless: Vehicleless::default(),
            retry: Retry::default(),
            concurrency: 2,
            per_minute: None,
        }
    }
}
