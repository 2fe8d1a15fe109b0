//! The TOML of a first mapping: texts, fields, steps. Must not decide anything about a source.

use super::column::Place;

/// A TOML text.
pub(super) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A TOML key.
fn key(text: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !text.is_empty() && text.chars().all(bare) {
        text.to_owned()
    } else {
        quoted(text)
    }
}

/// A list of texts for an expression.
pub(super) fn words(words: &[impl AsRef<str>]) -> String {
    let quoted: Vec<String> = words
        .iter()
        .map(|word| format!("'{}'", word.as_ref().replace(['\\', '\''], "")))
        .collect();
    format!("[{}]", quoted.join(", "))
}

/// A field over a place, for one value or for a list of them.
pub(super) fn field(place: &Place, steps: &[String], list: bool) -> String {
    let mut steps = steps.to_vec();
    let origin = match place {
        Place::Path(path) if steps.is_empty() => return quoted(path),
        Place::Path(path) => format!("from = {}", quoted(path)),
        Place::Inside { column, pick } => {
            steps.insert(0, format!("{{ pick = {} }}", quoted(pick)));
            steps.insert(0, quoted("json"));
            format!("from = {}", quoted(column))
        }
        Place::Child { rows, column } => {
            if !list {
                steps.insert(0, quoted("first"));
            }
            format!("children = {}, column = {}", quoted(rows), quoted(column))
        }
    };
    if steps.is_empty() {
        return format!("{{ {origin} }}");
    }
    format!("{{ {origin}, steps = [{}] }}", steps.join(", "))
}

/// What a code becomes.
#[derive(Clone, Debug)]
pub(super) enum Becomes {
    Text(String),
    Hide(String),
}

/// A code table on one line.
pub(super) fn table(name: &str, entries: &[(String, Becomes)]) -> String {
    let entries: Vec<String> = entries
        .iter()
        .map(|(code, becomes)| match becomes {
            Becomes::Text(text) => format!("{} = {}", key(code), quoted(text)),
            Becomes::Hide(reason) => format!("{} = {{ hide = {} }}", key(code), quoted(reason)),
        })
        .collect();
    format!("{name} = {{ {} }}", entries.join(", "))
}
