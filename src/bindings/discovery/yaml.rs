//! Writes a JSON document as block YAML that every reader of YAML 1.1 and 1.2 takes for the same document:
//! strings are quoted as in JSON, which YAML reads the same way. Must not read YAML.

use serde_json::{Map, Value};

/// The document's text.
pub(super) fn write(document: &Value) -> String {
    let mut out = String::new();
    block(document, 0, &mut out);
    out
}

/// A value on lines of its own, or what stands for an empty one.
fn block(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Object(members) if !members.is_empty() => mapping(members, depth, out),
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                indent(depth, out);
                out.push('-');
                inner(item, depth, out);
            }
        }
        Value::Object(_) => out.push_str("{}\n"),
        Value::Array(_) => out.push_str("[]\n"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            out.push_str(&scalar(value));
            out.push('\n');
        }
    }
}

fn mapping(members: &Map<String, Value>, depth: usize, out: &mut String) {
    for (name, member) in members {
        indent(depth, out);
        out.push_str(&scalar(&Value::String(name.clone())));
        out.push(':');
        inner(member, depth, out);
    }
}

/// What follows `name:` or `-`.
fn inner(value: &Value, depth: usize, out: &mut String) {
    let nests = match value {
        Value::Object(members) => !members.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    if nests {
        out.push('\n');
        block(value, depth + 1, out);
    } else {
        out.push(' ');
        block(value, depth, out);
    }
}

fn indent(depth: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("  ", depth));
}

/// JSON's own form, with what only YAML cannot print raw escaped, too.
fn scalar(value: &Value) -> String {
    let text = value.to_string();
    let bare = |c: char| {
        matches!(
            c,
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}'
        )
    };
    if !text.contains(bare) {
        return text;
    }
    let escaped = |c: char| {
        if bare(c) {
            format!("\\u{:04x}", u32::from(c))
        } else {
            c.to_string()
        }
    };
    text.chars().map(escaped).collect()
}
