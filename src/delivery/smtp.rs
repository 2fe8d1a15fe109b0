//! Delivery by SMTP, over TLS unless an operator switched that off. The conversation is driven by hand: up to
//! the recipients everything is safely repeatable; from the message text on, silence means "unknown".

use std::fmt;
use std::time::Duration;

use lettre::Address;
use lettre::message::Mailbox;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{AsyncSmtpConnection, Certificate, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::ClientId;

use super::mail::{Correspondents, compose};
use super::{DeliveryError, Outcome, Parcel};

/// How long a relay may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(2);

/// A mail relay and who writes to whom through it.
#[derive(Clone)]
pub struct SmtpSettings {
    pub host: String,
    pub port: u16,
    pub tls: SmtpTls,
    /// User name and password.
    pub login: Option<(String, String)>,
    /// PEM of further trusted roots.
    pub roots_pem: Option<Vec<u8>>,
    /// An address of the operator's domain, never the buyer's.
    pub from: String,
    pub to: Vec<String>,
    /// The bounce address, `from` when absent. `+{correlation}` is put before its `@` when `verp` is set.
    pub bounce: Option<String>,
    pub verp: bool,
    /// How long one step of the conversation may take.
    pub step_timeout: Duration,
}

/// How the connection is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmtpTls {
    /// STARTTLS, and nothing is sent without it.
    Starttls,
    /// TLS from the first byte.
    Implicit,
    /// No protection at all: for a relay on the same host.
    DangerPlaintext,
}

/// A mail relay, ready to use.
pub struct Smtp {
    settings: SmtpSettings,
    between: Correspondents,
    bounce: Address,
    tls: Option<TlsParameters>,
}

impl Smtp {
    pub(super) fn new(settings: &SmtpSettings) -> Result<Self, DeliveryError> {
        let from = mailbox(&settings.from)?;
        let to = settings
            .to
            .iter()
            .map(|to| mailbox(to))
            .collect::<Result<Vec<_>, _>>()?;
        if to.is_empty() {
            return Err(DeliveryError::Address(String::new()));
        }
        let bounce = match &settings.bounce {
            Some(bounce) => mailbox(bounce)?.email,
            None => from.email.clone(),
        };
        let tls = match settings.tls {
            SmtpTls::DangerPlaintext => None,
            SmtpTls::Starttls | SmtpTls::Implicit => Some(tls_parameters(settings)?),
        };
        Ok(Self {
            settings: settings.clone(),
            between: Correspondents {
                domain: from.email.domain().to_owned(),
                from,
                to,
            },
            bounce,
            tls,
        })
    }

    /// Connects, logs in and names sender and recipients.
    pub(super) async fn prepare(&self, parcel: &Parcel) -> Result<Ready, Outcome> {
        let message = compose(parcel, &self.between)
            .map_err(|error| Outcome::Refused(format!("the mail could not be composed: {error}")))?
            .formatted();
        let mut connection = self.connect().await?;
        let named = self.envelope(&mut connection, parcel).await;
        let ready = Ready {
            connection,
            message,
            timeout: self.settings.step_timeout,
        };
        match named {
            Ok(()) => Ok(ready),
            Err(outcome) => {
                ready.leave();
                Err(outcome)
            }
        }
    }

    async fn connect(&self) -> Result<AsyncSmtpConnection, Outcome> {
        let settings = &self.settings;
        let hello = ClientId::Domain(self.between.domain.clone());
        let implicit = match settings.tls {
            SmtpTls::Implicit => self.tls.clone(),
            SmtpTls::Starttls | SmtpTls::DangerPlaintext => None,
        };
        let place = (settings.host.as_str(), settings.port);
        let connecting = AsyncSmtpConnection::connect_tokio1(
            place,
            Some(settings.step_timeout),
            &hello,
            implicit,
            None,
        );
        let mut connection = self.bounded("connecting", connecting).await?;
        if let (SmtpTls::Starttls, Some(tls)) = (settings.tls, &self.tls) {
            if !connection.can_starttls() {
                return Err(Outcome::Retry("the relay offers no STARTTLS".to_owned()));
            }
            self.bounded("STARTTLS", connection.starttls(tls.clone(), &hello))
                .await?;
        }
        if let Some((user, password)) = &settings.login {
            let credentials = Credentials::new(user.clone(), password.clone());
            self.bounded("AUTH", connection.auth(DEFAULT_MECHANISMS, &credentials))
                .await?;
        }
        Ok(connection)
    }

