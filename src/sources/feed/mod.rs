//! Inventory in a file: CSV in its many shapes, JSON, JSON Lines, XML, DBF; plain, gzip or zip; the file
//! itself, the newest one of a directory, or fetched from a server. Rows stream; a file that cannot be read
//! to its end is an error, so that half a file never passes for the whole. Must not know what the columns
//! mean.

mod bytes;
mod csv;
mod dbf;
mod json;
mod packed;
mod place;
mod quotes;
mod settings;
mod xml;

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::mapping::plan::{AsOf, FeedFormat, FeedPlan};
use crate::mapping::{Row, Tables};

use super::http::{Failure, Site};
use super::{Extent, Fault, Read, Since, Skipped, SourceError};
use place::Found;
pub use settings::{Place, Settings, Web};

/// Rows between the parser and the mapping.
const ROWS_IN_FLIGHT: usize = 256;

/// A feed with the plan for it.
#[derive(Debug)]
pub(super) struct Feed {
    settings: Arc<Settings>,
    plan: Arc<FeedPlan>,
    name: String,
    /// The server that it is fetched from.
    site: Option<Site>,
}

/// What a parser hands over.
enum Item {
    /// The header of a file whose rows all have the same columns.
    Columns(Vec<String>),
    Row(Map<String, Value>),
    /// A row that cannot be trusted, by its number.
    Skipped(u64, String),
}

/// Takes items until it says to stop.
type Emit<'a> = &'a mut dyn FnMut(Item) -> Result<(), Failure>;

impl Feed {
    pub(super) fn open(settings: Settings, plan: FeedPlan) -> Result<Self, SourceError> {
        let name = settings.place.name();
        let fail = |words: String| SourceError::new(&name, "open", Fault::Settings, words);
        if plan.format == FeedFormat::Xml && plan.items.is_none() {
            let words = "an XML feed needs `items`, the name of a vehicle's element";
            return Err(fail(words.to_owned()));
        }
        let site = match &settings.place {
            Place::Disk { .. } => None,
            // What is no file is an error's page, of which little is read.
            Place::Web(web) => Some(Site::open(web.access.clone(), 1 << 20).map_err(&fail)?),
        };
        Ok(Self {
            settings: Arc::new(settings),
            plan: Arc::new(plan),
            name,
            site,
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn is_on_disk(&self) -> bool {
        self.site.is_none()
    }

    /// How the file looks that would be read now; nothing when there is none.
    pub(super) fn glance(&self) -> Option<String> {
        let Place::Disk { path, pattern } = &self.settings.place else {
            return None;
        };
        let stamp = place::newest(path, pattern.as_deref()).ok()?;
        Some(format!(
            "{} {} {} {:?}",
            stamp.path.display(),
            stamp.length,
            stamp.written.as_nanosecond(),
            stamp.changed
        ))
    }

    async fn find(&self, since: Since<'_>) -> Result<Option<Found>, Failure> {
        match (&self.settings.place, &self.site) {
            (Place::Web(web), Some(site)) => {
                let limit = Duration::from_millis(web.access.request_timeout_ms);
                let version = since.mark.map(|mark| &mark.version);
                // With the attempts that failed before it.
                match tokio::time::timeout(limit, place::fetch(web, site, version)).await {
                    Ok(found) => found,
                    Err(_) => Err((
                        Fault::Timeout,
                        "took longer than request_timeout_ms".to_owned(),
                    )),
                }
            }
            (Place::Disk { path, pattern }, _) => {
                let stamp = since.mark.and_then(|mark| mark.file.as_ref());
                place::open(path, pattern.as_deref(), stamp)
            }
            (Place::Web(_), None) => Err((Fault::Settings, "there is no client".to_owned())),
        }
    }

    /// Reads the file on a thread of its own, row after row.
    pub(super) async fn read(
        &self,
        since: Since<'_>,
        mut sink: impl FnMut(Row, &Tables) + Send,
    ) -> Result<Read, SourceError> {
        let error =
            |step: &str, (fault, words): Failure| SourceError::new(&self.name, step, fault, words);
        let mut read = Read::default();
        let Some(found) = self.find(since).await.map_err(|e| error("open", e))? else {
            read.extent = Extent::Same;
            read.mark = since.mark.cloned().unwrap_or_default();
            return Ok(read);
        };
        if self.plan.as_of == AsOf::FileTime {
            let Some(written) = found.written else {
                let words = "the server does not say when the file was written (Last-Modified)";
                return Err(error("open", (Fault::Data, words.to_owned())));
            };
            read.tables = Tables::new().with_as_of(written);
        }
        read.mark = found.mark.clone();
        let (sender, mut receiver) = mpsc::channel::<Item>(ROWS_IN_FLIGHT);
        let (settings, plan) = (Arc::clone(&self.settings), Arc::clone(&self.plan));
        let worker = tokio::task::spawn_blocking(move || {
            let stopped = || (Fault::Data, "reading was given up".to_owned());
            let handle = found.file.try_clone().map_err(|_| stopped())?;
            parse(found.file, &settings, &plan, &mut |item| {
                sender.blocking_send(item).map_err(|_| stopped())
            })?;
            place::check_unchanged(&handle, &found.mark)
        });
        while let Some(item) = receiver.recv().await {
            take(item, &mut read, &mut sink);
        }
        let step = match self.plan.format {
            FeedFormat::Csv => "read CSV",
            FeedFormat::Json | FeedFormat::JsonLines => "read JSON",
            FeedFormat::Xml => "read XML",
            FeedFormat::Dbf => "read DBF",
        };
        match worker.await {
            Ok(Ok(())) => Ok(read),
            Ok(Err(failure)) => Err(error(step, failure)),
            Err(_) => Err(error(step, (Fault::Data, "the parser failed".to_owned()))),
        }
    }
}

fn take(item: Item, read: &mut Read, sink: &mut (impl FnMut(Row, &Tables) + Send)) {
    match item {
        Item::Columns(columns) => {
            read.columns = columns.into_iter().collect();
            read.columns_are_fixed = true;
        }
        Item::Row(fields) if read.columns_are_fixed => {
            read.rows += 1;
            let row = Row {
                fields,
                ..Row::default()
            };
            sink(row, &read.tables);
        }
        Item::Row(fields) => {
            if let Some(row) = read.object(fields) {
                sink(row, &read.tables);
            }
        }
        Item::Skipped(row, reason) => {
            read.rows += 1;
            read.skip(Skipped { row, reason });
        }
    }
}

fn parse(
    file: fs::File,
    settings: &Settings,
    plan: &FeedPlan,
    emit: Emit<'_>,
) -> Result<(), Failure> {
    let mut rows = 0;
    let mut counted = |item: Item| {
        rows += u64::from(!matches!(item, Item::Columns(_)));
        if rows > settings.max_rows {
            return Err((Fault::Limit, "more rows than max_rows".to_owned()));
        }
        emit(item)
    };
    packed::unpacked(file, settings, |raw| {
        if plan.format == FeedFormat::Dbf {
            return dbf::parse(raw, settings, plan.encoding, &mut counted);
        }
        let text = bytes::Text::new(raw, settings, plan.encoding);
        let items = plan.items.as_deref();
        match plan.format {
            FeedFormat::Csv | FeedFormat::Dbf => csv::parse(text, settings, plan, &mut counted),
            FeedFormat::Json => json::parse(text, items, &mut counted),
            FeedFormat::JsonLines => json::lines(text, &mut counted),
            FeedFormat::Xml => xml::parse(text, items.unwrap_or(""), &mut counted),
        }
    })
}
