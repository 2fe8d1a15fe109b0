//! Which targets a lead goes to. Must not deliver.

use serde_json::Value;

use super::adf::is_vehicleless;
use super::record::Record;
use super::settings::{Settings, TargetSettings, Vehicleless};

/// What leads are about, for routes.
pub(super) const SUBJECTS: [&str; 6] = ["new", "used", "cpo", "service", "trade_in", "general"];

/// The names of the targets that take this lead, each once; never empty while a target may take it. What
/// is another seller's way out never does (AAP-456).
pub(super) fn targets<'a>(record: &Record, settings: &'a Settings) -> Vec<&'a str> {
    let seller = record.receiver.dealer_id.as_deref();
    let open: Vec<&TargetSettings> = settings
        .targets
        .iter()
        .filter(|target| target.route.admits(seller))
        .collect();
    let taken = |target: &&TargetSettings| takes(target, record);
    let mut whole = open.iter().copied().filter(|target| !target.route.copy);
    let first = whole
        .clone()
        .find(taken)
        // No rule fits: better the first way out than none.
        .or_else(|| whole.next())
        .or_else(|| open.first().copied());
    let copies = open
        .iter()
        .copied()
        .filter(|target| target.route.copy)
        .filter(taken);
    let closed = |name: &str| {
        let target = settings.targets.iter().find(|target| target.name == name);
        target.is_some_and(|target| !target.route.admits(seller))
    };
    let mut names: Vec<&str> = Vec::new();
    for target in first.into_iter().chain(copies) {
        let name = match &target.vehicleless {
            Vehicleless::Target(other) if is_vehicleless(record) && !closed(other) => {
                other.as_str()
            }
            Vehicleless::Target(_) | Vehicleless::PlainText => target.name.as_str(),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn takes(target: &TargetSettings, record: &Record) -> bool {
    let route = &target.route;
    let subject = subject(record);
    let by_subject =
        route.subjects.is_empty() || route.subjects.iter().any(|other| other == subject);
    let by_rooftop = route.rooftops.is_empty() || route.rooftops.contains(&record.receiver.rooftop);
    by_subject && by_rooftop
}

/// What a lead is about, for routing.
fn subject(record: &Record) -> &'static str {
    let request = &record.request;
    let kind = request
        .pointer("/appointment/appointment_type")
        .and_then(Value::as_str);
    if kind == Some("service") {
        return "service";
    }
    let asked = request.pointer("/vehicle_of_interest/condition");
    let listed = record
        .listing
        .as_ref()
        .and_then(|listing| listing.get("condition"));
    match asked.or(listed).and_then(Value::as_str) {
        Some("new") => "new",
        Some("used") => "used",
        Some("cpo") => "cpo",
        _ if request.get("trade_in").is_some() && request.get("vehicle_of_interest").is_none() => {
            "trade_in"
        }
        _ => "general",
    }
}
