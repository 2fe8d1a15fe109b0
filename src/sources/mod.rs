//! Where inventory comes from: SQL databases, files, JSON APIs. A source yields rows and knows nothing of AAP;
//! it never writes to what it reads, and holds no more of it than one row at a time.

pub mod feed;
pub mod http;
mod mark;
pub mod rest;
pub mod sql;

#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

use crate::mapping::{Plan, Row, Tables};
pub use mark::{Mark, Since};

/// How to reach a source: what the deployment's configuration says. What to read there is the mapping's
/// [`Plan`].
#[derive(Clone, Debug)]
pub enum Settings {
    Sql(sql::Settings),
    Feed(feed::Settings),
    Rest(rest::Settings),
}

/// One opened source.
#[derive(Debug)]
pub struct Source {
    reader: Reader,
    name: String,
}

#[derive(Debug)]
enum Reader {
    Sql(Box<sql::Database>),
    Feed(Box<feed::Feed>),
    Rest(Box<rest::Api>),
}

/// Rows passed over that are remembered one by one; the others are only counted.
const MAX_SKIPPED: usize = 1_000;

/// Members of a JSON or XML row; and different ones over all rows that are remembered.
const MAX_MEMBERS: usize = 2_000;

/// How much of a source a reading gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// All of it: what did not come is gone.
    #[default]
    Whole,
    /// What changed since the mark.
    Changes,
    /// Nothing has changed since the mark, and no row came.
    Same,
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
    /// Rows that could not be trusted and were not handed over; counted in `rows`.
    pub skipped: Vec<Skipped>,
    /// How many there were in all.
    pub skipped_rows: u64,
    pub extent: Extent,
    /// Where this reading stood.
    pub mark: Mark,
}

impl Read {
    /// Takes a row whose members may differ from the last one's; none where it has more than any vehicle.
    fn object(&mut self, fields: Map<String, Value>) -> Option<Row> {
        self.rows += 1;
        if fields.len() > MAX_MEMBERS {
            let reason = format!("has {} members, more than {MAX_MEMBERS}", fields.len());
            let row = self.rows;
            self.skip(Skipped { row, reason });
            return None;
        }
        for name in fields.keys() {
            if self.columns.len() < MAX_MEMBERS && !self.columns.contains(name) {
                self.columns.insert(name.clone());
            }
        }
        Some(Row {
            fields,
            ..Row::default()
        })
    }

    fn skip(&mut self, skipped: Skipped) {
        self.skipped_rows += 1;
        if self.skipped.len() < MAX_SKIPPED {
            self.skipped.push(skipped);
        }
    }
}

/// A row that a file garbled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its number in the file, from 1.
    pub row: u64,
    pub reason: String,
}

/// Where a reading failed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{source_name}: {step}: {words}{}", .fault.remedy())]
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

    /// Whether only another configuration, or another source, can help: it is asked for what it does not have.
    pub fn is_lasting(self) -> bool {
        matches!(self, Self::Settings | Self::Query)
    }

    /// What a person can do, where the words do not say it themselves.
    fn remedy(self) -> &'static str {
        match self {
            Self::Settings | Self::Data => "",
            Self::Unreachable => "; check that it is there and can be reached from here",
            Self::Refused => "; check the user, the password or key, and their rights",
            Self::Query => "; compare what is asked for with what the source has now",
            Self::Limit => "; raise that limit in the source's settings, if so much is right",
            Self::Timeout => "; it is tried again later",
        }
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
                    reader: Reader::Sql(Box::new(database)),
                })
            }
            (Settings::Feed(settings), Plan::Feed(plan)) => {
                let feed = feed::Feed::open(settings, plan.clone())?;
                Ok(Self {
                    name: feed.name().to_owned(),
                    reader: Reader::Feed(Box::new(feed)),
                })
            }
            (Settings::Rest(settings), Plan::Rest(plan)) => {
                let api = rest::Api::open(settings, plan.clone())?;
                Ok(Self {
                    name: api.name().to_owned(),
                    reader: Reader::Rest(Box::new(api)),
                })
            }
            (Settings::Rest(_), _) => Err(mismatch("rest")),
            (Settings::Sql(settings), _) => Err(mismatch(&sql::without_credentials(&settings.url))),
            (Settings::Feed(settings), _) => Err(mismatch(&settings.place.name())),
        }
    }

    /// Reads everything. Side tables come first, so that `sink` can map each row as it passes.
    pub async fn read(&self, sink: impl FnMut(Row, &Tables) + Send) -> Result<Read, SourceError> {
        self.read_since(Since::default(), sink).await
    }

    /// Reads what `since` asks for, or more: [`Read::extent`] tells.
    pub async fn read_since(
        &self,
        since: Since<'_>,
        sink: impl FnMut(Row, &Tables) + Send,
    ) -> Result<Read, SourceError> {
        match &self.reader {
            Reader::Sql(database) => database.read(since, sink).await,
            Reader::Feed(feed) => feed.read(since, sink).await,
            Reader::Rest(api) => api.read(since, sink).await,
        }
    }

    /// Whether reading since this will give only what changed: then there is a mark to ask with.
    pub fn gives_changes(&self, since: Since<'_>) -> bool {
        let can = match &self.reader {
            Reader::Sql(database) => database.gives_changes(),
            Reader::Rest(api) => api.gives_changes(),
            Reader::Feed(_) => false,
        };
        can && since.watermark().is_some()
    }

    /// How the file looks that would be read now, where the source is one: another answer than before is
    /// news. A look at a folder; nothing is opened.
    pub fn glance(&self) -> Option<String> {
        match &self.reader {
            Reader::Feed(feed) => feed.glance(),
            Reader::Sql(_) | Reader::Rest(_) => None,
        }
    }

    /// Whether [`Self::glance`] can tell anything.
    pub fn can_be_watched(&self) -> bool {
        matches!(&self.reader, Reader::Feed(feed) if feed.is_on_disk())
    }

    /// Whether single vehicles can be read again.
    pub fn can_look_up(&self) -> bool {
        match &self.reader {
            Reader::Sql(_) => true,
            Reader::Feed(_) | Reader::Rest(_) => false,
        }
    }

    /// Reads the vehicles with these keys ([`crate::mapping::Mapping::look_up_key`]).
    pub async fn look_up(&self, keys: &[String]) -> Result<(Vec<Row>, Tables), SourceError> {
        match &self.reader {
            Reader::Sql(database) => database.look_up(keys).await,
            Reader::Feed(_) | Reader::Rest(_) => {
                let words = "this kind of source has no look-up";
                Err(SourceError::new(
                    &self.name,
                    "look_up",
                    Fault::Settings,
                    words,
                ))
            }
        }
    }

    /// The source without its credentials.
    pub fn describe(&self) -> &str {
        &self.name
    }
}

fn mismatch(source: &str) -> SourceError {
    let words = "the mapping's [source] is of another kind than the deployment's source";
    SourceError::new(source, "open", Fault::Settings, words)
}
