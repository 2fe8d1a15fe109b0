//! A driver's cell as JSON: integers and truth values typed, decimals and times as the server wrote them.
//! Must not interpret a text.

use serde_json::{Map, Number, Value};
use sqlx::mysql::MySqlValueRef;
use sqlx::postgres::PgValueRef;
use sqlx::sqlite::SqliteValueRef;
use sqlx::{Decode, TypeInfo, ValueRef};

use super::super::Fault;
use super::{Failure, Settings};

/// How much a row may still hold.
pub(super) struct Budget(usize);

impl Budget {
    pub(super) fn new(limits: &Settings, columns: usize) -> Result<Self, Failure> {
        if columns > limits.max_columns {
            return Err((
                Fault::Limit,
                "a row has more columns than max_columns".to_owned(),
            ));
        }
        Ok(Self(limits.max_row_bytes))
    }

    pub(super) fn spend(&mut self, value: &Value) -> Result<(), Failure> {
        let size = value.as_str().map_or(8, str::len);
        self.0 = self.0.checked_sub(size).ok_or_else(|| {
            (
                Fault::Limit,
                "a row has more bytes than max_row_bytes".to_owned(),
            )
        })?;
        Ok(())
    }
}

/// Puts a cell into its row. Joined tables often share a column's name: what both say counts, what only one says
/// counts too, and where they differ nobody can tell which was meant.
pub(super) fn put(row: &mut Map<String, Value>, column: &str, value: Value) -> Result<(), Failure> {
    match row.get_mut(column) {
        None => {
            row.insert(column.to_owned(), value);
        }
        Some(other) if other.is_null() => *other = value,
        Some(other) if value.is_null() || alike(other, &value) => {}
        Some(_) => {
            let words = format!(
                "column `{column}` comes twice and says two things: name one of them otherwise with AS"
            );
            return Err((Fault::Query, words));
        }
    }
    Ok(())
}

/// Whether two cells say the same; padded and unpadded codes do.
fn alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(one), Value::String(other)) => one.trim_end() == other.trim_end(),
        _ => one == other,
    }
}

/// SQLite: by storage class, whatever the column was declared as.
pub(super) fn sqlite(raw: SqliteValueRef<'_>) -> Result<Value, String> {
    if raw.is_null() {
        return Ok(Value::Null);
    }
    let class = raw.type_info().name().to_owned();
    match class.as_str() {
        "INTEGER" => <i64 as Decode<'_, sqlx::Sqlite>>::decode(raw)
            .map(Value::from)
            .map_err(|error| error.to_string()),
        "REAL" => <f64 as Decode<'_, sqlx::Sqlite>>::decode(raw)
            .map(|float| Number::from_f64(float).map_or(Value::Null, Value::Number))
            .map_err(|error| error.to_string()),
        "BLOB" => Err("holds binary data".to_owned()),
        _ => <String as Decode<'_, sqlx::Sqlite>>::decode(raw)
            .map(Value::String)
            .map_err(|_| "is not valid UTF-8: convert it in the query".to_owned()),
    }
}

/// PostgreSQL, text protocol.
pub(super) fn postgres(raw: PgValueRef<'_>) -> Result<Value, String> {
    if raw.is_null() {
        return Ok(Value::Null);
    }
    let kind = raw.type_info().name().to_owned();
    let text = <&str as Decode<'_, sqlx::Postgres>>::decode(raw)
        .map_err(|_| "is not valid UTF-8".to_owned())?;
    match kind.as_str() {
        "INT2" | "INT4" | "INT8" => Ok(whole(text)),
        "BOOL" => Ok(Value::Bool(text == "t" || text == "true")),
        "JSON" | "JSONB" => Ok(json(text)),
        "BYTEA" => Err("holds binary data".to_owned()),
        _ => Ok(Value::String(text.to_owned())),
    }
}

/// MySQL and MariaDB, text protocol.
pub(super) fn mysql(raw: MySqlValueRef<'_>) -> Result<Value, String> {
    if raw.is_null() {
        return Ok(Value::Null);
    }
    let kind = raw.type_info().name().to_owned();
    if kind == "BIT" {
        return bits(raw);
    }
    let text = <&str as Decode<'_, sqlx::MySql>>::decode(raw)
        .map_err(|_| "holds binary data or is not valid UTF-8".to_owned())?;
    match kind.trim_end_matches(" UNSIGNED") {
        "TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT" | "BOOLEAN" | "YEAR" => {
            Ok(whole(text))
        }
        "JSON" => Ok(json(text)),
        _ => Ok(Value::String(text.to_owned())),
    }
}

/// Bits come as the bytes of a number, also where a BIT(1) stands for yes and no.
fn bits(raw: MySqlValueRef<'_>) -> Result<Value, String> {
    let bytes = <&[u8] as Decode<'_, sqlx::MySql>>::decode(raw).map_err(|e| e.to_string())?;
    let mut number = [0; 8];
    let place = number.len().checked_sub(bytes.len());
    match place.and_then(|from| number.get_mut(from..)) {
        Some(place) => place.copy_from_slice(bytes),
        None => return Err("has more than 64 bits".to_owned()),
    }
    Ok(u64::from_be_bytes(number).into())
}

fn whole(text: &str) -> Value {
    text.parse::<i64>()
        .map_or_else(|_| Value::String(text.to_owned()), Value::from)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}
