//! What is counted of inventories. Must not count anything itself.

use std::time::Duration;

use super::Ops;
use crate::inventory::{Inventory, Status, Timing};
use crate::telemetry::metric::{Family, Kind, Value, whole};

type Read = fn(&Status) -> Value;

/// What is known once there was a reading. Without one there is nothing to count: a 0 would say that every car is
/// gone.
const READ: [(&str, &str, Read); 7] = [
    (
        "forecourt_inventory_generation",
        "Readings that were published since the start.",
        |status| whole(status.generation),
    ),
    (
        "forecourt_inventory_vehicles",
        "Vehicles that are offered.",
        |status| whole(status.vehicles as u64),
    ),
    (
        "forecourt_inventory_gone",
        "Vehicles remembered as no longer offered.",
        |status| whole(status.gone as u64),
    ),
    (
        "forecourt_inventory_rejected",
        "Rows of the last reading that were left out.",
        |status| whole(status.rejected.total()),
    ),
    (
        "forecourt_inventory_dirty_fields",
        "Fields of the last reading that were left out.",
        |status| whole(status.dirty.total()),
    ),
    (
        "forecourt_inventory_reading_seconds",
        "What the reading that is served took, its mapping included.",
        |status| seconds(status.read_ms),
    ),
    (
        "forecourt_inventory_build_seconds",
        "What its indexing took then.",
        |status| seconds(status.build_ms),
    ),
];

/// What is always known.
const ALWAYS: [(&str, &str, Read); 2] = [
    (
        "forecourt_inventory_failed_readings",
        "Readings that failed since the last good one.",
        |status| whole(status.failures),
    ),
    (
        "forecourt_inventory_held",
        "Vehicles of a reading that waits for a person.",
        |status| whole(status.held.unwrap_or(0) as u64),
    ),
];

/// One deployment's id, and its inventory as it is now.
type Seen<'a> = (&'a str, &'a Inventory, Status);

pub(super) fn families(ops: &Ops) -> Vec<Family> {
    let deployments = ops.deployments.iter();
    let seen = deployments.filter_map(|deployment| {
        let inventory = deployment.inventory.as_deref()?;
        Some((deployment.id.as_str(), inventory, inventory.status()))
    });
    let seen: Vec<Seen<'_>> = seen.collect();
    let mut age = gauge(
        "forecourt_inventory_age_seconds",
        "Since the reading that is served.",
    );
    let mut answers = gauge(
        "forecourt_inventory_answers",
        "1 while there is an inventory that is young enough to be served.",
    );
    for (id, inventory, status) in &seen {
        let labels = [("deployment", *id)];
        if let Some(age_s) = status.age_s {
            age.add(&labels, Value::Whole(age_s));
        }
        answers.add(&labels, whole(u64::from(inventory.answers())));
    }
    let mut families = vec![age, answers];
    for (name, help, read) in READ {
        families.push(gauges((name, help, read), &seen, |status| {
            status.age_s.is_some()
        }));
    }
    for (name, help, read) in ALWAYS {
        families.push(gauges((name, help, read), &seen, |_| true));
    }
    families.extend([index(&seen), queries(&seen)]);
    families
}

fn gauge(name: &'static str, help: &'static str) -> Family {
    Family::new(name, Kind::Gauge, help)
}

fn gauges(
    (name, help, read): (&'static str, &'static str, Read),
    seen: &[Seen<'_>],
    known: impl Fn(&Status) -> bool,
) -> Family {
    let mut family = gauge(name, help);
    for (id, _, status) in seen.iter().filter(|(_, _, status)| known(status)) {
        family.add(&[("deployment", id)], read(status));
    }
    family
}

fn index(seen: &[Seen<'_>]) -> Family {
    let mut family = gauge(
        "forecourt_inventory_index_bytes",
        "Memory of the index beside the listings' text, by part.",
    );
    for (id, _, status) in seen {
        let Some(index) = &status.index else { continue };
        for (part, bytes) in [
            ("columns", index.columns),
            ("orders", index.orders),
            ("look_up", index.look_up),
            ("keywords", index.keywords),
        ] {
            family.add(&[("deployment", id), ("part", part)], whole(bytes as u64));
        }
    }
    family
}

/// Kinds that nobody asked are left out.
fn queries(seen: &[Seen<'_>]) -> Family {
    let mut family = Family::new(
        "forecourt_inventory_query_duration_seconds",
        Kind::Histogram,
        "How long the index took to answer, by kind of question.",
    );
    for (id, inventory, _) in seen {
        let timings = inventory.timings().into_iter();
        for timing in timings.filter(|timing| timing.counts.iter().any(|count| *count > 0)) {
            let labels = [("deployment", *id), ("kind", timing.kind.label())];
            family.add(&labels, histogram(timing));
        }
    }
    family
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
