//! A small SMTP receiver for the demo and the tests: it stands for a CRM's mailbox and writes each accepted
//! mail as one `.eml` file. It listens on loopback only, relays nothing, and every input is bounded.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};

use super::directory::write_file;

/// The longest command line taken (RFC 5321 §4.5.3.1.4 asks for 512).
const COMMAND_OCTETS: usize = 2048;
/// The longest text line taken (RFC 5321 §4.5.3.1.6 asks for 1000).
const TEXT_OCTETS: usize = 64 * 1024;
/// The most recipients of one mail (RFC 5321 §4.5.3.1.8 asks for 100).
const RECIPIENTS: usize = 100;
/// The most conversations at once.
const CONVERSATIONS: usize = 32;
/// How long a client may be silent.
const SILENCE: Duration = Duration::from_mins(1);

/// A running receiver.
#[derive(Debug)]
pub struct MailReceiver {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

/// What all conversations share.
#[derive(Debug)]
struct Mailbox {
    directory: PathBuf,
    max_bytes: usize,
}

impl MailReceiver {
    /// Listens on `listen` (loopback; port 0 takes any) and writes into `directory`.
    pub async fn start(listen: SocketAddr, directory: &Path, max_bytes: usize) -> io::Result<Self> {
        if !listen.ip().is_loopback() {
            let refusal = "the mail receiver listens on loopback only";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, refusal));
        }
        std::fs::create_dir_all(directory)?;
        let listener = TcpListener::bind(listen).await?;
        let address = listener.local_addr()?;
        let (stop, stopped) = watch::channel(false);
        let mailbox = Arc::new(Mailbox {
            directory: directory.to_owned(),
            max_bytes,
        });
        let task = tokio::spawn(listen_on(listener, mailbox, stopped));
        Ok(Self {
            address,
            stop,
            task,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends it; a conversation that goes on is cut off.
    pub async fn stop(self) {
        self.stop.send(true).ok();
        drop(self.task.await);
    }
}

async fn listen_on(listener: TcpListener, mailbox: Arc<Mailbox>, mut stop: watch::Receiver<bool>) {
    let places = Arc::new(Semaphore::new(CONVERSATIONS));
    let mut conversations = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.changed() => break,
        };
        while conversations.try_join_next().is_some() {}
        let (Ok((stream, _)), Ok(place)) = (accepted, Arc::clone(&places).acquire_owned().await)
        else {
            continue;
        };
        let mailbox = Arc::clone(&mailbox);
        conversations.spawn(async move {
            drop(Conversation::new(stream, mailbox).run().await);
            drop(place);
        });
    }
    conversations.shutdown().await;
}

struct Conversation {
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    mailbox: Arc<Mailbox>,
    from: Option<String>,
    to: Vec<String>,
}

impl Conversation {
    fn new(stream: TcpStream, mailbox: Arc<Mailbox>) -> Self {
        let (reader, writer) = stream.into_split();
        Self {
            reader: BufReader::new(reader),
            writer,
            mailbox,
            from: None,
            to: Vec::new(),
        }
    }

    async fn run(mut self) -> io::Result<()> {
        self.say("220 forecourt mail receiver").await?;
        while let Some(line) = self.line(COMMAND_OCTETS).await? {
            let line = String::from_utf8_lossy(&line).into_owned();
            let (verb, rest) = line.split_once(' ').unwrap_or((&line, ""));
            match verb.to_ascii_uppercase().as_str() {
                "EHLO" => {
                    let size = self.mailbox.max_bytes;
                    self.reset();
                    self.say(&format!("250-localhost\r\n250-8BITMIME\r\n250 SIZE {size}"))
                        .await?;
                }
                "HELO" | "RSET" => {
                    self.reset();
                    self.say("250 OK").await?;
                }
                "MAIL" => self.mail(rest).await?,
                "RCPT" => self.rcpt(rest).await?,
                "DATA" => self.data().await?,
                "NOOP" => self.say("250 OK").await?,
                "QUIT" => {
                    self.say("221 bye").await?;
                    break;
                }
                _ => self.say("500 unknown command").await?,
            }
        }
        Ok(())
    }

