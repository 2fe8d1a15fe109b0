//! Text steps: blanks, case, HTML, encodings, words for yes and no. Must not know the field.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::Value;

use super::super::step::TextStep;
use super::Stop;

/// A scalar as its text, untouched.
pub(in super::super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// Rewrites text; other values stay.
pub(super) fn rewrite(kind: TextStep, value: Value) -> Value {
    let Value::String(text) = value else {
        return value;
    };
    Value::String(match kind {
        TextStep::Trim => trim(&text).to_owned(),
        TextStep::Collapse => text.split_whitespace().collect::<Vec<_>>().join(" "),
        TextStep::Upper => text.to_uppercase(),
        TextStep::Lower => text.to_lowercase(),
        TextStep::Title => title(&text),
        TextStep::Sentence => sentence(text.trim()),
        TextStep::StripHtml => strip_html(&text),
    })
}

/// Trims blanks, NULs, a byte order mark and the Ctrl-Z of old files.
fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\0' | '\u{1a}' | '\u{feff}'))
}

/// Capital at each word's start. A guess at names: a code table is better where names matter.
fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut starts = true;
    for c in text.chars() {
        if starts {
            out.extend(c.to_uppercase());
        } else {
            out.extend(c.to_lowercase());
        }
        starts = !c.is_alphanumeric() && c != '\'';
    }
    out
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first
            .to_uppercase()
            .chain(chars.as_str().to_lowercase().chars())
            .collect(),
        None => String::new(),
    }
}

/// Text without tags, with the entities of XML and the common ones of HTML decoded, blanks collapsed.
fn strip_html(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        bare.push_str(before);
        let opens_tag = after.starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c));
        match after.split_once('>') {
            Some((_, behind)) if opens_tag => {
                bare.push(' ');
                rest = behind;
            }
            _ => {
                bare.push('<');
                rest = after;
            }
        }
    }
    bare.push_str(rest);
    let decoded = entities(&bare);
    decoded.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        match after.split_once(';') {
            Some((name, behind)) if name.len() <= 8 && entity(name).is_some() => {
                out.extend(entity(name));
                rest = behind;
            }
            _ => {
                out.push('&');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

fn entity(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "ndash" => '–',
        "mdash" => '—',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "hellip" => '…',
        "bull" => '•',
        "reg" => '®',
        "trade" => '™',
        "copy" => '©',
        "deg" => '°',
        "eacute" => 'é',
        _ => {
            let digits = name.strip_prefix('#')?;
            let code = match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(code).filter(|c| !c.is_control())?
        }
    })
}

/// Undoes UTF-8 that was read as Windows-1252 and written again: `cafÃ©` is `café`. Text that does not
/// come out as valid UTF-8 that way stays as it is.
pub(super) fn fix_encoding(value: Value) -> Value {
    let Value::String(text) = value else {
        return value;
    };
    if text.is_ascii() {
        return Value::String(text);
    }
    let fixed = cp1252_bytes(&text).and_then(|bytes| String::from_utf8(bytes).ok());
    Value::String(fixed.unwrap_or(text))
}

fn cp1252_bytes(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        // C1 controls stand for the five bytes that Windows-1252 leaves open.
        if let Ok(byte) = u8::try_from(u32::from(c)) {
            bytes.push(byte);
            continue;
        }
        let mut buffer = [0; 4];
        let (encoded, _, lossy) = encoding_rs::WINDOWS_1252.encode(c.encode_utf8(&mut buffer));
        match (encoded.as_ref(), lossy) {
            ([byte], false) => bytes.push(*byte),
            _ => return None,
        }
    }
    Some(bytes)
}

/// A truth value from words; a word of neither list is dirty, an unknown one nothing.
pub(super) fn boolean(
    value: &Value,
    words: &BTreeMap<String, Option<bool>>,
) -> Result<Value, Stop> {
    if value.is_boolean() {
        return Ok(value.clone());
    }
    let word = plain(value).trim().to_lowercase();
    match words.get(&word) {
        Some(Some(flag)) => Ok(Value::Bool(*flag)),
        Some(None) => Ok(Value::Null),
        None if word.is_empty() => Ok(Value::Null),
        None => Err(Stop::dirty("is neither a word for yes nor for no")),
    }
}

/// The first group of a pattern, or its whole match; no match is nothing.
pub(super) fn extract(value: &Value, pattern: &Regex) -> Value {
    let text = plain(value);
    pattern
        .captures(&text)
        .and_then(|found| found.get(1).or_else(|| found.get(0)))
        .map_or(Value::Null, |found| {
            Value::String(found.as_str().to_owned())
        })
}

/// Replaces every match.
pub(super) fn replace(value: Value, pattern: &Regex, with: &str) -> Value {
    let Value::String(text) = value else {
        return value;
    };
    Value::String(pattern.replace_all(&text, with).into_owned())
}
