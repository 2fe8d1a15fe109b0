//! One HTTP server of the operator's: requests with credentials, at a bearable rate, patient with short
//! failures, and conditional where something was fetched before. Must not know what comes back.

mod access;
mod auth;
mod verdict;

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::Value;
use tokio::fs::File;
use tokio::io::AsyncSeekExt as _;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::net::{self, NetError};

use super::Fault;
pub use access::{Access, Auth, TokenRequest};
use auth::Credentials;
use verdict::{Verdict, judge, of_net};

/// How often one request is made at most.
const ATTEMPTS: u32 = 5;
/// The longest wait that a `Retry-After` may ask for.
const MAX_WAIT: Duration = Duration::from_mins(2);

pub(super) type Failure = (Fault, String);

/// A server with our place there.
pub(super) struct Site {
    access: Access,
    client: net::Client,
    credentials: Credentials,
    /// When the last request was sent, for the rate.
    last: Mutex<Option<Instant>>,
}

impl std::fmt::Debug for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Site").finish_non_exhaustive()
    }
}

/// What an answer said of its own version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Version {
    tag: Option<String>,
    modified: Option<String>,
}

impl Version {
    fn of(headers: &HeaderMap) -> Self {
        let text = |name| Some(headers.get(name)?.to_str().ok()?.to_owned());
        Self {
            tag: text(ETAG),
            modified: text(LAST_MODIFIED),
        }
    }

    /// When it was written, if it says.
    pub(super) fn written(&self) -> Option<jiff::Timestamp> {
        verdict::date(self.modified.as_deref()?)
    }

    /// Whether there is anything to ask with.
    pub(super) fn is_known(&self) -> bool {
        self.tag.is_some() || self.modified.is_some()
    }

    fn put(&self, headers: &mut HeaderMap) {
        let value = |text: &Option<String>| HeaderValue::from_str(text.as_deref()?).ok();
        if let Some(tag) = value(&self.tag) {
            headers.insert(IF_NONE_MATCH, tag);
        }
        if let Some(modified) = value(&self.modified) {
            headers.insert(IF_MODIFIED_SINCE, modified);
        }
    }
}

/// Names the limit that a failure met.
pub(super) fn naming(limit: &str, (fault, words): Failure) -> Failure {
    match fault {
        Fault::Limit => (fault, format!("{words}: more than {limit}")),
        Fault::Settings
        | Fault::Unreachable
        | Fault::Refused
        | Fault::Query
        | Fault::Data
        | Fault::Timeout => (fault, words),
    }
}

/// One thing to fetch.
pub(super) struct Wanted<'a> {
    pub(super) url: &'a str,
    /// Sent as JSON by POST; without one it is a GET.
    pub(super) body: Option<&'a Value>,
    pub(super) accept: &'static str,
    /// What was fetched before: an answer may be that it is still so.
    pub(super) since: Option<&'a Version>,
}

/// What came.
pub(super) enum Got {
    Fresh(net::Response, Version),
    /// What was fetched before still holds.
    Same,
}

impl Site {
    pub(super) fn open(access: Access, max_body_bytes: usize) -> Result<Self, String> {
        let mut policy = net::Policy::for_operator();
        policy.allow_http = access.danger_allow_http;
        policy.extra_ca_file.clone_from(&access.ca_file);
        policy
            .client_certificate
            .clone_from(&access.client_certificate);
        policy.max_body_bytes = max_body_bytes;
        policy.timeout = Duration::from_millis(access.request_timeout_ms);
        let client = net::Client::new(policy).map_err(|error| error.to_string())?;
        let credentials = Credentials::new(access.auth.clone())?;
        headers(&access.headers)?;
        Ok(Self {
            access,
            client,
            credentials,
            last: Mutex::new(None),
        })
    }

