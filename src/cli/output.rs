//! What commands print: results on standard output, for people or as JSON; complaints on standard error.

use std::io::{self, Write as _};

use serde_json::{Value, json};

use super::failure::{Exit, Failure};

/// The form of a command's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    Human,
    Json,
}

/// Where a command's result goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    format: Format,
}

impl Output {
    /// The form that the flag asks for, or else the variable.
    pub(super) fn new(flag: Option<Format>, variable: Option<&str>) -> Self {
        let variable = if variable == Some("json") {
            Format::Json
        } else {
            Format::Human
        };
        Self {
            format: flag.unwrap_or(variable),
        }
    }

    /// Prints a result: `text` for people, `value` as one JSON line for machines.
    pub(super) fn print(self, text: &str, value: &Value) -> io::Result<()> {
        let mut out = io::stdout().lock();
        match self.format {
            Format::Human => writeln!(out, "{text}")?,
            Format::Json => writeln!(out, "{value}")?,
        }
        out.flush()
    }

    /// Says how the command failed, if it did.
    pub(super) fn finish(self, result: Result<Exit, Failure>) -> Exit {
        let failure = match result {
            Ok(exit) => return exit,
            Err(failure) if failure.exit == Exit::Fine => return Exit::Fine,
            Err(failure) => failure,
        };
        let written = match self.format {
            Format::Human => complain(&failure),
            Format::Json => self.print("", &error_value(&failure)),
        };
        // Where even the complaint cannot be written, the exit code is all that is left to say.
        written.map_or(failure.exit, |()| failure.exit)
    }
}

fn complain(failure: &Failure) -> io::Result<()> {
    let mut err = io::stderr().lock();
    writeln!(err, "error: {}", failure.message)?;
    if let Some(findings) = &failure.findings {
        writeln!(err, "{findings}")?;
    }
    if let Some(hint) = &failure.hint {
        writeln!(err, "  {hint}")?;
    }
    err.flush()
}

fn error_value(failure: &Failure) -> Value {
    let mut error = json!({ "code": failure.exit as u8, "message": failure.message });
    if let Some(object) = error.as_object_mut() {
        if let Some(hint) = &failure.hint {
            object.insert("hint".to_owned(), hint.as_str().into());
        }
        if let Some(findings) = &failure.findings {
            object.insert("findings".to_owned(), json!(findings));
        }
    }
    json!({ "schema_version": 1, "error": error })
}
