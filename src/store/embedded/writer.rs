//! The one task that writes: it takes what is waiting, runs it in one transaction and answers when the
//! disk has it. Must not know what the work is.

use std::path::PathBuf;

use futures_util::future::BoxFuture;
use sqlx::{Connection as _, Executor as _, SqliteConnection};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::JoinHandle;

use super::super::StoreError;
use super::unavailable;

/// The most pieces of work in one transaction.
const GROUP: usize = 64;
/// The most pieces of work that wait; more callers wait for room.
const WAITING: usize = 1024;

/// Tells one caller how the group's commit went.
type Reply = Box<dyn FnOnce(Result<(), StoreError>) + Send>;
type Work = Box<
    dyn for<'c> FnOnce(&'c mut SqliteConnection) -> BoxFuture<'c, Result<Reply, sqlx::Error>>
        + Send,
>;

/// The way to the writing task.
#[derive(Debug)]
pub(super) struct Writer {
    place: PathBuf,
    line: Mutex<Option<mpsc::Sender<Work>>>,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    /// Starts the task. It ends when the writer is closed or dropped, after the last waiting work.
    pub(super) fn start(connection: SqliteConnection, place: PathBuf) -> Self {
        let (line, work) = mpsc::channel(WAITING);
        let task = tokio::spawn(serve(connection, work, place.clone()));
        Self {
            place,
            line: Mutex::new(Some(line)),
            task: Mutex::new(Some(task)),
        }
    }

    /// Runs `work` in the next transaction; returns once it is committed.
    pub(super) async fn run<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> BoxFuture<'c, Result<T, sqlx::Error>>
            + Send
            + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let job: Work = Box::new(move |connection| {
            Box::pin(async move {
                let value = work(connection).await?;
                let reply: Reply = Box::new(move |committed| {
                    // The caller may have gone; what it asked for is done all the same.
                    drop(answer.send(committed.map(|()| value)));
                });
                Ok(reply)
            })
        });
        let line = self
            .line
            .lock()
            .await
            .clone()
            .ok_or_else(|| self.closed())?;
        line.send(job).await.map_err(|_| self.closed())?;
        drop(line);
        answered.await.map_err(|_| self.closed())?
    }

    /// Ends the task after the work that waits already.
    pub(super) async fn close(&self) {
        self.line.lock().await.take();
        if let Some(task) = self.task.lock().await.take() {
            drop(task.await);
        }
    }

    fn closed(&self) -> StoreError {
        StoreError::Unavailable {
            place: self.place.display().to_string(),
            cause: "the transaction failed or the store is closed".to_owned(),
        }
    }
}

async fn serve(mut connection: SqliteConnection, mut work: mpsc::Receiver<Work>, place: PathBuf) {
    let mut group = Vec::with_capacity(GROUP);
    while work.recv_many(&mut group, GROUP).await > 0 {
        let mut replies = Vec::with_capacity(group.len());
        let outcome = commit(&mut connection, group.drain(..), &mut replies)
            .await
            .map_err(|error| {
                tracing::error!(store = %place.display(), %error, "store: transaction failed");
                unavailable(&place, &error)
            });
        for reply in replies {
            reply(outcome.clone());
        }
    }
    drop(connection.close().await);
}

/// One transaction. Work that fails takes its whole group back: every caller is told, none half served.
async fn commit(
    connection: &mut SqliteConnection,
    group: impl Iterator<Item = Work>,
    replies: &mut Vec<Reply>,
) -> Result<(), sqlx::Error> {
    connection.execute("BEGIN IMMEDIATE").await?;
    let outcome = async {
        for work in group {
            replies.push(work(&mut *connection).await?);
        }
        connection.execute("COMMIT").await.map(drop)
    }
    .await;
    if outcome.is_err() {
        // SQLite may have rolled back by itself; then this fails, and nothing is open either way.
        drop(connection.execute("ROLLBACK").await);
    }
    outcome
}
