//! SQL Server, through a driver of its own. It has no read-only sessions: what guards it is the look at
//! each statement, a login that may do nothing else, and a transaction that is never committed.
//! Must not know the plan.

use futures_util::TryStreamExt as _;
use serde_json::{Map, Number, Value};
use tiberius::error::Error;
use tiberius::time::{Date, DateTime, DateTimeOffset, SmallDateTime, Time};
use tiberius::{AuthMethod, Client, ColumnData, Config, EncryptionLevel, QueryItem, Row};
use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt as _};

use super::super::Fault;
use super::cells::Budget;
use super::connection::Take;
use super::{Failure, Settings};

/// An open session in one transaction.
pub(super) struct SqlServer(Client<Compat<TcpStream>>);

/// Reads `sqlserver://user:password@host:port/database`.
pub(in super::super) fn config(settings: &Settings) -> Result<Config, String> {
    let (_, rest) = settings.url.split_once("://").unwrap_or_default();
    let (rest, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    if !parameters.is_empty() {
        return Err("a sqlserver:// address has no parameters".to_owned());
    }
    let Some((credentials, place)) = rest.rsplit_once('@') else {
        return Err("write sqlserver://USER@HOST/DATABASE: a login is needed".to_owned());
    };
    let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
    let (host, database) = place.split_once('/').unwrap_or((place, ""));
    let (host, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => {
            let port = port.parse().map_err(|_| "the port is no number")?;
            (name, port)
        }
        _ => (host, 1433),
    };
    if host.is_empty() || database.is_empty() || user.is_empty() {
        return Err("write sqlserver://USER@HOST/DATABASE".to_owned());
    }
    let password = match &settings.password {
        Some(password) => password.clone(),
        None => unescaped(password)?,
    };
    let mut config = Config::new();
    config.host(host.trim_matches(['[', ']']));
    config.port(port);
    config.database(unescaped(database)?);
    config.authentication(AuthMethod::sql_server(unescaped(user)?, password));
    config.application_name("forecourt");
    // The intent, for a server with read-only replicas; it forbids nothing.
    config.readonly(true);
    config.encryption(EncryptionLevel::Required);
    // Time is kept around every step from outside.
    config.handshake_timeout(None);
    config.command_timeout(None);
    if settings.danger_accept_any_certificate {
        config.trust_cert();
    } else {
        config.trust_webpki_roots();
        if let Some(file) = &settings.ca_file {
            let pem = std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
            config.trust_cert_ca_bundle(pem);
        }
    }
    Ok(config)
}

/// Percent-decoded.
fn unescaped(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        match (digit(rest.next()), digit(rest.next())) {
            (Some(high), Some(low)) => bytes.push(u8::try_from(high * 16 + low).unwrap_or(0)),
            _ => return Err("a % in the address is not followed by two digits".to_owned()),
        }
    }
    String::from_utf8(bytes).map_err(|_| "the address is not UTF-8".to_owned())
}

impl SqlServer {
    /// Connects and begins a transaction that nobody commits.
    pub(super) async fn open(config: Config, statement_ms: u64) -> Result<Self, Failure> {
        let unreachable = |error: std::io::Error| (Fault::Unreachable, error.to_string());
        let stream = TcpStream::connect(config.get_addr())
            .await
            .map_err(unreachable)?;
        stream.set_nodelay(true).map_err(unreachable)?;
        let connecting = Box::pin(Client::connect(config, stream.compat_write()));
        let mut client = connecting.await.map_err(|error| failure(&error))?;
        let lock_ms = statement_ms.min(60_000);
        let begin = format!(
            "SET LOCK_TIMEOUT {lock_ms}; SET TRANSACTION ISOLATION LEVEL READ COMMITTED; BEGIN TRANSACTION"
        );
        let answer = client.simple_query(begin).await;
        let answer = answer.map_err(|error| failure(&error))?;
        answer
            .into_results()
            .await
            .map_err(|error| failure(&error))?;
        Ok(Self(client))
    }

    /// Hands over row after row; a second result is not read.
    pub(super) async fn each(
        &mut self,
        query: &str,
        limits: &Settings,
        take: Take<'_>,
    ) -> Result<(), Failure> {
        let items = self.0.simple_query(query).await;
        let mut items = items.map_err(|error| failure(&error))?;
        while let Some(item) = items.try_next().await.map_err(|error| failure(&error))? {
            if let QueryItem::Row(row) = item
                && row.result_index() == 0
            {
                take(fields(&row, limits)?)?;
            }
        }
        Ok(())
    }

    /// Ends the session; the server takes the transaction back.
    pub(super) async fn close(self) {
        if let Err(error) = self.0.close().await {
            tracing::debug!(%error, "closing a source's session failed");
        }
    }
}

/// A row as JSON, within the limits.
pub(in super::super) fn fields(
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
        fields.insert(column.name().to_owned(), value);
    }
    Ok(fields)
}

/// A cell as the other databases give it: integers and truth values typed, decimals and times as text.
pub(in super::super) fn value(cell: &ColumnData<'_>) -> Result<Value, String> {
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

/// What kind of failure a driver's error is.
fn failure(error: &Error) -> Failure {
    let fault = match error {
        Error::Io { .. } | Error::Protocol(_) => Fault::Unreachable,
        Error::Tls(_) | Error::Routing { .. } => Fault::Settings,
        Error::Server(said) => of_number(said.code()),
        Error::Encoding(_)
        | Error::Conversion(_)
        | Error::Utf8
        | Error::Utf16
        | Error::ParseInt(_)
        | Error::BulkInput(_) => Fault::Data,
    };
    let said = error.to_string();
    let words = match error {
        Error::Tls(_) if said.contains("certificate") => {
            "the server's certificate is not trusted: name its authority in extra_ca_file"
                .to_owned()
        }
        Error::Server(said) => format!("{} (error {})", said.message(), said.code()),
        Error::Io { .. }
        | Error::Protocol(_)
        | Error::Encoding(_)
        | Error::Conversion(_)
        | Error::Utf8
        | Error::Utf16
        | Error::ParseInt(_)
        | Error::Tls(_)
        | Error::Routing { .. }
        | Error::BulkInput(_) => said,
    };
    (fault, words)
}

/// The server's error numbers.
pub(in super::super) fn of_number(number: u32) -> Fault {
    match number {
        // Login failed; cannot open the database; permission denied on an object or column.
        18452 | 18456 | 18470 | 18486..=18488 | 4060 | 916 | 229 | 230 => Fault::Refused,
        // Lock time-out; chosen as deadlock victim.
        1222 | 1205 => Fault::Timeout,
        // Shutting down, paused, not ready.
        6005 | 17142 | 40613 | 40501 => Fault::Unreachable,
        _ => Fault::Query,
    }
}
