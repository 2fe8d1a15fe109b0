//! Leads: accepted once, recorded before they are answered, delivered once. Must not know bindings or
//! envelopes, nor look into the inventory.

mod accept;
pub mod adf;
mod alerts;
mod answer;
mod appointment;
mod check;
mod consent;
mod counters;
mod key;
mod ledger;
mod record;
mod route;
mod scheduling;
mod settings;
mod transfer;
pub mod worker;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};

use crate::clock::Clock;
use crate::contract::Problem;
use crate::seal::KeyRing;
use crate::store::{Store, StoreError};
pub use accept::Submission;
pub use adf::AdfProfile;
pub use check::{Finding, check, check_receiver, check_rooftops};
pub use counters::{Counters, Counts};
pub use ledger::{
    Decision, DeliverySummary, Dossier, Event, Ledger, LedgerError, Purge, Purged, Summary,
};
pub use record::{Receiver, Record, RecordError, RecordedCaller};
pub use settings::{
    AlertSettings, MIN_RETENTION, Network, Retry, Route, Scheduling, SchedulingAnswer, Settings,
    TargetSettings, Vehicleless, Vendor,
};
pub use transfer::Imported;

/// One deployment's lead desk.
#[derive(Debug)]
pub struct Leads {
    settings: Settings,
    targets: Vec<worker::Way>,
    store: Arc<Store>,
    keys: Arc<KeyRing>,
    clock: Clock,
    hook: Option<scheduling::Hook>,
    alerts: Vec<alerts::Line>,
    notices: alerts::Notices,
    counters: Counters,
    /// Wakes the worker when there is something to deliver.
    work: Notify,
    /// Turns true when what is in flight is to be ended or parked.
    stopping: watch::Sender<bool>,
}

impl Leads {
    /// Opens the desk. Nothing is delivered until [`worker::run`] runs.
    pub fn new(
        settings: Settings,
        store: Arc<Store>,
        keys: Arc<KeyRing>,
        clock: Clock,
    ) -> Result<Self, LeadsError> {
        let findings = check(&settings);
        if !findings.is_empty() {
            return Err(LeadsError::Settings(findings));
        }
        let targets = worker::Way::open_all(&settings)?;
        let fail = |name: &str| {
            let name = name.to_owned();
            |cause| LeadsError::Target { name, cause }
        };
        let hook = settings.scheduling.as_ref().map(scheduling::Hook::open);
        let mut alerts = Vec::new();
        for alert in &settings.alerts {
            alerts.push(alerts::Line::open(alert).map_err(fail(&alert.name))?);
        }
        Ok(Self {
            hook: hook.transpose().map_err(fail("scheduling"))?,
            alerts,
            notices: alerts::Notices::default(),
            counters: Counters::default(),
            stopping: watch::Sender::new(false),
            settings,
            targets,
            store,
            keys,
            clock,
            work: Notify::new(),
        })
    }

    /// What the desk did since the process began.
    pub fn counters(&self) -> Counts {
        self.counters.read()
    }

    /// How long a key is remembered; at least 24 hours (AAP-473).
    pub fn retention(&self) -> Duration {
        self.settings.retention
    }
}

/// Why a lead was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum LeadError {
    #[error("the key was used with other content")]
    Conflict,
    /// The grant is unusable now: one problem per reason.
    #[error("the consent grant is unusable")]
    InvalidConsent(Vec<Problem>),
    /// The whole inquiry was refused, because no time could be had for its appointment.
    #[error("no appointment time could be accepted")]
    NoTime,
    /// The original is still being worked on; retryable.
    #[error("the original submission is still in progress")]
    InProgress,
    /// The store failed; the private cause. Nothing was accepted.
    #[error("store: {0}")]
    Store(String),
}

impl From<StoreError> for LeadError {
    fn from(error: StoreError) -> Self {
        Self::Store(error.to_string())
    }
}

/// Why a lead desk cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum LeadsError {
    #[error("the settings of leads have {} findings", .0.len())]
    Settings(Vec<Finding>),
    #[error("lead target {name:?}: {cause}")]
    Target {
        name: String,
        cause: crate::delivery::DeliveryError,
    },
}

#[cfg(test)]
mod tests;
