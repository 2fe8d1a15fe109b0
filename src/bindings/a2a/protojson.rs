//! Reading A2A's objects by ProtoJSON's rules: both spellings of a name, null for unset, unknown members
//! ignored. Must not touch the inside of a data part.

use serde_json::Value;

use super::Object;
use super::fault::Fault;

/// The member `name` (in camel case), also under its original snake case name; null is unset.
pub(super) fn member<'a>(
    object: &'a Object,
    at: &str,
    name: &str,
) -> Result<Option<&'a Value>, Fault> {
    let snake = snake_case(name);
    let set = |name: &str| object.get(name).filter(|value| !value.is_null());
    match (set(name), (snake != name).then(|| set(&snake)).flatten()) {
        (Some(_), Some(_)) => Err(Fault::invalid_params(
            &path(at, name),
            "is given under two names; give it once",
        )),
        (value, other) => Ok(value.or(other)),
    }
}

/// A string member.
pub(super) fn string<'a>(
    object: &'a Object,
    at: &str,
    name: &str,
) -> Result<Option<&'a str>, Fault> {
    match member(object, at, name)? {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Fault::invalid_params(&path(at, name), "must be a string")),
    }
}

/// An object member.
pub(super) fn object<'a>(
    object: &'a Object,
    at: &str,
    name: &str,
) -> Result<Option<&'a Object>, Fault> {
    match member(object, at, name)? {
        None => Ok(None),
        Some(Value::Object(inner)) => Ok(Some(inner)),
        Some(_) => Err(Fault::invalid_params(&path(at, name), "must be an object")),
    }
}

/// A list member.
pub(super) fn list<'a>(
    object: &'a Object,
    at: &str,
    name: &str,
) -> Result<Option<&'a [Value]>, Fault> {
    match member(object, at, name)? {
        None => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items)),
        Some(_) => Err(Fault::invalid_params(&path(at, name), "must be a list")),
    }
}

/// A list of strings.
pub(super) fn strings(object: &Object, at: &str, name: &str) -> Result<Vec<String>, Fault> {
    let items = list(object, at, name)?.unwrap_or_default();
    items
        .iter()
        .map(|item| item.as_str().map(str::to_owned))
        .collect::<Option<_>>()
        .ok_or_else(|| Fault::invalid_params(&path(at, name), "must be a list of strings"))
}

/// A boolean member; ProtoJSON takes no words for one.
pub(super) fn boolean(object: &Object, at: &str, name: &str) -> Result<Option<bool>, Fault> {
    match member(object, at, name)? {
        None => Ok(None),
        Some(Value::Bool(word)) => Ok(Some(*word)),
        Some(_) => Err(Fault::invalid_params(
            &path(at, name),
            "must be true or false",
        )),
    }
}

/// An int32 member that must not be negative: a number without a fraction, or its digits as a string.
pub(super) fn count(object: &Object, at: &str, name: &str) -> Result<Option<i32>, Fault> {
    let Some(value) = member(object, at, name)? else {
        return Ok(None);
    };
    let number = value
        .as_str()
        .map_or_else(|| value.as_f64(), |digits| digits.parse().ok());
    let whole = number.filter(|n| n.fract() == 0.0 && (0.0..=f64::from(i32::MAX)).contains(n));
    #[expect(clippy::cast_possible_truncation, reason = "whole and within int32")]
    let whole = whole.map(|n| n as i32);
    whole
        .map(Some)
        .ok_or_else(|| Fault::invalid_params(&path(at, name), "must be a whole number from 0"))
}

/// `at.name`.
pub(super) fn path(at: &str, name: &str) -> String {
    if at.is_empty() {
        name.to_owned()
    } else {
        format!("{at}.{name}")
    }
}

fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}
