//! Serves one deployment in this process over loopback, and speaks HTTP to it byte by byte: what a probe
//! sends is exactly what arrives.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use forecourt::clock::Clock;
use forecourt::contract::capabilities::{Capabilities, Scope, SearchOptions};
use forecourt::contract::{Contract, Skill};
use forecourt::deployment::{Deployment, McpSettings, Parts, Quota, Urls};
use forecourt::inventory::{Frame, Inventory, Reader, Unit};
use forecourt::leads::{AdfProfile, Leads, TargetSettings};
use forecourt::oauth::{Issuer, Ledger, McpTokens, NativeMcp};
use forecourt::profile::{Profile, Rooftop};
use forecourt::seal::KeyRing;
use forecourt::store::Store;
use forecourt::{delivery, inventory, leads, net, oauth, server};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

pub(crate) const NOW: &str = "2026-11-30T12:00:00Z";
const META: &str = "io.modelcontextprotocol/";

/// What a test changes before it starts the edge.
pub(crate) struct Plan {
    pub(crate) mcp: McpSettings,
    pub(crate) server: server::Settings,
    pub(crate) quota: Quota,
    pub(crate) skills: Vec<Skill>,
    pub(crate) ready: bool,
    /// Whether there is an issuer, with the MCP endpoint as a resource.
    pub(crate) pap: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            mcp: McpSettings {
                allowed_origins: vec!["https://agent.example".into()],
                ..McpSettings::default()
            },
            server: server::Settings::default(),
            quota: Quota::default(),
            skills: Skill::ALL.to_vec(),
            ready: true,
            pap: false,
        }
    }
}

/// A served deployment.
pub(crate) struct Edge {
    pub(crate) address: SocketAddr,
    pub(crate) clock: Clock,
    _folder: tempfile::TempDir,
    stop: watch::Sender<bool>,
    runtime: Option<tokio::runtime::Runtime>,
    serving: Option<tokio::task::JoinHandle<()>>,
}

impl Edge {
    pub(crate) fn start() -> Self {
        Self::with(Plan::default())
    }

    pub(crate) fn with(plan: Plan) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::fixed(NOW.parse().unwrap());
        let (stop, stopped) = watch::channel(false);
        let (address, serving) = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let (settings, ready) = (plan.server, plan.ready);
            let deployment = deployment(plan, address, &clock, folder.path()).await;
            let site = server::Site::new(vec![Arc::new(deployment)]).unwrap();
            let site = Arc::new(ArcSwap::from_pointee(site));
            let serving = server::serve(listener, site, settings, Arc::new(move || ready), stopped);
            (address, tokio::spawn(serving))
        });
        Self {
            address,
            clock,
            _folder: folder,
            stop,
            runtime: Some(runtime),
            serving: Some(serving),
        }
    }

    /// Sends bytes on a connection of their own and reads until the peer closes.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        Answer::read(&mut stream)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        stream
    }

    /// The probe that is right; a test makes it wrong.
    pub(crate) fn probe(&self, method: &str, params: Value) -> Probe<'_> {
        let mut params = params;
        params["_meta"] = json!({
            format!("{META}protocolVersion"): "2026-07-28",
            format!("{META}clientCapabilities"): {},
        });
        Probe {
            edge: self,
            verb: "POST".into(),
            path: "/mcp".into(),
            headers: vec![
                ("Host".into(), self.address.to_string().into()),
                ("Content-Type".into(), "application/json".into()),
                (
                    "Accept".into(),
                    "application/json, text/event-stream".into(),
                ),
                ("MCP-Protocol-Version".into(), "2026-07-28".into()),
                ("Mcp-Method".into(), method.into()),
            ],
            body: json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}),
            text: None,
        }
    }

    /// The same for a revision that began with `initialize`.
    pub(crate) fn legacy(&self, version: &str, method: &str, params: Value) -> Probe<'_> {
        let mut probe = self.probe(method, params).without("Mcp-Method");
        probe.body["params"]
            .as_object_mut()
            .unwrap()
            .remove("_meta");
        probe.header("MCP-Protocol-Version", version)
    }

    /// `initialize` without a version header, as clients send it.
    pub(crate) fn initialize(&self, version: &str) -> Probe<'_> {
        let params = json!({
            "protocolVersion": version, "capabilities": {},
            "clientInfo": {"name": "probe", "version": "1"},
        });
        self.legacy("", "initialize", params)
            .without("MCP-Protocol-Version")
    }

    pub(crate) fn call(&self, tool: &str, arguments: impl Into<Value>) -> Probe<'_> {
        self.probe(
            "tools/call",
            json!({"name": tool, "arguments": arguments.into()}),
        )
        .header("Mcp-Name", tool)
    }

    pub(crate) fn search(&self) -> Probe<'_> {
        self.call(
            "aap_inventory_search",
            json!({"type": "inventory.search.request"}),
        )
    }

    /// Ends it as a signal would; whether it ended within the time.
    pub(crate) fn stop(&mut self, within: Duration) -> bool {
        self.stop.send(true).unwrap();
        let serving = self.serving.take().unwrap();
        let runtime = self.runtime.as_ref().unwrap();
        runtime.block_on(async { tokio::time::timeout(within, serving).await.is_ok() })
    }
}

