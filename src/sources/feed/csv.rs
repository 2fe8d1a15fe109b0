//! CSV as dealers' systems write it: comma, tab, pipe or semicolon; a header in any spelling or none;
//! rows that are too short; a Ctrl-Z at the end. A row with more cells than columns is skipped and
//! reported, because every cell after the extra one would land in a wrong column.

use std::collections::HashSet;
use std::io::BufRead;

use csv::{ReaderBuilder, StringRecord};
use serde_json::{Map, Value};

use crate::mapping::plan::FeedPlan;

use super::super::Fault;
use super::super::http::Failure;
use super::bytes::Text;
use super::{Emit, Item, Settings};

/// Separators that are looked for, the likeliest first.
const SEPARATORS: [u8; 4] = [b',', b'\t', b'|', b';'];

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
        .from_reader(text);
    let mut record = StringRecord::new();
    let mut columns: Option<Vec<String>> = plan.columns.clone();
    let mut number = 0;
    loop {
        match reader.read_record(&mut record) {
            Ok(false) => break,
            Ok(true) => reader.get_mut().row_done(),
            Err(error) => return Err(reader.get_mut().failure(error)),
        }
        if record.len() > settings.max_columns {
            return Err((
                Fault::Limit,
                "a row has more columns than max_columns".to_owned(),
            ));
        }
        if record.as_slice().len() > settings.max_row_bytes {
            return Err((
                Fault::Limit,
                "a row has more bytes than max_row_bytes".to_owned(),
            ));
        }
        if is_blank(&record) {
            continue;
        }
        match &columns {
            None => {
                let named = header(&record, plan);
                emit(Item::Columns(named.clone()))?;
                columns = Some(named);
            }
            Some(columns) => {
                number += 1;
                emit(row(&record, columns, number))?;
            }
        }
    }
    match columns {
        Some(_) => Ok(()),
        None => Err((Fault::Data, "the file is empty".to_owned())),
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

/// Header names, trimmed, with their other spellings made one, repeated ones numbered.
fn header(record: &StringRecord, plan: &FeedPlan) -> Vec<String> {
    let mut seen = HashSet::new();
    record
        .iter()
        .map(|written| {
            let written = written.trim();
            let alias = plan.aliases.iter().find(|(_, spellings)| {
                spellings
                    .iter()
                    .any(|other| folded(other) == folded(written))
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

fn row(record: &StringRecord, columns: &[String], number: u64) -> Item {
    if record
        .iter()
        .skip(columns.len())
        .any(|cell| !cell.trim().is_empty())
    {
        let reason = format!("has {} cells for {} columns", record.len(), columns.len());
        return Item::Skipped(number, reason);
    }
    let fields: Map<String, Value> = columns
        .iter()
        .zip(record.iter())
        .map(|(name, cell)| (name.clone(), Value::String(cell.to_owned())))
        .collect();
    Item::Row(fields)
}
