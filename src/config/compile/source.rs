//! `[deployments.ID.inventory.source]`.

use std::path::Path;

use figment::value::Value;

use super::super::finding::nearest;
use super::super::raw;
use super::{Scope, access};
use crate::sources::{self, feed, rest, sql};

const KINDS: [&str; 3] = ["sql", "feed", "rest"];

/// `scope` is the inventory's. What is fetched lies in `spool` while it is read.
pub(super) fn compile(
    scope: &mut Scope<'_>,
    raw: &raw::Inventory,
    spool: &Path,
) -> Option<sources::Settings> {
    let remedy = "describe it, e.g. { kind = \"sql\", url = \"…\" }";
    let table = scope.need("source", raw.source.as_ref(), remedy)?;
    let kind = kind(scope, "source", table, &KINDS)?;
    let mut scope = scope.below("source");
    match kind {
        "sql" => {
            let look_up_timeout_ms = raw.look_up_timeout_ms;
            let raw: raw::Sql = scope.read_without(&["kind"]);
            let mut settings = database(&mut scope, &raw)?;
            settings.look_up_timeout_ms = look_up_timeout_ms.unwrap_or(settings.look_up_timeout_ms);
            Some(sources::Settings::Sql(settings))
        }
        "feed" => {
            let raw: raw::Feed = scope.read_without(&["kind"]);
            feed(&mut scope, &raw, spool).map(sources::Settings::Feed)
        }
        _ => {
            let raw: raw::Rest = scope.read_without(&["kind"]);
            api(&mut scope, &raw).map(sources::Settings::Rest)
        }
    }
}

/// The kind that `table` says it is of, when it is a known one.
pub(super) fn kind(
    scope: &mut Scope<'_>,
    key: &str,
    table: &Value,
    kinds: &[&'static str],
) -> Option<&'static str> {
    let key = format!("{key}.kind");
    let remedy = format!("use one of: {}", kinds.join(", "));
    let said = table
        .find_ref("kind")
        .and_then(Value::as_str)
        .map(str::to_owned);
    let said = scope.need(&key, said, &remedy)?;
    let known = kinds.iter().find(|kind| **kind == said).copied();
    if known.is_none() {
        let near = nearest(&said, kinds.iter().copied());
        let remedy = near.map_or(remedy, |near| format!("did you mean \"{near}\"?"));
        scope.fault(&key, "is not a known kind", remedy);
    }
    known
}

fn database(scope: &mut Scope<'_>, raw: &raw::Sql) -> Option<sql::Settings> {
    let remedy = "write sqlite://PATH, postgres://…, mysql://… or sqlserver://…, or use url_file";
    let url = scope.need_secret("url", raw.url.as_ref(), raw.url_file.as_deref(), remedy)?;
    let mut settings = sql::Settings::new(sqlite_path(scope, &url));
    let password = scope.secret(
        "password",
        raw.password.as_ref(),
        raw.password_file.as_deref(),
    );
    settings.password = password.map(|password| password.expose().to_owned());
    settings.ca_file = raw
        .extra_ca_file
        .as_ref()
        .map(|file| scope.authorities("extra_ca_file", file).0);
    settings.connect_timeout_ms = raw
        .connect_timeout_ms
        .unwrap_or(settings.connect_timeout_ms);
    settings.read_timeout_ms = raw.read_timeout_ms.unwrap_or(settings.read_timeout_ms);
    settings.max_rows = raw.max_rows.unwrap_or(settings.max_rows);
    settings.max_child_rows = raw.max_child_rows.unwrap_or(settings.max_child_rows);
    settings.max_changed_rows = raw.max_changed_rows.unwrap_or(settings.max_changed_rows);
    settings.max_columns = raw.max_columns.unwrap_or(settings.max_columns);
    settings.max_row_bytes = raw.max_row_bytes.unwrap_or(settings.max_row_bytes);
    settings.danger_accept_any_certificate = raw.danger_accept_any_certificate;
    Some(settings)
}

/// A relative SQLite path is meant from the configuration file's folder, like every other path.
fn sqlite_path(scope: &Scope<'_>, url: &str) -> String {
    match url
        .strip_prefix("sqlite://")
        .or_else(|| url.strip_prefix("sqlite:"))
    {
        Some(path) if !path.starts_with('/') && !path.starts_with(':') => {
            format!("sqlite://{}", scope.path("url", Path::new(path)).display())
        }
        _ => url.to_owned(),
    }
}