    async fn envelope(
        &self,
        connection: &mut AsyncSmtpConnection,
        parcel: &Parcel,
    ) -> Result<(), Outcome> {
        // No 8BITMIME and no SMTPUTF8: what `compose` writes is ASCII, and so are the addresses.
        let bounce = self.bounce_address(&parcel.correlation);
        self.bounded(
            "MAIL",
            connection.command(Mail::new(Some(bounce), Vec::new())),
        )
        .await?;
        for to in &self.between.to {
            let rcpt = Rcpt::new(to.email.clone(), Vec::new());
            self.bounded("RCPT", connection.command(rcpt)).await?;
        }
        Ok(())
    }

    /// The bounce address that ties a delivery report to its lead.
    fn bounce_address(&self, correlation: &str) -> Address {
        if !self.settings.verp {
            return self.bounce.clone();
        }
        let user = format!("{}+{correlation}", self.bounce.user());
        Address::new(user, self.bounce.domain()).unwrap_or_else(|_| self.bounce.clone())
    }

    /// One step before the message text: nothing was taken, whatever goes wrong.
    async fn bounded<T>(
        &self,
        step: &str,
        work: impl Future<Output = Result<T, lettre::transport::smtp::Error>>,
    ) -> Result<T, Outcome> {
        match tokio::time::timeout(self.settings.step_timeout, work).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) if error.is_permanent() => Err(Outcome::Refused(reply(step, &error))),
            Ok(Err(error)) => Err(Outcome::Retry(reply(step, &error))),
            Err(_) => Err(Outcome::Retry(format!("{step}: no answer in time"))),
        }
    }
}

/// A conversation that has named its recipients.
pub struct Ready {
    connection: AsyncSmtpConnection,
    message: Vec<u8>,
    timeout: Duration,
}

impl Ready {
    /// Sends the message text.
    pub(super) async fn transmit(mut self) -> Outcome {
        // No text was sent before the relay has answered DATA, so whatever goes wrong here is repeatable.
        let outcome = match self.begin().await {
            Ok(()) => self.send_text().await,
            Err(outcome) => outcome,
        };
        self.leave();
        outcome
    }

    async fn begin(&mut self) -> Result<(), Outcome> {
        match tokio::time::timeout(self.timeout, self.connection.command(Data)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) if error.is_permanent() => Err(Outcome::Refused(reply("DATA", &error))),
            Ok(Err(error)) => Err(Outcome::Retry(reply("DATA", &error))),
            Err(_) => Err(Outcome::Retry("DATA: no answer in time".to_owned())),
        }
    }

    async fn send_text(&mut self) -> Outcome {
        match tokio::time::timeout(self.timeout, self.connection.message(&self.message)).await {
            Ok(Ok(response)) => {
                Outcome::Delivered(format!("the relay answered {}", response.code()))
            }
            Ok(Err(error)) if error.is_permanent() => Outcome::Refused(reply("after DATA", &error)),
            Ok(Err(error)) if error.is_transient() => Outcome::Retry(reply("after DATA", &error)),
            Ok(Err(_)) => Outcome::Unknown("the connection was lost after DATA".to_owned()),
            Err(_) => Outcome::Unknown("no answer in time after DATA".to_owned()),
        }
    }

    /// Takes leave without letting the outcome wait for it.
    pub(super) fn leave(mut self) {
        tokio::spawn(async move {
            drop(tokio::time::timeout(GOODBYE, self.connection.abort()).await);
        });
    }
}

/// What the relay said, without its words beyond the code: they may quote what it was sent.
fn reply(step: &str, error: &lettre::transport::smtp::Error) -> String {
    match error.status() {
        Some(code) => format!("{step}: the relay answered {code}"),
        None if error.is_timeout() => format!("{step}: no answer in time"),
        None if error.is_tls() => format!("{step}: TLS failed"),
        None => format!("{step}: the connection failed"),
    }
}

fn mailbox(text: &str) -> Result<Mailbox, DeliveryError> {
    let bad = || DeliveryError::Address(text.to_owned());
    let mailbox: Mailbox = text.parse().map_err(|_| bad())?;
    let address: &str = mailbox.email.as_ref();
    if address.is_ascii() {
        Ok(mailbox)
    } else {
        Err(bad())
    }
}

fn tls_parameters(settings: &SmtpSettings) -> Result<TlsParameters, DeliveryError> {
    let fail = |error: lettre::transport::smtp::Error| DeliveryError::Tls(error.to_string());
    let mut builder = TlsParameters::builder(settings.host.clone());
    if let Some(pem) = &settings.roots_pem {
        builder = builder.add_root_certificate(Certificate::from_pem(pem).map_err(fail)?);
    }
    builder.build_rustls().map_err(fail)
}

impl fmt::Debug for SmtpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SmtpSettings")
            .field("host", &self.host)
            .field("port", &self.port)
            .field("tls", &self.tls)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ready")
            .field("bytes", &self.message.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Smtp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.settings.fmt(f)
    }
}
