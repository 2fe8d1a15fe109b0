//! Where an API is, and how much is asked of it. Must not know the paging.

use std::fmt;

use super::super::http::Access;

/// An API's place, credentials and limits.
#[derive(Clone)]
pub struct Settings {
    /// What stands before the plan's paths; may hold a key in its path.
    pub base_url: String,
    pub access: Access,
    pub read_timeout_ms: u64,
    pub max_rows: u64,
    pub max_pages: u64,
    pub max_page_bytes: usize,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").finish_non_exhaustive()
    }
}

impl Settings {
    /// Settings without credentials and with the default limits.
    pub fn new(base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            access: Access::default(),
            read_timeout_ms: 1_800_000,
            max_rows: 1_000_000,
            max_pages: 20_000,
            max_page_bytes: 32 << 20,
        }
    }
}
