//! Version and extension of a request: what was left out is the endpoint's own, what was sent must match
//! (AAP-171 … AAP-181). Must not choose another contract for anybody.

use http::HeaderMap;
use http::request::Parts;

use super::fault::Fault;
use super::{EXTENSIONS, VERSION};

/// Holds the request's version and extensions against this endpoint's.
pub(super) fn check(head: &Parts, extension: &str) -> Result<(), Fault> {
    version(head)?;
    let Some(list) = joined(&head.headers, EXTENSIONS) else {
        return Ok(());
    };
    let active = list.is_some_and(|list| list.split(',').any(|uri| uri.trim() == extension));
    if active {
        Ok(())
    } else {
        Err(Fault::extension_required(extension))
    }
}

/// A patch number says nothing; an empty value means 0.3 (AAP-173). A query member counts only where no
/// header is (AAP-179).
fn version(head: &Parts) -> Result<(), Fault> {
    let sent = match joined(&head.headers, VERSION) {
        Some(lines) => lines,
        None => match in_query(head.uri.query().unwrap_or_default()) {
            Some(value) => Some(value.to_owned()),
            None => return Ok(()),
        },
    };
    if sent.is_some_and(|sent| is_1_0(sent.trim())) {
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

/// All lines of a header as one list; `Some(None)` when a line is no text.
fn joined(headers: &HeaderMap, name: &str) -> Option<Option<String>> {
    let lines: Vec<_> = headers
        .get_all(name)
        .iter()
        .map(|line| line.to_str().ok())
        .collect();
    if lines.is_empty() {
        return None;
    }
    Some(
        lines
            .into_iter()
            .collect::<Option<Vec<_>>>()
            .map(|lines| lines.join(",")),
    )
}

fn in_query(query: &str) -> Option<&str> {
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find_map(|(name, value)| name.eq_ignore_ascii_case(VERSION).then_some(value))
}
