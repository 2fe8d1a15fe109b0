//! The file of a journal and the thread that writes it: what waits is flushed as one group. Must not know what the
//! lines say.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use jiff::Timestamp;
use tokio::sync::oneshot;

use super::super::recall::Recall;
use super::private;

/// How many orders one flush serves at most.
const GROUP: usize = 256;

/// What the thread is asked for, and where it answers.
pub(super) enum Order {
    Append(String, oneshot::Sender<Result<(), String>>),
    Read(oneshot::Sender<Result<Recall, String>>),
    Compact(Timestamp, oneshot::Sender<Result<(), String>>),
}

/// The file and the thread that writes it.
pub(super) struct Log {
    path: PathBuf,
    pub(super) file: File,
    /// How much of it is whole lines.
    length: u64,
    pub(super) folder: File,
    /// Whether the disk knows the file under its name: what is in it would be lost otherwise.
    named: bool,
    _lock: File,
}

impl Log {
    /// Opens it, without the line that a crash left unfinished.
    pub(super) fn open(folder: &Path, lock: File) -> io::Result<Self> {
        let path = folder.join("log");
        let mut file = private(&path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let whole = memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1);
        let length = whole as u64;
        file.set_len(length)?;
        file.sync_all()?;
        Ok(Self {
            path,
            file,
            length,
            folder: File::open(folder)?,
            named: false,
            _lock: lock,
        })
    }

    pub(super) fn serve(mut self, orders: &mpsc::Receiver<Order>) {
        while let Ok(first) = orders.recv() {
            let mut next = Some(first);
            let mut group = Vec::new();
            let mut text = String::new();
            while let Some(order) = next.take() {
                match order {
                    Order::Append(lines, reply) => {
                        text.push_str(&lines);
                        group.push(reply);
                        if group.len() < GROUP {
                            next = orders.try_recv().ok();
                        }
                    }
                    other @ (Order::Read(_) | Order::Compact(..)) => {
                        self.flush(&text, &mut group);
                        text.clear();
                        self.look(other);
                    }
                }
            }
            self.flush(&text, &mut group);
        }
    }

    fn look(&mut self, order: Order) {
        match order {
            Order::Read(reply) => {
                let recall = self.recall().map_err(|error| error.to_string());
                drop(reply.send(recall));
            }
            Order::Compact(now, reply) => {
                let done = self.compact(now).map_err(|error| error.to_string());
                drop(reply.send(done));
            }
            Order::Append(..) => {}
        }
    }

    fn flush(&mut self, text: &str, group: &mut Vec<oneshot::Sender<Result<(), String>>>) {
        if group.is_empty() {
            return;
        }
        let written = self.write(text).map_err(|error| error.to_string());
        for reply in group.drain(..) {
            drop(reply.send(written.clone()));
        }
    }

    pub(super) fn write(&mut self, text: &str) -> io::Result<()> {
        self.name()?;
        let written = self
            .file
            .seek(SeekFrom::Start(self.length))
            .and_then(|_| self.file.write_all(text.as_bytes()))
            .and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => {
                self.length += text.len() as u64;
                Ok(())
            }
            Err(error) => {
                // Half a line must not spoil the next one.
                self.file.set_len(self.length)?;
                Err(error)
            }
        }
    }

    fn name(&mut self) -> io::Result<()> {
        if !self.named {
            self.folder.sync_all()?;
            self.named = true;
        }
        Ok(())
    }

    pub(super) fn recall(&mut self) -> io::Result<Recall> {
        self.file.seek(SeekFrom::Start(0))?;
        let mut text = String::new();
        self.file.read_to_string(&mut text)?;
        Ok(Recall::of(&text))
    }

    /// Writes what still counts beside the file and renames it into place. From then on that one is written to,
    /// whatever else fails: the one before has no name any more.
    pub(super) fn compact(&mut self, now: Timestamp) -> io::Result<()> {
        let text = self.recall()?.lines(now);
        let new = self.path.with_extension("new");
        let mut file = private(&new)?;
        file.set_len(0)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, &self.path)?;
        self.file = file;
        self.length = text.len() as u64;
        self.named = false;
        self.name()
    }
}
