//! `[store]`.

use std::path::PathBuf;

use serde::Deserialize;

use super::super::secret::Secret;

/// `[store]`: where leads, idempotency keys and Sessions are kept.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Store {
    /// `embedded` (an SQLite file, the default) or `redis`, which several replicas may share. The keys
    /// below `file` are those of `redis`.
    pub kind: Option<StoreKind>,
    /// The file of the embedded store. Default `forecourt.db` in the data folder.
    pub file: Option<PathBuf>,
    /// `redis://host:6379`, `rediss://…` for TLS, or `unix:///path`.
    pub url: Option<Secret>,
    /// A file that holds the URL.
    pub url_file: Option<PathBuf>,
    /// Instead of `url`, several: the Sentinels, or some nodes of a Cluster.
    pub nodes: Vec<String>,
    /// The master's name: `nodes` are Sentinels.
    pub sentinel_master: Option<String>,
    /// Whether `nodes` belong to a Redis Cluster. Default false.
    pub cluster: bool,
    pub username: Option<String>,
    pub password: Option<Secret>,
    /// A file that holds the password.
    pub password_file: Option<PathBuf>,
    /// The login at the Sentinels.
    pub sentinel_username: Option<String>,
    pub sentinel_password: Option<Secret>,
    /// A file that holds the password at the Sentinels.
    pub sentinel_password_file: Option<PathBuf>,
    /// PEM of the authorities behind the servers' certificates, instead of the public ones.
    pub ca_file: Option<PathBuf>,
    /// What all keys begin with. Default `forecourt`.
    pub prefix: Option<String>,
    /// Redis replicas that must confirm a lead before it is answered. Default 0.
    pub wait_replicas: Option<u32>,
    /// Milliseconds to wait for them; then the agent is asked to try again. Default 1000.
    pub wait_ms: Option<u64>,
    /// The folder of this process's own journal, from which a lost Redis is filled again. It must outlive
    /// the process. Default `journal` in the data folder.
    pub journal: Option<PathBuf>,
    /// Takes a server that may evict keys: leads could be lost and sent twice. Default false.
    pub danger_allow_eviction: bool,
    /// Takes a server without an append-only file. Default false.
    pub danger_allow_no_persistence: bool,
}

/// The kinds of store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoreKind {
    #[default]
    Embedded,
    Redis,
}