    async fn mail(&mut self, rest: &str) -> io::Result<()> {
        let declared = rest.split_ascii_whitespace().find_map(|word| {
            word.to_ascii_uppercase()
                .strip_prefix("SIZE=")?
                .parse::<usize>()
                .ok()
        });
        if declared.is_some_and(|size| size > self.mailbox.max_bytes) {
            return self.say("552 message too large").await;
        }
        match address(rest, "FROM:") {
            Some(from) => {
                self.reset();
                self.from = Some(from);
                self.say("250 OK").await
            }
            None => self.say("501 MAIL FROM:<address>").await,
        }
    }

    async fn rcpt(&mut self, rest: &str) -> io::Result<()> {
        if self.from.is_none() {
            return self.say("503 MAIL first").await;
        }
        if self.to.len() >= RECIPIENTS {
            return self.say("452 too many recipients").await;
        }
        match address(rest, "TO:") {
            Some(to) if !to.is_empty() => {
                self.to.push(to);
                self.say("250 OK").await
            }
            _ => self.say("501 RCPT TO:<address>").await,
        }
    }

    async fn data(&mut self) -> io::Result<()> {
        if self.to.is_empty() {
            return self.say("503 RCPT first").await;
        }
        self.say("354 end with a line that holds one dot").await?;
        let mut mail = Vec::new();
        let mut too_large = false;
        loop {
            let Some(line) = self.line(TEXT_OCTETS).await? else {
                // The end mark is missing: this mail was never handed over.
                return Ok(());
            };
            if line == b"." {
                break;
            }
            let text = line.strip_prefix(b".").unwrap_or(&line);
            too_large |= mail.len() + text.len() + 2 > self.mailbox.max_bytes;
            if !too_large {
                mail.extend_from_slice(text);
                mail.extend_from_slice(b"\r\n");
            }
        }
        if too_large {
            self.reset();
            return self.say("552 message too large").await;
        }
        let stored = self.store(mail).await;
        self.reset();
        match stored {
            Ok(()) => self.say("250 stored").await,
            Err(_) => self.say("451 could not be stored").await,
        }
    }

    /// Writes the mail with its envelope, as a mail server at the end of the way does (RFC 5321 §4.4).
    async fn store(&self, mail: Vec<u8>) -> io::Result<()> {
        let mut text = format!(
            "Return-Path: <{}>\r\n",
            self.from.as_deref().unwrap_or_default()
        )
        .into_bytes();
        for to in &self.to {
            text.extend_from_slice(format!("Delivered-To: {to}\r\n").as_bytes());
        }
        text.extend_from_slice(&mail);
        let name = format!("{}.eml", uuid::Uuid::now_v7());
        let directory = self.mailbox.directory.clone();
        tokio::task::spawn_blocking(move || write_file(&directory, &name, &text))
            .await
            .map_err(io::Error::other)?
    }

    fn reset(&mut self) {
        self.from = None;
        self.to.clear();
    }

    /// One line without its end; `None` at the end of the stream.
    async fn line(&mut self, limit: usize) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let mut bounded = (&mut self.reader).take(limit as u64 + 2);
        let read = tokio::time::timeout(SILENCE, bounded.read_until(b'\n', &mut line)).await;
        let read = read.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        if read == 0 {
            return Ok(None);
        }
        if line.pop() != Some(b'\n') {
            return Err(io::Error::from(io::ErrorKind::InvalidData));
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Ok(Some(line))
    }

    async fn say(&mut self, reply: &str) -> io::Result<()> {
        self.writer
            .write_all(format!("{reply}\r\n").as_bytes())
            .await?;
        self.writer.flush().await
    }
}

/// The address in `FROM:<…>` or `TO:<…>`.
fn address(rest: &str, keyword: &str) -> Option<String> {
    let (word, rest) = rest.trim_start().split_at_checked(keyword.len())?;
    if !word.eq_ignore_ascii_case(keyword) {
        return None;
    }
    let (address, _) = rest.trim_start().strip_prefix('<')?.split_once('>')?;
    Some(address.to_owned())
}
