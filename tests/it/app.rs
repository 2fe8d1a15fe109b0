//! Starts the real program as a person would, on a demo's data, and speaks HTTP to it over loopback.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A running demo in a folder of its own; ends with the value.
pub(crate) struct Demo {
    process: Child,
    ready: Value,
    _data: tempfile::TempDir,
}

impl Demo {
    /// Waits for the one line that says it is ready.
    pub(crate) fn start() -> Self {
        let data = tempfile::tempdir().unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_forecourt"))
            .args([
                "demo",
                "--listen",
                "127.0.0.1:0",
                "--output",
                "json",
                "--data",
            ])
            .arg(data.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let ready = serde_json::from_str(&line).unwrap();
        Self {
            process,
            ready,
            _data: data,
        }
    }

    /// A member of the ready line.
    pub(crate) fn text(&self, member: &str) -> &str {
        self.ready.get(member).and_then(Value::as_str).unwrap()
    }

    /// Calls one tool; the payload of the completed result.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Value {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "_meta": meta, "name": tool, "arguments": arguments });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let (status, answer) = send(self.text("mcp"), &body.to_string());
        assert_eq!(status, 200, "{answer}");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        answer.pointer("/result/structuredContent").unwrap().clone()
    }

    /// Ends it by SIGTERM: the exit code and the time it took.
    pub(crate) fn end(mut self) -> (Option<i32>, Duration) {
        let began = Instant::now();
        let signal = ["-TERM".to_owned(), self.process.id().to_string()];
        assert!(
            Command::new("kill")
                .args(signal)
                .status()
                .unwrap()
                .success()
        );
        let code = self.process.wait().unwrap().code();
        (code, began.elapsed())
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // It may have ended already, which is as good.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// One POST over a connection of its own.
fn send(url: &str, body: &str) -> (u16, String) {
    let (host, path) = url
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once('/'))
        .unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let head = format!(
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, body.to_owned())
}

// AAP-094
#[test]
fn a_demo_finds_cars_and_ends_politely() {
    let demo = Demo::start();
    let request = json!({ "type": "inventory.search.request", "filters": { "make": ["toyota"] } });
    let answer = demo.call("aap_inventory_search", &request);
    let vehicles = answer["data"]["vehicles"].as_array().unwrap();
    assert!(vehicles.len() > 2, "{answer}");
    assert!(vehicles.iter().all(|v| v["make"] == "Toyota"), "{answer}");
    let (code, took) = demo.end();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(2), "{took:?}");
}