    /// Fetches, with patience for what passes; into `file` up to a limit where one is given.
    pub(super) async fn fetch(
        &self,
        wanted: &Wanted<'_>,
        mut file: Option<(&mut File, u64)>,
    ) -> Result<Got, Failure> {
        let mut renewed = false;
        let mut attempt = 1;
        loop {
            let (last_try, wait) = (attempt == ATTEMPTS, self.backoff(attempt));
            let sent = self.send(wanted, &mut file).await?;
            let verdict = match sent {
                Ok(response) if response.status == StatusCode::UNAUTHORIZED && !renewed => {
                    // A token may have been withdrawn before its time.
                    renewed = self.credentials.forget().await;
                    if renewed {
                        continue;
                    }
                    judge(&response).with(response)
                }
                Ok(response) => judge(&response).with(response),
                Err(error) => of_net(&error).into(),
            };
            let (after, failure) = match verdict {
                Verdict::Good(response) => {
                    let version = Version::of(&response.headers);
                    return Ok(Got::Fresh(response, version));
                }
                Verdict::Same if wanted.since.is_some() => return Ok(Got::Same),
                Verdict::Same => {
                    let words = "304: not modified, which was not asked";
                    return Err((Fault::Data, words.to_owned()));
                }
                Verdict::Final(failure) => return Err(failure),
                Verdict::Later(after, failure) => (after, failure),
            };
            let wait = after.unwrap_or(wait);
            if last_try || wait > MAX_WAIT {
                return Err(failure);
            }
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }

    async fn send(
        &self,
        wanted: &Wanted<'_>,
        file: &mut Option<(&mut File, u64)>,
    ) -> Result<Result<net::Response, NetError>, Failure> {
        let mut request = net::Request::get(wanted.url);
        request.headers = headers(&self.access.headers).map_err(|w| (Fault::Settings, w))?;
        request
            .headers
            .entry(ACCEPT)
            .or_insert(HeaderValue::from_static(wanted.accept));
        if let Some(since) = wanted.since {
            since.put(&mut request.headers);
        }
        if let Some(body) = wanted.body {
            request.method = Method::POST;
            request.body = Bytes::from(body.to_string());
            let json = HeaderValue::from_static("application/json");
            request.headers.insert(CONTENT_TYPE, json);
        }
        self.pause().await;
        self.credentials.apply(&self.client, &mut request).await?;
        let Some((file, limit)) = file else {
            return Ok(self.client.send(request).await);
        };
        // What an attempt before this one may have left.
        let emptied = async {
            file.set_len(0).await?;
            file.rewind().await
        };
        if let Err(error) = emptied.await {
            return Ok(Err(NetError::Write(error)));
        }
        Ok(self.client.save(request, file, *limit).await)
    }

    /// Keeps the rate that the settings allow.
    async fn pause(&self) {
        let between = Duration::from_millis(self.access.min_interval_ms);
        let mut last = self.last.lock().await;
        if let Some(earlier) = *last {
            tokio::time::sleep_until(earlier + between).await;
        }
        *last = Some(Instant::now());
    }

    fn backoff(&self, attempt: u32) -> Duration {
        Duration::from_millis(self.access.retry_base_ms) * 2_u32.saturating_pow(attempt - 1)
    }
}

fn headers(given: &BTreeMap<String, String>) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let wrong = || format!("`{name}` cannot be sent as a header");
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        let value = HeaderValue::from_str(value).map_err(|_| wrong())?;
        headers.insert(key, value);
    }
    Ok(headers)
}

/// Percent-encoded for a query.
pub(super) fn escaped(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

/// An address fit for a log: without query, user and anything after the host, where keys may stand.
pub(super) fn without_query(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return "(no address)".to_owned();
    };
    let (authority, behind) = match rest.find(['/', '?', '#']) {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let host = match authority.rsplit_once('@') {
        Some((_, host)) => host,
        // Perhaps no port, but the beginning of a password with a slash or the like in it.
        None if behind.contains('@') => authority.split(':').next().unwrap_or_default(),
        None => authority,
    };
    format!("{scheme}://{host}")
}
