//! The client: many keep-alive connections that ask again as soon as they are answered. The same one for
//! every server. Must not know what the answers mean, only that they are complete and HTTP 200.

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

/// Keeps `connections` busy for `time`.
pub(crate) fn drive(
    address: SocketAddr,
    requests: &Requests,
    connections: usize,
    time: Duration,
) -> Figures {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let count = Arc::new(AtomicU64::new(0));
        let mut streams = Vec::new();
        for _ in 0..connections {
            streams.push(Connection::open(address).await.expect("a connection"));
        }
        let began = Instant::now();
        let ends = began + time;
        let running: Vec<_> = streams
            .into_iter()
            .map(|stream| tokio::spawn(stream.run(Arc::clone(requests), Arc::clone(&count), ends)))
            .collect();
        let mut latencies = Vec::new();
        for connection in running {
            latencies.extend(connection.await.expect("a connection's end"));
        }
        let elapsed = began.elapsed();
        latencies.sort_unstable();
        Figures {
            answered: latencies.len() as u64,
            elapsed,
            latencies,
        }
    })
}

/// Asks once; the whole answer as it came.
pub(crate) fn once(address: SocketAddr, request: &[u8]) -> Vec<u8> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let mut connection = Connection::open(address).await.expect("a connection");
        let length = connection.ask(request).await.expect("an answer");
        connection.buffer[..length].to_vec()
    })
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

    async fn run(
        mut self,
        requests: Requests,
        count: Arc<AtomicU64>,
        ends: Instant,
    ) -> Vec<Duration> {
        let mut latencies = Vec::new();
        loop {
            let began = Instant::now();
            if began >= ends {
                return latencies;
            }
            let request = requests(count.fetch_add(1, Ordering::Relaxed));
            self.ask(&request).await.expect("an answer");
            latencies.push(began.elapsed());
        }
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
