//! All that is counted in the process, read from where it is counted. Must not count anything itself.

mod inventories;
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
        families.extend(inventories::families(self));
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
}

fn histogram(reading: &Reading) -> Value {
    let seconds = |us: &u64| Duration::from_micros(*us).as_secs_f64();
    Value::Histogram {
        bounds: BOUNDS_US.iter().map(seconds).collect(),
        classes: reading.classes.to_vec(),
        sum: seconds(&reading.sum_us),
    }
}
