//! The two assertions of a token request: the client's (RFC 7523 as updated by RFC 10070) and the
//! Session's. One check for both; what differs is the subject. Pure.

use serde_json::{Map, Value};

use super::client::Identity;
use super::jws::{self, Jws};

/// Bytes of a whole assertion.
pub(super) const MAX_ASSERTION_BYTES: usize = 8192;
/// Clocks may differ by this much.
const SKEW_S: i64 = 30;
/// `exp` lies at most this long after `iat` (AAP-239).
const MAX_LIFETIME_S: i64 = 300;
const JTI_CHARACTERS: std::ops::RangeInclusive<usize> = 16..=256;
/// Bytes of a User ID and of an agent id.
const MAX_ID_BYTES: usize = 256;

/// What an assertion established.
#[derive(Clone, Debug)]
pub(super) struct Assertion {
    pub(super) subject: String,
    pub(super) agent_id: Option<String>,
    pub(super) jti: String,
    /// From this second on the assertion is refused by its age, so its `jti` may be forgotten.
    pub(super) expires_at: i64,
}

/// Verifies an assertion that `client_id` made for `issuer`; the error is the stage, for the log only.
pub(super) fn check(
    jws: &Jws<'_>,
    client: &Identity,
    client_id: &str,
    issuer: &str,
    now: i64,
) -> Result<Assertion, &'static str> {
    match jws.typ() {
        Ok(None) => {}
        Ok(Some(typ)) if typ == "jwt" || typ == "client-authentication+jwt" => {}
        _ => return Err("typ"),
    }
    let claims = verified(jws, client)?;
    let text = |name| jws::text(claims, name, 2048);
    if text("iss") != Some(client_id) {
        return Err("iss");
    }
    // a string equal to the issuer, not a list that holds it (AAP-228, AAP-229)
    if text("aud") != Some(issuer) {
        return Err("aud");
    }
    let expires_at = check_times(claims, now)?;
    let jti = text("jti")
        .filter(|jti| JTI_CHARACTERS.contains(&jti.chars().count()))
        .ok_or("jti")?;
    let subject = claims.get("sub").and_then(Value::as_str).ok_or("sub")?;
    let agent_id = match claims.get("agent_id") {
        None => None,
        Some(_) => Some(jws::text(claims, "agent_id", MAX_ID_BYTES).ok_or("agent_id")?),
    };
    Ok(Assertion {
        subject: subject.to_owned(),
        agent_id: agent_id.map(str::to_owned),
        jti: jti.to_owned(),
        expires_at,
    })
}

/// Whether a Session assertion's subject can be a User ID.
pub(super) fn is_user_id(subject: &str) -> bool {
    !subject.is_empty() && subject.len() <= MAX_ID_BYTES
}

/// The claims, verified by the client's key that the header names. Without `kid` there must be only one
/// key of the algorithm, so that no key is ever guessed.
fn verified<'a>(
    jws: &'a Jws<'_>,
    client: &Identity,
) -> Result<&'a Map<String, Value>, &'static str> {
    let kid = kid(jws)?;
    let mut fitting = client
        .keys
        .iter()
        .filter(|key| key.algorithm == jws.algorithm)
        .filter(|key| kid.is_none() || key.kid.as_deref() == kid);
    let key = fitting.next().ok_or("no key")?;
    if fitting.next().is_some() {
        return Err("ambiguous key");
    }
    jws.verified(key).ok_or("signature")
}

/// The `kid` of an assertion's header.
pub(super) fn kid<'a>(jws: &'a Jws<'_>) -> Result<Option<&'a str>, &'static str> {
    match jws.header.get("kid") {
        None => Ok(None),
        Some(Value::String(kid)) if kid.len() <= 512 => Ok(Some(kid)),
        Some(_) => Err("kid"),
    }
}

/// All sums are of dates that [`jws::seconds`] has bounded.
fn check_times(claims: &Map<String, Value>, now: i64) -> Result<i64, &'static str> {
    let date = |name| jws::seconds(claims, name).map_err(|()| "a date is no number");
    let (Some(iat), Some(exp)) = (date("iat")?, date("exp")?) else {
        return Err("iat or exp is missing");
    };
    if exp <= iat || exp - iat > MAX_LIFETIME_S {
        return Err("lifetime");
    }
    if iat > now + SKEW_S || date("nbf")?.is_some_and(|nbf| nbf > now + SKEW_S) {
        return Err("not yet valid");
    }
    let expires_at = exp + SKEW_S;
    if now >= expires_at {
        return Err("expired");
    }
    Ok(expires_at)
}
