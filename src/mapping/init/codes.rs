//! Code lists that a system keeps in tables of its own: code and text, often with a type. Must not know what a
//! code means to AAP.

use serde_json::{Map, Value};

use super::super::steps::text::plain;
use super::alias::folded;
use super::column::Column;

/// The longest list that is written into a mapping.
const MAX_ENTRIES: usize = 300;

/// One list of codes with their texts.
#[derive(Clone, Debug)]
pub(super) struct CodeList {
    /// The table's name, and the type where a table holds several lists; folded.
    name: String,
    pub(super) entries: Vec<(String, String)>,
}

const KINDS: &[&str] = &[
    "codetype", "codetyp", "type", "kind", "category", "listname",
];
const TEXTS: &[&str] = &["descr", "description", "name", "label", "text", "title"];

/// The lists that a side table holds.
pub(super) fn lists(table: &str, rows: &[Map<String, Value>]) -> Vec<CodeList> {
    let Some(first) = rows.first() else {
        return Vec::new();
    };
    let find = |known: &[&str]| {
        let wanted = |column: &&String| known.contains(&folded(column).as_str());
        first.keys().find(wanted).cloned()
    };
    let (kind, Some(text)) = (find(KINDS), find(TEXTS)) else {
        return Vec::new();
    };
    let code = first
        .keys()
        .find(|column| Some(*column) != kind.as_ref() && **column != text);
    let Some(code) = code.cloned() else {
        return Vec::new();
    };
    let cell = |row: &Map<String, Value>, column: &str| {
        let text = row.get(column).map(plain).unwrap_or_default();
        text.trim().to_owned()
    };
    let mut lists: Vec<CodeList> = Vec::new();
    for row in rows {
        let name = match &kind {
            Some(kind) => folded(&cell(row, kind)),
            None => folded(table),
        };
        let entry = (cell(row, &code), cell(row, &text));
        match lists.iter_mut().find(|list| list.name == name) {
            Some(list) => list.entries.push(entry),
            None => lists.push(CodeList {
                name,
                entries: vec![entry],
            }),
        }
    }
    lists.retain(|list| {
        let mut codes: Vec<&str> = list.entries.iter().map(|(code, _)| code.as_str()).collect();
        codes.sort_unstable();
        codes.dedup();
        codes.len() == list.entries.len() && codes.len() <= MAX_ENTRIES
    });
    lists
}

impl CodeList {
    /// Whether this list explains a column: it has all its codes, and their names have to do with one another.
    pub(super) fn explains(&self, member: &str, column: &Column) -> bool {
        let member = folded(member);
        let related = self.name.contains(&member)
            || member.starts_with(&self.name)
            || column
                .names
                .iter()
                .any(|name| name.starts_with(&self.name) || self.name.contains(name.as_str()));
        related && column.all(|value| self.text(value).is_some())
    }

    /// A code's text.
    pub(super) fn text(&self, code: &str) -> Option<&str> {
        let found = self.entries.iter().find(|(known, _)| known == code);
        found.map(|(_, text)| text.as_str())
    }
}
