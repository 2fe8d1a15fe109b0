//! What the lead desks did, and where their deliveries stand, as metrics. Holds ids of the configuration and
//! words of this program, nothing of a lead.

use std::fmt::Arguments;

use super::Ops;
use crate::leads::Counts;
use crate::store::{DeliveryState, Tally};

/// Writes all of it.
pub(super) async fn write(ops: &Ops, line: &mut impl FnMut(Arguments<'_>)) {
    desks(ops, line);
    let tallies = ops.tallies().await;
    outbox(&tallies, ops.clock.now().as_second(), line);
}

/// What each desk did since it was opened.
fn desks(ops: &Ops, line: &mut impl FnMut(Arguments<'_>)) {
    let desks: Vec<(&str, Counts)> = ops
        .deployments
        .iter()
        .filter_map(|one| Some((one.id.as_str(), one.leads.as_ref()?.counters())))
        .collect();
    line(format_args!("# TYPE forecourt_leads_total counter"));
    for (id, counts) in &desks {
        for (result, count) in [
            ("accepted", counts.accepted),
            ("rejected", counts.rejected),
            ("replayed", counts.replayed),
        ] {
            line(format_args!(
                "forecourt_leads_total{{deployment=\"{id}\",result=\"{result}\"}} {count}"
            ));
        }
    }
    line(format_args!(
        "# TYPE forecourt_delivery_attempts_total counter"
    ));
    for (id, counts) in &desks {
        for (outcome, count) in [
            ("delivered", counts.delivered),
            ("waiting", counts.waiting),
            ("held", counts.held),
            ("refused", counts.refused),
        ] {
            line(format_args!(
                "forecourt_delivery_attempts_total{{deployment=\"{id}\",outcome=\"{outcome}\"}} {count}"
            ));
        }
    }
    line(format_args!("# TYPE forecourt_lead_alerts_total counter"));
    for (id, counts) in &desks {
        line(format_args!(
            "forecourt_lead_alerts_total{{deployment=\"{id}\"}} {}",
            counts.alerts
        ));
    }
}

/// Where deliveries stand in the store, whichever process made them.
fn outbox(tallies: &[(String, Tally)], now_s: i64, line: &mut impl FnMut(Arguments<'_>)) {
    line(format_args!("# TYPE forecourt_outbox_deliveries gauge"));
    for (id, tally) in tallies {
        // States that nothing stands in, too: an alarm needs the zero before the one.
        for state in DeliveryState::ALL {
            let (count, state) = (tally.count(state), state.id());
            line(format_args!(
                "forecourt_outbox_deliveries{{deployment=\"{id}\",state=\"{state}\"}} {count}"
            ));
        }
    }
    line(format_args!("# TYPE forecourt_outbox_oldest_seconds gauge"));
    for (id, tally) in tallies {
        let age_s = tally
            .oldest_open
            .map_or(0, |since| now_s - since.as_second());
        line(format_args!(
            "forecourt_outbox_oldest_seconds{{deployment=\"{id}\"}} {}",
            age_s.max(0)
        ));
    }
}
