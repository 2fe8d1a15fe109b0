//! `[deployments.ID.inventory.source]`.

use std::path::Path;

use figment::value::Value;

use super::super::finding::nearest;
use super::super::raw;
use super::super::secret::Secret;
use super::Scope;
use crate::sources::{self, feed, rest, sql};

const KINDS: [&str; 3] = ["sql", "feed", "rest"];

/// `scope` is the inventory's.
pub(super) fn compile(scope: &mut Scope<'_>, raw: &raw::Inventory) -> Option<sources::Settings> {
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
            file(&mut scope, &raw).map(sources::Settings::Feed)
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

/// A secret that must be there.
fn need_secret(
    scope: &mut Scope<'_>,
    key: &str,
    value: Option<&Secret>,
    file: Option<&Path>,
    remedy: &str,
) -> Option<String> {
    if value.is_none() && file.is_none() {
        scope.fault(key, "is missing", remedy);
    }
    scope
        .secret(key, value, file)
        .map(|secret| secret.expose().to_owned())
}

fn database(scope: &mut Scope<'_>, raw: &raw::Sql) -> Option<sql::Settings> {
    let remedy = "write sqlite://PATH, postgres://… or mysql://…, or use url_file";
    let url = need_secret(
        scope,
        "url",
        raw.url.as_ref(),
        raw.url_file.as_deref(),
        remedy,
    )?;
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
        .map(|file| scope.path("extra_ca_file", file));
    settings.connect_timeout_ms = raw
        .connect_timeout_ms
        .unwrap_or(settings.connect_timeout_ms);
    settings.read_timeout_ms = raw.read_timeout_ms.unwrap_or(settings.read_timeout_ms);
    settings.max_rows = raw.max_rows.unwrap_or(settings.max_rows);
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

fn file(scope: &mut Scope<'_>, raw: &raw::Feed) -> Option<feed::Settings> {
    let path = scope.need(
        "path",
        raw.path.as_ref(),
        "name the file, or the folder it is put into",
    )?;
    let mut settings = feed::Settings::new(scope.path("path", path));
    settings.max_bytes = raw.max_bytes.unwrap_or(settings.max_bytes);
    settings.max_rows = raw.max_rows.unwrap_or(settings.max_rows);
    Some(settings)
}

fn api(scope: &mut Scope<'_>, raw: &raw::Rest) -> Option<rest::Settings> {
    let file = raw.base_url_file.as_deref();
    let base_url = need_secret(
        scope,
        "base_url",
        raw.base_url.as_ref(),
        file,
        "write https://…",
    );
    let auth = raw
        .auth
        .as_ref()
        .map(|raw| auth(&mut scope.below("auth"), raw));
    let mut settings = rest::Settings::new(base_url?);
    settings.auth = match auth {
        None => None,
        Some(auth) => Some(auth?),
    };
    let plain = |(name, value): (&String, &Secret)| (name.clone(), value.expose().to_owned());
    settings.headers = raw.headers.iter().map(plain).collect();
    settings.ca_file = raw
        .extra_ca_file
        .as_ref()
        .map(|file| scope.path("extra_ca_file", file));
    settings.danger_allow_http = raw.danger_allow_http;
    settings.request_timeout_ms = raw
        .request_timeout_ms
        .unwrap_or(settings.request_timeout_ms);
    settings.read_timeout_ms = raw.read_timeout_ms.unwrap_or(settings.read_timeout_ms);
    settings.min_interval_ms = raw.min_interval_ms.unwrap_or(settings.min_interval_ms);
    settings.max_rows = raw.max_rows.unwrap_or(settings.max_rows);
    settings.max_pages = raw.max_pages.unwrap_or(settings.max_pages);
    Some(settings)
}

fn auth(scope: &mut Scope<'_>, raw: &raw::Auth) -> Option<rest::Auth> {
    let remedy = "use header, query, basic, bearer or client_credentials";
    let by = scope.need("by", raw.by, remedy)?;
    let named = |scope: &mut Scope<'_>| {
        let name = scope.need("name", raw.name.clone(), "name the header or parameter");
        let file = raw.value_file.as_deref();
        let value = need_secret(
            scope,
            "value",
            raw.value.as_ref(),
            file,
            "give the key, or value_file",
        );
        Some((name?, value?))
    };
    Some(match by {
        raw::AuthKind::Header => {
            let (name, value) = named(scope)?;
            rest::Auth::Header { name, value }
        }
        raw::AuthKind::Query => {
            let (name, value) = named(scope)?;
            rest::Auth::Query { name, value }
        }
        raw::AuthKind::Basic => {
            let user = scope.need("user", raw.user.clone(), "give the user's name");
            let file = raw.password_file.as_deref();
            let password = need_secret(
                scope,
                "password",
                raw.password.as_ref(),
                file,
                "give it, or password_file",
            );
            rest::Auth::Basic {
                user: user?,
                password: password?,
            }
        }
        raw::AuthKind::Bearer => {
            let file = raw.token_file.as_deref();
            rest::Auth::Bearer {
                token: need_secret(
                    scope,
                    "token",
                    raw.token.as_ref(),
                    file,
                    "give it, or token_file",
                )?,
            }
        }
        raw::AuthKind::ClientCredentials => client_credentials(scope, raw)?,
    })
}

fn client_credentials(scope: &mut Scope<'_>, raw: &raw::Auth) -> Option<rest::Auth> {
    let token_url = scope.need(
        "token_url",
        raw.token_url.clone(),
        "give the token endpoint",
    );
    let client_id = scope.need("client_id", raw.client_id.clone(), "give the client's id");
    let file = raw.client_secret_file.as_deref();
    let secret = raw.client_secret.as_ref();
    let client_secret = need_secret(
        scope,
        "client_secret",
        secret,
        file,
        "give it, or client_secret_file",
    );
    Some(rest::Auth::ClientCredentials {
        token_url: token_url?,
        client_id: client_id?,
        client_secret: client_secret?,
        scope: raw.scope.clone(),
        in_body: raw.in_body,
    })
}
