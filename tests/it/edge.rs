//! Serves one deployment in this process over loopback, and speaks HTTP to it byte by byte: what a probe
//! sends is exactly what arrives.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use forecourt::clock::Clock;
use forecourt::contract::capabilities::{Capabilities, Scope, SearchOptions};
use forecourt::contract::{Contract, Skill};
use forecourt::deployment::{Deployment, DeploymentError, Gates, McpSettings, Parts, Quota, Urls};
use forecourt::inventory::{Frame, Inventory, Reader, Unit};
use forecourt::leads::{AdfProfile, Leads, TargetSettings};
use forecourt::oauth::{Issuer, McpTokens, NativeMcp};
use forecourt::profile::{Profile, Rooftop};
use forecourt::seal::KeyRing;
use forecourt::store::Store;
use forecourt::{delivery, inventory, leads, net, oauth, server};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

pub(crate) use crate::fleet::Answer;

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
    /// The listings of the inventory.
    pub(crate) cars: Vec<Value>,
    /// Feature codes with their labels.
    pub(crate) features: Vec<(String, String)>,
    /// One dealer, or a marketplace and its sellers.
    pub(crate) profiles: Vec<Profile>,
    pub(crate) mcp_path: &'static str,
    /// The gates of the endpoints at this base URL.
    pub(crate) gates: Box<dyn Fn(&str) -> Gates + Send>,
    pub(crate) domain: String,
    /// Where the documents say it is, when that is not where it listens.
    pub(crate) base: Option<String>,
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
            cars: cars(),
            features: Vec::new(),
            profiles: vec![profile()],
            mcp_path: "/mcp",
            gates: Box::new(|_| Gates::default()),
            domain: "127.0.0.1".into(),
            base: None,
        }
    }
}

/// A served deployment.
pub(crate) struct Edge {
    pub(crate) address: SocketAddr,
    pub(crate) clock: Clock,
    /// What probes name as their host.
    host: String,
    folder: Arc<tempfile::TempDir>,
    stop: watch::Sender<bool>,
    runtime: Option<tokio::runtime::Runtime>,
    serving: Option<tokio::task::JoinHandle<()>>,
}

/// What the deployments of one process share.
struct World {
    keys: Arc<KeyRing>,
    store: Arc<Store>,
    clock: Clock,
    folder: Arc<tempfile::TempDir>,
}

impl World {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_embedded(&folder.path().join("store.db")).await;
        Self {
            keys: Arc::new(KeyRing::generate().unwrap()),
            store: Arc::new(store.unwrap()),
            clock: Clock::fixed(NOW.parse().unwrap()),
            folder: Arc::new(folder),
        }
    }
}

impl Edge {
    pub(crate) fn start() -> Self {
        Self::with(Plan::default())
    }

    pub(crate) fn with(plan: Plan) -> Self {
        Self::try_with(plan).unwrap_or_else(|words| panic!("{words}"))
    }

    /// The edge, or why its deployment is not served.
    pub(crate) fn try_with(plan: Plan) -> Result<Self, String> {
        Self::serve(vec![("example", None, plan)])
    }

    /// Two deployments of one process, each under a host name of its own, with the same keys and store.
    pub(crate) fn pair(first: Plan, second: Plan) -> (Self, Self) {
        let first = Self::serve(vec![
            ("example", None, first),
            ("other", Some("other.example"), second),
        ])
        .unwrap();
        let second = Self {
            address: first.address,
            clock: first.clock.clone(),
            host: "other.example".into(),
            folder: Arc::clone(&first.folder),
            stop: first.stop.clone(),
            runtime: None,
            serving: None,
        };
        (first, second)
    }

    /// Why these parts do not make a deployment.
    pub(crate) fn refused(plan: Plan) -> Vec<DeploymentError> {
        let runtime = runtime();
        let parts = runtime.block_on(async {
            parts(plan, "example", "http://a.example", &World::new().await).await
        });
        Deployment::compile(parts).unwrap_err()
    }

