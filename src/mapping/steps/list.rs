//! List steps: JSON in a cell, splitting, addresses. Must not know the field.

use std::collections::HashSet;

use serde_json::Value;

use super::super::finish::is_web_address;
use super::Stop;
use super::text::plain;

/// The longest list a cell may become.
const MAX_ELEMENTS: usize = 1_000;

/// The value that a JSON text in a cell holds.
pub(super) fn json(value: Value) -> Result<Value, Stop> {
    let Value::String(text) = value else {
        return Ok(value);
    };
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_str(text.trim()).map_err(|_| Stop::dirty("is not JSON"))
}

/// The first element; a value that is no list stays.
pub(super) fn first(value: Value) -> Value {
    let Value::Array(elements) = value else {
        return value;
    };
    elements.into_iter().next().unwrap_or(Value::Null)
}

/// The list without repeated elements.
pub(super) fn dedupe(value: Value) -> Value {
    let Value::Array(elements) = value else {
        return value;
    };
    let mut seen = HashSet::new();
    Value::Array(
        elements
            .into_iter()
            .filter(|element| seen.insert(plain(element)))
            .collect(),
    )
}

/// At most this many elements.
pub(super) fn limit(value: Value, count: usize) -> Value {
    let Value::Array(mut elements) = value else {
        return value;
    };
    elements.truncate(count);
    Value::Array(elements)
}

/// Splits at the first of the separators that occurs; a JSON array in the cell is read as one.
pub(super) fn split(value: Value, on: &[String]) -> Result<Value, Stop> {
    let text = match value {
        Value::String(text) => text,
        Value::Array(elements) => return Ok(Value::Array(elements)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            return Err(Stop::dirty("is not text that can be split"));
        }
    };
    if text.trim_start().starts_with('[')
        && let Ok(Value::Array(elements)) = serde_json::from_str(text.trim())
    {
        return Ok(Value::Array(elements));
    }
    let parts: Vec<&str> = match on
        .iter()
        .find(|separator| text.contains(separator.as_str()))
    {
        Some(separator) => text.split(separator.as_str()).collect(),
        None => vec![text.as_str()],
    };
    if parts.len() > MAX_ELEMENTS {
        return Err(Stop::Dirty(format!("has more than {MAX_ELEMENTS} parts")));
    }
    Ok(Value::Array(
        parts
            .into_iter()
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(|part| Value::String(part.to_owned()))
            .collect(),
    ))
}

/// The http(s) addresses of a list, relative ones put onto the base, the others dropped.
pub(super) fn urls(value: Value, base: Option<&str>) -> Value {
    match value {
        Value::Array(elements) => Value::Array(
            elements
                .into_iter()
                .take(MAX_ELEMENTS)
                .filter_map(|element| absolute(element.as_str()?, base))
                .map(Value::String)
                .collect(),
        ),
        Value::String(text) => absolute(&text, base).map_or(Value::Null, Value::String),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Value::Null,
    }
}

fn absolute(text: &str, base: Option<&str>) -> Option<String> {
    let text = text.trim();
    if is_web_address(text) {
        return Some(text.to_owned());
    }
    let has_scheme = text
        .split(['/', '?', '#'])
        .next()
        .is_some_and(|head| head.contains(':'));
    if text.is_empty() || has_scheme || text.starts_with("//") {
        return None;
    }
    let base = base?.trim_end_matches('/');
    let whole = match text.strip_prefix('/') {
        // An absolute path stands on the base's origin.
        Some(path) => format!("{}/{path}", origin(base)?),
        None => format!("{base}/{text}"),
    };
    is_web_address(&whole).then_some(whole)
}

fn origin(base: &str) -> Option<&str> {
    let start = base.find("://")? + 3;
    let end = base
        .get(start..)?
        .find('/')
        .map_or(base.len(), |at| start + at);
    base.get(..end)
}
