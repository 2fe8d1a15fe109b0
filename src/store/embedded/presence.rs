//! Whether another process may be delivering from the same file: a lock beside it that every such process
//! shares while it lives. The kernel lets go of it however a process ends, so whoever can have it alone
//! knows that all earlier jobs are orphans.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use tokio::sync::{Mutex, MutexGuard};

/// The lock of one opened store.
#[derive(Debug)]
pub(super) struct Presence {
    path: PathBuf,
    held: Mutex<State>,
}

#[derive(Debug)]
enum State {
    /// This process has not begun to deliver.
    Outside,
    /// It is alone, for as long as it takes to clear up.
    Alone(File),
    /// It shares the file with others that may deliver. `None`: the lock could not be had, so nothing
    /// is known of others and leases alone decide.
    Among(#[expect(dead_code, reason = "held open for its lock")] Option<File>),
}

impl Presence {
    pub(super) fn new(store: &Path) -> Self {
        let mut path = store.as_os_str().to_owned();
        path.push(".lock");
        Self {
            path: path.into(),
            held: Mutex::new(State::Outside),
        }
    }

    /// Enters on the first call.
    pub(super) async fn enter(&self) -> Entered<'_> {
        let mut state = self.held.lock().await;
        if matches!(*state, State::Outside) {
            *state = match open(&self.path) {
                Ok(file) if file.try_lock().is_ok() => State::Alone(file),
                Ok(file) => State::Among(share(file)),
                Err(error) => {
                    tracing::warn!(lock = %self.path.display(), %error, "store: no lock file");
                    State::Among(None)
                }
            };
        }
        Entered(state)
    }
}

/// The moment between entering and settling.
pub(super) struct Entered<'a>(MutexGuard<'a, State>);

impl Entered<'_> {
    /// Whether no other process can be delivering from this file.
    pub(super) fn alone(&self) -> bool {
        matches!(*self.0, State::Alone(_))
    }

    /// Lets others in.
    pub(super) fn settle(&mut self) {
        let state = std::mem::replace(&mut *self.0, State::Among(None));
        *self.0 = match state {
            State::Alone(file) => {
                drop(file.unlock());
                State::Among(share(file))
            }
            other @ (State::Outside | State::Among(_)) => other,
        };
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
}

fn share(file: File) -> Option<File> {
    file.try_lock_shared().ok().map(|()| file)
}

/// Makes the store's file, when there is none, readable by its owner only: it holds customers' data.
pub(super) fn create_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    match OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
    {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}
