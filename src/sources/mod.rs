//! Where inventory comes from: SQL databases and files. A source yields rows and knows nothing of AAP;
//! it never writes to what it reads, and holds no more of it than one row at a time.

pub mod sql;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;

use crate::mapping::{Plan, Row, Tables};

/// How to reach a source: what the deployment's configuration says. What to read there is the mapping's
/// [`Plan`].
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Settings {
    Sql(sql::Settings),
}

/// One opened source.
#[derive(Debug)]
pub struct Source {
    reader: Reader,
    name: String,
}

#[derive(Debug)]
enum Reader {
    Sql(sql::Database),
}

/// What one reading saw.
#[derive(Debug, Default)]
pub struct Read {
    pub rows: u64,
    /// The names of the columns, or of the members seen.
    pub columns: BTreeSet<String>,
    /// Whether every row has every column, so that a missing one is a mistake.
    pub columns_are_fixed: bool,
    pub tables: Tables,
}

/// Where a reading failed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{source_name}: {step}: {words}")]
pub struct SourceError {
    /// The source, without credentials.
    pub source_name: String,
    /// What was being done: `connect`, `query`, `child opts`, `table loc_fees`, …
    pub step: String,
    pub fault: Fault,
    /// What the driver or the parser said.
    pub words: String,
}

/// Kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The settings or the mapping's `[source]` cannot work.
    Settings,
    /// Nobody answers.
    Unreachable,
    /// Answered with a refusal: wrong password, no rights.
    Refused,
    /// The query is wrong for this database.
    Query,
    /// What came is not what was promised.
    Data,
    /// More than the limits allow.
    Limit,
    /// Took too long.
    Timeout,
}

impl Fault {
    /// Whether trying again later can help without anybody's doing.
    pub fn is_transient(self) -> bool {
        matches!(self, Self::Unreachable | Self::Timeout)
    }
}

impl SourceError {
    fn new(source: &str, step: impl Into<String>, fault: Fault, words: impl fmt::Display) -> Self {
        Self {
            source_name: source.to_owned(),
            step: step.into(),
            fault,
            words: words.to_string(),
        }
    }
}

impl Source {
    /// Checks settings and plan against each other. Nothing is read yet.
    #[expect(
        clippy::unused_async,
        reason = "opening is where a source may come to need the network"
    )]
    pub async fn open(settings: Settings, plan: &Plan) -> Result<Self, SourceError> {
        match (settings, plan) {
            (Settings::Sql(settings), Plan::Sql(plan)) => {
                let database = sql::Database::open(settings, plan.clone())?;
                Ok(Self {
                    name: database.name().to_owned(),
                    reader: Reader::Sql(database),
                })
            }
            (Settings::Sql(settings), _) => Err(SourceError::new(
                &sql::without_credentials(&settings.url),
                "open",
                Fault::Settings,
                "the mapping's [source] is of another kind than the deployment's source",
            )),
        }
    }

    /// Reads everything. Side tables come first, so that `sink` can map each row as it passes.
    pub async fn read(&self, sink: impl FnMut(Row, &Tables) + Send) -> Result<Read, SourceError> {
        match &self.reader {
            Reader::Sql(database) => database.read(sink).await,
        }
    }

    /// Whether single vehicles can be read again.
    pub fn can_look_up(&self) -> bool {
        match &self.reader {
            Reader::Sql(_) => true,
        }
    }

    /// Reads the vehicles with these keys ([`crate::mapping::Mapping::look_up_key`]).
    pub async fn look_up(&self, keys: &[String]) -> Result<(Vec<Row>, Tables), SourceError> {
        match &self.reader {
            Reader::Sql(database) => database.look_up(keys).await,
        }
    }

    /// The source without its credentials.
    pub fn describe(&self) -> &str {
        &self.name
    }
}
