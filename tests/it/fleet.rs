//! Several deployments in one process, built from configuration files as `serve` builds them, and spoken to
//! over loopback by host name.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use forecourt::app::App;
use forecourt::clock::Clock;
use forecourt::config::{Config, Sources};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

const META: &str = "io.modelcontextprotocol/";
/// What every test's feed is read through.
pub(crate) const MAPPING: &str = r#"
name = "Test feed"
[source]
kind = "feed"
format = "csv"
[fields]
vehicle_id = "ID"
stock = "STOCK"
vin = { from = "VIN", steps = ["trim", "upper"] }
status = { value = "available" }
year = { from = "YEAR", steps = ["number"] }
make = "MAKE"
model = "MODEL"
rooftop = "PLACE"
[updated_at]
provenance = "source_column"
from = "CHANGED"
steps = [{ datetime = { format = "%Y-%m-%d %H:%M:%S", zone = "America/Chicago" } }]
[price]
basis = "all_mandatory_included"
from = "PRICE"
steps = ["number", "whole_dollars"]
"#;

/// A feed of `count` cars whose names begin with `name`.
pub(crate) fn feed(name: &str, count: usize) -> String {
    let mut text = "ID,STOCK,VIN,YEAR,MAKE,MODEL,PLACE,CHANGED,PRICE\n".to_owned();
    for index in 0..count {
        let line = format!(
            "{name}-{index},S{index},,2024,Toyota,Camry,Main Street,2026-11-01 08:00:00,{}\n",
            20_000 + index
        );
        text.push_str(&line);
    }
    text
}

/// A profile for TOML, under `key`.
pub(crate) fn profile(key: &str, name: &str) -> String {
    format!(
        "[{key}]\nname = \"{name}\"\n[[{key}.rooftops]]\nname = \"Main Street\"\ntimezone = \"America/Chicago\"\n\
         geo = {{ latitude = 41.9, longitude = -87.6 }}\nphones = [{{ name = \"sales\", value = \"+1-312-555-0100\" }}]\n"
    )
}

/// Everything that a served process of several deployments is made of.
pub(crate) struct Fleet {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) address: SocketAddr,
    stop: watch::Sender<bool>,
    runtime: Option<tokio::runtime::Runtime>,
}

/// Writes a configuration's files.
pub(crate) fn lay_out(folder: &Path, files: &[(&str, String)]) {
    fs::write(folder.join("mapping.toml"), MAPPING).unwrap();
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// What `conf/` in a folder says, as `serve --config` reads it.
pub(crate) fn load(folder: &Path) -> Result<Config, String> {
    let sources = Sources {
        files: vec![folder.join("conf")],
        ..Sources::default()
    };
    Config::load(&sources).map_err(|findings| findings.to_string())
}

impl Fleet {
    /// Serves what `files` say; those under `conf/` are the configuration.
    pub(crate) fn start(files: &[(&str, String)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        lay_out(folder.path(), files);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let (stop, stopped) = watch::channel(false);
        let address = runtime.block_on(async {
            let config = load(folder.path()).unwrap_or_else(|findings| panic!("{findings}"));
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let app = App::build(&config, address.port(), Clock::system());
            let app = app.await.unwrap_or_else(|error| panic!("{error}"));
            let handle = tokio::runtime::Handle::current();
            let settings = config.server.settings.clone();
            std::thread::spawn(move || handle.block_on(app.serve(listener, settings, stopped)));
            address
        });
        Self {
            folder,
            address,
            stop,
            runtime: Some(runtime),
        }
    }

    /// One request over a connection of its own.
    pub(crate) fn send(
        &self,
        host: &str,
        head: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut text = format!("{head} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
        for (name, value) in headers {
            write!(text, "{name}: {value}\r\n").unwrap();
        }
        write!(text, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        Answer::parse(&String::from_utf8(answer).unwrap())
    }

    pub(crate) fn get(&self, host: &str, path: &str) -> Answer {
        self.send(host, &format!("GET {path}"), &[], "")
    }

    /// Calls a tool over MCP; the payload that the result carries.
    pub(crate) fn call(&self, host: &str, tool: &str, arguments: &Value) -> Value {
        let meta = json!({
            format!("{META}protocolVersion"): "2026-07-28",
            format!("{META}clientCapabilities"): {},
        });
        let params = json!({ "_meta": meta, "name": tool, "arguments": arguments });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let json = ("Content-Type", "application/json");
        let answer = self.send(host, "POST /mcp", &[json], &body.to_string());
        assert_eq!(answer.status, 200, "{answer:?}");
        let mut answer = answer.json();
        let payload = answer["result"]["structuredContent"].take();
        assert!(payload.is_object(), "{answer}");
        payload
    }

    /// Calls a skill that must be refused; the error's code.
    pub(crate) fn refused(&self, host: &str, tool: &str, arguments: &Value) -> String {
        let payload = self.call(host, tool, arguments);
        assert_eq!(payload["type"], "aap.error", "{payload}");
        payload["code"].as_str().unwrap().to_owned()
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn parse(all: &str) -> Self {
        let (head, text) = all.split_once("\r\n\r\n").unwrap_or((all, ""));
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1));
        let headers = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()));
        Self {
            status: status.map_or(0, |status| status.parse().unwrap()),
            headers: headers.collect(),
            text: text.to_owned(),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A consented inquiry about one car, as it must be sent now.
pub(crate) fn lead(key: &str, vehicle: &Value) -> Value {
    json!({
        "type": "lead.submit.request", "idempotency_key": key,
        "customer": {"first_name": "Alex", "last_name": "Example", "email": "alex@example.com"},
        "consent": {
            "granted_at": Clock::system().now().to_string(), "allowed_channels": ["email"],
            "consent_text": "Yes, write to me.", "scope": ["lead_submission"],
        },
        "vehicle_of_interest": vehicle,
        "source_agent": {"name": "Probe"},
        "message": "Is it still there?",
    })
}