    /// Deployments by id and host, not yet served.
    pub(crate) fn deployments<const N: usize>(wanted: [(&str, &str); N]) -> [Arc<Deployment>; N] {
        let runtime = runtime();
        let world = runtime.block_on(World::new());
        wanted.map(|(id, host)| {
            let base = format!("https://{host}");
            let plan = Plan {
                domain: host.into(),
                ..Plan::default()
            };
            let parts = runtime.block_on(parts(plan, id, &base, &world));
            Arc::new(Deployment::compile(parts).unwrap())
        })
    }

    fn serve(plans: Vec<(&str, Option<&str>, Plan)>) -> Result<Self, String> {
        let runtime = runtime();
        let (stop, stopped) = watch::channel(false);
        let started = runtime.block_on(async {
            let world = World::new().await;
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let (settings, ready) = (plans[0].2.server.clone(), plans[0].2.ready);
            let mut deployments = Vec::new();
            for (id, host, mut plan) in plans {
                let own = plan.base.take();
                let base = match host {
                    None => own.unwrap_or_else(|| format!("http://{address}")),
                    Some(host) => {
                        plan.domain = host.to_owned();
                        format!("https://{host}")
                    }
                };
                let parts = parts(plan, id, &base, &world).await;
                deployments.push(Arc::new(Deployment::compile(parts).unwrap()));
            }
            let site = server::Site::new(deployments).map_err(|errors| {
                let words: Vec<String> = errors.iter().map(ToString::to_string).collect();
                words.join("; ")
            })?;
            let site = Arc::new(ArcSwap::from_pointee(site));
            let serving = server::serve(listener, site, settings, ready_if(ready), stopped);
            Ok::<_, String>((world, address, tokio::spawn(serving)))
        });
        let (world, address, serving) = started?;
        Ok(Self {
            address,
            clock: world.clock,
            host: address.to_string(),
            folder: world.folder,
            stop,
            runtime: Some(runtime),
            serving: Some(serving),
        })
    }

    /// Sends bytes on a connection of their own and reads until the peer closes.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        Answer::parse(&String::from_utf8(bytes).unwrap())
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
                ("Host".into(), self.host.clone().into()),
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

