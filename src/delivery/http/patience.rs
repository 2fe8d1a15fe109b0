//! How long a receiver asks to be left alone (RFC 9110 section 10.2.3). Must not decide what its answer means.

use std::time::Duration;

use http::StatusCode;
use http::header::{DATE, HeaderName, RETRY_AFTER};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::net::Response;

/// The longest wait that is taken seriously.
const LONGEST: Duration = Duration::from_hours(24);

/// What a 429 or 503 asks for; a date is measured against the answer's own date, else against `now`.
pub(super) fn asked(response: &Response, now: Timestamp) -> Option<Duration> {
    let busy = [
        StatusCode::TOO_MANY_REQUESTS,
        StatusCode::SERVICE_UNAVAILABLE,
    ];
    if !busy.contains(&response.status) {
        return None;
    }
    let asked = text(response, RETRY_AFTER)?;
    let wait = if asked.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than a number holds ask for very long.
        asked.parse().map_or(LONGEST, Duration::from_secs)
    } else {
        let theirs = text(response, DATE).and_then(date).unwrap_or(now);
        // A time that is past asks for nothing.
        Duration::try_from(date(asked)?.duration_since(theirs)).ok()?
    };
    (!wait.is_zero()).then(|| wait.min(LONGEST))
}

fn text(response: &Response, name: HeaderName) -> Option<&str> {
    let value = response.headers.get(name)?.to_str().ok()?.trim();
    (!value.is_empty()).then_some(value)
}

/// A date as HTTP writes it.
fn date(text: &str) -> Option<Timestamp> {
    let time = DateTime::strptime("%a, %d %b %Y %H:%M:%S GMT", text).ok()?;
    TimeZone::UTC.to_timestamp(time).ok()
}
