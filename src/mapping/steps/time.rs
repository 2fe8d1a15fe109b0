//! Date and time steps: written formats, zones, the repeated hour. Must never take the present time.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::fmt::strtime::{self, BrokenDownTime};
use jiff::tz::{AmbiguousOffset, TimeZone};
use serde_json::Value;

use super::super::spec::Ambiguous;
use super::super::step::Zones;
use super::Stop;
use super::text::plain;

/// A calendar date as `YYYY-MM-DD`.
pub(super) fn date(value: &Value, formats: &[String]) -> Result<Value, Stop> {
    let text = plain(value);
    let text = text.trim();
    if text.is_empty() {
        return Ok(Value::Null);
    }
    for format in formats {
        if let Ok(parsed) = strtime::parse(format, text).and_then(|parts| parts.to_date())
            && plausible(parsed)
        {
            return Ok(Value::String(parsed.to_string()));
        }
    }
    Err(Stop::dirty("is no date of the given format"))
}

/// A time of day as `HH:MM`.
pub(super) fn clock(value: &Value, formats: &[String]) -> Result<Value, Stop> {
    let text = plain(value);
    let text = text.trim();
    if text.is_empty() {
        return Ok(Value::Null);
    }
    for format in formats {
        if let Ok(time) = strtime::parse(format, text).and_then(|parts| parts.to_time()) {
            let (hour, minute) = (time.hour(), time.minute());
            return Ok(Value::String(format!("{hour:02}:{minute:02}")));
        }
    }
    Err(Stop::dirty("is no time of the given format"))
}

fn plausible(date: Date) -> bool {
    (1900..=2100).contains(&date.year())
}

/// The zone that a column names, or the one of the place whose code it holds; none where it is empty.
pub(super) fn named(
    value: Option<&Value>,
    zones: Option<&Zones>,
) -> Result<Option<TimeZone>, Stop> {
    let text = value.map(plain).unwrap_or_default();
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    match zones {
        Some(zones) => match zones.get(text) {
            Some(zone) => Ok(Some(zone.clone())),
            None => Err(Stop::dirty("its place is not in the table of zones")),
        },
        None => match TimeZone::get(text) {
            Ok(zone) => Ok(Some(zone)),
            Err(_) => Err(Stop::dirty("its time zone column names no known zone")),
        },
    }
}

/// An instant as RFC 3339 in UTC.
pub(super) fn datetime(
    value: &Value,
    formats: &[String],
    zone: Option<&TimeZone>,
    ambiguous: Ambiguous,
) -> Result<Value, Stop> {
    let text = plain(value);
    let text = text.trim();
    if text.is_empty() {
        return Ok(Value::Null);
    }
    let mut last = Stop::dirty("is no time of the given format");
    for format in formats {
        match read(text, format, zone, ambiguous) {
            Ok(instant) if plausible(TimeZone::UTC.to_datetime(instant).date()) => {
                return Ok(Value::String(instant.to_string()));
            }
            Ok(_) => last = Stop::dirty("lies outside the years 1900 to 2100"),
            Err(Some(reason)) => last = Stop::Dirty(reason),
            Err(None) => {}
        }
    }
    Err(last)
}

fn read(
    text: &str,
    format: &str,
    zone: Option<&TimeZone>,
    ambiguous: Ambiguous,
) -> Result<Timestamp, Option<String>> {
    match format {
        "rfc3339" => text.parse::<Timestamp>().map_err(|_| None),
        "epoch_s" => epoch(text, Timestamp::from_second),
        "epoch_ms" => epoch(text, Timestamp::from_millisecond),
        _ => {
            let parts = strtime::parse(format, text).map_err(|_| None)?;
            written(&parts, zone, ambiguous)
        }
    }
}

fn epoch(
    text: &str,
    make: impl Fn(i64) -> Result<Timestamp, jiff::Error>,
) -> Result<Timestamp, Option<String>> {
    let number = text.parse::<i64>().map_err(|_| None)?;
    make(number).map_err(|_| None)
}

fn written(
    parts: &BrokenDownTime,
    zone: Option<&TimeZone>,
    ambiguous: Ambiguous,
) -> Result<Timestamp, Option<String>> {
    if parts.offset().is_some() {
        return parts.to_timestamp().map_err(|_| None);
    }
    let local = parts.to_datetime().map_err(|_| None)?;
    let zone = zone.ok_or_else(|| Some("has no offset, and the row names no zone".to_owned()))?;
    instant(local, zone, ambiguous).map_err(Some)
}

/// A local time in its zone. A time in the repeated hour needs a policy; one in the skipped hour is none.
fn instant(local: DateTime, zone: &TimeZone, ambiguous: Ambiguous) -> Result<Timestamp, String> {
    let candidate = zone.to_ambiguous_timestamp(local);
    let resolved = match (candidate.offset(), ambiguous) {
        (AmbiguousOffset::Gap { .. }, _) => {
            return Err("is a local time that the change to daylight time skipped".to_owned());
        }
        (AmbiguousOffset::Fold { .. }, Ambiguous::Reject) => {
            return Err("lies in the hour that the clocks repeat".to_owned());
        }
        (AmbiguousOffset::Fold { .. }, Ambiguous::Later) => candidate.later(),
        _ => candidate.earlier(),
    };
    resolved.map_err(|_| "is no time in its zone".to_owned())
}
