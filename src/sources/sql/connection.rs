//! One read-only session with one of the kinds of database. Everything generic of the driver is kept in
//! here. Must not know the plan.

use std::str::FromStr;

use futures_util::TryStreamExt;
use serde_json::{Map, Value};
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection, MySqlSslMode};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgSslMode};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Column, ConnectOptions, Connection as _, Executor, Row as _};

use super::super::Fault;
use super::sqlserver::SqlServer;
use super::{Failure, Settings, cells, sqlserver};

/// Options of one kind of database.
pub(super) enum Options {
    Sqlite(SqliteConnectOptions),
    Postgres(PgConnectOptions),
    MySql(MySqlConnectOptions),
    SqlServer(Box<tiberius::Config>),
}

/// Reads the address.
pub(super) fn options(settings: &Settings) -> Result<Options, String> {
    let scheme = settings.url.split(':').next().unwrap_or_default();
    match scheme {
        "sqlite" => SqliteConnectOptions::from_str(&settings.url)
            .map(|options| Options::Sqlite(options.read_only(true).create_if_missing(false)))
            .map_err(|error| error.to_string()),
        "postgres" | "postgresql" => postgres(settings),
        "mysql" | "mariadb" => mysql(settings),
        "sqlserver" | "mssql" => {
            sqlserver::config(settings).map(|config| Options::SqlServer(Box::new(config)))
        }
        _ => Err(
            "url begins with sqlite://, postgres://, mysql://, mariadb:// or sqlserver://"
                .to_owned(),
        ),
    }
}

/// Parameters of an address that PostgreSQL's driver takes.
const OF_POSTGRES: [&str; 18] = [
    "sslmode",
    "ssl-mode",
    "sslrootcert",
    "ssl-root-cert",
    "ssl-ca",
    "sslcert",
    "ssl-cert",
    "sslkey",
    "ssl-key",
    "statement-cache-capacity",
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
    "options",
];

/// The address without other parameters: the driver would name them in the log with their values, and one may be a
/// password whose name is misspelt.
fn of_postgres(url: &str) -> String {
    let Some((place, parameters)) = url.split_once('?') else {
        return url.to_owned();
    };
    let known = |parameter: &&str| {
        let name = parameter.split('=').next().unwrap_or_default();
        let known = OF_POSTGRES.contains(&name) || name.starts_with("options[");
        if !known
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        {
            tracing::warn!(
                parameter = name,
                "a database's address has a parameter that is not used"
            );
        }
        known
    };
    let kept: Vec<&str> = parameters.split('&').filter(known).collect();
    format!("{place}?{}", kept.join("&"))
}

fn postgres(settings: &Settings) -> Result<Options, String> {
    let url = of_postgres(&settings.url);
    let mut options = PgConnectOptions::from_str(&url).map_err(|e| e.to_string())?;
    if let Some(password) = &settings.password {
        options = options.password(password);
    }
    if let Some(file) = &settings.ca_file {
        options = options.ssl_mode(PgSslMode::VerifyFull).ssl_root_cert(file);
    }
    Ok(Options::Postgres(
        options
            .application_name("forecourt")
            .options([("default_transaction_read_only", "on")]),
    ))
}

fn mysql(settings: &Settings) -> Result<Options, String> {
    let mut options = MySqlConnectOptions::from_str(&settings.url).map_err(|e| e.to_string())?;
    if let Some(password) = &settings.password {
        options = options.password(password);
    }
    if let Some(file) = &settings.ca_file {
        options = options.ssl_mode(MySqlSslMode::VerifyIdentity).ssl_ca(file);
    }
    Ok(Options::MySql(options))
}

/// An open read-only session in one transaction.
pub(in super::super) enum Connection {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
    MySql(MySqlConnection),
    SqlServer(Box<SqlServer>),
}

/// Takes a row, or says why reading must end.
pub(in super::super) type Take<'a> =
    &'a mut (dyn FnMut(Map<String, Value>) -> Result<(), Failure> + Send);

impl Connection {
    /// Connects and begins a transaction that sees one state and cannot write.
    pub(in super::super) async fn open(
        settings: &Settings,
        statement_ms: u64,
    ) -> Result<Self, Failure> {
        let options = options(settings).map_err(|words| (Fault::Settings, words))?;
        if let Options::SqlServer(config) = options {
            // Its driver's futures are large, and every other database's reading would carry them.
            let session = Box::pin(SqlServer::open(*config, statement_ms)).await?;
            return Ok(Self::SqlServer(Box::new(session)));
        }
        Self::begin(options, statement_ms)
            .await
            .map_err(|error| (fault(&error), words(&error)))
    }

