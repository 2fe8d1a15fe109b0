//! Inventory behind a JSON API: page after page until the end that the API has, and never content with
//! half an answer. Holds one page at a time. Must not know what members mean.

mod pages;
mod settings;

use std::collections::HashSet;
use std::time::Duration;

use http::header::CONTENT_TYPE;
use serde_json::Value;

use crate::mapping::plan::{Paging, RestPlan};
use crate::mapping::{Row, Tables};
use crate::net;

use super::http::{Failure, Got, Site, Version, Wanted, escaped, naming, without_query};
use super::mark::{Highest, Mark};
use super::{Extent, Fault, Read, Since, Skipped, SourceError};
use pages::Pages;
pub use settings::Settings;

/// An API with the plan for it.
#[derive(Debug)]
pub(super) struct Api {
    settings: Settings,
    plan: RestPlan,
    name: String,
    site: Site,
}

/// Where rows go.
type Sink<'a> = dyn FnMut(Row, &Tables) + Send + 'a;

impl Api {
    pub(super) fn open(settings: Settings, plan: RestPlan) -> Result<Self, SourceError> {
        let name = format!("rest {}", without_query(&settings.base_url));
        let fail = |words: String| SourceError::new(&name, "open", Fault::Settings, words);
        if let Some(changes) = &plan.changes
            && !changes.path.contains("{since}")
        {
            return Err(fail("changes.path has no {since}".to_owned()));
        }
        let site = Site::open(settings.access.clone(), settings.max_page_bytes).map_err(&fail)?;
        Ok(Self {
            settings,
            plan,
            name,
            site,
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn gives_changes(&self) -> bool {
        self.plan.changes.is_some()
    }

    /// Reads the removals, then every page; only what changed, where that is asked for and can be had.
    pub(super) async fn read(
        &self,
        since: Since<'_>,
        mut sink: impl FnMut(Row, &Tables) + Send,
    ) -> Result<Read, SourceError> {
        let limit = Duration::from_millis(self.settings.read_timeout_ms);
        let work = self.read_all(since, &mut sink);
        match tokio::time::timeout(limit, work).await {
            Ok(result) => result,
            Err(_) => Err(self.error("read", Fault::Timeout, "took longer than read_timeout_ms")),
        }
    }

    async fn read_all(&self, since: Since<'_>, sink: &mut Sink<'_>) -> Result<Read, SourceError> {
        let changes = self.plan.changes.as_ref();
        let watermark = since.watermark().filter(|_| changes.is_some());
        let mut read = Read::default();
        let (mut path, mut removed_path) = (&self.plan.path, self.plan.removed_path.as_ref());
        let (changed_path, changed_removed);
        if let (Some(changes), Some(value)) = (changes, watermark) {
            let value = escaped(&value.text());
            changed_path = changes.path.replace("{since}", &value);
            let filled = |path: &String| path.replace("{since}", &value);
            changed_removed = changes.removed_path.as_ref().map(filled);
            path = &changed_path;
            removed_path = changed_removed.as_ref().or(removed_path);
            read.extent = Extent::Changes;
        }
        let mut highest = Highest::new(since.mark.filter(|_| read.extent == Extent::Changes));
        let mut removed: HashSet<String> = HashSet::new();
        let key = self.plan.removed_key.as_deref();
        if let Some(path) = removed_path {
            self.walk(path, "removals", None, &mut |item| {
                if let Some(key) = key {
                    // What cannot be told apart would stay on offer.
                    let id = text_of(&item, key).ok_or_else(|| {
                        let words = format!("a removal has no `{key}`: check `removed_key`");
                        (Fault::Data, words)
                    })?;
                    removed.insert(id);
                }
                deliver(item, &mut read, sink);
                Ok(())
            })
            .await?;
        }
        // Whether one page is the whole of it, so that its version is the whole's.
        let alone = self.plan.paging == Paging::None && removed_path.is_none() && changes.is_none();
        let version = since.mark.map(|mark| &mark.version).filter(|_| alone);
        let walked = self
            .walk(path, "page", version, &mut |item| {
                if let Some(changes) = changes {
                    highest.see(item.get(&changes.watermark), &changes.watermark)?;
                }
                // Listed as removed and as present: the removal is the later word, or at least the
                // safer one.
                let gone = |id: String| removed.contains(&id);
                if key.and_then(|key| text_of(&item, key)).is_some_and(gone) {
                    read.rows += 1;
                    return Ok(());
                }
                deliver(item, &mut read, sink);
                Ok(())
            })
            .await?;
        match walked {
            Walked::Same => {
                read.extent = Extent::Same;
                read.mark = since.mark.cloned().unwrap_or_default();
            }
            Walked::All(version) => {
                read.mark = Mark {
                    version: if alone { version } else { Version::default() },
                    watermark: highest.found(),
                    ..Mark::default()
                };
            }
        }
        Ok(read)
    }

    /// Hands over every element of every page below `path`.
    async fn walk(
        &self,
        path: &str,
        step: &str,
        since: Option<&Version>,
        take: &mut (dyn FnMut(Value) -> Result<(), Failure> + Send),
    ) -> Result<Walked, SourceError> {
        let mut pages = Pages::new(&self.plan, &self.settings.base_url, path);
        let mut count = 0;
        loop {
            let step = format!("{step} {}", pages.number());
            if pages.number() > self.settings.max_pages {
                return Err(self.error(&step, Fault::Limit, "more pages than max_pages"));
            }
            let error = |(fault, words): Failure| self.error(&step, fault, words);
            let (url, sent) = (pages.url(), pages.body());
            let wanted = Wanted {
                url: &url,
                body: sent.as_ref(),
                accept: "application/json",
                since: since.filter(|version| version.is_known()),
            };
            let fetched = self.site.fetch(&wanted, None).await;
            let fetched = fetched.map_err(|failure| error(naming("max_page_bytes", failure)));
            let (response, version) = match fetched? {
                Got::Same => return Ok(Walked::Same),
                Got::Fresh(response, version) => (response, version),
            };
            let mut body = json(&response).map_err(error)?;
            let links = pages::link_of(&response.headers);
            let items = pages.take_items(&mut body).map_err(error)?;
            let length = items.len();
            for item in items {
                count += 1;
                if count > self.settings.max_rows {
                    return Err(self.error(&step, Fault::Limit, "more rows than max_rows"));
                }
                take(item).map_err(error)?;
            }
            if !pages.advance(&body, links, length).map_err(error)? {
                return Ok(Walked::All(version));
            }
        }
    }

    fn error(&self, step: &str, fault: Fault, words: impl std::fmt::Display) -> SourceError {
        SourceError::new(&self.name, step, fault, words)
    }
}

/// How a way through the pages ended.
enum Walked {
    All(Version),
    Same,
}

fn json(response: &net::Response) -> Result<Value, Failure> {
    serde_json::from_slice(&response.body).map_err(|error| {
        if response.body.trim_ascii_start().starts_with(b"<") {
            let words = "a web page came instead of JSON: a login or error page? check the address, the path and the credentials".to_owned();
            return (Fault::Data, words);
        }
        let kind = response.headers.get(CONTENT_TYPE);
        let kind = kind.and_then(|value| value.to_str().ok());
        let kind = kind.unwrap_or("no media type");
        let words = format!("the answer ({kind}) is no JSON: {error}");
        (Fault::Data, words)
    })
}

fn deliver(item: Value, read: &mut Read, sink: &mut Sink<'_>) {
    let Value::Object(fields) = item else {
        read.rows += 1;
        read.skip(Skipped {
            row: read.rows,
            reason: "is no JSON object".to_owned(),
        });
        return;
    };
    if let Some(row) = read.object(fields) {
        sink(row, &read.tables);
    }
}

fn text_of(item: &Value, key: &str) -> Option<String> {
    match item.get(key)? {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
