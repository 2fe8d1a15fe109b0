//! Ways out of the house: SMTP, HTTP, a directory. Must not know leads or stores: it gets a finished parcel and
//! says how the attempt ended. An attempt has two steps, so that whoever keeps the books can write down that
//! the transmission begins before anything is sent that could be taken twice.

mod announced;
mod directory;
mod exchange;
mod http;
mod mail;
pub mod receiver;
mod smtp;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

pub use directory::Directory;
pub use exchange::{Exchange, Reply};
pub use http::{Http, HttpAuth, HttpForm, HttpSettings, Rules};
pub use receiver::MailReceiver;
use smtp::Ready as SmtpReady;
pub use smtp::{Smtp, SmtpSettings, SmtpTls};

/// Where one target delivers to.
#[derive(Clone, Debug)]
pub enum Settings {
    Smtp(Box<SmtpSettings>),
    Http(Box<HttpSettings>),
    /// One file per lead, renamed into place: for the demo and for SFTP pick-up.
    Directory {
        path: PathBuf,
    },
}

/// A way out, ready to use.
#[derive(Debug)]
pub enum Target {
    Smtp(Box<Smtp>),
    Http(Box<Http>),
    Directory(Directory),
}

/// One lead in the words of its receiver.
#[derive(Clone, Debug)]
pub struct Parcel {
    /// What correlates the delivery: the same for every attempt. Letters, digits, `_`, `-`, `.` only.
    pub correlation: String,
    pub subject: String,
    pub content: Content,
    pub layout: MailLayout,
    pub encoding: MailEncoding,
    /// Who may be answered; only when the profile says so.
    pub reply_to: Option<String>,
    /// When this attempt is made.
    pub date: jiff::Timestamp,
}

/// What is delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// An ADF document.
    Adf(String),
    /// Plain words, for what has no valid ADF form.
    Text(String),
}

/// Where in a mail the document stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MailLayout {
    /// The document is the text of the mail, and nothing else is.
    #[default]
    Body,
    /// A short text, the document attached.
    Attachment,
    /// The document as text and attached.
    Both,
}

/// How the text of a mail travels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MailEncoding {
    /// As it is where it is ASCII, else quoted-printable or base64, whichever is shorter.
    #[default]
    Auto,
    /// As it is, also beyond ASCII, where the relay takes that (8BITMIME); else as `auto`.
    #[serde(rename = "8bit")]
    EightBit,
    QuotedPrintable,
    Base64,
}

/// How an attempt ended. The texts hold no customer data of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The receiver took it.
    Delivered(String),
    /// The receiver will not take it, now or later.
    Refused(String),
    /// It was certainly not taken; trying again is safe.
    Retry(String),
    /// The same, and the receiver asked to be left alone for so long.
    Later(String, Duration),
    /// It may have been taken.
    Unknown(String),
}

/// Why a target cannot be made from its settings.
#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    #[error("mail address {0:?} is not valid")]
    Address(String),
    #[error("the TLS settings of the mail relay: {0}")]
    Tls(String),
    #[error("HTTP: {0}")]
    Http(String),
    /// An expression about a receiver's answers.
    #[error("{key}: {words}")]
    Rule { key: &'static str, words: String },
    #[error("directory {path}: {cause}")]
    Directory {
        path: PathBuf,
        cause: std::io::Error,
    },
}

impl Settings {
    /// What is wrong with them by themselves; opens nothing, reads and makes no file.
    pub fn check(&self) -> Result<(), DeliveryError> {
        match self {
            Self::Smtp(settings) => settings.check(),
            Self::Http(settings) => settings.check(),
            Self::Directory { .. } => Ok(()),
        }
    }
}

impl Outcome {
    /// The same, with no wait beyond `longest`.
    #[must_use]
    pub fn within(self, longest: Duration) -> Self {
        if let Self::Later(detail, wait) = self {
            Self::Later(detail, wait.min(longest))
        } else {
            self
        }
    }
}

impl Target {
    /// Makes the target ready; sends nothing.
    pub fn new(settings: &Settings) -> Result<Self, DeliveryError> {
        match settings {
            Settings::Smtp(settings) => Smtp::new(settings).map(|smtp| Self::Smtp(Box::new(smtp))),
            Settings::Http(settings) => Http::new(settings).map(|http| Self::Http(Box::new(http))),
            Settings::Directory { path } => Directory::new(path).map(Self::Directory),
        }
    }

    /// The kind of target, for logs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Smtp(_) => "smtp",
            Self::Http(_) => "http",
            Self::Directory(_) => "directory",
        }
    }

    /// Everything up to the point where the receiver could take the parcel. `Err` is how the attempt ended
    /// already; it is never `Delivered` nor `Unknown`.
    pub async fn prepare(&self, parcel: &Parcel) -> Result<Ready<'_>, Outcome> {
        match self {
            Self::Smtp(smtp) => smtp
                .prepare(parcel)
                .await
                .map(|ready| Ready::Smtp(Box::new(ready))),
            Self::Http(http) => Ok(Ready::Http(http, parcel.clone())),
            Self::Directory(directory) => Ok(Ready::Directory(directory, parcel.clone())),
        }
    }
}

/// An attempt that has sent nothing yet which the receiver could take.
pub enum Ready<'a> {
    Smtp(Box<SmtpReady>),
    Http(&'a Http, Parcel),
    Directory(&'a Directory, Parcel),
}

impl Ready<'_> {
    /// Whether an interrupted transmission may simply be repeated, because the second replaces the first.
    pub fn repeats_safely(&self) -> bool {
        match self {
            Self::Smtp(_) => false,
            Self::Http(http, _) => http.deduplicates(),
            Self::Directory(..) => true,
        }
    }

    /// Hands the parcel over.
    pub async fn transmit(self) -> Outcome {
        match self {
            Self::Smtp(ready) => ready.transmit().await,
            Self::Http(http, parcel) => http.post(&parcel).await,
            Self::Directory(directory, parcel) => directory.put(&parcel).await,
        }
    }

    /// Goes away without having sent anything.
    pub fn abandon(self) {
        match self {
            Self::Smtp(ready) => ready.leave(),
            Self::Http(..) | Self::Directory(..) => {}
        }
    }
}

impl fmt::Debug for Ready<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Smtp(_) => "Ready::Smtp",
            Self::Http(..) => "Ready::Http",
            Self::Directory(..) => "Ready::Directory",
        })
    }
}

#[cfg(test)]
pub(crate) mod scripted;
#[cfg(test)]
mod tests;
