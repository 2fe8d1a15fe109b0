//! A driver's cell as JSON: integers and truth values typed, decimals and times as the server wrote them.
//! Must not interpret a text.

use serde_json::{Number, Value};
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

fn whole(text: &str) -> Value {
    text.parse::<i64>()
        .map_or_else(|_| Value::String(text.to_owned()), Value::from)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}
