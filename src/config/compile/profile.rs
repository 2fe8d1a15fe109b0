//! The dealer's profile: checked and turned into AAP's objects.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::super::raw;
use super::scope::Scope;
use crate::contract::Contract;
use crate::mapping::{DAYS, Mapping};
use crate::profile::{Profile, Rooftop};

/// Says that no rooftop is described, where the mapping does not find them at the source either.
pub(super) fn need_rooftops(scope: &mut Scope<'_>, profile: &Profile, mapping: Option<&Mapping>) {
    let read = mapping.is_some_and(|mapping| mapping.profile_plan().is_some());
    if profile.rooftops.is_empty() && !read {
        scope.fault(
            "rooftops",
            "is missing",
            "describe each place of the dealer under [[…profile.rooftops]], or in the mapping's [profile]",
        );
    }
}

/// Whether `dealer.information` can answer with it.
pub(super) fn check(scope: &mut Scope<'_>, profile: &Profile, contract: &Contract) {
    let checked = contract.check_document("dealer-information", &profile.to_value());
    let problems = checked.err().unwrap_or_default();
    // That there are none is said elsewhere, where it is wrong.
    let problems = problems
        .iter()
        .filter(|problem| problem.instance_location != "/rooftops");
    for problem in problems {
        let key = problem.instance_location.replace('/', ".");
        let remedy = problem.error.clone();
        scope.fault(&key, "is not as AAP has it", remedy);
    }
}

/// The profile, as far as it is right.
pub(super) fn compile(scope: &mut Scope<'_>, raw: &raw::Profile) -> Option<Profile> {
    let name = filled(scope, "name", raw.name.as_deref(), "give the dealer's name");
    let mut names = BTreeSet::new();
    let mut rooftops = Vec::new();
    for (index, raw) in raw.rooftops.iter().enumerate() {
        let mut scope = scope.below(&format!("rooftops.{index}"));
        let Some(rooftop) = rooftop(&mut scope, raw) else {
            continue;
        };
        if !names.insert(rooftop.name.clone()) {
            scope.fault(
                "name",
                "names a second rooftop the same",
                "give each rooftop its own name",
            );
        }
        rooftops.push(rooftop);
    }
    Some(Profile {
        dealer_id: None,
        name: name?,
        welcome_message: raw.welcome_message.clone(),
        rooftops,
    })
}

fn rooftop(scope: &mut Scope<'_>, raw: &raw::Rooftop) -> Option<Rooftop> {
    let name = filled(
        scope,
        "name",
        raw.name.as_deref(),
        "give the place's name, as vehicles name it",
    );
    let geo = raw
        .geo
        .as_ref()
        .and_then(|geo| place(&mut scope.below("geo"), *geo));
    if let Some(zone) = &raw.timezone
        && jiff::tz::TimeZone::get(zone).is_err()
    {
        scope.fault(
            "timezone",
            "is not an IANA time zone",
            "use a name such as America/Los_Angeles",
        );
    }
    contacts(scope, "emails", &raw.emails);
    contacts(scope, "phones", &raw.phones);
    fees(scope, raw.fees.as_deref().unwrap_or_default());
    let mut public = match serde_json::to_value(raw) {
        Ok(Value::Object(public)) => public,
        _ => Map::new(),
    };
    if !raw.schedules.is_empty() {
        public.insert("schedules".to_owned(), schedules(scope, &raw.schedules));
    }
    Some(Rooftop {
        name: name?,
        geo,
        timezone: raw.timezone.clone(),
        public,
    })
}

fn filled(scope: &mut Scope<'_>, key: &str, text: Option<&str>, remedy: &str) -> Option<String> {
    let text = text.map(str::trim).filter(|text| !text.is_empty());
    scope.need(key, text.map(str::to_owned), remedy)
}

fn place(scope: &mut Scope<'_>, raw: raw::Geo) -> Option<(f64, f64)> {
    let mut degrees = |key: &str, value: Option<f64>, bound: f64| {
        let value = scope.need(key, value, "give WGS84 degrees")?;
        if value.abs() <= bound {
            return Some(value);
        }
        scope.fault(
            key,
            format!("lies outside -{bound} to {bound}"),
            "give WGS84 degrees",
        );
        None
    };
    let latitude = degrees("latitude", raw.latitude, 90.0);
    let longitude = degrees("longitude", raw.longitude, 180.0);
    Some((latitude?, longitude?))
}

fn contacts(scope: &mut Scope<'_>, key: &str, contacts: &[raw::ContactPoint]) {
    for (index, contact) in contacts.iter().enumerate() {
        let key = format!("{key}.{index}.value");
        filled(
            scope,
            &key,
            contact.value.as_deref(),
            "give the address or number",
        );
    }
}

fn fees(scope: &mut Scope<'_>, fees: &[raw::Fee]) {
    let mut names = BTreeSet::new();
    for (index, fee) in fees.iter().enumerate() {
        let key = format!("fees.{index}.name");
        if let Some(name) = filled(scope, &key, fee.name.as_deref(), "give the fee's name")
            && !names.insert(name)
        {
            scope.fault(
                &key,
                "names a second fee the same",
                "give each fee its own name",
            );
        }
        scope.need(
            &format!("fees.{index}.amount"),
            fee.amount,
            "give whole dollars",
        );
    }
}

/// AAP's weekly hours: `{ open, close }`, or null for a closed day.
fn schedules(scope: &mut Scope<'_>, schedules: &[raw::Schedule]) -> Value {
    let mut list = Vec::new();
    for (index, schedule) in schedules.iter().enumerate() {
        let mut scope = scope.below(&format!("schedules.{index}"));
        let mut entry = Map::new();
        if let Some(name) = &schedule.name {
            entry.insert("name".to_owned(), name.as_str().into());
        }
        entry.insert(
            "value".to_owned(),
            week(&mut scope.below("value"), &schedule.value),
        );
        list.push(Value::Object(entry));
    }
    Value::Array(list)
}

fn week(scope: &mut Scope<'_>, days: &BTreeMap<String, String>) -> Value {
    let mut week = Map::new();
    for (day, hours) in days {
        if !DAYS.contains(&day.as_str()) {
            scope.fault(day, "is not a day", "use monday to sunday");
        }
        match (hours.as_str(), hours.split_once('-')) {
            ("closed", _) => {
                week.insert(day.clone(), Value::Null);
            }
            (_, Some((open, close))) if is_time(open) && is_time(close) => {
                week.insert(day.clone(), json!({ "open": open, "close": close }));
            }
            _ => scope.fault(
                day,
                "is neither hours nor \"closed\"",
                "write \"09:00-18:00\" or \"closed\"",
            ),
        }
    }
    Value::Object(week)
}

/// `HH:MM`.
fn is_time(text: &str) -> bool {
    let Some((hour, minute)) = text.split_once(':') else {
        return false;
    };
    let number = |part: &str, below: u8| {
        part.len() == 2
            && part.bytes().all(|b| b.is_ascii_digit())
            && part.parse::<u8>().is_ok_and(|n| n < below)
    };
    number(hour, 24) && number(minute, 60)
}
