//! CSV as dealers' systems write it: comma, tab, pipe or semicolon; a header in any spelling or none;
//! rows that are too short; a Ctrl-Z at the end. A row with more cells than columns, or whose quotes run on into
//! another, is skipped and reported, because cells would land in a wrong column.

use std::collections::HashSet;
use std::io::BufRead;

use csv::{ReaderBuilder, StringRecord};
use serde_json::{Map, Value};

use crate::mapping::plan::FeedPlan;

use super::super::Fault;
use super::super::http::Failure;
use super::bytes::Text;
use super::quotes::Quotes;
use super::{Emit, Item, Settings};

/// Separators that are looked for, the likeliest first.
const SEPARATORS: [u8; 4] = [b',', b'\t', b'|', b';'];

/// The rows so far.
struct Table<'a> {
    plan: &'a FeedPlan,
    columns: Option<Vec<String>>,
    /// Rows since the header.
    number: u64,
    /// Those with fewer cells than columns.
    short: u64,
    /// A row that was short: if nothing follows it, the file may end within it.
    held: Option<Item>,
}

pub(super) fn parse(
    mut text: Text<'_>,
    settings: &Settings,
    plan: &FeedPlan,
    emit: Emit<'_>,
) -> Result<(), Failure> {
    let delimiter = delimiter(&mut text, plan)?;
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(Quotes::new(text, delimiter));
    let mut record = StringRecord::new();
    let mut table = Table {
        plan,
        columns: plan.columns.clone(),
        number: 0,
        short: 0,
        held: None,
    };
    loop {
        match reader.read_record(&mut record) {
            Ok(false) => break,
            Ok(true) => reader.get_mut().row_done(),
            Err(error) => return Err(reader.get_mut().failure(error)),
        }
        bounded(&record, settings)?;
        let end = reader.position().byte();
        let broken = reader.get_mut().broke_before(end);
        if reader.get_ref().is_left_open() {
            let words = "the file ends within a quoted cell: let it be sent again, whole";
            return Err((Fault::Data, words.to_owned()));
        }
        if !is_blank(&record) {
            table.take(&record, broken, emit)?;
        }
    }
    table.end(reader.get_ref().is_ended_by_a_line(), emit)
}

fn bounded(record: &StringRecord, settings: &Settings) -> Result<(), Failure> {
    let words = if record.len() > settings.max_columns {
        "a row has more columns than max_columns"
    } else if record.as_slice().len() > settings.max_row_bytes {
        "a row has more bytes than max_row_bytes"
    } else {
        return Ok(());
    };
    Err((Fault::Limit, words.to_owned()))
}

impl Table<'_> {
    fn take(&mut self, record: &StringRecord, broken: bool, emit: Emit<'_>) -> Result<(), Failure> {
        let Some(columns) = &self.columns else {
            let named = header(record, self.plan);
            emit(Item::Columns(named.clone()))?;
            self.columns = Some(named);
            return Ok(());
        };
        if let Some(before) = self.held.take() {
            emit(before)?;
        }
        self.number += 1;
        let item = row(record, columns, self.number, broken);
        if record.len() < columns.len() {
            self.short += 1;
            self.held = Some(item);
            return Ok(());
        }
        emit(item)
    }

    /// A last row that is short and that no line ends was not written whole: a price may be half of one. Where no
    /// other row is short, neither was the file.
    fn end(mut self, ended_by_a_line: bool, emit: Emit<'_>) -> Result<(), Failure> {
        if self.columns.is_none() {
            return Err((Fault::Data, "the file is empty".to_owned()));
        }
        match self.held.take() {
            None => Ok(()),
            Some(row) if ended_by_a_line => emit(row),
            Some(_) if self.short > 1 => {
                let reason = "is cut short by the end of the file".to_owned();
                emit(Item::Skipped(self.number, reason))
            }
            Some(_) => {
                let words = "the file ends within its last row: let it be sent again, whole";
                Err((Fault::Data, words.to_owned()))
            }
        }
    }
}

fn delimiter(text: &mut Text<'_>, plan: &FeedPlan) -> Result<u8, Failure> {
    let start = match text.fill_buf() {
        Ok(start) => start.to_vec(),
        Err(error) => return Err(text.failure(error)),
    };
    let first_line = start
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let lower = String::from_utf8_lossy(first_line)
        .trim_start()
        .to_lowercase();
    if lower.starts_with("<!doctype") || lower.starts_with("<html") {
        let words = "the file begins like a web page, not like CSV: a login or error page? check where it comes from";
        return Err((Fault::Data, words.to_owned()));
    }
    if let Some(given) = plan.delimiter {
        return u8::try_from(u32::from(given))
            .map_err(|_| (Fault::Settings, "the delimiter is not one byte".to_owned()));
    }
    let mut quoted = false;
    let mut counts = [0_usize; SEPARATORS.len()];
    for byte in first_line {
        quoted ^= *byte == b'"';
        for (count, separator) in counts.iter_mut().zip(SEPARATORS) {
            *count += usize::from(!quoted && *byte == separator);
        }
    }
    let best = counts
        .iter()
        .zip(SEPARATORS)
        .rev()
        .max_by_key(|(count, _)| **count);
    Ok(best.map_or(b',', |(_, separator)| separator))
}

fn is_blank(record: &StringRecord) -> bool {
    record
        .iter()
        .all(|cell| cell.chars().all(|c| c.is_whitespace() || c == '\u{1a}'))
}

/// Header names, trimmed, with their other spellings made one, repeated ones numbered. Where a column has the very
/// name, another spelling is another column.
fn header(record: &StringRecord, plan: &FeedPlan) -> Vec<String> {
    let mut seen = HashSet::new();
    record
        .iter()
        .map(|written| {
            let written = written.trim();
            let own = |name: &String| record.iter().any(|other| other.trim() == name);
            let alias = plan.aliases.iter().find(|(name, spellings)| {
                let spelt = |other: &String| folded(other) == folded(written);
                spellings.iter().any(spelt) && !own(name)
            });
            let name = match alias {
                Some((name, _)) => name.clone(),
                None => written.to_owned(),
            };
            let mut unique = name.clone();
            let mut count = 1;
            while !seen.insert(unique.clone()) {
                count += 1;
                unique = format!("{name} ({count})");
            }
            unique
        })
        .collect()
}

/// A header without case, blanks and punctuation.
fn folded(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric() || *c == '#')
        .flat_map(char::to_lowercase)
        .collect()
}

fn row(record: &StringRecord, columns: &[String], number: u64, broken: bool) -> Item {
    let surplus = record.iter().skip(columns.len());
    if surplus.into_iter().any(|cell| !cell.trim().is_empty()) {
        let reason = format!("has {} cells for {} columns", record.len(), columns.len());
        return Item::Skipped(number, reason);
    }
    // With the right cells on one line it is only a careless writer; else cells of two rows may stand in one.
    let runs_on = || record.iter().any(|cell| cell.contains(['\n', '\r']));
    if broken && (record.len() != columns.len() || runs_on()) {
        let reason = "has text behind a closing quote: where its cells end cannot be told";
        return Item::Skipped(number, reason.to_owned());
    }
    let fields: Map<String, Value> = columns
        .iter()
        .zip(record.iter())
        .map(|(name, cell)| (name.clone(), Value::String(cell.to_owned())))
        .collect();
    Item::Row(fields)
}
