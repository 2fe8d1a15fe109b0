//! dBase and `FoxPro` tables, as older dealer systems keep them: fixed columns, fixed widths, deleted rows
//! marked. Memo fields lie in another file and are not read. Must not know what the columns mean.

use std::io::{self, Read};

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use serde_json::{Map, Number, Value};

use crate::mapping::plan;

use super::super::Fault;
use super::super::http::Failure;
use super::{Emit, Item, Settings};

/// First bytes of tables: dBase III to 7 and `FoxPro`, with and without memos.
const VERSIONS: [u8; 17] = [
    0x02, 0x03, 0x04, 0x05, 0x30, 0x31, 0x32, 0x43, 0x63, 0x7b, 0x83, 0x8b, 0x8c, 0x8e, 0xcb, 0xf5,
    0xfb,
];

/// A column of the table.
struct Column {
    name: String,
    kind: u8,
    width: usize,
}

/// What the head says.
struct Head {
    columns: Vec<Column>,
    records: u64,
    record_bytes: usize,
    /// `FoxPro`'s `B` is a number where dBase's is a reference.
    foxpro: bool,
}

pub(super) fn parse(
    raw: &mut dyn Read,
    settings: &Settings,
    encoding: plan::Encoding,
    emit: Emit<'_>,
) -> Result<(), Failure> {
    let encoding = match encoding {
        plan::Encoding::Utf8 => UTF_8,
        plan::Encoding::Windows1252 | plan::Encoding::Latin1 => WINDOWS_1252,
    };
    let head = head(raw, settings)?;
    let read: Vec<&Column> = head.columns.iter().filter(|c| c.is_read(&head)).collect();
    emit(Item::Columns(
        read.iter().map(|column| column.name.clone()).collect(),
    ))?;
    let mut record = vec![0; head.record_bytes];
    for number in 1..=head.records {
        fill(raw, &mut record)?;
        match record.first() {
            Some(b' ') => {
                let fields = row(&record, &head, encoding);
                let fields =
                    fields.map_err(|reason| (Fault::Data, format!("record {number}: {reason}")))?;
                emit(Item::Row(fields))?;
            }
            Some(b'*') => {}
            _ => {
                let words = format!("record {number} does not begin like one: the file is damaged");
                return Err((Fault::Data, words));
            }
        }
    }
    // What a gzip or zip says of its content's checksum comes only with the end.
    io::copy(&mut raw.take(settings.max_bytes), &mut io::sink()).map_err(|error| torn(&error))?;
    Ok(())
}

fn fill(raw: &mut dyn Read, into: &mut [u8]) -> Result<(), Failure> {
    raw.read_exact(into).map_err(|error| torn(&error))
}

fn torn(error: &io::Error) -> Failure {
    let words = format!("the file ends early or is damaged: {error}");
    (Fault::Data, words)
}

fn head(raw: &mut dyn Read, settings: &Settings) -> Result<Head, Failure> {
    let damaged = |words: &str| (Fault::Data, format!("the file is no DBF table: {words}"));
    let mut fixed = [0; 32];
    fill(raw, &mut fixed)?;
    let [version, _, _, _, r0, r1, r2, r3, h0, h1, w0, w1, ..] = fixed;
    if version == b'<' {
        return Err(damaged("it begins like a web page: a login or error page?"));
    }
    if !VERSIONS.contains(&version) {
        return Err(damaged("its first byte is of no known version"));
    }
    let records = u64::from(u32::from_le_bytes([r0, r1, r2, r3]));
    let head_bytes = usize::from(u16::from_le_bytes([h0, h1]));
    let record_bytes = usize::from(u16::from_le_bytes([w0, w1]));
    if records * record_bytes as u64 > settings.max_bytes {
        return Err((
            Fault::Limit,
            "the table has more bytes than max_bytes".to_owned(),
        ));
    }
    if record_bytes > settings.max_row_bytes {
        return Err((
            Fault::Limit,
            "a row has more bytes than max_row_bytes".to_owned(),
        ));
    }
    let rest = head_bytes.checked_sub(32);
    let mut rest = vec![0; rest.ok_or_else(|| damaged("its head is too short"))?];
    fill(raw, &mut rest)?;
    let mut columns = Vec::new();
    for descriptor in rest.chunks_exact(32) {
        if descriptor.first() == Some(&0x0d) {
            break;
        }
        columns.push(column(descriptor));
        if columns.len() > settings.max_columns {
            return Err((
                Fault::Limit,
                "a row has more columns than max_columns".to_owned(),
            ));
        }
    }
    let width: usize = 1 + columns.iter().map(|column| column.width).sum::<usize>();
    if columns.is_empty() || width != record_bytes {
        return Err(damaged(
            "the widths of its columns are not those of its rows",
        ));
    }
    Ok(Head {
        columns,
        records,
        record_bytes,
        foxpro: matches!(version, 0x30..=0x32 | 0xf5 | 0xfb),
    })
}

