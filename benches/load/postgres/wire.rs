//! One connection to a PostgreSQL that asks statements prepared beforehand, with as little as its protocol asks of
//! a client: the client must not be what is measured. Must not know the statements.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::drive::Asked;

/// Protocol 3.0.
const VERSION: i32 = 196_608;

/// What is asked in turn: the statements, and the value of `$1` for the n-th time, where they have one.
pub(super) struct Statements {
    pub(super) texts: Vec<String>,
    pub(super) value: Option<fn(u64) -> u64>,
}

pub(super) struct Session {
    stream: TcpStream,
    buffer: Vec<u8>,
    statements: Arc<Statements>,
}

impl Session {
    /// Connects, prepares every statement and asks each of them once.
    pub(super) async fn open(
        address: SocketAddr,
        statements: &Arc<Statements>,
    ) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let mut session = Self {
            stream,
            buffer: vec![0; 256 * 1024],
            statements: Arc::clone(statements),
        };
        let mut hello = VERSION.to_be_bytes().to_vec();
        hello.extend_from_slice(b"user\0dms\0database\0postgres\0\0");
        let mut start = size(&hello).to_vec();
        start.extend(hello);
        session.exchange(&start).await?;
        for (n, text) in statements.texts.iter().enumerate() {
            let parse = format!("s{n}\0{text}\0\0\0");
            let mut request = message(b'P', parse.as_bytes());
            request.extend(message(b'S', b""));
            session.exchange(&request).await?;
        }
        for n in 0..statements.texts.len() as u64 {
            session.ask(n).await?;
        }
        Ok(session)
    }

    /// The answer's rows, each the texts of its columns.
    pub(super) async fn rows(&mut self, n: u64) -> io::Result<Vec<Vec<String>>> {
        let request = self.request(n);
        let end = self.exchange(&request).await?;
        let (mut rows, mut at) = (Vec::new(), 0);
        while at < end {
            let next = at + 1 + number(&self.buffer[at + 1..]);
            if self.buffer[at] == b'D' {
                rows.push(columns(&self.buffer[at + 7..next]));
            }
            at = next;
        }
        Ok(rows)
    }

    /// Bytes of the answer.
    pub(super) async fn bytes(&mut self, n: u64) -> io::Result<usize> {
        let request = self.request(n);
        self.exchange(&request).await
    }

    /// Bind, Execute and Sync of the n-th statement.
    fn request(&self, n: u64) -> Vec<u8> {
        let at = n as usize % self.statements.texts.len();
        let mut bind = format!("\0s{at}\0").into_bytes();
        // Every value as text.
        bind.extend([0, 0]);
        match self.statements.value {
            None => bind.extend([0, 0]),
            Some(value) => {
                let value = value(n).to_string();
                bind.extend([0, 1]);
                bind.extend((value.len() as u32).to_be_bytes());
                bind.extend(value.as_bytes());
            }
        }
        bind.extend([0, 0]);
        let mut request = message(b'B', &bind);
        request.extend(message(b'E', &[0; 5]));
        request.extend(message(b'S', b""));
        request
    }

    /// Sends, and reads until the server is ready for more; where the answer ends in the buffer.
    async fn exchange(&mut self, request: &[u8]) -> io::Result<usize> {
        self.stream.write_all(request).await?;
        let (mut at, mut read) = (0, 0);
        loop {
            let more = self.stream.read(&mut self.buffer[read..]).await?;
            if more == 0 {
                return Err(io::Error::other("cut short"));
            }
            read += more;
            while read >= at + 5 {
                let next = at + 1 + number(&self.buffer[at + 1..]);
                if read < next {
                    break;
                }
                match self.buffer[at] {
                    b'E' => {
                        let words = String::from_utf8_lossy(&self.buffer[at + 5..next]);
                        return Err(io::Error::other(words.into_owned()));
                    }
                    b'Z' => return Ok(next),
                    _ => at = next,
                }
            }
        }
    }
}

impl Asked for Session {
    async fn ask(&mut self, n: u64) -> io::Result<()> {
        let request = self.request(n);
        self.exchange(&request).await.map(drop)
    }
}

fn columns(mut rest: &[u8]) -> Vec<String> {
    let mut columns = Vec::new();
    while !rest.is_empty() {
        // -1 stands for NULL
        let length = number(rest);
        let length = if length == u32::MAX as usize {
            0
        } else {
            length
        };
        columns.push(String::from_utf8_lossy(&rest[4..4 + length]).into_owned());
        rest = &rest[4 + length..];
    }
    columns
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut message = vec![kind];
    message.extend(size(body));
    message.extend(body);
    message
}

/// A message's length, its own four bytes included.
fn size(body: &[u8]) -> [u8; 4] {
    (body.len() as u32 + 4).to_be_bytes()
}

fn number(bytes: &[u8]) -> usize {
    let bytes = bytes.first_chunk().expect("four bytes");
    u32::from_be_bytes(*bytes) as usize
}
