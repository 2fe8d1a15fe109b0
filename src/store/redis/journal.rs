//! What this process itself accepted and delivered, on its own volume and flushed before anybody is told: from
//! it a Redis that lost something is filled again. One folder a process; a lock keeps it so.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::super::StoreError;
use super::super::rows::Acceptance;
use super::recall::Recall;
use log::{Log, Order};

mod log;

/// How many processes may share a data folder.
const SLOTS: u32 = 64;

/// One line of the journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Entry {
    /// Given to Redis, unless `Void` follows; once more when its answer came later.
    Accepted(Box<Acceptance>),
    /// Redis had its key already: it never was a lead.
    Void(String),
    /// What may have been taken by a receiver from here on.
    Begun {
        lead_id: String,
        target: String,
        attempt: u32,
    },
    /// How an attempt ended, by the state's word.
    Ended {
        lead_id: String,
        target: String,
        attempt: u32,
        state: String,
        detail: String,
        at: Timestamp,
    },
    /// Every process that shares the Redis, as this one knew it.
    Members(BTreeSet<String>),
    /// A person erased it.
    Erased(String),
}

/// The journal of this process.
#[derive(Debug)]
pub(super) struct Journal {
    /// Who this process is among those that share the Redis; stays over restarts.
    pub(super) id: String,
    folder: PathBuf,
    orders: Mutex<mpsc::Sender<Order>>,
}

impl Journal {
    /// Opens the first folder below `root` that no other process holds.
    pub(super) fn open(root: &Path) -> Result<Self, StoreError> {
        let fail = |cause: io::Error| failed(root, &cause.to_string());
        let (folder, lock) = slot(root).map_err(fail)?;
        let id = identity(&folder).map_err(fail)?;
        let log = Log::open(&folder, lock).map_err(fail)?;
        let (sender, orders) = mpsc::channel();
        std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || log.serve(&orders))
            .map_err(fail)?;
        Ok(Self {
            id,
            folder,
            orders: Mutex::new(sender),
        })
    }

    /// Writes the entries; returns once they are on the disk.
    pub(super) async fn append(&self, entries: &[Entry]) -> Result<(), StoreError> {
        let mut text = String::new();
        for entry in entries {
            let line = serde_json::to_string(entry);
            text.push_str(&line.map_err(|error| failed(&self.folder, &error.to_string()))?);
            text.push('\n');
        }
        self.ask(|reply| Order::Append(text, reply)).await
    }

    /// Everything that it says.
    pub(super) async fn recall(&self) -> Result<Recall, StoreError> {
        self.ask(Order::Read).await
    }

    /// Leaves out what is of no more use.
    pub(super) async fn compact(&self, now: Timestamp) -> Result<(), StoreError> {
        self.ask(|reply| Order::Compact(now, reply)).await
    }

    async fn ask<T>(
        &self,
        order: impl FnOnce(oneshot::Sender<Result<T, String>>) -> Order,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let sent = {
            let orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
            orders.send(order(reply)).is_ok()
        };
        let answer = if sent { answer.await.ok() } else { None };
        answer
            .unwrap_or_else(|| Err("its thread has ended".to_owned()))
            .map_err(|cause| failed(&self.folder, &cause))
    }
}

fn failed(folder: &Path, cause: &str) -> StoreError {
    StoreError::Unavailable {
        place: format!("journal {}", folder.display()),
        cause: cause.to_owned(),
    }
}

/// Takes the first free folder. The lock is let go of by the kernel however the process ends.
fn slot(root: &Path) -> io::Result<(PathBuf, File)> {
    use std::os::unix::fs::DirBuilderExt as _;
    for number in 0..SLOTS {
        let folder = root.join(number.to_string());
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true).mode(0o700).create(&folder)?;
        let lock = private(&folder.join("lock"))?;
        if lock.try_lock().is_ok() {
            // The folder's own name must outlast a power failure, too.
            File::open(root)?.sync_all()?;
            return Ok((folder, lock));
        }
    }
    Err(io::Error::other("too many processes use this folder"))
}

/// The file, readable by its owner only: it holds customers' data.
fn private(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .mode(0o600)
        .open(path)
}

fn identity(folder: &Path) -> io::Result<String> {
    let path = folder.join("id");
    match fs::read_to_string(&path) {
        Ok(id) if !id.trim().is_empty() => Ok(id.trim().to_owned()),
        Ok(_) => write_identity(folder, &path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => write_identity(folder, &path),
        Err(error) => Err(error),
    }
}

fn write_identity(folder: &Path, path: &Path) -> io::Result<String> {
    let id = uuid::Uuid::new_v4().simple().to_string();
    let new = folder.join("id.new");
    let mut file = private(&new)?;
    file.write_all(id.as_bytes())?;
    file.sync_all()?;
    fs::rename(new, path)?;
    File::open(folder)?.sync_all()?;
    Ok(id)
}

#[cfg(test)]
mod tests;
