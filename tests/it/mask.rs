//! A server that stands in front of an edge and alters what it says, for those who must find that out.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

/// An answer on its way.
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn without(&mut self, name: &str) {
        self.headers.retain(|(known, _)| known != name);
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.without(name);
        self.headers.push((name.to_owned(), value.to_owned()));
    }

    /// Changes the JSON body.
    pub(crate) fn json(&mut self, change: impl FnOnce(&mut Value)) {
        let mut value = serde_json::from_str(&self.body).unwrap();
        change(&mut value);
        self.body = value.to_string();
    }
}

/// What is asked, as far as a change depends on it.
pub(crate) struct Asked {
    pub(crate) verb: String,
    pub(crate) path: String,
    pub(crate) body: String,
}

pub(crate) type Change = Arc<dyn Fn(&Asked, &mut Reply) + Send + Sync>;

/// Listens on an address of its own and forwards everything.
pub(crate) struct Mask {
    pub(crate) address: SocketAddr,
    listener: TcpListener,
    change: Arc<Mutex<Change>>,
}

impl Mask {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Self {
            address: listener.local_addr().unwrap(),
            listener,
            change: Arc::new(Mutex::new(Arc::new(|_, _| {}))),
        }
    }

    /// Begins to forward to `edge`; ends with the process.
    pub(crate) fn before(&self, edge: SocketAddr) {
        let listener = self.listener.try_clone().unwrap();
        let change = Arc::clone(&self.change);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let change = Arc::clone(&change.lock().unwrap());
                forward(stream.unwrap(), edge, &change);
            }
        });
    }

    /// From now on answers are altered so.
    pub(crate) fn wear(&self, change: Change) {
        *self.change.lock().unwrap() = change;
    }
}

fn forward(mut stream: TcpStream, edge: SocketAddr, change: &Change) {
    let (head, body) = request(&mut stream);
    let mut line = head.lines().next().unwrap().split(' ');
    let asked = Asked {
        verb: line.next().unwrap().to_owned(),
        path: line.next().unwrap().to_owned(),
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    let mut upstream = TcpStream::connect(edge).unwrap();
    upstream.write_all(head.as_bytes()).unwrap();
    upstream.write_all(&body).unwrap();
    let mut answer = Vec::new();
    upstream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap();
    let mut reply = Reply {
        status: status.parse().unwrap(),
        headers: lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect(),
        body: body.to_owned(),
    };
    change(&asked, &mut reply);
    let mut text = format!("HTTP/1.1 {} x\r\n", reply.status);
    if asked.verb != "HEAD" {
        reply.set("content-length", &reply.body.len().to_string());
    }
    for (name, value) in &reply.headers {
        for part in [name, ": ", value, "\r\n"] {
            text.push_str(part);
        }
    }
    text.push_str("\r\n");
    text.push_str(&reply.body);
    // A reader that has seen enough is gone.
    drop(stream.write_all(text.as_bytes()));
}

/// The head and the body of one request.
fn request(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        head.extend_from_slice(&byte);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head
        .lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    (head, body)
}
