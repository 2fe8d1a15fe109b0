//! Which Redis, and how to use it. Must not connect.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Which Redis, and how to use it.
#[derive(Clone, Default)]
pub struct RedisSettings {
    /// `redis://…`, `rediss://…` or `unix://…`: the server, the Sentinels, or some nodes of the Cluster.
    pub urls: Vec<String>,
    pub topology: Topology,
    /// Beside what the URLs say.
    pub username: Option<String>,
    pub password: Option<String>,
    /// PEM of the authorities that the servers' certificates come from, instead of the public ones.
    pub ca_pem: Option<Vec<u8>>,
    /// What all keys begin with; deployments of several Forecourts on one server differ in it.
    pub prefix: String,
    /// How many replicas must confirm an acceptance, and how long is waited for them.
    pub wait: Option<(u32, Duration)>,
    /// Takes a server that may evict keys: leads could be lost and sent twice.
    pub danger_allow_eviction: bool,
    /// Takes a server that keeps nothing over a restart.
    pub danger_allow_no_persistence: bool,
    /// The folder of this process's own journal. Without it nothing can be accepted or delivered that
    /// survives a loss of Redis; commands that only look and decide need none.
    pub journal: Option<PathBuf>,
}

/// How the servers stand to each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Topology {
    #[default]
    Single,
    /// The URLs name Sentinels, which know the master.
    Sentinel {
        master: String,
        username: Option<String>,
        password: Option<String>,
    },
    /// The URLs name some nodes.
    Cluster,
}

impl RedisSettings {
    /// How long a command may take: `usual`, and the time in which replicas may confirm.
    pub(super) fn patience(&self, usual: Duration) -> Duration {
        usual + self.wait.map_or(Duration::ZERO, |(_, within)| within)
    }

    /// The servers without credentials, for logs.
    pub(super) fn place(&self) -> String {
        let bare = |url: &String| match (url.split_once("://"), url.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
            _ => url.clone(),
        };
        let urls: Vec<_> = self.urls.iter().map(bare).collect();
        urls.join(" ")
    }
}

impl fmt::Debug for RedisSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisSettings")
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}
