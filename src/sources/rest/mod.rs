//! Inventory behind a JSON API: page after page until the end that the API has, polite about limits,
//! patient with short failures, and never content with half an answer. Must not know what members mean.

mod auth;
mod pages;
mod settings;
mod verdict;

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::mapping::plan::RestPlan;
use crate::mapping::{Row, Tables};
use crate::net::{self, NetError};

use super::{Fault, Read, Skipped, SourceError};
use auth::Credentials;
use pages::Pages;
pub use settings::{Auth, Settings};
use verdict::{Verdict, judge, of_net};

/// How often one request is made at most.
const ATTEMPTS: u32 = 5;
/// The longest wait that a `Retry-After` may ask for.
const MAX_WAIT: Duration = Duration::from_mins(2);

type Failure = (Fault, String);

/// An API with the plan for it.
pub(super) struct Api {
    settings: Settings,
    plan: RestPlan,
    name: String,
    client: net::Client,
    credentials: Credentials,
    /// When the last request was sent, for the rate.
    last: Mutex<Option<Instant>>,
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Api")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Api {
    pub(super) fn open(settings: Settings, plan: RestPlan) -> Result<Self, SourceError> {
        let name = format!("rest {}", pages::without_query(&settings.base_url));
        let fail = |words: String| SourceError::new(&name, "open", Fault::Settings, words);
        let mut policy = net::Policy::for_operator();
        policy.allow_http = settings.danger_allow_http;
        policy.extra_ca_file.clone_from(&settings.ca_file);
        policy.max_body_bytes = settings.max_page_bytes;
        policy.timeout = Duration::from_millis(settings.request_timeout_ms);
        let client = net::Client::new(policy).map_err(|error| fail(error.to_string()))?;
        let credentials = Credentials::new(settings.auth.clone()).map_err(&fail)?;
        headers(&settings.headers).map_err(&fail)?;
        Ok(Self {
            settings,
            plan,
            name,
            client,
            credentials,
            last: Mutex::new(None),
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Reads the removals, then every page.
    pub(super) async fn read(
        &self,
        mut sink: impl FnMut(Row, &Tables) + Send,
    ) -> Result<Read, SourceError> {
        let limit = Duration::from_millis(self.settings.read_timeout_ms);
        let work = self.read_all(&mut sink);
        match tokio::time::timeout(limit, work).await {
            Ok(result) => result,
            Err(_) => Err(self.error("read", Fault::Timeout, "took longer than read_timeout_ms")),
        }
    }

    async fn read_all(
        &self,
        sink: &mut (impl FnMut(Row, &Tables) + Send),
    ) -> Result<Read, SourceError> {
        let mut read = Read::default();
        let mut removed: HashSet<String> = HashSet::new();
        if let Some(path) = &self.plan.removed_path {
            let key = self.plan.removed_key.as_deref();
            self.walk(path, "removals", &mut |item| {
                if let Some(id) = key.and_then(|key| text_of(&item, key)) {
                    removed.insert(id);
                }
                deliver(item, &mut read, sink);
                Ok(())
            })
            .await?;
        }
        let key = self.plan.removed_key.as_deref();
        self.walk(&self.plan.path, "page", &mut |item| {
            // Listed as removed and as present: the removal is the later word, or at least the safer one.
            if key
                .and_then(|key| text_of(&item, key))
                .is_some_and(|id| removed.contains(&id))
            {
                read.rows += 1;
                return Ok(());
            }
            deliver(item, &mut read, sink);
            Ok(())
        })
        .await?;
        Ok(read)
    }

    /// Hands over every element of every page below `path`.
    async fn walk(
        &self,
        path: &str,
        step: &str,
        take: &mut (dyn FnMut(Value) -> Result<(), Failure> + Send),
    ) -> Result<(), SourceError> {
        let mut pages = Pages::new(&self.plan);
        let mut count = 0;
        loop {
            let step = format!("{step} {}", pages.number());
            if pages.number() > self.settings.max_pages {
                return Err(self.error(&step, Fault::Limit, "more pages than max_pages"));
            }
            let url = pages.url(&self.settings.base_url, path);
            let error = |(fault, words): Failure| self.error(&step, fault, words);
            let body = self.fetch(url).await.map_err(error)?;
            let items = pages.items(&body).map_err(error)?;
            for item in items {
                count += 1;
                if count > self.settings.max_rows {
                    return Err(self.error(&step, Fault::Limit, "more rows than max_rows"));
                }
                take(item.clone()).map_err(error)?;
            }
            let length = items.len();
            if !pages.advance(&body, length).map_err(error)? {
                return Ok(());
            }
        }
    }

    /// One page as JSON, with patience for what passes.
    async fn fetch(&self, url: String) -> Result<Value, Failure> {
        let mut renewed = false;
        let mut attempt = 1;
        loop {
            let (last_try, wait) = (attempt == ATTEMPTS, self.backoff(attempt));
            let failure = match self.send(&url).await? {
                Ok(response) if response.status == StatusCode::UNAUTHORIZED && !renewed => {
                    // A token may have been withdrawn before its time.
                    renewed = self.credentials.forget().await;
                    if renewed {
                        continue;
                    }
                    return Err((
                        Fault::Refused,
                        "401: the credentials are refused".to_owned(),
                    ));
                }
                Ok(response) => match judge(&response) {
                    Verdict::Good(body) => return Ok(body),
                    Verdict::Final(failure) => return Err(failure),
                    Verdict::Later(after, failure) => {
                        let wait = after.unwrap_or(wait);
                        if last_try || wait > MAX_WAIT {
                            return Err(failure);
                        }
                        tokio::time::sleep(wait).await;
                        attempt += 1;
                        continue;
                    }
                },
                Err(error) => of_net(&error),
            };
            if last_try || !failure.0.is_transient() {
                return Err(failure);
            }
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }

    async fn send(&self, url: &str) -> Result<Result<net::Response, NetError>, Failure> {
        let mut request = net::Request::get(url);
        request.headers = headers(&self.settings.headers).map_err(|w| (Fault::Settings, w))?;
        self.pause().await;
        self.credentials.apply(&self.client, &mut request).await?;
        Ok(self.client.send(request).await)
    }

    /// Keeps the rate that the settings allow.
    async fn pause(&self) {
        let between = Duration::from_millis(self.settings.min_interval_ms);
        let mut last = self.last.lock().await;
        if let Some(earlier) = *last {
            tokio::time::sleep_until(earlier + between).await;
        }
        *last = Some(Instant::now());
    }

    fn backoff(&self, attempt: u32) -> Duration {
        Duration::from_millis(self.settings.retry_base_ms) * 2_u32.saturating_pow(attempt - 1)
    }

    fn error(&self, step: &str, fault: Fault, words: impl std::fmt::Display) -> SourceError {
        SourceError::new(&self.name, step, fault, words)
    }
}

fn deliver(item: Value, read: &mut Read, sink: &mut (impl FnMut(Row, &Tables) + Send)) {
    read.rows += 1;
    let Value::Object(fields) = item else {
        let reason = "is no JSON object".to_owned();
        read.skipped.push(Skipped {
            row: read.rows,
            reason,
        });
        return;
    };
    note(&mut read.columns, &fields);
    let row = Row {
        fields,
        ..Row::default()
    };
    sink(row, &read.tables);
}

fn note(columns: &mut BTreeSet<String>, fields: &Map<String, Value>) {
    for name in fields.keys() {
        if columns.len() < 2_000 && !columns.contains(name) {
            columns.insert(name.clone());
        }
    }
}

fn text_of(item: &Value, key: &str) -> Option<String> {
    match item.get(key)? {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn headers(given: &std::collections::BTreeMap<String, String>) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    headers.insert(
        http::header::ACCEPT,
        HeaderValue::from_static("application/json"),
    );
    for (name, value) in given {
        let wrong = || format!("`{name}` cannot be sent as a header");
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        let value = HeaderValue::from_str(value).map_err(|_| wrong())?;
        headers.insert(key, value);
    }
    Ok(headers)
}
