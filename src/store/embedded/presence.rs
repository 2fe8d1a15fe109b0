//! Whether another process may be delivering from the same file: a lock beside it that every such process
//! shares while it lives. The kernel lets go of it however a process ends, so whoever can have it alone
//! knows that all earlier jobs are orphans.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};

/// How often, and how many times, the gate is tried while another process passes it.
const GATE_PAUSE: Duration = Duration::from_millis(20);
const GATE_TRIES: u32 = 1500;

/// The lock of one opened store.
#[derive(Debug)]
pub(super) struct Presence {
    lock: PathBuf,
    gate: PathBuf,
    held: Mutex<State>,
}

#[derive(Debug)]
enum State {
    /// This process has not begun to deliver.
    Outside,
    /// It is alone, for as long as it takes to clear up. A lock cannot be weakened in one step: the gate
    /// keeps everybody else from looking between the two.
    Alone { lock: File, gate: File },
    /// It shares the file with others that may deliver. `None`: the lock could not be had, so nothing
    /// is known of others and leases alone decide.
    Among(
        #[cfg_attr(not(test), expect(dead_code, reason = "held open for its lock"))] Option<File>,
    ),
}

impl Presence {
    pub(super) fn new(store: &Path) -> Self {
        let beside = |ending: &str| {
            let mut path = store.as_os_str().to_owned();
            path.push(ending);
            PathBuf::from(path)
        };
        Self {
            lock: beside(".lock"),
            gate: beside(".gate"),
            held: Mutex::new(State::Outside),
        }
    }

    /// Enters on the first call.
    pub(super) async fn enter(&self) -> Entered<'_> {
        let mut state = self.held.lock().await;
        if matches!(*state, State::Outside) {
            *state = self.pass().await.unwrap_or_else(|error| {
                tracing::warn!(lock = %self.lock.display(), %error, "store: no lock file");
                State::Among(None)
            });
        }
        Entered(state)
    }

    async fn pass(&self) -> io::Result<State> {
        let (lock, gate) = (open(&self.lock)?, open(&self.gate)?);
        let passed = wait_for(&gate).await?;
        Ok(if passed && lock.try_lock().is_ok() {
            State::Alone { lock, gate }
        } else {
            State::Among(share(lock))
        })
    }
}

/// Takes the gate; `false` when it stays shut.
async fn wait_for(gate: &File) -> io::Result<bool> {
    for _ in 0..GATE_TRIES {
        match gate.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => tokio::time::sleep(GATE_PAUSE).await,
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(false)
}

/// The moment between entering and settling.
pub(super) struct Entered<'a>(MutexGuard<'a, State>);

impl Entered<'_> {
    /// Whether no other process can be delivering from this file.
    pub(super) fn alone(&self) -> bool {
        matches!(*self.0, State::Alone { .. })
    }

    /// Lets others in.
    pub(super) fn settle(&mut self) {
        let state = std::mem::replace(&mut *self.0, State::Among(None));
        *self.0 = match state {
            State::Alone { lock, gate } => {
                drop(lock.unlock());
                let shared = State::Among(share(lock));
                drop(gate);
                shared
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

#[cfg(test)]
mod tests {
    use super::*;

    // AAP-484: two workers that start at once must not take each other for dead.
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn of_many_that_enter_at_once_exactly_one_is_alone() {
        for _ in 0..40 {
            let folder = tempfile::tempdir().unwrap();
            let store = folder.path().join("store.db");
            let mut entering = tokio::task::JoinSet::new();
            for _ in 0..8 {
                let store = store.clone();
                entering.spawn(async move {
                    let presence = Presence::new(&store);
                    let mut entered = presence.enter().await;
                    let alone = entered.alone();
                    tokio::task::yield_now().await;
                    entered.settle();
                    drop(entered);
                    (alone, presence)
                });
            }
            let entered = entering.join_all().await;
            assert_eq!(entered.iter().filter(|(alone, _)| *alone).count(), 1);
            for (_, presence) in &entered {
                let state = presence.held.lock().await;
                assert!(matches!(*state, State::Among(Some(_))), "{state:?}");
            }
        }
    }
}
