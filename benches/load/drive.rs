//! The client: many connections that stay and ask again as soon as they are answered. The same one for every
//! server over HTTP, and the same loop for a database. Must not know what the answers mean, only that they are
//! complete, and HTTP 200.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// What is asked: the request for the n-th time.
pub(crate) type Requests = Arc<dyn Fn(u64) -> Arc<[u8]> + Send + Sync>;

/// What one run gave.
pub(crate) struct Figures {
    pub(crate) answered: u64,
    pub(crate) elapsed: Duration,
    latencies: Vec<Duration>,
}

impl Figures {
    pub(crate) fn per_second(&self) -> f64 {
        self.answered as f64 / self.elapsed.as_secs_f64()
    }

    /// The latency that this share of the answers kept below.
    pub(crate) fn quantile(&self, share: f64) -> Duration {
        let at = (self.latencies.len() as f64 * share) as usize;
        let at = at.min(self.latencies.len().saturating_sub(1));
        self.latencies.get(at).copied().unwrap_or_default()
    }

    /// This run and another one of the same server together.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.answered += other.answered;
        self.elapsed += other.elapsed;
        self.latencies.extend(other.latencies);
        self.latencies.sort_unstable();
        self
    }
}

/// A connection that can be asked, and is free again when it has answered.
pub(crate) trait Asked: Send + 'static {
    /// Asks for the n-th time, and takes the whole answer.
    fn ask(&mut self, n: u64) -> impl Future<Output = io::Result<()>> + Send;
}

/// A runtime of one thread, for a client.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime")
}

/// Keeps the connections busy for `time`; they stay open.
pub(crate) async fn keep_busy<C: Asked>(connections: Vec<C>, time: Duration) -> (Figures, Vec<C>) {
    let count = Arc::new(AtomicU64::new(0));
    let began = Instant::now();
    let ends = began + time;
    let running: Vec<_> = connections
        .into_iter()
        .map(|connection| tokio::spawn(run(connection, Arc::clone(&count), ends)))
        .collect();
    let (mut latencies, mut connections) = (Vec::new(), Vec::new());
    for run in running {
        let (of_it, connection) = run.await.expect("a connection's end");
        latencies.extend(of_it);
        connections.push(connection);
    }
    let elapsed = began.elapsed();
    latencies.sort_unstable();
    let figures = Figures {
        answered: latencies.len() as u64,
        elapsed,
        latencies,
    };
    (figures, connections)
}

async fn run<C: Asked>(
    mut connection: C,
    count: Arc<AtomicU64>,
    ends: Instant,
) -> (Vec<Duration>, C) {
    let mut latencies = Vec::new();
    loop {
        let began = Instant::now();
        if began >= ends {
            return (latencies, connection);
        }
        let n = count.fetch_add(1, Ordering::Relaxed);
        connection.ask(n).await.expect("an answer");
        latencies.push(began.elapsed());
    }
}

/// Keeps `connections` to an HTTP server busy for `time`.
pub(crate) fn drive(
    address: SocketAddr,
    requests: &Requests,
    connections: usize,
    time: Duration,
) -> Figures {
    runtime().block_on(async {
        let mut streams = Vec::new();
        for _ in 0..connections {
            let connection = Connection::open(address).await.expect("a connection");
            streams.push(Talk {
                connection,
                requests: Arc::clone(requests),
            });
        }
        keep_busy(streams, time).await.0
    })
}

/// Asks once; the whole answer as it came.
pub(crate) fn once(address: SocketAddr, request: &[u8]) -> Vec<u8> {
    runtime().block_on(ask_once(address, request))
}

/// The same within a runtime.
pub(crate) async fn ask_once(address: SocketAddr, request: &[u8]) -> Vec<u8> {
    let mut connection = Connection::open(address).await.expect("a connection");
    let length = connection.ask(request).await.expect("an answer");
    connection.buffer[..length].to_vec()
}

struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    async fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: vec![0; 256 * 1024],
        })
    }

    /// Sends the request and reads the whole answer; its length in the buffer.
    async fn ask(&mut self, request: &[u8]) -> io::Result<usize> {
        self.stream.write_all(request).await?;
        let (mut read, mut whole) = (0, None);
        loop {
            let more = self.stream.read(&mut self.buffer[read..]).await?;
            if more == 0 {
                let answer = String::from_utf8_lossy(&self.buffer[..read]);
                return Err(io::Error::other(format!("cut short: {answer}")));
            }
            read += more;
            whole = whole.or_else(|| length(&self.buffer[..read]));
            if whole.is_some_and(|whole| whole.ends(&self.buffer[..read])) {
                let text = || String::from_utf8_lossy(&self.buffer[..read]).into_owned();
                return if self.buffer.starts_with(b"HTTP/1.1 200") {
                    Ok(read)
                } else {
                    Err(io::Error::other(text()))
                };
            }
        }
    }
}

/// A connection with what is asked over it.
struct Talk {
    connection: Connection,
    requests: Requests,
}

impl Asked for Talk {
    async fn ask(&mut self, n: u64) -> io::Result<()> {
        let request = (self.requests)(n);
        self.connection.ask(&request).await.map(drop)
    }
}

/// How an answer says where it ends.
#[derive(Clone, Copy)]
enum End {
    Length(usize),
    /// With a chunk of no bytes.
    Chunk,
}

impl End {
    fn ends(self, answer: &[u8]) -> bool {
        match self {
            Self::Length(length) => answer.len() >= length,
            Self::Chunk => answer.ends_with(b"\r\n0\r\n\r\n"),
        }
    }
}

/// Where the whole answer ends, once its head has come.
fn length(answer: &[u8]) -> Option<End> {
    let head = memchr::memmem::find(answer, b"\r\n\r\n")?;
    let text = std::str::from_utf8(&answer[..head]).ok()?;
    let header = |wanted: &str| {
        let named = text.lines().filter_map(|line| line.split_once(':'));
        let mut values = named.filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
        values.next().map(|(_, value)| value.trim())
    };
    if header("transfer-encoding").is_some() {
        return Some(End::Chunk);
    }
    let body = header("content-length").and_then(|value| value.parse().ok());
    Some(End::Length(head + 4 + body.unwrap_or(0)))
}
