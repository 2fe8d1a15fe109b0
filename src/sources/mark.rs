//! Where a reading stood, so that the next one can ask what is new since. Must not read anything.

use std::path::PathBuf;

use jiff::Timestamp;
use serde_json::Value;

use super::Fault;
use super::http::{Failure, Version};

/// Where a reading stood. Only a reading that was published may leave one: what was never shown is new.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mark {
    pub(super) version: Version,
    pub(super) file: Option<Stamp>,
    pub(super) watermark: Option<Watermark>,
}

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) path: PathBuf,
    pub(super) length: u64,
    pub(super) written: Timestamp,
    /// When the file system itself saw a change, in seconds and their fraction: a copy may keep the other time.
    pub(super) changed: (i64, i64),
}

/// The greatest value of the column that says when a row changed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Watermark {
    Number(serde_json::Number),
    Text(String),
}

impl Watermark {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }

    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => Some(Self::Number(number.clone())),
            Value::String(text) if !text.trim().is_empty() => {
                Some(Self::Text(text.trim().to_owned()))
            }
            Value::Null
            | Value::Bool(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => None,
        }
    }

    /// Numbers by size, texts as written: a column of times is only of use when it sorts as text.
    fn exceeds(&self, other: &Self) -> Result<bool, Failure> {
        match (self, other) {
            (Self::Text(one), Self::Text(other)) => Ok(one > other),
            (Self::Number(one), Self::Number(other)) => Ok(match (one.as_i64(), other.as_i64()) {
                (Some(one), Some(other)) => one > other,
                _ => one.as_f64() > other.as_f64(),
            }),
            _ => {
                let words = "the watermark's column holds numbers and texts";
                Err((Fault::Data, words.to_owned()))
            }
        }
    }
}

/// What a reading may leave out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Since<'a> {
    /// Where the last published reading stood.
    pub mark: Option<&'a Mark>,
    /// Whether what changed since then suffices.
    pub changes: bool,
}

impl Since<'_> {
    pub(super) fn watermark(&self) -> Option<&Watermark> {
        let mark = self.mark.filter(|_| self.changes)?;
        mark.watermark.as_ref()
    }
}

/// Finds the greatest watermark of a reading.
#[derive(Debug)]
pub(super) struct Highest(Option<Watermark>);

impl Highest {
    /// Nothing changed leaves what was known.
    pub(super) fn new(mark: Option<&Mark>) -> Self {
        Self(mark.and_then(|mark| mark.watermark.clone()))
    }

    pub(super) fn see(&mut self, cell: Option<&Value>, column: &str) -> Result<(), Failure> {
        let Some(cell) = cell else {
            let words = format!("a row has no `{column}`, the watermark");
            return Err((Fault::Data, words));
        };
        let Some(value) = Watermark::of(cell) else {
            return Ok(());
        };
        let higher = match &self.0 {
            None => true,
            Some(highest) => value.exceeds(highest)?,
        };
        if higher {
            self.0 = Some(value);
        }
        Ok(())
    }

    pub(super) fn found(self) -> Option<Watermark> {
        self.0
    }
}
