//! Where a feed lies, and how much of it is read. Must not know its format.

use std::path::PathBuf;

use serde::Deserialize;

/// A feed's place and limits.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The file, or a directory whose newest file counts.
    pub path: PathBuf,
    /// Of the unpacked file.
    #[serde(default = "max_bytes")]
    pub max_bytes: u64,
    #[serde(default = "max_rows")]
    pub max_rows: u64,
    #[serde(default = "max_columns")]
    pub max_columns: usize,
    #[serde(default = "max_row_bytes")]
    pub max_row_bytes: usize,
}

fn max_bytes() -> u64 {
    2 << 30
}
fn max_rows() -> u64 {
    2_000_000
}
fn max_columns() -> usize {
    500
}
fn max_row_bytes() -> usize {
    1 << 20
}

impl Settings {
    /// Settings with the default limits.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            max_bytes: max_bytes(),
            max_rows: max_rows(),
            max_columns: max_columns(),
            max_row_bytes: max_row_bytes(),
        }
    }
}
