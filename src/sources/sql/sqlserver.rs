//! SQL Server, through a driver of its own. It has no read-only sessions: what guards it is the look at
//! each statement, a login that may do nothing else, and a transaction that is never committed.
//! Must not know the plan.

mod values;

use futures_util::TryStreamExt as _;
use tiberius::error::Error;
use tiberius::{AuthMethod, Client, Config, EncryptionLevel, QueryItem};
use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt as _};

use super::super::Fault;
use super::connection::Take;
use super::{Failure, Settings};
#[cfg(test)]
pub(in super::super) use values::{fields, value};

/// An open session in one transaction.
pub(in super::super) struct SqlServer(Client<Compat<TcpStream>>);

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
                take(values::fields(&row, limits)?)?;
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
