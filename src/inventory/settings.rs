//! What an operator may decide about one deployment's inventory. Must not read configuration files.

use std::path::PathBuf;

use crate::contract::Capabilities;

/// The settings of one inventory.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The deployment's id: a cursor is good in its own deployment only.
    pub deployment: String,
    /// What search supports; never changed by rows.
    pub capabilities: Capabilities,
    /// Whether a search answer carries the facets of the full matching set.
    pub facets_in_search: bool,
    /// Seconds after which a cursor expires; each page renews it, sixteen times this long in all.
    pub cursor_ttl_s: i64,
    /// Seconds from the end of one reading to the beginning of the next.
    pub refresh_interval_s: u64,
    /// The share, 0 to 1, by which that is made longer or shorter at random: not all deployments ask at once.
    pub refresh_jitter: f64,
    /// Seconds after which everything is read, where otherwise only what changed is.
    pub full_refresh_interval_s: u64,
    /// Milliseconds between two looks at a feed's file and for an operator's order; 0 for none.
    pub watch_interval_ms: u64,
    /// Seconds after which a reading is too old to answer from; `None` never.
    pub max_age_s: Option<i64>,
    /// The greatest share of units, 0 to 1, that may vanish from one reading to the next; a reading that
    /// lost more is held for a person.
    pub shrink_guard: f64,
    /// Where ids of units that were offered are remembered; `None` forgets them at the end.
    pub directory: Option<PathBuf>,
    /// Whether first pages and facets that were asked for before are kept with their snapshot.
    pub keeps_pages: bool,
    /// Milliseconds that a look-up of one unit at the source may take.
    pub look_up_timeout_ms: u64,
    /// Milliseconds for which a look-up's answer is used again.
    pub look_up_cache_ms: u64,
}

impl Settings {
    /// The defaults for a deployment with these capabilities.
    pub fn new(deployment: impl Into<String>, capabilities: Capabilities) -> Self {
        Self {
            deployment: deployment.into(),
            capabilities,
            facets_in_search: false,
            cursor_ttl_s: 15 * 60,
            refresh_interval_s: 5 * 60,
            refresh_jitter: 0.1,
            full_refresh_interval_s: 4 * 60 * 60,
            watch_interval_ms: 2_000,
            max_age_s: Some(24 * 60 * 60),
            shrink_guard: 0.5,
            directory: None,
            keeps_pages: true,
            look_up_timeout_ms: 2_000,
            look_up_cache_ms: 2_000,
        }
    }
}
