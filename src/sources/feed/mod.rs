//! Inventory in a file: CSV in its many shapes, JSON, JSON Lines, XML; plain or gzip; the file itself or
//! the newest one of a directory. Rows stream; a file that cannot be read to its end is an error, so that
//! half a file never passes for the whole. Must not know what the columns mean.

mod bytes;
mod csv;
mod json;
mod settings;
mod xml;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::mapping::plan::{AsOf, FeedFormat, FeedPlan};
use crate::mapping::{Row, Tables};

use super::{Fault, Read, Skipped, SourceError};
pub use settings::Settings;

/// Why reading ends early.
pub(super) type Failure = (Fault, String);

/// Skipped rows that are remembered one by one.
const MAX_SKIPPED: usize = 1_000;

/// A file with the plan for it.
#[derive(Debug)]
pub(super) struct File {
    settings: Arc<Settings>,
    plan: Arc<FeedPlan>,
    name: String,
}

/// What a parser hands over.
pub(super) enum Item {
    /// The header of a file whose rows all have the same columns.
    Columns(Vec<String>),
    Row(Map<String, Value>),
    /// A row that cannot be trusted, by its number.
    Skipped(u64, String),
}

/// Takes items until it says to stop.
pub(super) type Emit<'a> = &'a mut dyn FnMut(Item) -> Result<(), Failure>;

impl File {
    pub(super) fn open(settings: Settings, plan: FeedPlan) -> Result<Self, SourceError> {
        let name = format!("feed {}", settings.path.display());
        if plan.format == FeedFormat::Xml && plan.items.is_none() {
            let words = "an XML feed needs `items`, the name of a vehicle's element";
            return Err(SourceError::new(&name, "open", Fault::Settings, words));
        }
        Ok(Self {
            settings: Arc::new(settings),
            plan: Arc::new(plan),
            name,
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Reads the file on a thread of its own, row after row.
    pub(super) async fn read(
        &self,
        mut sink: impl FnMut(Row, &Tables) + Send,
    ) -> Result<Read, SourceError> {
        let error =
            |step: &str, (fault, words): Failure| SourceError::new(&self.name, step, fault, words);
        let (path, written) = newest(&self.settings.path).map_err(|e| error("open", e))?;
        let mut read = Read::default();
        if self.plan.as_of == AsOf::FileTime {
            read.tables = Tables::new().with_as_of(written);
        }
        let (sender, mut receiver) = mpsc::channel::<Item>(256);
        let (settings, plan) = (Arc::clone(&self.settings), Arc::clone(&self.plan));
        let worker = tokio::task::spawn_blocking(move || {
            parse(&path, &settings, &plan, &mut |item| {
                let stopped = || (Fault::Data, "reading was given up".to_owned());
                sender.blocking_send(item).map_err(|_| stopped())
            })
        });
        while let Some(item) = receiver.recv().await {
            match item {
                Item::Columns(columns) => {
                    read.columns = columns.into_iter().collect();
                    read.columns_are_fixed = true;
                }
                Item::Row(fields) => {
                    read.rows += 1;
                    if !read.columns_are_fixed {
                        note(&mut read.columns, &fields);
                    }
                    let row = Row {
                        fields,
                        ..Row::default()
                    };
                    sink(row, &read.tables);
                }
                Item::Skipped(row, reason) => {
                    read.rows += 1;
                    if read.skipped.len() < MAX_SKIPPED {
                        read.skipped.push(Skipped { row, reason });
                    }
                }
            }
        }
        let step = match self.plan.format {
            FeedFormat::Csv => "read CSV",
            FeedFormat::Json | FeedFormat::JsonLines => "read JSON",
            FeedFormat::Xml => "read XML",
        };
        match worker.await {
            Ok(Ok(())) => Ok(read),
            Ok(Err(failure)) => Err(error(step, failure)),
            Err(_) => Err(error(step, (Fault::Data, "the parser failed".to_owned()))),
        }
    }
}

/// Remembers the members seen, up to a sensible number.
fn note(columns: &mut BTreeSet<String>, fields: &Map<String, Value>) {
    for name in fields.keys() {
        if columns.len() < 2_000 && !columns.contains(name) {
            columns.insert(name.clone());
        }
    }
}

fn parse(path: &Path, settings: &Settings, plan: &FeedPlan, emit: Emit<'_>) -> Result<(), Failure> {
    let text = bytes::Text::open(path, settings, plan.encoding)?;
    let mut rows = 0;
    let mut counted = |item: Item| {
        rows += u64::from(!matches!(item, Item::Columns(_)));
        if rows > settings.max_rows {
            return Err((Fault::Limit, "more rows than max_rows".to_owned()));
        }
        emit(item)
    };
    match plan.format {
        FeedFormat::Csv => csv::parse(text, settings, plan, &mut counted),
        FeedFormat::Json => json::parse(text, plan.items.as_deref(), &mut counted),
        FeedFormat::JsonLines => json::lines(text, &mut counted),
        FeedFormat::Xml => xml::parse(text, plan.items.as_deref().unwrap_or(""), &mut counted),
    }
}

/// The file itself, or a directory's file that was written last; with the time it was written.
fn newest(path: &Path) -> Result<(PathBuf, Timestamp), Failure> {
    let unreadable = |at: &Path, error: std::io::Error| {
        (Fault::Unreachable, format!("{}: {error}", at.display()))
    };
    let stamp = |at: &Path| -> Result<Timestamp, Failure> {
        let data = std::fs::metadata(at).map_err(|e| unreadable(at, e))?;
        let modified = data.modified().map_err(|e| unreadable(at, e))?;
        Timestamp::try_from(modified).map_err(|e| (Fault::Data, e.to_string()))
    };
    if !path.is_dir() {
        return Ok((path.to_owned(), stamp(path)?));
    }
    let mut best: Option<(PathBuf, Timestamp)> = None;
    for entry in std::fs::read_dir(path).map_err(|e| unreadable(path, e))? {
        let file = entry.map_err(|e| unreadable(path, e))?.path();
        let hidden = file
            .file_name()
            .is_none_or(|name| name.to_string_lossy().starts_with('.'));
        if hidden || !file.is_file() {
            continue;
        }
        let written = stamp(&file)?;
        if best.as_ref().is_none_or(|(_, other)| written > *other) {
            best = Some((file, written));
        }
    }
    best.ok_or_else(|| (Fault::Unreachable, "the directory holds no file".to_owned()))
}
