//! Version and extension of a request: what was left out is the endpoint's own, what was sent must match
//! (AAP-171 … AAP-181). Must not choose another contract for anybody.

use http::HeaderMap;
use http::request::Parts;

use super::fault::Fault;
use super::{EXTENSIONS, VERSION};

/// Holds the request's version and extensions against this endpoint's.
pub(super) fn check(head: &Parts, extension: &str) -> Result<(), Fault> {
    version(head)?;
    let active = match joined(&head.headers, EXTENSIONS) {
        Sent::Absent => true,
        Sent::NoText => false,
        Sent::Text(list) => list.split(',').any(|uri| uri.trim() == extension),
    };
    if active {
        Ok(())
    } else {
        Err(Fault::extension_required(extension))
    }
}

/// A patch number says nothing; an empty value means 0.3 (AAP-173). A query member counts only where no
/// header is (AAP-179).
fn version(head: &Parts) -> Result<(), Fault> {
    let query = || in_query(head.uri.query().unwrap_or_default());
    let supported = match joined(&head.headers, VERSION) {
        Sent::Absent => query().is_none_or(|version| is_1_0(version.trim())),
        Sent::NoText => false,
        Sent::Text(version) => is_1_0(version.trim()),
    };
    if supported {
        Ok(())
    } else {
        Err(Fault::version())
    }
}

fn is_1_0(version: &str) -> bool {
    let patch = |rest: &str| {
        let digits = rest.strip_prefix('.').unwrap_or_default();
        !digits.is_empty() && digits.len() <= 9 && digits.bytes().all(|b| b.is_ascii_digit())
    };
    version
        .strip_prefix("1.0")
        .is_some_and(|rest| rest.is_empty() || patch(rest))
}

/// A header over all its lines.
enum Sent {
    Absent,
    NoText,
    /// The lines joined as one list.
    Text(String),
}

fn joined(headers: &HeaderMap, name: &str) -> Sent {
    let lines: Vec<_> = headers.get_all(name).iter().collect();
    if lines.is_empty() {
        return Sent::Absent;
    }
    let texts: Option<Vec<_>> = lines.into_iter().map(|line| line.to_str().ok()).collect();
    texts.map_or(Sent::NoText, |texts| Sent::Text(texts.join(",")))
}

fn in_query(query: &str) -> Option<&str> {
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find_map(|(name, value)| name.eq_ignore_ascii_case(VERSION).then_some(value))
}
