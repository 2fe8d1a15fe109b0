//! All that is counted in the process, read from where it is counted. Must not count anything itself.

mod leads;

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::ops::Ops;
use crate::deployment::calls::{BOUNDS_US, Reading};
use crate::telemetry::metric::{Family, Kind, Value, whole};

impl Ops {
    pub(super) async fn report(&self) -> Vec<Family> {
        let version = [("version", env!("CARGO_PKG_VERSION"))];
        let build = Family::new(
            "forecourt_build_info",
            Kind::Gauge,
            "Which program this is.",
        );
        let mut families = vec![build.with(&version, Value::Whole(1))];
        families.extend(self.calls());
        families.extend(self.inventories());
        families.extend(leads::families(self).await);
        let mut fetches = Family::new(
            "forecourt_client_fetches_total",
            Kind::Counter,
            "Fetches of agents' identities, by how they ended.",
        );
        for (result, count) in self.peers.tally() {
            fetches.add(&[("result", result)], whole(count));
        }
        let mut reloads = Family::new(
            "forecourt_reloads_total",
            Kind::Counter,
            "Readings of the configuration, by whether it was taken.",
        );
        for (result, count) in [
            ("done", &self.reloads.done),
            ("refused", &self.reloads.refused),
        ] {
            reloads.add(&[("result", result)], whole(count.load(Ordering::Relaxed)));
        }
        families.extend([fetches, reloads]);
        families.extend(self.exports.iter().flat_map(|exports| exports.families()));
        families.extend(self.stats.families());
        families
    }

    fn calls(&self) -> [Family; 2] {
        let mut calls = Family::new(
            "forecourt_calls_total",
            Kind::Counter,
            "Calls of skills, by how they ended.",
        );
        let mut durations = Family::new(
            "forecourt_call_duration_seconds",
            Kind::Histogram,
            "How long calls of skills took.",
        );
        for deployment in &self.deployments {
            for reading in deployment.calls.read() {
                let labels = [
                    ("deployment", deployment.id.as_str()),
                    ("binding", reading.binding),
                    ("skill", reading.skill),
                ];
                for (code, count) in &reading.outcomes {
                    let [deployment, binding, skill] = labels;
                    let labels = [deployment, binding, skill, ("code", code)];
                    calls.add(&labels, whole(*count));
                }
                durations.add(&labels, histogram(&reading));
            }
        }
        [calls, durations]
    }

    fn inventories(&self) -> [Family; 7] {
        let gauge = |name, help| Family::new(name, Kind::Gauge, help);
        let mut age = gauge(
            "forecourt_inventory_age_seconds",
            "Since the reading that is served.",
        );
        let mut vehicles = gauge("forecourt_inventory_vehicles", "Vehicles that are offered.");
        let mut rejected = gauge(
            "forecourt_inventory_rejected",
            "Rows of the last reading that were left out.",
        );
        let mut dirty = gauge(
            "forecourt_inventory_dirty_fields",
            "Fields of the last reading that were left out.",
        );
        let mut failures = gauge(
            "forecourt_inventory_failed_readings",
            "Readings that failed since the last good one.",
        );
        let mut held = gauge(
            "forecourt_inventory_held",
            "Vehicles of a reading that waits for a person.",
        );
        let mut answers = gauge(
            "forecourt_inventory_answers",
            "1 while there is an inventory that is young enough to be served.",
        );
        for deployment in &self.deployments {
            let Some(inventory) = &deployment.inventory else {
                continue;
            };
            let (status, labels) = (inventory.status(), [("deployment", deployment.id.as_str())]);
            // Without a reading there is nothing to count: a 0 would say that every car is gone.
            if let Some(age_s) = status.age_s {
                age.add(&labels, Value::Whole(age_s));
                vehicles.add(&labels, whole(status.vehicles as u64));
                rejected.add(&labels, whole(status.rejected.total()));
                dirty.add(&labels, whole(status.dirty.total()));
            }
            failures.add(&labels, whole(status.failures));
            held.add(&labels, whole(status.held.unwrap_or(0) as u64));
            answers.add(&labels, whole(u64::from(inventory.answers())));
        }
        [age, vehicles, rejected, dirty, failures, held, answers]
    }
}

fn histogram(reading: &Reading) -> Value {
    let seconds = |us: &u64| Duration::from_micros(*us).as_secs_f64();
    Value::Histogram {
        bounds: BOUNDS_US.iter().map(seconds).collect(),
        classes: reading.classes.to_vec(),
        sum: seconds(&reading.sum_us),
    }
}
