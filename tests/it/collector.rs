//! An OpenTelemetry collector's HTTP side: takes what comes, and reads protobuf without a schema.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// One message as it came.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// A collector on loopback.
pub(crate) struct Collector {
    pub(crate) address: SocketAddr,
    messages: Arc<Mutex<Vec<Message>>>,
}

impl Collector {
    /// Answers everything with `status`, one after another.
    pub(crate) fn start(status: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let messages = Arc::<Mutex<Vec<Message>>>::default();
        let kept = Arc::clone(&messages);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if let Some(message) = take(stream.unwrap(), status) {
                    kept.lock().unwrap().push(message);
                }
            }
        });
        Self { address, messages }
    }

    pub(crate) fn messages(&self) -> Vec<Message> {
        self.messages.lock().unwrap().clone()
    }

    /// The `[telemetry]` that leads here.
    pub(crate) fn config(&self) -> String {
        let address = self.address;
        format!("[telemetry.otlp]\nendpoint = \"http://{address}\"\nmetrics_interval_s = 1\n")
    }

    /// All spans that came.
    pub(crate) fn spans(&self) -> Vec<Fields> {
        let messages = self.messages();
        let traces = messages.iter().filter(|one| one.path == "/v1/traces");
        traces
            .flat_map(|one| Fields::read(&one.body).unwrap().all(&[1, 2, 2]))
            .collect()
    }
}

fn take(stream: TcpStream, status: u16) -> Option<Message> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    let answer = format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    reader.get_mut().write_all(answer.as_bytes()).ok()?;
    Some(Message {
        path,
        headers,
        body,
    })
}

/// A protobuf message: its fields by number, as bytes or as a number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields(Vec<(u64, Field)>);

#[derive(Clone, Debug)]
enum Field {
    Number(u64),
    Bytes(Vec<u8>),
}

impl Fields {
    /// Reads a message; nothing when it is none.
    pub(crate) fn read(mut bytes: &[u8]) -> Option<Self> {
        fn varint(bytes: &mut &[u8]) -> Option<u64> {
            let mut number = 0;
            for at in 0..10 {
                let (byte, rest) = bytes.split_first()?;
                *bytes = rest;
                number |= u64::from(byte & 0x7f) << (at * 7);
                if byte & 0x80 == 0 {
                    return Some(number);
                }
            }
            None
        }
        let mut fields = Self::default();
        while !bytes.is_empty() {
            let tag = varint(&mut bytes)?;
            let field = match tag & 7 {
                0 => Field::Number(varint(&mut bytes)?),
                1 => {
                    let (number, rest) = bytes.split_first_chunk()?;
                    bytes = rest;
                    Field::Number(u64::from_le_bytes(*number))
                }
                2 => {
                    let length = usize::try_from(varint(&mut bytes)?).ok()?;
                    let (inner, rest) = bytes.split_at_checked(length)?;
                    bytes = rest;
                    Field::Bytes(inner.to_vec())
                }
                _ => return None,
            };
            fields.0.push((tag >> 3, field));
        }
        Some(fields)
    }

    pub(crate) fn number(&self, wanted: u64) -> Option<u64> {
        self.0.iter().find_map(|(number, field)| match field {
            Field::Number(value) if *number == wanted => Some(*value),
            Field::Number(_) | Field::Bytes(_) => None,
        })
    }

    pub(crate) fn bytes(&self, wanted: u64) -> Option<Vec<u8>> {
        self.each(wanted).next()
    }

    /// An id as it is written.
    pub(crate) fn hex(&self, wanted: u64) -> String {
        let mut text = String::new();
        for byte in self.bytes(wanted).unwrap_or_default() {
            write!(text, "{byte:02x}").unwrap();
        }
        text
    }

    pub(crate) fn text(&self, wanted: u64) -> String {
        String::from_utf8(self.bytes(wanted).unwrap_or_default()).unwrap()
    }

    fn each(&self, wanted: u64) -> impl Iterator<Item = Vec<u8>> {
        self.0
            .iter()
            .filter_map(move |(number, field)| match field {
                Field::Bytes(bytes) if *number == wanted => Some(bytes.clone()),
                Field::Number(_) | Field::Bytes(_) => None,
            })
    }

    /// Every message at a path of field numbers.
    pub(crate) fn all(&self, path: &[u64]) -> Vec<Self> {
        let Some((first, rest)) = path.split_first() else {
            return vec![self.clone()];
        };
        self.each(*first)
            .flat_map(|bytes| Self::read(&bytes).unwrap().all(rest))
            .collect()
    }

    /// `KeyValue`s in a field, as texts.
    pub(crate) fn pairs(&self, wanted: u64) -> BTreeMap<String, String> {
        let pairs = self.all(&[wanted]).into_iter().map(|pair| {
            let value = pair.all(&[2]).remove(0);
            let text = match value.number(3) {
                Some(number) => number.to_string(),
                None => value.text(1),
            };
            (pair.text(1), text)
        });
        pairs.collect()
    }
}
