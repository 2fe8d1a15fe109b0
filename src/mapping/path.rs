//! Picks a cell out of a row: by column name, by path, by index, or "the element where key = value".
//! Must not change what it picks.

use serde_json::{Map, Value};

use super::steps::text::plain;

/// A compiled `from`.
#[derive(Clone, Debug)]
pub(super) struct Path {
    /// As written; also tried as a plain column name first, since headers may contain dots.
    pub(super) text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    Key(String),
    Index(usize),
    Where(String, String),
}

impl Path {
    /// Reads `color.exterior.name`, `prices[type=ADVERTISED].value`, `media[0].url`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("the column name is empty".to_owned());
        }
        let mut parts = Vec::new();
        for dotted in text.split('.') {
            let (key, mut rest) = match dotted.find('[') {
                Some(at) => dotted.split_at(at),
                None => (dotted, ""),
            };
            if !key.is_empty() {
                parts.push(Part::Key(key.to_owned()));
            }
            while let Some(inner) = rest.strip_prefix('[') {
                let (inside, after) = inner
                    .split_once(']')
                    .ok_or_else(|| format!("`{text}` has an open bracket"))?;
                parts.push(Self::bracket(inside));
                rest = after;
            }
        }
        Ok(Self {
            text: text.to_owned(),
            parts,
        })
    }

    fn bracket(inside: &str) -> Part {
        match inside.split_once('=') {
            Some((key, value)) => Part::Where(key.trim().to_owned(), value.trim().to_owned()),
            None => inside
                .parse()
                .map_or_else(|_| Part::Key(inside.to_owned()), Part::Index),
        }
    }

    /// The top-level column that this path starts at, when it is the whole header or the first key.
    pub(super) fn is_in(&self, columns: &std::collections::BTreeSet<String>) -> bool {
        columns.contains(&self.text)
            || matches!(self.parts.first(), Some(Part::Key(key)) if columns.contains(key))
    }

    /// The cell, when the row has it.
    pub(super) fn pick<'a>(&self, row: &'a Map<String, Value>) -> Option<&'a Value> {
        if let Some(direct) = row.get(&self.text) {
            return Some(direct);
        }
        let mut parts = self.parts.iter();
        let Some(Part::Key(first)) = parts.next() else {
            return None;
        };
        walk(row.get(first)?, parts)
    }

    /// The same below a value: for the `pick` step.
    pub(super) fn pick_in<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        walk(value, self.parts.iter())
    }
}

/// A list's elements. What XML has once is no list there, and still the only element of one.
pub(super) fn elements(value: &Value) -> &[Value] {
    match value {
        Value::Null => &[],
        Value::String(text) if text.trim().is_empty() => &[],
        Value::Array(elements) => elements,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            std::slice::from_ref(value)
        }
    }
}

fn walk<'a, 'p>(start: &'a Value, parts: impl Iterator<Item = &'p Part>) -> Option<&'a Value> {
    let mut at = start;
    for part in parts {
        at = match part {
            Part::Key(key) => at.get(key)?,
            Part::Index(index) => elements(at).get(*index)?,
            Part::Where(key, wanted) => elements(at).iter().find(|element| {
                element
                    .get(key)
                    .is_some_and(|found| plain(found).trim() == wanted)
            })?,
        };
    }
    Some(at)
}
