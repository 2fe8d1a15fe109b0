//! Delivery into a directory: one file per lead, complete from the moment it has its name. Repeating a
//! delivery replaces the file by itself.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::{Content, DeliveryError, Outcome, Parcel};

/// A directory that something else collects from.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
}

impl Directory {
    pub(super) fn new(path: &Path) -> Result<Self, DeliveryError> {
        fs::create_dir_all(path).map_err(|cause| DeliveryError::Directory {
            path: path.to_owned(),
            cause,
        })?;
        Ok(Self {
            path: path.to_owned(),
        })
    }

    pub(super) async fn put(&self, parcel: &Parcel) -> Outcome {
        let (ending, text) = match &parcel.content {
            Content::Adf(text) => ("xml", text.clone()),
            Content::Text(text) => ("txt", text.clone()),
        };
        let name = format!("{}.{ending}", file_stem(&parcel.correlation));
        let directory = self.path.clone();
        let written =
            tokio::task::spawn_blocking(move || write_file(&directory, &name, text.as_bytes()));
        match written.await {
            Ok(Ok(())) => Outcome::Delivered("file written".to_owned()),
            Ok(Err(error)) => Outcome::Retry(format!("writing the file failed: {}", error.kind())),
            Err(_) => Outcome::Retry("writing the file was interrupted".to_owned()),
        }
    }
}

/// A correlation as a file name: nothing that leaves the directory or hides.
fn file_stem(correlation: &str) -> String {
    let stem: String = correlation
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') {
                c
            } else {
                '_'
            }
        })
        .collect();
    stem
}

/// Writes a file that is either absent or complete, whatever happens.
pub(super) fn write_file(directory: &Path, name: &str, content: &[u8]) -> io::Result<()> {
    let hidden = directory.join(format!(".{name}.part"));
    let mut file = File::create(&hidden)?;
    file.write_all(content)?;
    file.sync_all()?;
    drop(file);
    fs::rename(&hidden, directory.join(name))?;
    File::open(directory)?.sync_all()
}