fn column(descriptor: &[u8]) -> Column {
    let name = descriptor.iter().take(11).take_while(|byte| **byte != 0);
    let byte = |at: usize| descriptor.get(at).copied().unwrap_or(0);
    let (kind, low, high) = (byte(11), usize::from(byte(16)), usize::from(byte(17)));
    // Long texts use the place of the decimals for the rest of their width.
    let width = if kind == b'C' { low + high * 256 } else { low };
    Column {
        name: name
            .map(|byte| char::from(*byte))
            .collect::<String>()
            .trim()
            .to_owned(),
        kind,
        width,
    }
}

impl Column {
    /// Whether its cells lie in this file.
    fn is_read(&self, head: &Head) -> bool {
        match self.kind {
            b'M' | b'G' | b'P' | b'W' | b'Q' | b'0' => false,
            b'B' => head.foxpro,
            _ => true,
        }
    }
}

fn row(
    record: &[u8],
    head: &Head,
    encoding: &'static Encoding,
) -> Result<Map<String, Value>, String> {
    let mut fields = Map::new();
    let mut rest = record.get(1..).unwrap_or_default();
    for column in &head.columns {
        let Some((cell, after)) = rest.split_at_checked(column.width) else {
            return Err("is too short".to_owned());
        };
        rest = after;
        if column.is_read(head) {
            let value = value(cell, column, encoding);
            let value = value.map_err(|reason| format!("column `{}` {reason}", column.name))?;
            fields.insert(column.name.clone(), value);
        }
    }
    Ok(fields)
}

fn value(cell: &[u8], column: &Column, encoding: &'static Encoding) -> Result<Value, String> {
    match column.kind {
        b'L' => Ok(match cell.first() {
            Some(b'T' | b't' | b'Y' | b'y') => Value::Bool(true),
            Some(b'F' | b'f' | b'N' | b'n') => Value::Bool(false),
            _ => Value::Null,
        }),
        b'I' | b'+' => Ok(number(cell).map_or(Value::Null, Value::from)),
        b'Y' => Ok(long(cell).map_or(Value::Null, |amount| money(amount).into())),
        b'B' | b'O' => {
            let bits = cell.try_into().map(f64::from_le_bytes).ok();
            let number = bits.and_then(Number::from_f64);
            Ok(number.map_or(Value::Null, Value::Number))
        }
        b'T' | b'@' => moment(cell),
        // Numbers and dates are texts here, and are given as they are written.
        _ => {
            let end = cell.iter().rposition(|byte| !matches!(byte, b' ' | 0));
            let cell = cell.get(..end.map_or(0, |at| at + 1)).unwrap_or_default();
            let text = encoding
                .decode_without_bom_handling_and_without_replacement(cell)
                .ok_or("is not valid in its encoding; state `encoding = \"windows-1252\"` if it is that")?;
            let text = match column.kind {
                b'C' | b'V' => text.into_owned(),
                _ => text.trim().to_owned(),
            };
            Ok(Value::String(text))
        }
    }
}

fn number(cell: &[u8]) -> Option<i32> {
    cell.try_into().map(i32::from_le_bytes).ok()
}

fn long(cell: &[u8]) -> Option<i64> {
    cell.try_into().map(i64::from_le_bytes).ok()
}

/// Ten-thousandths with their point.
fn money(amount: i64) -> String {
    let sign = if amount < 0 { "-" } else { "" };
    let amount = amount.unsigned_abs();
    format!("{sign}{}.{:04}", amount / 10_000, amount % 10_000)
}

/// A Julian day and the milliseconds since its midnight; zeros are no time.
fn moment(cell: &[u8]) -> Result<Value, String> {
    /// The Julian day number of 1970-01-01.
    const FIRST: i64 = 2_440_588;
    let Some((day, millis)) = cell.split_at_checked(4) else {
        return Ok(Value::Null);
    };
    let (Some(day), Some(millis)) = (number(day), number(millis)) else {
        return Ok(Value::Null);
    };
    if day == 0 {
        return Ok(Value::Null);
    }
    let second = (i64::from(day) - FIRST) * 86_400 + i64::from(millis) / 1000;
    let time = jiff::Timestamp::from_second(second).map_err(|_| "holds no time")?;
    let text = time.strftime("%Y-%m-%d %H:%M:%S").to_string();
    Ok(Value::String(text))
}
