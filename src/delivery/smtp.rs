//! Delivery by SMTP, over TLS unless an operator switched that off. The conversation is driven by hand: up to
//! the recipients everything is safely repeatable; from the message text on, silence means "unknown".

mod ready;

use std::fmt;
use std::time::Duration;

use lettre::Address;
use lettre::message::Mailbox;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{AsyncSmtpConnection, Certificate, TlsParameters};
use lettre::transport::smtp::commands::{Ehlo, Mail, Rcpt};
use lettre::transport::smtp::extension::ClientId;

use super::announced::Announced;
use super::mail::{Correspondents, compose};
use super::{DeliveryError, Outcome, Parcel};
pub(super) use ready::Ready;

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

impl SmtpSettings {
    /// Whether the addresses can stand in a mail; opens nothing.
    pub(super) fn check(&self) -> Result<(), DeliveryError> {
        addresses(self).map(drop)
    }
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
        let (between, bounce) = addresses(settings)?;
        let tls = match settings.tls {
            SmtpTls::DangerPlaintext => None,
            SmtpTls::Starttls | SmtpTls::Implicit => Some(tls_parameters(settings)?),
        };
        Ok(Self {
            settings: settings.clone(),
            between,
            bounce,
            tls,
        })
    }

    /// Connects, logs in and names sender and recipients.
    pub(super) async fn prepare(&self, parcel: &Parcel) -> Result<Ready, Outcome> {
        let mut ready = Ready {
            connection: self.connect().await?,
            message: Vec::new(),
            timeout: self.settings.step_timeout,
        };
        match self.address(&mut ready, parcel).await {
            Ok(()) => Ok(ready),
            Err(outcome) => {
                ready.leave();
                Err(outcome)
            }
        }
    }

    /// Composes the mail as the relay takes it, and names sender and recipients.
    async fn address(&self, ready: &mut Ready, parcel: &Parcel) -> Result<(), Outcome> {
        let announced = self.announced(&mut ready.connection).await?;
        ready.message = compose(parcel, &self.between, announced.eight_bit)
            .map_err(|error| Outcome::Refused(format!("the mail could not be composed: {error}")))?
            .formatted();
        // The line end before the final dot counts as well (RFC 1870 section 4).
        let octets = ready.message.len() + 2;
        if let Some(limit) = announced.limit.filter(|limit| octets > *limit) {
            let words = format!("the mail has {octets} octets, and the relay takes {limit} (SIZE)");
            return Err(Outcome::Refused(words));
        }
        // No SMTPUTF8: the addresses are ASCII.
        let bounce = self.bounce_address(&parcel.correlation);
        let mail = Mail::new(
            Some(bounce),
            announced.parameters(octets, ready.message.is_ascii()),
        );
        self.bounded("MAIL", ready.connection.command(mail)).await?;
        for to in &self.between.to {
            let rcpt = Rcpt::new(to.email.clone(), Vec::new());
            self.bounded("RCPT", ready.connection.command(rcpt)).await?;
        }
        Ok(())
    }

    /// Asks once more what the relay can do: lettre keeps too little of the first answer. EHLO may be said at
    /// any time (RFC 5321 section 4.1.4); a relay that will not hear it again has announced nothing.
    async fn announced(&self, connection: &mut AsyncSmtpConnection) -> Result<Announced, Outcome> {
        let hello = Ehlo::new(ClientId::Domain(self.between.domain.clone()));
        let asking = async {
            match connection.command(hello).await {
                Ok(response) => Ok(Announced::read(response.message())),
                Err(error) if error.status().is_some() => Ok(Announced::default()),
                Err(error) => Err(error),
            }
        };
        self.bounded("EHLO", asking).await
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

/// What the relay said, without its words beyond the code: they may quote what it was sent.
fn reply(step: &str, error: &lettre::transport::smtp::Error) -> String {
    match error.status() {
        Some(code) => format!("{step}: the relay answered {code}"),
        None if error.is_timeout() => format!("{step}: no answer in time"),
        None if error.is_client() => format!("{step}: not possible with this relay"),
        None if error.is_tls() => format!("{step}: TLS failed"),
        None => format!("{step}: the connection failed"),
    }
}

/// Who writes to whom, and the bounce address.
fn addresses(settings: &SmtpSettings) -> Result<(Correspondents, Address), DeliveryError> {
    let from = mailbox(&settings.from)?;
    let to = settings.to.iter().map(|to| mailbox(to));
    let to = to.collect::<Result<Vec<_>, _>>()?;
    if to.is_empty() {
        return Err(DeliveryError::Address(String::new()));
    }
    let bounce = match &settings.bounce {
        Some(bounce) => mailbox(bounce)?.email,
        None => from.email.clone(),
    };
    let domain = from.email.domain().to_owned();
    Ok((Correspondents { from, to, domain }, bounce))
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

impl fmt::Debug for Smtp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.settings.fmt(f)
    }
}
