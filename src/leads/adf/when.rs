//! Times as ADF and people read them. Must not tell the time.

use jiff::Timestamp;
use jiff::fmt::temporal::Pieces;
use jiff::tz::TimeZone;

/// The time of a request in ISO 8601 with a numeric offset: the rooftop's own where its zone is known, else
/// the one the buyer wrote. `Z` is outside the forms ADF allows.
pub(super) fn request_date(
    submitted_at: Option<&str>,
    accepted_at: Timestamp,
    zone: Option<&str>,
) -> String {
    let at = submitted_at
        .and_then(|text| text.parse().ok())
        .unwrap_or(accepted_at);
    let zone = zone_of(submitted_at.unwrap_or_default(), zone);
    at.to_zoned_datetime(zone)
        .strftime("%Y-%m-%dT%H:%M:%S%:z")
        .to_string()
}

/// An appointment's time for people, e.g. `2026-05-03 11:00 PT`; the buyer's own text when it is no time.
pub(super) fn appointment_time(text: &str, zone: Option<&str>) -> String {
    let Ok(at) = text.parse::<Timestamp>() else {
        return text.to_owned();
    };
    let zoned = at.to_zoned_datetime(zone_of(text, zone));
    let local = zoned.strftime("%Y-%m-%d %H:%M").to_string();
    let name = zoned.strftime("%Z").to_string();
    let name = match name.as_str() {
        // Arizona and Hawaii have no summer time: there the short name would say another hour.
        _ if matches!(zone, Some("America/Phoenix" | "Pacific/Honolulu")) => name,
        "PST" | "PDT" => "PT".to_owned(),
        "MST" | "MDT" => "MT".to_owned(),
        "CST" | "CDT" => "CT".to_owned(),
        "EST" | "EDT" => "ET".to_owned(),
        "AKST" | "AKDT" => "AKT".to_owned(),
        "UTC" => name,
        _ => format!("UTC{}", zoned.strftime("%:z")),
    };
    format!("{local} {name}")
}

fn zone_of(text: &str, zone: Option<&str>) -> TimeZone {
    if let Some(zone) = zone.and_then(|name| TimeZone::get(name).ok()) {
        return zone;
    }
    let offset = Pieces::parse(text)
        .ok()
        .and_then(|pieces| pieces.to_numeric_offset());
    offset.map_or(TimeZone::UTC, TimeZone::fixed)
}
