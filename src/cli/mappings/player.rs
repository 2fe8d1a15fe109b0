//! Plays recorded answers of an API on loopback, so that the case beside a REST mapping runs through the same
//! client, paging included, as the API itself would. Must not answer anything that was not recorded.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::{Exit, Failure};

/// The longest request head that is read.
const MAX_HEAD: usize = 16 << 10;

/// One recorded answer: what a request must have, and what it gets.
#[derive(Debug)]
struct Recording {
    path: String,
    parameters: Vec<String>,
    body: String,
}

/// An API made of recordings, until it is dropped.
#[derive(Debug)]
pub(super) struct Player {
    pub(super) address: SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for Player {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Player {
    /// Plays what `pages.toml` in `folder` lists.
    pub(super) async fn start(folder: &Path) -> Result<Self, Failure> {
        let recordings = read(folder)?;
        let failed = |error: std::io::Error| Failure::new(Exit::Internal, error.to_string());
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // A client that hangs up early has what it wanted.
                drop(play(stream, &recordings).await);
            }
        });
        Ok(Self { address, task })
    }
}

fn read(folder: &Path) -> Result<Vec<Recording>, Failure> {
    let list = folder.join("pages.toml");
    let wrong = |file: &Path, words: String| {
        Failure::new(Exit::Usage, format!("{}: {words}", file.display()))
    };
    let text = fs::read_to_string(&list).map_err(|error| wrong(&list, error.to_string()))?;
    let pages: BTreeMap<String, String> =
        toml::from_str(&text).map_err(|error| wrong(&list, error.message().to_owned()))?;
    let mut recordings = Vec::new();
    for (request, file) in pages {
        let file = folder.join(file);
        let body = fs::read_to_string(&file).map_err(|error| wrong(&file, error.to_string()))?;
        let (path, parameters) = parts(&request);
        recordings.push(Recording {
            path: path.to_owned(),
            parameters: parameters.map(str::to_owned).collect(),
            body,
        });
    }
    Ok(recordings)
}

fn parts(request: &str) -> (&str, impl Iterator<Item = &str>) {
    let (path, query) = request.split_once('?').unwrap_or((request, ""));
    (path, query.split('&').filter(|part| !part.is_empty()))
}

async fn play(mut stream: TcpStream, recordings: &[Recording]) -> std::io::Result<()> {
    let mut head = Vec::new();
    let mut piece = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < MAX_HEAD {
        let length = stream.read(&mut piece).await?;
        if length == 0 {
            return Ok(());
        }
        head.extend(piece.iter().take(length));
    }
    let head = String::from_utf8_lossy(&head);
    let target = head.split(' ').nth(1).unwrap_or_default();
    let (status, body) = match find(target, recordings) {
        Some(recording) => ("200 OK", recording.body.as_str()),
        None => ("404 Not Found", "{}"),
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

/// Of the recordings that fit a request, the one that asks for most.
fn find<'a>(target: &str, recordings: &'a [Recording]) -> Option<&'a Recording> {
    let (path, parameters) = parts(target);
    let given: Vec<&str> = parameters.collect();
    recordings
        .iter()
        .filter(|recording| {
            let has = |wanted: &String| given.contains(&wanted.as_str());
            recording.path == path && recording.parameters.iter().all(has)
        })
        .max_by_key(|recording| recording.parameters.len())
}