    /// The head, and the body as it came.
    pub(crate) fn send_bytes(self) -> (Answer, Vec<u8>) {
        let mut stream = self.edge.connect();
        stream.write_all(&self.bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let end = bytes
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .unwrap()
            + 4;
        let body = bytes.split_off(end);
        (Answer::parse(&String::from_utf8(bytes).unwrap()), body)
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

impl Answer {
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
        held(&copy);
        copy
    }
}

/// Holds a payload against the contract, whichever test asked for it (AAP-092, AAP-502).
pub(crate) fn held(payload: &Value) {
    static CONTRACT: LazyLock<Arc<Contract>> = LazyLock::new(|| Contract::v3_0().unwrap());
    let kind = payload["type"].as_str().unwrap();
    let skill = kind.strip_suffix(".response").and_then(Skill::from_id);
    let schema = skill.map_or_else(
        || "error".to_owned(),
        |skill| format!("{}-response", skill.stem()),
    );
    assert_eq!(
        CONTRACT.check_document(&schema, payload),
        Ok(()),
        "{payload}"
    );
}

/// A process that is ready or is not.
fn ready_if(ready: bool) -> server::Ready {
    Arc::new(move || {
        let health = server::Health {
            ready,
            reasons: Vec::new(),
        };
        Box::pin(async move { health })
    })
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

async fn parts(plan: Plan, id: &str, base: &str, world: &World) -> Parts {
    let contract = Contract::v3_0().unwrap();
    let profiles: Vec<_> = plan.profiles.iter().cloned().map(Arc::new).collect();
    let scope = if profiles.len() > 1 {
        Scope::Aggregate
    } else {
        Scope::Dealer
    };
    let pap = if plan.pap {
        Some(issuer(base, &plan.domain, world).await)
    } else {
        None
    };
    Parts {
        id: id.into(),
        inventory: Some(inventory(&plan, id, scope, &profiles, world, &contract).await),
        domain: plan.domain,
        skills: plan.skills,
        scope,
        leads: Some(desk(id, world)),
        contract,
        profiles,
        urls: Urls {
            mcp: format!("{base}{}", plan.mcp_path),
            a2a: format!("{base}/a2a"),
            agent_card: format!("{base}/.well-known/agent-card.json"),
            poppy: format!("{base}/.well-known/poppy.json"),
            llms_txt: format!("{base}/llms.txt"),
            api_catalog: format!("{base}/.well-known/api-catalog"),
            inventory_page: format!("{base}/inventory"),
            serve_inventory_page: true,
            openapi: pap.as_ref().map(|_| format!("{base}/poppy/openapi.json")),
            ..Urls::default()
        },
        mcp: plan.mcp,
        pap,
        gates: (plan.gates)(base),
        quota: plan.quota,
        clock: world.clock.clone(),
    }
}

/// An issuer that nobody is known to, with the MCP endpoint as a resource.
async fn issuer(base: &str, domain: &str, world: &World) -> Arc<Issuer> {
    let mut settings = oauth::Settings::new(format!("{base}/poppy"), domain);
    settings.mcp = Some(NativeMcp {
        resource: format!("{base}/mcp"),
        tokens: McpTokens::Dpop,
    });
    let client = net::Client::new(net::Policy::for_peers()).unwrap();
    let (keys, store) = (Arc::clone(&world.keys), Arc::clone(&world.store));
    let issuer = Issuer::open(settings, client, keys, store, world.clock.clone());
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
    plan: &Plan,
    id: &str,
    scope: Scope,
    profiles: &[Arc<Profile>],
    world: &World,
    contract: &Arc<Contract>,
) -> Arc<Inventory> {
    let options = SearchOptions::new(scope, &plan.skills);
    let capabilities = Capabilities::compile(&Capabilities::fields(), true, &options).unwrap();
    let cars = plan.cars.clone();
    let reader = Reader::new(move |sink| {
        let cars = cars.clone();
        async move {
            for car in cars {
                let unit = Unit::Listing(car.as_object().unwrap().clone());
                sink.send(unit).await.map_err(|error| error.to_string())?;
            }
            Ok(())
        }
    });
    let contract = Arc::clone(contract);
    Inventory::with_reader(
        inventory::Settings::new(id, capabilities),
        reader,
        Frame::new(scope, profiles, plan.features.clone()),
        Arc::new(move |listing: &Value| contract.check_listing(listing)),
        Arc::clone(&world.keys),
        world.clock.clone(),
    )
    .await
    .unwrap()
}

fn cars() -> Vec<Value> {
    (0..5)
        .map(|index| {
            json!({
                "vehicle_id": format!("car-{index}"), "stock": format!("S{index}"),
                "status": "available", "updated_at": "2026-11-29T00:00:00Z",
                "year": 2024, "make": "Toyota", "model": "Camry", "price": 20_000 + index,
                "rooftop": "Main Street", "notes": "\"quoted\" <b>\\ é",
            })
        })
        .collect()
}

fn desk(id: &str, world: &World) -> Arc<Leads> {
    let path = world.folder.path().join(format!("leads-{id}"));
    let adf = AdfProfile::named("standard").unwrap();
    let target = TargetSettings::new("crm", delivery::Settings::Directory { path }, adf);
    let settings = leads::Settings::new(id, vec![target]);
    let (store, keys) = (Arc::clone(&world.store), Arc::clone(&world.keys));
    Arc::new(Leads::new(settings, store, keys, world.clock.clone()).unwrap())
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
