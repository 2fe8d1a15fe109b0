//! Where a feed lies, and how much of it is read. Must not know its format.

use std::path::PathBuf;

use super::super::http::{Access, without_query};

/// A feed's place and limits.
#[derive(Clone, Debug)]
pub struct Settings {
    pub place: Place,
    /// The member of a zip archive that counts, where it has several.
    pub member: Option<String>,
    /// Of the unpacked file.
    pub max_bytes: u64,
    pub max_rows: u64,
    pub max_columns: usize,
    pub max_row_bytes: usize,
}

/// Where a feed lies.
#[derive(Clone, Debug)]
pub enum Place {
    Disk {
        /// The file, or a directory whose newest file counts.
        path: PathBuf,
        /// Which files of a directory count: `*` stands for anything, `?` for one character.
        pattern: Option<String>,
    },
    Web(Box<Web>),
}

/// A feed that another server gives out.
#[derive(Clone)]
pub struct Web {
    /// May hold a key in its path or query.
    pub url: String,
    pub access: Access,
    /// Of the file as it is sent.
    pub max_download_bytes: u64,
    /// Where the file lies while it is read; the system's place for such when there is none.
    pub spool: Option<PathBuf>,
}

// the address may hold a key
impl std::fmt::Debug for Web {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Web").finish_non_exhaustive()
    }
}

impl Place {
    /// What people call it; without what may be secret.
    pub(in super::super) fn name(&self) -> String {
        match self {
            Self::Disk { path, .. } => format!("feed {}", path.display()),
            Self::Web(web) => format!("feed {}", without_query(&web.url)),
        }
    }
}

impl Settings {
    /// Settings for a file or directory, with the default limits.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self::at(Place::Disk {
            path: path.into(),
            pattern: None,
        })
    }

    /// Settings for an address, with the default limits.
    pub fn from_url(url: impl Into<String>) -> Self {
        let access = Access {
            // A whole file, and not a page.
            request_timeout_ms: 600_000,
            ..Access::default()
        };
        Self::at(Place::Web(Box::new(Web {
            url: url.into(),
            access,
            max_download_bytes: 1 << 30,
            spool: None,
        })))
    }

    fn at(place: Place) -> Self {
        Self {
            place,
            member: None,
            max_bytes: 2 << 30,
            max_rows: 2_000_000,
            max_columns: 500,
            max_row_bytes: 1 << 20,
        }
    }
}