fn feed(scope: &mut Scope<'_>, raw: &raw::Feed, spool: &Path) -> Option<feed::Settings> {
    let on_web = raw.url.is_some() || raw.url_file.is_some();
    let mut settings = match (&raw.path, on_web) {
        (Some(path), false) => {
            let keys = [
                ("max_download_bytes", raw.max_download_bytes.is_some()),
                ("auth", raw.auth.is_some()),
                ("headers", !raw.headers.is_empty()),
                ("extra_ca_file", raw.extra_ca_file.is_some()),
                (
                    "client_certificate_file",
                    raw.client_certificate_file.is_some(),
                ),
                ("client_key_file", raw.client_key_file.is_some()),
                ("danger_allow_http", raw.danger_allow_http),
                ("request_timeout_ms", raw.request_timeout_ms.is_some()),
            ];
            let remedy = "give the address as url, or leave it out";
            scope.idle(&keys, "says nothing to a file on this machine", remedy);
            let mut settings = feed::Settings::new(scope.path("path", path));
            if let feed::Place::Disk { pattern, .. } = &mut settings.place {
                pattern.clone_from(&raw.pattern);
            }
            settings
        }
        (None, true) => fetched(scope, raw, spool)?,
        (Some(_), true) => {
            let remedy = "keep path for a file or folder, url for an address";
            scope.fault("path", "stands beside url", remedy);
            return None;
        }
        (None, false) => {
            let remedy = "name the file, or the folder it is put into; or give its address as url";
            scope.fault("path", "is missing", remedy);
            return None;
        }
    };
    settings.member.clone_from(&raw.member);
    settings.max_bytes = raw.max_bytes.unwrap_or(settings.max_bytes);
    settings.max_rows = raw.max_rows.unwrap_or(settings.max_rows);
    settings.max_columns = raw.max_columns.unwrap_or(settings.max_columns);
    settings.max_row_bytes = raw.max_row_bytes.unwrap_or(settings.max_row_bytes);
    Some(settings)
}

fn fetched(scope: &mut Scope<'_>, raw: &raw::Feed, spool: &Path) -> Option<feed::Settings> {
    let url = scope
        .secret("url", raw.url.as_ref(), raw.url_file.as_deref())?
        .expose()
        .to_owned();
    let keys = [("pattern", raw.pattern.is_some())];
    scope.idle(&keys, "says nothing to one address", "leave it out");
    let mut settings = feed::Settings::from_url(url);
    if let feed::Place::Web(web) = &mut settings.place {
        let parts = access::Parts {
            auth: raw.auth.as_ref(),
            headers: &raw.headers,
            extra_ca_file: raw.extra_ca_file.as_deref(),
            client_certificate_file: raw.client_certificate_file.as_deref(),
            client_key_file: raw.client_key_file.as_deref(),
            danger_allow_http: raw.danger_allow_http,
            request_timeout_ms: raw.request_timeout_ms,
            min_interval_ms: None,
        };
        access::compile(scope, &parts, &mut web.access)?;
        web.max_download_bytes = raw.max_download_bytes.unwrap_or(web.max_download_bytes);
        web.spool = Some(spool.to_owned());
    }
    Some(settings)
}

fn api(scope: &mut Scope<'_>, raw: &raw::Rest) -> Option<rest::Settings> {
    let base_url = scope.need_secret(
        "base_url",
        raw.base_url.as_ref(),
        raw.base_url_file.as_deref(),
        "write https://…",
    );
    let parts = access::Parts {
        auth: raw.auth.as_ref(),
        headers: &raw.headers,
        extra_ca_file: raw.extra_ca_file.as_deref(),
        client_certificate_file: raw.client_certificate_file.as_deref(),
        client_key_file: raw.client_key_file.as_deref(),
        danger_allow_http: raw.danger_allow_http,
        request_timeout_ms: raw.request_timeout_ms,
        min_interval_ms: raw.min_interval_ms,
    };
    let mut settings = rest::Settings::new(base_url.unwrap_or_default());
    access::compile(scope, &parts, &mut settings.access)?;
    if settings.base_url.is_empty() {
        return None;
    }
    settings.read_timeout_ms = raw.read_timeout_ms.unwrap_or(settings.read_timeout_ms);
    settings.max_rows = raw.max_rows.unwrap_or(settings.max_rows);
    settings.max_pages = raw.max_pages.unwrap_or(settings.max_pages);
    settings.max_page_bytes = raw.max_page_bytes.unwrap_or(settings.max_page_bytes);
    Some(settings)
}
