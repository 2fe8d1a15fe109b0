//! What a sample of rows shows of its columns: where each value lies and what kinds of value there are.
//! Must not decide what a column means.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value};

use super::super::Row;
use super::super::steps::text::plain;
use super::alias::names_of;

/// Distinct values that are remembered of a column.
const MAX_VALUES: usize = 400;
/// Columns that are looked at.
const MAX_COLUMNS: usize = 600;
/// Levels of nesting that are looked at.
const MAX_DEPTH: usize = 5;

/// Where a column's value lies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place {
    Path(String),
    /// A member of the JSON text in a cell.
    Inside {
        column: String,
        pick: String,
    },
    /// A column of child rows.
    Child {
        rows: String,
        column: String,
    },
}

/// One column and what was seen in it.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) place: Place,
    pub(super) names: Vec<String>,
    /// Distinct values as trimmed text, in order of appearance; elements of lists one by one.
    pub(super) values: Vec<String>,
    seen: BTreeSet<String>,
    /// Rows in which it is filled.
    pub(super) filled: usize,
    /// Whether values are lists already.
    pub(super) lists: bool,
    /// Whether every value is a JSON number or a JSON truth value.
    pub(super) typed: bool,
    /// Whether some text went through a wrong code page.
    pub(super) garbled: bool,
}

/// All columns of a sample.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) list: Vec<Column>,
    by_place: HashMap<Place, usize>,
    pub(super) rows: usize,
}

impl Columns {
    pub(super) fn add(&mut self, row: &Row) {
        self.rows += 1;
        self.object("", &row.fields, 0);
        for (rows, children) in &row.children {
            for child in children {
                self.child(rows, child);
            }
        }
    }

    fn child(&mut self, rows: &str, fields: &Map<String, Value>) {
        for (name, value) in fields {
            let place = Place::Child {
                rows: rows.to_owned(),
                column: name.clone(),
            };
            self.note(place, &format!("{rows}.{name}"), value);
        }
    }

    fn object(&mut self, at: &str, fields: &Map<String, Value>, depth: usize) {
        for (name, value) in fields {
            let path = if at.is_empty() {
                name.clone()
            } else {
                format!("{at}.{name}")
            };
            match value {
                Value::Object(inner) if depth < MAX_DEPTH => self.object(&path, inner, depth + 1),
                Value::Array(elements) if elements.iter().any(Value::is_object) => {
                    for element in elements.iter().filter_map(Value::as_object) {
                        self.element(&path, element);
                    }
                }
                Value::String(text) if text.trim_start().starts_with('{') => {
                    match serde_json::from_str(text) {
                        Ok(Value::Object(inner)) => self.inside(&path, &inner),
                        _ => self.note(Place::Path(path.clone()), &path, value),
                    }
                }
                value @ (Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Array(_)
                | Value::Object(_)) => self.note(Place::Path(path.clone()), &path, value),
            }
        }
    }

    /// An element of a list of objects: by its type where it has one, and as a child row.
    fn element(&mut self, path: &str, element: &Map<String, Value>) {
        self.child(path, element);
        let kind = element.get("type").and_then(Value::as_str);
        if let (Some(kind), Some(value)) = (kind, element.get("value")) {
            let path = format!("{path}[type={kind}].value");
            self.note(Place::Path(path.clone()), &path, value);
        }
    }

    fn inside(&mut self, column: &str, inner: &Map<String, Value>) {
        for (name, value) in inner {
            let place = Place::Inside {
                column: column.to_owned(),
                pick: name.clone(),
            };
            self.note(place, &format!("{column}.{name}"), value);
        }
    }

    fn note(&mut self, place: Place, path: &str, value: &Value) {
        let index = match self.by_place.get(&place) {
            Some(index) => *index,
            None if self.list.len() >= MAX_COLUMNS => return,
            None => {
                self.by_place.insert(place.clone(), self.list.len());
                self.list.push(Column {
                    place,
                    names: names_of(path),
                    values: Vec::new(),
                    seen: BTreeSet::new(),
                    filled: 0,
                    lists: false,
                    typed: true,
                    garbled: false,
                });
                self.list.len() - 1
            }
        };
        if let Some(column) = self.list.get_mut(index) {
            column.take(value);
        }
    }
}

impl Column {
    fn take(&mut self, value: &Value) {
        match value {
            Value::Null => {}
            Value::Array(elements) => {
                self.lists = true;
                self.filled += usize::from(!elements.is_empty());
                for element in elements.iter().filter(|element| !element.is_object()) {
                    self.remember(&plain(element));
                }
            }
            value @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
                let text = plain(value);
                if text.trim().is_empty() {
                    return;
                }
                self.filled += 1;
                self.typed &= value.is_number() || value.is_boolean();
                self.garbled |= text.contains('Ã') || text.contains("â€");
                self.remember(text.trim());
            }
        }
    }

    fn remember(&mut self, text: &str) {
        if self.values.len() < MAX_VALUES && self.seen.insert(text.to_owned()) {
            self.values.push(text.to_owned());
        }
    }

    /// Whether some value has this in it.
    pub(super) fn any(&self, test: impl Fn(&str) -> bool) -> bool {
        self.values.iter().any(|value| test(value))
    }

    /// Whether all values pass, and there is one.
    pub(super) fn all(&self, test: impl Fn(&str) -> bool) -> bool {
        !self.values.is_empty() && self.values.iter().all(|value| test(value))
    }

    /// The column in an expression, when it can be written there.
    pub(super) fn in_expression(&self) -> Option<String> {
        let Place::Path(path) = &self.place else {
            return None;
        };
        let plain = |name: &str| {
            name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                && !name.starts_with(|c: char| c.is_ascii_digit())
        };
        if path.split('.').all(plain) {
            return Some(format!("row.{path}"));
        }
        (!path.contains(['[', '\'', '\\'])).then(|| format!("row['{path}']"))
    }
}
