//! SQL Server's cells as JSON, as the other databases give theirs. Must not talk to the server.

use serde_json::{Map, Number, Value};
use tiberius::time::{Date, DateTime, DateTimeOffset, SmallDateTime, Time};
use tiberius::{ColumnData, Row};

use super::super::super::Fault;
use super::super::cells::{Budget, put};
use super::super::{Failure, Settings};

/// A row as JSON, within the limits.
pub(in super::super::super) fn fields(
    row: &Row,
    limits: &Settings,
) -> Result<Map<String, Value>, Failure> {
    let mut budget = Budget::new(limits, row.len())?;
    let mut fields = Map::with_capacity(row.len());
    for (column, cell) in row.cells() {
        let value = value(cell).map_err(|reason| {
            let words = format!("column `{}` {reason}", column.name());
            (Fault::Data, words)
        })?;
        budget.spend(&value)?;
        put(&mut fields, column.name(), value)?;
    }
    Ok(fields)
}

/// A cell as the other databases give it: integers and truth values typed, decimals and times as text.
pub(in super::super::super) fn value(cell: &ColumnData<'_>) -> Result<Value, String> {
    Ok(match cell {
        ColumnData::U8(number) => number.map_or(Value::Null, Value::from),
        ColumnData::I16(number) => number.map_or(Value::Null, Value::from),
        ColumnData::I32(number) => number.map_or(Value::Null, Value::from),
        ColumnData::I64(number) => number.map_or(Value::Null, Value::from),
        ColumnData::F32(number) => number.map_or(Value::Null, |number| float(&number.to_string())),
        ColumnData::F64(number) => number.map_or(Value::Null, |number| float(&number.to_string())),
        ColumnData::Bit(bit) => bit.map_or(Value::Null, Value::Bool),
        ColumnData::String(text) => text.as_deref().map_or(Value::Null, Value::from),
        ColumnData::Guid(id) => id.map_or(Value::Null, |id| id.to_string().into()),
        ColumnData::Binary(None) => Value::Null,
        ColumnData::Binary(Some(_)) => return Err("holds binary data".to_owned()),
        ColumnData::Numeric(number) => number.map_or(Value::Null, |number| {
            decimal(number.value(), number.scale()).into()
        }),
        ColumnData::Xml(xml) => xml
            .as_deref()
            .map_or(Value::Null, |xml| xml.to_string().into()),
        ColumnData::DateTime(time) => optional(time.map(date_time))?,
        ColumnData::SmallDateTime(time) => optional(time.map(small_date_time))?,
        ColumnData::Time(time) => optional(time.map(clock))?,
        ColumnData::Date(date) => {
            optional(date.map(|date| day(FIRST_DAY, i64::from(date.days()))))?
        }
        ColumnData::DateTime2(time) => optional(time.map(|time| joined(time.date(), time.time())))?,
        ColumnData::DateTimeOffset(time) => optional(time.map(with_offset))?,
    })
}

/// Day 0 of `date` and `datetime2`, and of the older `datetime`.
const FIRST_DAY: (i16, i8, i8) = (1, 1, 1);
const FIRST_OLD_DAY: (i16, i8, i8) = (1900, 1, 1);

fn optional(text: Option<Result<String, String>>) -> Result<Value, String> {
    text.transpose()
        .map(|text| text.map_or(Value::Null, Value::String))
}

fn float(written: &str) -> Value {
    let number = written.parse().ok().and_then(Number::from_f64);
    number.map_or(Value::Null, Value::Number)
}

/// The digits with their point.
fn decimal(value: i128, scale: u8) -> String {
    let scale = usize::from(scale);
    let sign = if value < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", value.unsigned_abs(), width = scale + 1);
    let (whole, part) = digits.split_at(digits.len() - scale);
    if part.is_empty() {
        format!("{sign}{whole}")
    } else {
        format!("{sign}{whole}.{part}")
    }
}

fn day(first: (i16, i8, i8), days: i64) -> Result<String, String> {
    let wrong = || "holds no date".to_owned();
    let first = jiff::civil::Date::new(first.0, first.1, first.2).map_err(|_| wrong())?;
    let span = jiff::Span::new().try_days(days).map_err(|_| wrong())?;
    first
        .checked_add(span)
        .map(|date| date.to_string())
        .map_err(|_| wrong())
}

/// `hh:mm:ss`, and the part of a second where there is one.
fn time_of_day(seconds: u64, nanos: u64) -> Result<String, String> {
    if seconds >= 86_400 {
        return Err("holds no time of day".to_owned());
    }
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let mut text = format!("{hours:02}:{minutes:02}:{:02}", seconds % 60);
    if nanos > 0 {
        let part = format!("{nanos:09}");
        text.push('.');
        text.push_str(part.trim_end_matches('0'));
    }
    Ok(text)
}

fn clock(time: Time) -> Result<String, String> {
    let scale = u32::from(time.scale().min(9));
    let unit = 10_u64.pow(scale);
    let nanos = time.increments() % unit * 10_u64.pow(9 - scale);
    time_of_day(time.increments() / unit, nanos)
}

fn joined(date: Date, time: Time) -> Result<String, String> {
    let date = day(FIRST_DAY, i64::from(date.days()))?;
    Ok(format!("{date} {}", clock(time)?))
}

/// `datetime` counts three-hundredths of a second, which are shown as the server shows them: in
/// milliseconds.
fn date_time(time: DateTime) -> Result<String, String> {
    let date = day(FIRST_OLD_DAY, i64::from(time.days()))?;
    let parts = u64::from(time.seconds_fragments());
    let millis = (parts % 300 * 10 + 1) / 3;
    let clock = time_of_day(parts / 300, millis * 1_000_000)?;
    Ok(format!("{date} {clock}"))
}

/// `smalldatetime` counts minutes.
fn small_date_time(time: SmallDateTime) -> Result<String, String> {
    let date = day(FIRST_OLD_DAY, i64::from(time.days()))?;
    let clock = time_of_day(u64::from(time.seconds_fragments()) * 60, 0)?;
    Ok(format!("{date} {clock}"))
}

/// `datetimeoffset` is sent in UTC with the offset beside it: an instant, written as one.
fn with_offset(time: DateTimeOffset) -> Result<String, String> {
    let utc = joined(time.datetime2().date(), time.datetime2().time())?;
    Ok(format!("{}Z", utc.replace(' ', "T")))
}
