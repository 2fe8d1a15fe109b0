//! `[store]`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::raw;
use super::Scope;
use crate::store::{RedisSettings, Topology};

/// Which store, and where.
#[derive(Clone, Debug)]
pub enum StoreSettings {
    /// The file of the embedded store.
    Embedded(PathBuf),
    Redis(Box<RedisSettings>),
}

impl StoreSettings {
    /// The same for a command that looks and decides beside the running process: it keeps no journal.
    #[must_use]
    pub fn without_journal(mut self) -> Self {
        if let Self::Redis(settings) = &mut self {
            settings.journal = None;
        }
        self
    }
}

pub(super) fn compile(
    scope: &mut Scope<'_>,
    raw: &raw::Store,
    data_directory: &Path,
) -> StoreSettings {
    match raw.kind.unwrap_or_default() {
        raw::StoreKind::Embedded => {
            foreign(scope, raw);
            StoreSettings::Embedded(match &raw.file {
                Some(file) => scope.path("file", file),
                None => data_directory.join("forecourt.db"),
            })
        }
        raw::StoreKind::Redis => StoreSettings::Redis(Box::new(redis(scope, raw, data_directory))),
    }
}

/// Keys of Redis beside an embedded store: their writer meant something else.
fn foreign(scope: &mut Scope<'_>, raw: &raw::Store) {
    let keys = [
        ("url", raw.url.is_some()),
        ("url_file", raw.url_file.is_some()),
        ("nodes", !raw.nodes.is_empty()),
        ("sentinel_master", raw.sentinel_master.is_some()),
        ("cluster", raw.cluster),
        ("username", raw.username.is_some()),
        ("password", raw.password.is_some()),
        ("password_file", raw.password_file.is_some()),
        ("ca_file", raw.ca_file.is_some()),
        ("prefix", raw.prefix.is_some()),
        ("wait_replicas", raw.wait_replicas.is_some()),
        ("wait_ms", raw.wait_ms.is_some()),
        ("journal", raw.journal.is_some()),
        ("danger_allow_eviction", raw.danger_allow_eviction),
        (
            "danger_allow_no_persistence",
            raw.danger_allow_no_persistence,
        ),
    ];
    let remedy = "set kind = \"redis\", or leave it out";
    scope.idle(&keys, "says nothing to the embedded store", remedy);
    of_sentinels(scope, raw);
}

/// The login at Sentinels where there are none.
fn of_sentinels(scope: &mut Scope<'_>, raw: &raw::Store) {
    let keys = [
        ("sentinel_username", raw.sentinel_username.is_some()),
        ("sentinel_password", raw.sentinel_password.is_some()),
        (
            "sentinel_password_file",
            raw.sentinel_password_file.is_some(),
        ),
    ];
    let remedy = "name the master as sentinel_master, or leave it out";
    scope.idle(&keys, "says nothing without Sentinels", remedy);
}

fn redis(scope: &mut Scope<'_>, raw: &raw::Store, data_directory: &Path) -> RedisSettings {
    if raw.file.is_some() {
        scope.fault("file", "is of the embedded store", "leave it out");
    }
    if raw.sentinel_master.is_none() {
        of_sentinels(scope, raw);
    }
    let url = scope.secret("url", raw.url.as_ref(), raw.url_file.as_deref());
    let one = raw.url.is_some() || raw.url_file.is_some();
    if one != raw.nodes.is_empty() {
        let remedy = "give url or url_file for one server, nodes for Sentinels or a Cluster";
        scope.fault("url", "must be given, or nodes, and not both", remedy);
    }
    let urls: Vec<String> = match &url {
        Some(url) => vec![url.expose().to_owned()],
        None => raw.nodes.clone(),
    };
    for url in &urls {
        check_url(
            scope,
            if one { "url" } else { "nodes" },
            url,
            raw.ca_file.is_some(),
        );
    }
    let password = |scope: &mut Scope<'_>, key: &str, value, file| {
        scope
            .secret(key, value, file)
            .map(|secret| secret.expose().to_owned())
    };
    RedisSettings {
        topology: topology(scope, raw),
        username: raw.username.clone(),
        password: password(
            scope,
            "password",
            raw.password.as_ref(),
            raw.password_file.as_deref(),
        ),
        ca_pem: raw
            .ca_file
            .as_deref()
            .map(|file| scope.authorities("ca_file", file).1),
        prefix: prefix(scope, raw),
        wait: wait(scope, raw),
        danger_allow_eviction: raw.danger_allow_eviction,
        danger_allow_no_persistence: raw.danger_allow_no_persistence,
        journal: Some(match &raw.journal {
            Some(folder) => scope.path("journal", folder),
            None => data_directory.join("journal"),
        }),
        urls,
    }
}

fn check_url(scope: &mut Scope<'_>, key: &str, url: &str, authority: bool) {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    match scheme {
        Some("rediss") if url.ends_with("#insecure") => {
            let remedy = "leave #insecure out; ca_file names the authority";
            scope.fault(key, "would take any certificate", remedy);
        }
        Some("redis" | "unix" | "redis+unix") if authority => {
            let remedy = "write rediss://…, or leave ca_file out";
            scope.fault(
                key,
                "is not protected by TLS, which ca_file asks for",
                remedy,
            );
        }
        Some("redis" | "rediss" | "unix" | "redis+unix") => {}
        Some(_) | None => {
            let remedy = "write redis://host:6379, rediss://… or unix:///path";
            scope.fault(key, "is not the URL of a Redis server", remedy);
        }
    }
}

fn topology(scope: &mut Scope<'_>, raw: &raw::Store) -> Topology {
    let password = scope.secret(
        "sentinel_password",
        raw.sentinel_password.as_ref(),
        raw.sentinel_password_file.as_deref(),
    );
    match (&raw.sentinel_master, raw.cluster) {
        (Some(_), true) => {
            scope.fault(
                "cluster",
                "is given together with `sentinel_master`",
                "keep one",
            );
            Topology::Cluster
        }
        (Some(master), false) => Topology::Sentinel {
            master: master.clone(),
            username: raw.sentinel_username.clone(),
            password: password.map(|password| password.expose().to_owned()),
        },
        (None, true) => Topology::Cluster,
        (None, false) => {
            if raw.nodes.len() > 1 {
                let remedy = "set sentinel_master for Sentinels, or cluster = true";
                scope.fault(
                    "nodes",
                    "are several, and nothing says what they are",
                    remedy,
                );
            }
            Topology::Single
        }
    }
}

fn prefix(scope: &mut Scope<'_>, raw: &raw::Store) -> String {
    let prefix = raw.prefix.clone().unwrap_or_else(|| "forecourt".to_owned());
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if prefix.is_empty() || prefix.len() > 40 || !prefix.chars().all(plain) {
        let remedy = "use 1 to 40 letters, digits, `-`, `_`, `.`";
        scope.fault("prefix", "cannot stand in keys", remedy);
    }
    prefix
}

fn wait(scope: &mut Scope<'_>, raw: &raw::Store) -> Option<(u32, Duration)> {
    let replicas = scope.bounded("wait_replicas", raw.wait_replicas, 0, (0, 10));
    let within = scope.bounded("wait_ms", raw.wait_ms, 1000, (10, 10_000));
    (replicas > 0).then_some((replicas, Duration::from_millis(within)))
}
