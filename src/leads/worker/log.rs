//! What the worker says to the operator: ids, states and classes of failure, never a customer's value.

use super::super::{LeadError, Leads, LedgerError};
use crate::store::{Ending, Job, Recovered, StoreError};

/// They are whoever's the store has.
pub(super) fn took_over(found: Recovered) {
    if found != Recovered::default() {
        let Recovered { queued, held } = found;
        tracing::warn!(queued, held, "leads: took over from a process that ended");
    }
}

pub(super) fn store_failed(leads: &Leads, error: &StoreError) {
    let deployment = leads.settings.deployment.as_str();
    tracing::error!(deployment, %error, "leads: the store failed");
}

pub(super) fn attempted(job: &Job, kind: &str, ending: &Ending) {
    tracing::info!(
        deployment = %job.deployment,
        lead = %job.lead_id,
        target = %job.target,
        kind,
        attempt = job.attempt,
        state = ending.state.id(),
        detail = %ending.detail,
        "leads: delivery attempt"
    );
}

pub(super) fn paused(job: &Job, pause: std::time::Duration) {
    let seconds = pause.as_secs();
    tracing::warn!(
        deployment = %job.deployment,
        target = %job.target,
        seconds,
        "leads: the target fails again and again; it is left alone for a while"
    );
}

pub(super) fn not_completed(leads: &Leads, error: &LeadError) {
    let deployment = leads.settings.deployment.as_str();
    tracing::error!(deployment, %error, "leads: pending leads could not be completed");
}

pub(super) fn lease_lost(job: &Job) {
    tracing::warn!(lead = %job.lead_id, target = %job.target, "leads: the lease was lost");
}

pub(super) fn not_recorded(job: &Job, error: &StoreError) {
    tracing::error!(lead = %job.lead_id, %error, "leads: the outcome is not recorded yet");
}

pub(super) fn purged(leads: &Leads, count: u64) {
    if count > 0 {
        let deployment = leads.settings.deployment.as_str();
        tracing::info!(deployment, count, "leads: old leads left the ledger");
    }
}

pub(super) fn not_purged(leads: &Leads, error: &LedgerError) {
    let deployment = leads.settings.deployment.as_str();
    tracing::error!(deployment, %error, "leads: old leads could not be taken out");
}
