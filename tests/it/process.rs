//! The real program over a configuration folder, as an operator runs it: signals, files, TLS, probes.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fleet::{Answer, feed, lay_out, profile};

/// How long anything may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A served configuration, ended with the value.
pub(crate) struct Process {
    pub(crate) folder: PathBuf,
    pub(crate) address: SocketAddr,
    pub(crate) admin: SocketAddr,
    child: Child,
    _kept: tempfile::TempDir,
}

/// One dealer whose cars are `name-0`, `name-1`, …
pub(crate) fn dealer(id: &str, name: &str) -> String {
    format!(
        "[deployments.{id}]\ndomain = \"{id}.example\"\n{}\
         [deployments.{id}.inventory]\nmapping = \"../mapping.toml\"\n\
         source = {{ kind = \"feed\", path = \"../{id}.csv\" }}\n\
         [deployments.{id}.leads.deliveries.crm]\nkind = \"directory\"\npath = \"../crm-{id}\"\n",
        profile(&format!("deployments.{id}.profile"), name)
    )
}

/// An address that was free a moment ago.
pub(crate) fn free() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

impl Process {
    /// Serves deployment `a` with `server` in its `[server]` table, and `more` files.
    pub(crate) fn start(server: &str, more: &[(&str, String)]) -> Self {
        Self::start_with(server, more, |_| {})
    }

    /// The same; `prepare` may lay further things into the folder first.
    pub(crate) fn start_with(
        server: &str,
        more: &[(&str, String)],
        prepare: impl FnOnce(&Path),
    ) -> Self {
        let mut process = Self::start_unready(server, more, prepare);
        process.wait_until("it is ready", |process| {
            process.admin("/readyz").status == 200
        });
        process
    }

    /// The same, as soon as it has started, whether it can answer or not.
    pub(crate) fn start_unready(
        server: &str,
        more: &[(&str, String)],
        prepare: impl FnOnce(&Path),
    ) -> Self {
        let kept = tempfile::tempdir().unwrap();
        let folder = kept.path().to_owned();
        let (address, admin) = (free(), free());
        let common = format!(
            "[server]\nlisten = \"{address}\"\nadmin_listen = \"{admin}\"\n{server}\n[data]\ndirectory = \"../data\"\n"
        );
        lay_out(
            &folder,
            &[
                ("conf/00.toml", common),
                ("conf/a.toml", dealer("a", "Dealer a")),
                ("a.csv", feed("a", 30)),
            ],
        );
        lay_out(&folder, more);
        prepare(&folder);
        let mut process = Self {
            child: spawn(&folder),
            folder,
            address,
            admin,
            _kept: kept,
        };
        process.wait_until("it has started", |process| {
            TcpStream::connect(process.admin).is_ok() && process.admin("/startupz").status == 200
        });
        process
    }

    /// Ends it the hard way and starts it again over the same folder; its log begins anew.
    pub(crate) fn restart(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.child = spawn(&self.folder);
        self.wait_until("it has started again", |process| {
            TcpStream::connect(process.admin).is_ok() && process.admin("/startupz").status == 200
        });
    }

    /// Waits until something is so; the log when it never is.
    pub(crate) fn wait_until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let began = Instant::now();
        while !is_so(self) {
            let ended = self.child.try_wait().unwrap();
            assert!(
                began.elapsed() < PATIENCE && ended.is_none(),
                "not: {what}\n{}",
                self.log()
            );
            // A look is a connection: without a pause they would use up the machine's ports.
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).unwrap()
    }

    /// Asks the operators' listener.
    pub(crate) fn admin(&self, path: &str) -> Answer {
        let head = format!("GET {path} HTTP/1.1\r\nHost: admin\r\nConnection: close\r\n\r\n");
        exchange(self.admin, head.as_bytes())
    }

    /// A search over MCP.
    pub(crate) fn search(&self, host: &str) -> Answer {
        exchange(self.address, &search_request(host))
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([name, &pid]).status().unwrap();
        assert!(sent.success());
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

fn spawn(folder: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_forecourt"))
        .args(["serve", "--log-format", "json", "--config"])
        .arg(folder.join("conf"))
        .env("FORECOURT_LOG", "debug")
        .stderr(File::create(folder.join("log")).unwrap())
        .stdin(Stdio::null())
        .spawn()
        .unwrap()
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already, which is as good.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// One search as bytes, over a connection that ends with it.
pub(crate) fn search_request(host: &str) -> Vec<u8> {
    let arguments = json!({ "type": "inventory.search.request" });
    tool_request(host, "aap_inventory_search", &arguments)
}

/// The payload that a tool answers to a request without members.
pub(crate) fn call(process: &Process, host: &str, tool: &str) -> Value {
    let skill = tool.trim_start_matches("aap_").replace('_', ".");
    let arguments = json!({ "type": format!("{skill}.request") });
    let request = tool_request(host, tool, &arguments);
    let mut answer = exchange(process.address, &request).json();
    answer["result"]["structuredContent"].take()
}

/// One call of a tool as bytes, over a connection that ends with it.
pub(crate) fn tool_request(host: &str, tool: &str, arguments: &Value) -> Vec<u8> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "_meta": meta, "name": tool, "arguments": arguments });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let body = body.to_string();
    let length = body.len();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// The total that a search answered.
pub(crate) fn total(answer: &Answer) -> u64 {
    let body: Value = answer.json();
    let total = &body["result"]["structuredContent"]["data"]["total"];
    total.as_u64().unwrap_or_else(|| panic!("{answer:?}"))
}

/// Sends bytes and reads until the end.
pub(crate) fn exchange(address: SocketAddr, bytes: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(bytes).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    Answer::parse(&String::from_utf8_lossy(&answer))
}
