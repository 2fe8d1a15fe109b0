//! How a command ends: exit codes, and what a person reads when it fails.

use std::io;
use std::process::ExitCode;

use crate::config::Findings;

/// How a command ended, in the codes of `sysexits.h` where one fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    Fine = 0,
    /// The command worked and found something wrong.
    Findings = 1,
    Usage = 2,
    /// A source, store or relay cannot be reached.
    Unavailable = 69,
    Internal = 70,
    /// The configuration is wrong.
    Config = 78,
}

impl Exit {
    pub(super) fn code(self) -> ExitCode {
        ExitCode::from(self as u8)
    }
}

/// Why a command did not do its work.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) exit: Exit,
    pub(super) message: String,
    /// What to do about it.
    pub(super) hint: Option<String>,
    pub(super) findings: Option<Findings>,
}

impl Failure {
    pub(super) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            exit,
            message: message.into(),
            hint: None,
            findings: None,
        }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<Findings> for Failure {
    fn from(findings: Findings) -> Self {
        Self {
            findings: Some(findings),
            ..Self::new(Exit::Config, "the configuration is wrong")
        }
    }
}

/// Output that cannot be written. Whoever closed our pipe has read enough: no failure.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let exit = if error.kind() == io::ErrorKind::BrokenPipe {
            Exit::Fine
        } else {
            Exit::Internal
        };
        Self::new(exit, format!("standard output: {error}"))
    }
}