    async fn begin(options: Options, statement_ms: u64) -> Result<Self, sqlx::Error> {
        Ok(match options {
            Options::Sqlite(options) => {
                let mut session = options.connect().await?;
                session.execute("PRAGMA query_only = ON").await?;
                session.execute("BEGIN").await?;
                Self::Sqlite(session)
            }
            Options::Postgres(options) => {
                let mut session = options.connect().await?;
                let limit = format!("SET statement_timeout = {statement_ms}");
                session.execute(AssertSqlSafe(limit)).await?;
                session
                    .execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                    .await?;
                Self::Postgres(session)
            }
            Options::MySql(options) => {
                let mut session = options.connect().await?;
                session
                    .execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                    .await?;
                session
                    .execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
                    .await?;
                Self::MySql(session)
            }
            // Opened by its own driver.
            Options::SqlServer(_) => return Err(sqlx::Error::WorkerCrashed),
        })
    }

    /// Sends a query in the text protocol, so that decimals and times come exactly as the server writes
    /// them, and hands over row after row.
    pub(in super::super) async fn each(
        &mut self,
        query: &str,
        limits: &Settings,
        take: Take<'_>,
    ) -> Result<(), Failure> {
        // `statement::check` has seen every query of the mapping; keys are checked literals.
        let text = query;
        let query = sqlx::raw_sql(AssertSqlSafe(text.to_owned()));
        macro_rules! rows {
            ($session:expr, $cell:path) => {{
                let mut stream = query.fetch($session);
                while let Some(row) = stream
                    .try_next()
                    .await
                    .map_err(|e| (fault(&e), words(&e)))?
                {
                    let columns = row.columns();
                    let mut budget = cells::Budget::new(limits, columns.len())?;
                    let mut fields = Map::with_capacity(columns.len());
                    for column in columns {
                        let raw = row
                            .try_get_raw(column.ordinal())
                            .map_err(|e| (Fault::Data, e.to_string()))?;
                        let value = $cell(raw).map_err(|reason| {
                            (Fault::Data, format!("column `{}` {reason}", column.name()))
                        })?;
                        budget.spend(&value)?;
                        cells::put(&mut fields, column.name(), value)?;
                    }
                    take(fields)?;
                }
            }};
        }
        match self {
            Self::Sqlite(session) => rows!(&mut *session, cells::sqlite),
            Self::Postgres(session) => rows!(&mut *session, cells::postgres),
            Self::MySql(session) => rows!(&mut *session, cells::mysql),
            Self::SqlServer(session) => return Box::pin(session.each(text, limits, take)).await,
        }
        Ok(())
    }

    /// Ends the session; a failure to say goodbye changes nothing that was read.
    pub(super) async fn close(self) {
        let closed = match self {
            Self::Sqlite(session) => session.close().await,
            Self::Postgres(session) => session.close().await,
            Self::MySql(session) => session.close().await,
            Self::SqlServer(session) => return Box::pin(session.close()).await,
        };
        if let Err(error) = closed {
            tracing::debug!(%error, "closing a source's session failed");
        }
    }
}

fn words(error: &sqlx::Error) -> String {
    error.to_string()
}

/// What kind of failure a driver's error is.
#[expect(clippy::wildcard_enum_match_arm, reason = "a foreign enum that grows")]
pub(super) fn fault(error: &sqlx::Error) -> Fault {
    match error {
        sqlx::Error::Configuration(_) | sqlx::Error::Tls(_) => Fault::Settings,
        sqlx::Error::Io(_) | sqlx::Error::WorkerCrashed | sqlx::Error::Protocol(_) => {
            Fault::Unreachable
        }
        sqlx::Error::Database(database) => of_code(database.code().as_deref()),
        _ => Fault::Data,
    }
}

/// SQLSTATE classes, MySQL's among them, and SQLite's result codes.
fn of_code(code: Option<&str>) -> Fault {
    match code {
        Some(code) if code.starts_with("28") || code == "42501" => Fault::Refused,
        Some("57014" | "70100") => Fault::Timeout,
        Some(code) if code.starts_with("08") || code.starts_with("57") => Fault::Unreachable,
        Some("5" | "261" | "517") => Fault::Timeout,
        Some("14") => Fault::Unreachable,
        Some("11" | "26") => Fault::Data,
        _ => Fault::Query,
    }
}
