//! One JWT access token (RFC 9068, and what issuers of today send instead). Pure.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::super::jws::{self, Algorithm, Jws};
use super::super::key::PublicKey;

/// Bytes of a whole token.
const MAX_TOKEN_BYTES: usize = 8192;
/// Characters of a subject, entries of an audience or of a scope list.
const MAX_SUBJECT_BYTES: usize = 256;
const MAX_ENTRIES: usize = 256;

/// Why a token does not help; the stage is for the log only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    Token(&'static str),
    /// Nothing can be verified now.
    Unavailable,
}

/// What a good token says.
#[derive(Clone)]
pub(super) struct Claims {
    pub(super) subject: String,
    pub(super) scopes: BTreeSet<String>,
}

/// What a token must say.
pub(super) struct Wanted<'a> {
    pub(super) issuer: &'a str,
    pub(super) audience: &'a str,
    pub(super) now: i64,
    pub(super) skew_s: i64,
}

/// A token of an algorithm that is taken. `typ` keeps out JWTs that were made for something else.
pub(super) fn parse<'a>(text: &'a str, algorithms: &[Algorithm]) -> Result<Jws<'a>, &'static str> {
    let jws = Jws::parse(text, MAX_TOKEN_BYTES).ok_or("no JWT of a known algorithm")?;
    if !algorithms.contains(&jws.algorithm) {
        return Err("algorithm");
    }
    match jws.typ() {
        Ok(None) => Ok(jws),
        Ok(Some(typ)) if typ == "at+jwt" || typ == "jwt" => Ok(jws),
        _ => Err("typ"),
    }
}

pub(super) fn kid<'a>(jws: &'a Jws<'_>) -> Result<Option<&'a str>, &'static str> {
    match jws.header.get("kid") {
        None => Ok(None),
        Some(Value::String(kid)) if kid.len() <= 512 => Ok(Some(kid)),
        Some(_) => Err("kid"),
    }
}

/// The key that the header names. Without `kid` there must be only one key of the algorithm, so that no
/// key is ever guessed.
pub(super) fn choose<'a>(
    keys: &'a [PublicKey],
    jws: &Jws<'_>,
    kid: Option<&str>,
) -> Result<&'a PublicKey, &'static str> {
    let mut fitting = keys
        .iter()
        .filter(|key| key.algorithm == jws.algorithm)
        .filter(|key| kid.is_none() || key.kid.as_deref() == kid);
    let key = fitting.next().ok_or("no such key")?;
    match fitting.next() {
        None => Ok(key),
        Some(_) => Err("ambiguous key"),
    }
}

/// Judges the claims of a token whose signature was verified.
pub(super) fn claims(
    claims: &Map<String, Value>,
    wanted: &Wanted<'_>,
) -> Result<Claims, &'static str> {
    if jws::text(claims, "iss", 2048) != Some(wanted.issuer) {
        return Err("iss");
    }
    if !is_for(claims.get("aud"), wanted.audience) {
        return Err("aud");
    }
    check_times(claims, wanted)?;
    // bound to a key whose possession is not shown here (RFC 9449 section 7.2, RFC 8705)
    if claims.contains_key("cnf") {
        return Err("cnf");
    }
    let subject = jws::text(claims, "sub", MAX_SUBJECT_BYTES).ok_or("sub")?;
    Ok(Claims {
        subject: subject.to_owned(),
        scopes: scopes(claims).ok_or("scope")?,
    })
}

fn is_for(audience: Option<&Value>, wanted: &str) -> bool {
    match audience {
        Some(Value::String(one)) => one == wanted,
        Some(Value::Array(many)) => {
            many.len() <= MAX_ENTRIES
                && many.iter().all(Value::is_string)
                && many.iter().any(|one| one == wanted)
        }
        _ => false,
    }
}

/// All sums are of dates that [`jws::seconds`] has bounded.
fn check_times(claims: &Map<String, Value>, wanted: &Wanted<'_>) -> Result<(), &'static str> {
    let date = |name| jws::seconds(claims, name).map_err(|()| "a date is no number");
    let expires = date("exp")?.ok_or("exp is missing")?;
    if wanted.now >= expires + wanted.skew_s {
        return Err("expired");
    }
    let early = |date: Option<i64>| date.is_some_and(|date| date > wanted.now + wanted.skew_s);
    if early(date("nbf")?) || early(date("iat")?) {
        return Err("not yet valid");
    }
    Ok(())
}

/// `scope` as RFC 9068 has it, or `scp`, as a text or a list.
fn scopes(claims: &Map<String, Value>) -> Option<BTreeSet<String>> {
    let words = |text: &str| {
        text.split(' ')
            .filter(|s| !s.is_empty())
            .map(str::to_owned)
            .collect()
    };
    match claims.get("scope").or_else(|| claims.get("scp")) {
        None => Some(BTreeSet::new()),
        Some(Value::String(text)) => Some(words(text)),
        Some(Value::Array(list)) if list.len() <= MAX_ENTRIES => list
            .iter()
            .map(|one| one.as_str().map(str::to_owned))
            .collect(),
        Some(_) => None,
    }
}
