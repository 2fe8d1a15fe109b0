//! The features section of a first mapping: where option texts lie, and a dictionary of those that were seen. Must
//! not take anything for evidence that the column does not hold.

use super::column::{Column, Place};
use super::members::Members;
use super::steps;
use super::write::{self, quoted};

/// What parts option texts in one cell, the likeliest first.
const SEPARATORS: &[&str] = &["|", ";", ","];
/// Option texts that are written into the dictionary at most, and the longest of them.
const MAX_OPTIONS: usize = 150;
const MAX_OPTION_LENGTH: usize = 60;

/// What the source recorded of a vehicle's equipment, with a dictionary of the texts that were seen.
pub(super) fn features(members: &Members<'_>) -> String {
    let Some(column) = members.get("features") else {
        return String::new();
    };
    let mut entries = String::new();
    let mut codes: Vec<String> = Vec::new();
    for option in options(column) {
        let label = label(option);
        let code = code(&label);
        let fits = !code.is_empty() && option.len() <= MAX_OPTION_LENGTH;
        if fits && !codes.contains(&code) && codes.len() < MAX_OPTIONS {
            let (quoted_code, label) = (quoted(&code), quoted(&label));
            entries.extend([format!("  {{ code = {quoted_code}, label = {label} }},\n")]);
            codes.push(code);
        }
    }
    format!(
        "\n# ---- Equipment that the source recorded of this very vehicle. Take out what a VIN decoder assumed: that is no\n\
         # evidence (skip = \"item.COLUMN == 'V'\" for rows, when they say so). `source` says who recorded it. ----\n\
         [features]\n{}source = {{ value = \"dealer inventory\" }}\nunmatched = \"list\"\ndictionary = [\n{entries}]\n",
        origin(column)
    )
}

/// The section's origin: child rows, or a list.
fn origin(column: &Column) -> String {
    if let Place::Child { rows, column } = &column.place {
        return format!("children = {}\ntext = {}\n", quoted(rows), quoted(column));
    }
    let field = write::field(&column.place, &steps::split(column, SEPARATORS), true);
    if field.starts_with('"') {
        return format!("list = {{ from = {field} }}\n");
    }
    format!("list = {field}\n")
}

/// The option texts that were seen, one by one.
fn options(column: &Column) -> Vec<&str> {
    let whole = column.lists || matches!(column.place, Place::Child { .. });
    let mut options = Vec::new();
    for value in &column.values {
        let separator = SEPARATORS
            .iter()
            .find(|separator| value.contains(**separator));
        match separator.filter(|_| !whole) {
            Some(separator) => options.extend(value.split(separator)),
            None => options.push(value.as_str()),
        }
    }
    options
        .into_iter()
        .map(|option| option.trim_matches(|c: char| c.is_whitespace() || "[]\"".contains(c)))
        .filter(|option| !option.is_empty())
        .collect()
}

/// A readable text for an option that may be written in capitals.
fn label(option: &str) -> String {
    if option.chars().any(char::is_lowercase) {
        return option.to_owned();
    }
    let spelt = |word: &str| match word.to_lowercase().as_str() {
        "carplay" => "CarPlay".to_owned(),
        "usb" | "led" | "abs" | "gps" | "awd" | "4wd" => word.to_uppercase(),
        lower => {
            let mut starts = true;
            lower
                .chars()
                .map(|c| {
                    let c = if starts { c.to_ascii_uppercase() } else { c };
                    starts = c == '-' || c == '/';
                    c
                })
                .collect()
        }
    };
    option
        .split_whitespace()
        .map(spelt)
        .collect::<Vec<_>>()
        .join(" ")
}

/// A label as a `snake_case` code.
fn code(label: &str) -> String {
    let word = |c: char| !c.is_ascii_alphanumeric();
    let parts: Vec<String> = label
        .split(word)
        .filter(|part| !part.is_empty())
        .map(str::to_lowercase)
        .collect();
    parts.join("_")
}
