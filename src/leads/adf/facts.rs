//! Reading a validated lead: its texts and numbers by name. Must not decide where they go.

use serde_json::Value;

use super::text::clean_line;

/// A text that says something: more than blanks, and than characters that no document carries.
pub(super) fn text(object: Option<&Value>, key: &str) -> Option<String> {
    let text = object?.get(key)?.as_str()?.trim();
    (!clean_line(text).is_empty()).then(|| text.to_owned())
}

/// A whole number above zero: a zero price or mileage says nothing and misleads its reader.
pub(super) fn positive(object: Option<&Value>, key: &str) -> Option<i64> {
    object?.get(key)?.as_i64().filter(|number| *number > 0)
}

/// The texts of an array.
pub(super) fn texts(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// An attribute's value in words.
pub(super) fn in_words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(in_words).collect::<Vec<_>>().join(", "),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}
