//! What is counted of inventories. Must not count anything itself.

use std::time::Duration;

use super::Ops;
use crate::inventory::{Inventory, Timing};
use crate::telemetry::metric::{Family, Kind, Value, whole};

pub(super) fn families(ops: &Ops) -> Vec<Family> {
    let mut families = Families::new();
    for deployment in &ops.deployments {
        if let Some(inventory) = &deployment.inventory {
            families.add(&deployment.id, inventory);
        }
    }
    families.all()
}

struct Families {
    age: Family,
    generation: Family,
    vehicles: Family,
    gone: Family,
    rejected: Family,
    dirty: Family,
    reading: Family,
    build: Family,
    index: Family,
    failures: Family,
    held: Family,
    answers: Family,
    queries: Family,
}

impl Families {
    fn new() -> Self {
        let gauge = |name, help| Family::new(name, Kind::Gauge, help);
        Self {
            age: gauge(
                "forecourt_inventory_age_seconds",
                "Since the reading that is served.",
            ),
            generation: gauge(
                "forecourt_inventory_generation",
                "Readings that were published since the start.",
            ),
            vehicles: gauge("forecourt_inventory_vehicles", "Vehicles that are offered."),
            gone: gauge(
                "forecourt_inventory_gone",
                "Vehicles remembered as no longer offered.",
            ),
            rejected: gauge(
                "forecourt_inventory_rejected",
                "Rows of the last reading that were left out.",
            ),
            dirty: gauge(
                "forecourt_inventory_dirty_fields",
                "Fields of the last reading that were left out.",
            ),
            reading: gauge(
                "forecourt_inventory_reading_seconds",
                "What the reading that is served took, its mapping included.",
            ),
            build: gauge(
                "forecourt_inventory_build_seconds",
                "What its indexing took then.",
            ),
            index: gauge(
                "forecourt_inventory_index_bytes",
                "Memory of the index beside the listings' text, by part.",
            ),
            failures: gauge(
                "forecourt_inventory_failed_readings",
                "Readings that failed since the last good one.",
            ),
            held: gauge(
                "forecourt_inventory_held",
                "Vehicles of a reading that waits for a person.",
            ),
            answers: gauge(
                "forecourt_inventory_answers",
                "1 while there is an inventory that is young enough to be served.",
            ),
            queries: Family::new(
                "forecourt_inventory_query_duration_seconds",
                Kind::Histogram,
                "How long the index took to answer, by kind of question.",
            ),
        }
    }

    fn add(&mut self, deployment: &str, inventory: &Inventory) {
        let (status, labels) = (inventory.status(), [("deployment", deployment)]);
        // Without a reading there is nothing to count: a 0 would say that every car is gone.
        if let Some(age_s) = status.age_s {
            self.age.add(&labels, Value::Whole(age_s));
            self.generation.add(&labels, whole(status.generation));
            self.vehicles.add(&labels, whole(status.vehicles as u64));
            self.gone.add(&labels, whole(status.gone as u64));
            self.rejected.add(&labels, whole(status.rejected.total()));
            self.dirty.add(&labels, whole(status.dirty.total()));
            self.reading.add(&labels, seconds(status.read_ms));
            self.build.add(&labels, seconds(status.build_ms));
        }
        if let Some(index) = &status.index {
            for (part, bytes) in [
                ("columns", index.columns),
                ("orders", index.orders),
                ("look_up", index.look_up),
                ("keywords", index.keywords),
            ] {
                let labels = [("deployment", deployment), ("part", part)];
                self.index.add(&labels, whole(bytes as u64));
            }
        }
        self.failures.add(&labels, whole(status.failures));
        let held = status.held.unwrap_or(0) as u64;
        self.held.add(&labels, whole(held));
        self.answers
            .add(&labels, whole(u64::from(inventory.answers())));
        for timing in inventory.timings() {
            // Kinds that nobody asked are left out.
            if timing.counts.iter().any(|count| *count > 0) {
                let labels = [("deployment", deployment), ("kind", timing.kind.label())];
                self.queries.add(&labels, histogram(timing));
            }
        }
    }

    fn all(self) -> Vec<Family> {
        vec![
            self.age,
            self.generation,
            self.vehicles,
            self.gone,
            self.rejected,
            self.dirty,
            self.reading,
            self.build,
            self.index,
            self.failures,
            self.held,
            self.answers,
            self.queries,
        ]
    }
}

fn seconds(ms: u64) -> Value {
    Value::Real(Duration::from_millis(ms).as_secs_f64())
}

/// Class `n` holds what took less than 2ⁿ microseconds; the last one all that is slower too.
fn histogram(timing: Timing) -> Value {
    let classes = timing.counts;
    let bounds = (0..classes.len().saturating_sub(1)).map(|n| {
        let us = 1_u64.checked_shl(u32::try_from(n).unwrap_or(u32::MAX));
        Duration::from_micros(us.unwrap_or(u64::MAX)).as_secs_f64()
    });
    Value::Histogram {
        bounds: bounds.collect(),
        classes,
        sum: Duration::from_micros(timing.micros).as_secs_f64(),
    }
}
