//! The checks of a grant that depend on the present time and on what the dealer can honour. What a grant must
//! look like is the contract's matter.

use jiff::{SignedDuration, Timestamp};

use super::settings::Settings;
use crate::contract::Problem;
use crate::contract::request::ConsentGrant;

/// Everything that makes the grant unusable now (AAP-458, AAP-462).
pub(super) fn problems(grant: &ConsentGrant, settings: &Settings, now: Timestamp) -> Vec<Problem> {
    let mut problems = Vec::new();
    let tolerance =
        SignedDuration::try_from(settings.granted_at_tolerance).unwrap_or(SignedDuration::ZERO);
    let latest = now.checked_add(tolerance).unwrap_or(now);
    if grant.granted_at > latest {
        problems.push(Problem::new(
            "/consent/granted_at",
            "formatMaximum",
            "The grant lies in the future. Send the time at which the customer really gave consent.",
        ));
    }
    if grant.expires_at.is_some_and(|expires_at| expires_at <= now) {
        problems.push(Problem::new(
            "/consent/expires_at",
            "formatMinimum",
            "The grant has expired. Ask the customer for a new one and send it as a new request.",
        ));
    }
    let honoured = |channel: &String| settings.honoured_channels.contains(channel);
    if !grant.allowed_channels.iter().any(honoured) {
        let channels = settings.honoured_channels.join(", ");
        problems.push(Problem::new(
            "/consent/allowed_channels",
            "capability",
            format!(
                "This dealer can answer by {channels} only and keeps to what was permitted. \
                 Ask the customer whether one of these may be used."
            ),
        ));
    }
    problems
}
