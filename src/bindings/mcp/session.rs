//! Session ids of the older revisions that say by themselves what was negotiated (AAP-114, AAP-117). They
//! are transport state: nothing is authorised by one (AAP-118).

use http::{HeaderMap, HeaderValue};
use jiff::{SignedDuration, Timestamp};

use super::headers::Mirror;
use super::ingress::Context;
use super::version::Revision;
use crate::deployment::LegacySessions;

const HEADER: &str = "mcp-session-id";
const PURPOSE: &str = "mcp-session";

/// What the session header says, where sessions are on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Session {
    None,
    Known(Revision),
    /// Foreign, altered or ended.
    Unknown,
}

/// A new id for a client that just negotiated; `None` where sessions are off.
pub(super) fn issue(context: &Context<'_>, revision: Revision) -> Option<HeaderValue> {
    let sessions = context.settings.legacy_sessions.as_ref()?;
    let lifetime = SignedDuration::try_from(sessions.lifetime).ok()?;
    let ends = context.now.checked_add(lifetime).ok()?;
    let plain = format!("{} {}", revision.date(), ends.as_second());
    let place = place(context);
    let id = sessions
        .keys
        .seal(PURPOSE, place.as_bytes(), plain.as_bytes())
        .ok()?;
    HeaderValue::try_from(id).ok()
}

/// Reads the session of a request. Where sessions are off a stray id is ignored.
pub(super) fn read(context: &Context<'_>) -> Session {
    let Some(sessions) = &context.settings.legacy_sessions else {
        return Session::None;
    };
    match id(context.headers) {
        Mirror::Absent => Session::None,
        Mirror::Unreadable => Session::Unknown,
        Mirror::Value(id) => open(sessions, context, &id).map_or(Session::Unknown, Session::Known),
    }
}

fn id(headers: &HeaderMap) -> Mirror {
    Mirror::read(headers, HEADER)
}

fn open(sessions: &LegacySessions, context: &Context<'_>, id: &str) -> Option<Revision> {
    let plain = sessions.keys.open(PURPOSE, place(context).as_bytes(), id)?;
    let plain = String::from_utf8(plain).ok()?;
    let (date, ends) = plain.split_once(' ')?;
    let ends = Timestamp::from_second(ends.parse().ok()?).ok()?;
    let revision = Revision::from_date(date)?;
    (context.now < ends).then_some(revision)
}

/// Where a session is good: at this deployment, for this caller.
fn place(context: &Context<'_>) -> String {
    format!("{} {}", context.deployment_id, context.caller.scope())
}