impl Drop for Edge {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// One request in the making.
#[derive(Clone)]
pub(crate) struct Probe<'a> {
    edge: &'a Edge,
    verb: String,
    path: String,
    headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: Value,
    text: Option<Vec<u8>>,
}

impl Probe<'_> {
    pub(crate) fn verb(mut self, verb: &str) -> Self {
        self.verb = verb.into();
        self
    }

    pub(crate) fn path(mut self, path: &str) -> Self {
        self.path = path.into();
        self
    }

    /// Sets a header to exactly one line.
    pub(crate) fn header(self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        self.without(name).more(name, value)
    }

    /// Adds a header line.
    pub(crate) fn more(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers
            .retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    /// Sets a member of the message, by JSON Pointer to its parent; null removes it.
    pub(crate) fn set(mut self, parent: &str, name: &str, value: Value) -> Self {
        let object = self
            .body
            .pointer_mut(parent)
            .unwrap()
            .as_object_mut()
            .unwrap();
        if value.is_null() {
            object.remove(name);
        } else {
            object.insert(name.to_owned(), value);
        }
        self
    }

    pub(crate) fn id(mut self, id: Value) -> Self {
        self.body["id"] = id;
        self
    }

    /// Sends these bytes instead of a JSON message.
    pub(crate) fn text(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.text = Some(text.into());
        self
    }

    pub(crate) fn send(self) -> Answer {
        let edge = self.edge;
        edge.raw(&self.bytes())
    }

    pub(crate) fn bytes(self) -> Vec<u8> {
        let body = self
            .text
            .unwrap_or_else(|| self.body.to_string().into_bytes());
        let mut bytes = format!("{} {} HTTP/1.1\r\n", self.verb, self.path).into_bytes();
        for (name, value) in &self.headers {
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(value);
            bytes.extend_from_slice(b"\r\n");
        }
        let end = format!(
            "Content-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        bytes.extend_from_slice(end.as_bytes());
        bytes.extend_from_slice(&body);
        bytes
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
    fn read(stream: &mut TcpStream) -> Self {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let all = String::from_utf8(bytes).unwrap();
        let (head, text) = all.split_once("\r\n\r\n").unwrap_or((&all, ""));
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

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The JSON-RPC error's number, 0 when there is none.
    pub(crate) fn code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap_or(0)
    }

    /// The payload of a completed tool call, after its copies were compared.
    pub(crate) fn payload(&self) -> Value {
        let result = self.json()["result"].take();
        let copy: Value =
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(copy, result["structuredContent"], "the two copies agree");
        let is_error = copy["type"] == "aap.error";
        assert_eq!(
            result["isError"], is_error,
            "isError agrees with the payload"
        );
        copy
    }
}

async fn deployment(
    plan: Plan,
    address: SocketAddr,
    clock: &Clock,
    folder: &std::path::Path,
) -> Deployment {
    let contract = Contract::v3_0().unwrap();
    let keys = Arc::new(KeyRing::generate().unwrap());
    let profile = Arc::new(profile());
    let store = Store::open_embedded(&folder.join("store.db"))
        .await
        .unwrap();
    let base = format!("http://{address}");
    let pap = if plan.pap {
        Some(issuer(&base, &keys, clock).await)
    } else {
        None
    };
    let parts = Parts {
        id: "example".into(),
        domain: "127.0.0.1".into(),
        skills: plan.skills,
        scope: Scope::Dealer,
        inventory: Some(inventory(&profile, &keys, clock, &contract).await),
        leads: Some(desk(store, &keys, clock, folder)),
        contract,
        profiles: vec![profile],
        urls: Urls {
            mcp: format!("{base}/mcp"),
            a2a: format!("{base}/a2a"),
            agent_card: format!("{base}/.well-known/agent-card.json"),
            poppy: format!("{base}/.well-known/poppy.json"),
            llms_txt: format!("{base}/llms.txt"),
            inventory_page: format!("{base}/inventory"),
            serve_inventory_page: true,
            openapi: plan.pap.then(|| format!("{base}/poppy/openapi.json")),
            ..Urls::default()
        },
        mcp: plan.mcp,
        pap,
        quota: plan.quota,
        clock: clock.clone(),
    };
    Deployment::compile(parts).unwrap()
}

async fn issuer(base: &str, keys: &Arc<KeyRing>, clock: &Clock) -> Arc<Issuer> {
    let mut settings = oauth::Settings::new(format!("{base}/poppy"), "127.0.0.1");
    settings.mcp = Some(NativeMcp {
        resource: format!("{base}/mcp"),
        tokens: McpTokens::Dpop,
    });
    let client = net::Client::new(net::Policy::for_peers()).unwrap();
    let keys = Arc::clone(keys);
    let issuer = Issuer::open(settings, client, keys, Ledger::memory(), clock.clone());
    Arc::new(issuer.await.unwrap())
}

fn profile() -> Profile {
    let public = json!({"name": "Main Street", "timezone": "America/Chicago"});
    Profile {
        dealer_id: Some("dealer-1".into()),
        name: "Example Motors".into(),
        welcome_message: None,
        rooftops: vec![Rooftop {
            name: "Main Street".into(),
            geo: Some((41.9, -87.6)),
            timezone: Some("America/Chicago".into()),
            public: public.as_object().unwrap().clone(),
        }],
    }
}

async fn inventory(
    profile: &Arc<Profile>,
    keys: &Arc<KeyRing>,
    clock: &Clock,
    contract: &Arc<Contract>,
) -> Arc<Inventory> {
    let options = SearchOptions::new(Scope::Dealer, true);
    let capabilities = Capabilities::compile(&Capabilities::fields(), true, &options).unwrap();
    let reader = Reader::new(|sink| async move {
        for unit in units() {
            sink.send(unit).await.map_err(|error| error.to_string())?;
        }
        Ok(())
    });
    let contract = Arc::clone(contract);
    Inventory::with_reader(
        inventory::Settings::new("example", capabilities),
        reader,
        Frame::new(Scope::Dealer, std::slice::from_ref(profile), Vec::new()),
        Arc::new(move |listing: &Value| contract.check_listing(listing)),
        Arc::clone(keys),
        clock.clone(),
    )
    .await
    .unwrap()
}

fn units() -> Vec<Unit> {
    (0..5)
        .map(|index| {
            let car = json!({
                "vehicle_id": format!("car-{index}"), "stock": format!("S{index}"),
                "status": "available", "updated_at": "2026-11-29T00:00:00Z",
                "year": 2024, "make": "Toyota", "model": "Camry", "price": 20_000 + index,
                "rooftop": "Main Street", "notes": "\"quoted\" <b>\\ é",
            });
            Unit::Listing(car.as_object().unwrap().clone())
        })
        .collect()
}

fn desk(store: Store, keys: &Arc<KeyRing>, clock: &Clock, folder: &std::path::Path) -> Arc<Leads> {
    let path = folder.join("leads");
    let adf = AdfProfile::named("standard").unwrap();
    let target = TargetSettings::new("crm", delivery::Settings::Directory { path }, adf);
    let settings = leads::Settings::new("example", vec![target]);
    Arc::new(Leads::new(settings, Arc::new(store), Arc::clone(keys), clock.clone()).unwrap())
}

/// A consented inquiry about one car.
pub(crate) fn lead(key: &str) -> Value {
    json!({
        "type": "lead.submit.request", "idempotency_key": key,
        "customer": {"first_name": "Alex", "last_name": "Example", "email": "alex@example.com"},
        "consent": {
            "granted_at": "2026-11-30T11:59:00Z", "allowed_channels": ["email"],
            "consent_text": "Yes, write to me.", "scope": ["lead_submission"],
        },
        "vehicle_of_interest": {"vehicle_id": "car-1"},
        "source_agent": {"name": "Probe"},
        "message": "Is it still there?",
    })
}
