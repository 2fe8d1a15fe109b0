//! What the lead desks did, and where their deliveries stand, as metrics. Holds ids of the configuration and
//! words of this program, nothing of a lead.

use super::super::ops::Ops;
use crate::leads::Counts;
use crate::store::{DeliveryState, Tally};
use crate::telemetry::metric::{Family, Kind, Value, whole};

/// All of it.
pub(super) async fn families(ops: &Ops) -> Vec<Family> {
    let mut families = Vec::from(desks(ops));
    let tallies = ops.tallies().await;
    families.extend(outbox(&tallies, ops.clock.now().as_second()));
    families
}

/// What each desk did since it was opened.
fn desks(ops: &Ops) -> [Family; 3] {
    let counter = |name, help| Family::new(name, Kind::Counter, help);
    let mut leads = counter("forecourt_leads_total", "Leads, by what was answered.");
    let mut attempts = counter(
        "forecourt_delivery_attempts_total",
        "Attempts to deliver a lead, by how they ended.",
    );
    let mut alerts = counter(
        "forecourt_lead_alerts_total",
        "Times that a person was told of a lead.",
    );
    for deployment in &ops.deployments {
        let Some(counts) = deployment.leads.as_ref().map(|leads| leads.counters()) else {
            continue;
        };
        let own = ("deployment", deployment.id.as_str());
        for (result, count) in results(&counts) {
            leads.add(&[own, ("result", result)], whole(count));
        }
        for (outcome, count) in outcomes(&counts) {
            attempts.add(&[own, ("outcome", outcome)], whole(count));
        }
        alerts.add(&[own], whole(counts.alerts));
    }
    [leads, attempts, alerts]
}

fn results(counts: &Counts) -> [(&'static str, u64); 3] {
    [
        ("accepted", counts.accepted),
        ("rejected", counts.rejected),
        ("replayed", counts.replayed),
    ]
}

fn outcomes(counts: &Counts) -> [(&'static str, u64); 4] {
    [
        ("delivered", counts.delivered),
        ("waiting", counts.waiting),
        ("held", counts.held),
        ("refused", counts.refused),
    ]
}

/// Where deliveries stand in the store, whichever process made them.
fn outbox(tallies: &[(String, Tally)], now_s: i64) -> [Family; 2] {
    let mut deliveries = Family::new(
        "forecourt_outbox_deliveries",
        Kind::Gauge,
        "Deliveries of leads, by state.",
    );
    let mut oldest = Family::new(
        "forecourt_outbox_oldest_seconds",
        Kind::Gauge,
        "Age of the oldest open delivery.",
    );
    for (id, tally) in tallies {
        let own = ("deployment", id.as_str());
        // States that nothing stands in, too: an alarm needs the zero before the one.
        for state in DeliveryState::ALL {
            deliveries.add(&[own, ("state", state.id())], whole(tally.count(state)));
        }
        let age_s = tally
            .oldest_open
            .map_or(0, |since| now_s - since.as_second());
        oldest.add(&[own], Value::Whole(age_s.max(0)));
    }
    [deliveries, oldest]
}
