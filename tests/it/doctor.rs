//! The doctor finds nothing where all is well, and each check finds its own fault.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::Arc;

use forecourt::cli::doctor::{Report, Verdict, examine, policy};
use forecourt::contract::Contract;
use forecourt::net::Client;
use serde_json::{Value, json};

use crate::edge::{Edge, Plan};
use crate::mask::{Asked, Change, Mask, Reply};

/// An edge behind a mask whose documents name the mask's address.
struct World {
    mask: Mask,
    edge: Edge,
    contract: Arc<Contract>,
    runtime: tokio::runtime::Runtime,
}

impl World {
    fn new() -> Self {
        let mask = Mask::new();
        let edge = Edge::with(Plan {
            pap: true,
            base: Some(format!("http://{}", mask.address)),
            ..Plan::default()
        });
        mask.before(edge.address);
        Self {
            mask,
            edge,
            contract: Contract::v3_0().unwrap(),
            runtime: tokio::runtime::Runtime::new().unwrap(),
        }
    }

    fn base(&self) -> String {
        format!("http://{}", self.mask.address)
    }

    fn report(&self) -> Report {
        let base = self.base();
        let client = Client::new(policy(&base)).unwrap();
        self.runtime
            .block_on(examine(&base, &client, &self.contract))
    }

    /// The ids of the checks that end so under this change.
    fn ids(&self, verdict: Verdict, change: Change) -> BTreeSet<String> {
        self.mask.wear(change);
        let checks = self.report().checks.into_iter();
        let found = checks.filter(|check| check.verdict == verdict);
        found.map(|check| check.id).collect()
    }
}

/// Changes what lies at a path.
fn at(path: &'static str, change: impl Fn(&mut Reply) + Send + Sync + 'static) -> Change {
    Arc::new(move |asked: &Asked, reply: &mut Reply| {
        if asked.path == path && asked.verb == "GET" && reply.status == 200 {
            change(reply);
        }
    })
}

/// Sets one value of the JSON document at a path.
fn value(path: &'static str, pointer: &'static str, value: Value) -> Change {
    at(path, move |reply| {
        reply.json(|document| *document.pointer_mut(pointer).unwrap() = value.clone());
    })
}

/// Changes the result of a JSON-RPC method.
fn method(name: &'static str, change: impl Fn(&mut Reply) + Send + Sync + 'static) -> Change {
    Arc::new(move |asked: &Asked, reply: &mut Reply| {
        let is_it =
            serde_json::from_str::<Value>(&asked.body).is_ok_and(|call| call["method"] == name);
        if is_it {
            change(reply);
        }
    })
}

/// Changes the answer to a POST.
fn post(path: &'static str, change: impl Fn(&mut Reply) + Send + Sync + 'static) -> Change {
    Arc::new(move |asked: &Asked, reply: &mut Reply| {
        if asked.verb == "POST" && asked.path.starts_with(path) {
            change(reply);
        }
    })
}

const CARD: &str = "/.well-known/agent-card.json";
const POPPY: &str = "/.well-known/poppy.json";
const OAUTH: &str = "/.well-known/oauth-authorization-server/poppy";
const CATALOGUE: &str = "/.well-known/api-catalog";
const OPENAPI: &str = "/poppy/openapi.json";
const LLMS: &str = "/llms.txt";

fn no_document() -> Vec<(&'static str, Change)> {
    let gone = |reply: &mut Reply| reply.status = 404;
    let moved = |reply: &mut Reply| {
        reply.status = 301;
        reply.set("location", "https://www.dealer.example/");
    };
    let text = |reply: &mut Reply| reply.set("content-type", "text/html");
    let broken = |reply: &mut Reply| reply.body.truncate(10);
    vec![
        ("agent-card", at(CARD, gone)),
        ("agent-card", at(CARD, moved)),
        ("agent-card", at(CARD, text)),
        ("agent-card", at(CARD, broken)),
        (
            "agent-card",
            at(CARD, |reply| reply.body.insert_str(1, "\"name\":1,")),
        ),
        ("poppy", at(POPPY, moved)),
        ("llms.txt", at(LLMS, gone)),
        ("llms.txt", at(LLMS, text)),
        ("oauth-metadata", at(OAUTH, gone)),
        ("openapi", at(OPENAPI, gone)),
        ("openapi", at(OPENAPI, moved)),
        ("api-catalog", at(CATALOGUE, text)),
    ]
}

fn wrong_documents() -> Vec<(&'static str, Change)> {
    vec![
        (
            "agent-card-schema",
            value(CARD, "/capabilities/extensions/0/required", json!(false)),
        ),
        ("agent-card-schema", value(CARD, "/name", Value::Null)),
        (
            "poppy-schema",
            value(POPPY, "/protocol_version", json!("0.2")),
        ),
        (
            "oauth-metadata-schema",
            value(OAUTH, "/grant_types_supported", json!(["refresh_token"])),
        ),
        (
            "openapi-version",
            value(OPENAPI, "/openapi", json!("3.0.3")),
        ),
        (
            "llms.txt-consent",
            at(LLMS, |reply| {
                reply.body = reply.body.replace("consent", "x");
            }),
        ),
        (
            "dead-links",
            at(LLMS, |reply| {
                reply.body = reply.body.replace("/inventory)", "/gone)");
            }),
        ),
    ]
}

fn disagreeing_documents() -> Vec<(&'static str, Change)> {
    let params = "/capabilities/extensions/0/params";
    let elsewhere = || json!("https://elsewhere.example/x");
    vec![
        (
            "identity",
            value(POPPY, "/organization/domain", json!("dealer.example")),
        ),
        (
            "mcp-address",
            value(
                POPPY,
                "/extensions/autoagentprotocol.org~1aap/mcp",
                elsewhere(),
            ),
        ),
        ("release", value(OPENAPI, "/x-aap-extension", elsewhere())),
        ("skills", value(CARD, "/skills/0/id", json!("x.y"))),
        (
            "skills",
            at(OPENAPI, |reply| {
                reply.json(|document| {
                    drop(
                        document["paths"]
                            .as_object_mut()
                            .unwrap()
                            .remove("/skills/lead.submit"),
                    );
                });
            }),
        ),
        (
            "capabilities",
            at(CARD, move |reply| {
                let path = format!("{params}/skills/inventory.search/capabilities/max_limit");
                reply.json(|card| *card.pointer_mut(&path).unwrap() = json!(99));
            }),
        ),
        ("issuer", value(OAUTH, "/issuer", elsewhere())),
        (
            "issuer",
            value(OAUTH, "/protected_resources", json!(["https://127.0.0.1/"])),
        ),
        ("native-api", value(OPENAPI, "/security", json!([]))),
        (
            "links",
            value(
                CARD,
                "/capabilities/extensions/0/params/llms_txt",
                elsewhere(),
            ),
        ),
        (
            "addresses",
            value(
                CARD,
                "/supportedInterfaces/0/url",
                json!("http://dealer.example/a2a"),
            ),
        ),
        (
            "catalogue",
            value(CATALOGUE, "/linkset/0/anchor", elsewhere()),
        ),
    ]
}

fn wrong_mcp() -> Vec<(&'static str, Change)> {
    vec![
        (
            "credentials",
            at(POPPY, |reply| reply.set("set-cookie", "id=1")),
        ),
        (
            "mcp-2026-07-28",
            method("server/discover", |reply| {
                *reply = Reply {
                    status: 502,
                    headers: Vec::new(),
                    body: "bad gateway".into(),
                };
            }),
        ),
        (
            "mcp-2025-11-25",
            method("initialize", |reply| {
                reply.json(|answer| answer["result"]["protocolVersion"] = json!("2025-06-18"));
            }),
        ),
        (
            "mcp-2026-07-28",
            method("tools/list", |reply| {
                reply.json(|answer| answer["result"] = json!({}));
            }),
        ),
        (
            "mcp-2026-07-28",
            method("tools/call", |reply| {
                reply.json(|answer| answer["result"]["structuredContent"] = json!({}));
            }),
        ),
        (
            "skills",
            method("tools/list", |reply| {
                reply.json(|answer| drop(answer["result"]["tools"].as_array_mut().unwrap().pop()));
            }),
        ),
        (
            "mcp-2025-11-25",
            post("/mcp", |reply| {
                reply.status = 401;
                reply.set("www-authenticate", "Bearer");
            }),
        ),
    ]
}

fn wrong_a2a() -> Vec<(&'static str, Change)> {
    vec![
        (
            "a2a",
            post("/a2a", |reply| {
                reply.status = 401;
                reply.set("www-authenticate", "Bearer");
            }),
        ),
        (
            "a2a",
            post("/a2a", |reply| reply.json(|answer| answer["id"] = json!(1))),
        ),
        (
            "a2a",
            post("/a2a", |reply| {
                reply.json(|answer| answer["result"]["message"]["role"] = json!("agent"));
            }),
        ),
        (
            "a2a",
            post("/a2a", |reply| {
                reply.json(|answer| {
                    answer["result"]["message"]["parts"][0]["mediaType"] = json!("x");
                });
            }),
        ),
        (
            "a2a",
            post("/a2a", |reply| {
                reply.json(|answer| answer["result"]["message"]["parts"][0]["data"] = json!({}));
            }),
        ),
        (
            "a2a",
            value(CARD, "/supportedInterfaces/0/protocolVersion", json!("0.3")),
        ),
    ]
}

fn wrong_pap() -> Vec<(&'static str, Change)> {
    let broken = |reply: &mut Reply| reply.status = 500;
    vec![
        ("pap-token", post("/poppy/oauth/token", broken)),
        (
            "pap-token",
            post("/poppy/oauth/token", |reply| reply.without("cache-control")),
        ),
        (
            "pap-token",
            post("/poppy/oauth/token", |reply| reply.body = "{}".into()),
        ),
        (
            "pap-challenge",
            post("/poppy/skills/", |reply| reply.status = 200),
        ),
        (
            "pap-challenge",
            post("/poppy/skills/", |reply| reply.without("www-authenticate")),
        ),
    ]
}

// AAP-031 AAP-033 AAP-034 AAP-047 AAP-048 AAP-066
#[test]
fn each_check_finds_its_own_fault_and_nothing_else_is_wrong() {
    let world = World::new();
    let calm = world.ids(Verdict::Fault, Arc::new(|_, _| {}));
    assert_eq!(calm, BTreeSet::new());
    let faults = [
        no_document(),
        wrong_documents(),
        disagreeing_documents(),
        wrong_mcp(),
        wrong_a2a(),
        wrong_pap(),
    ];
    let mut provoked = BTreeSet::new();
    for (id, change) in faults.into_iter().flatten() {
        let found = world.ids(Verdict::Fault, change);
        assert!(found.contains(id), "{id}: {found:?}");
        provoked.insert(id.to_owned());
    }
    world.mask.wear(Arc::new(|_, _| {}));
    let checks = world.report().checks.into_iter().map(|check| check.id);
    let warnings = ["https", "cache", "cors", "head", "mcp-2025-06-18"];
    let unprovoked: Vec<String> = checks
        .filter(|id| !provoked.contains(id) && !warnings.contains(&id.as_str()))
        .collect();
    assert_eq!(unprovoked, Vec::<String>::new());
}

#[test]
fn what_works_only_so_far_is_a_warning() {
    let world = World::new();
    let loopback = BTreeSet::from(["https".to_owned()]);
    assert_eq!(world.ids(Verdict::Warning, Arc::new(|_, _| {})), loopback);
    let bad: Vec<(&str, Change)> = vec![
        ("cache", at(LLMS, |reply| reply.without("etag"))),
        (
            "cache",
            at(CARD, |reply| reply.set("cache-control", "no-cache")),
        ),
        (
            "cors",
            at(POPPY, |reply| reply.without("access-control-allow-origin")),
        ),
        (
            "head",
            Arc::new(|asked: &Asked, reply: &mut Reply| {
                if asked.verb == "HEAD" {
                    reply.status = 405;
                }
            }),
        ),
    ];
    for (id, change) in bad {
        let found = world.ids(Verdict::Warning, change);
        assert!(found.contains(id), "{id}: {found:?}");
    }
    // a catalogue is nobody's duty
    let found = world.ids(Verdict::Fault, at(CATALOGUE, |reply| reply.status = 404));
    assert!(!found.contains("api-catalog"), "{found:?}");
}

fn doctor(arguments: &[&str]) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forecourt"));
    command.arg("doctor").args(arguments).env_clear();
    command.output().unwrap()
}

#[test]
fn the_command_says_it_to_people_and_to_machines() {
    let world = World::new();
    let base = world.base();
    let done = doctor(&[&base]);
    let text = String::from_utf8(done.stdout).unwrap();
    assert_eq!(done.status.code(), Some(0), "{text}");
    for part in [
        "documents\n  √ agent-card is there",
        "  ‼ the site is reached",
        "\n√ 0 findings, 1 warnings\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    world.mask.wear(at(CARD, |reply| reply.status = 404));
    let done = doctor(&[&base, "--output", "json"]);
    assert_eq!(done.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(
        (&report["ok"], &report["url"]),
        (&json!(false), &json!(base))
    );
    let checks = report["checks"].as_array().unwrap();
    let card = checks
        .iter()
        .find(|check| check["id"] == "agent-card")
        .unwrap();
    assert_eq!(card["verdict"], "fault");
    assert!(card["reason"].as_str().unwrap().contains("404") && card["remedy"].is_string());
    assert_eq!(
        doctor(&["https://me:secret@dealer.example"]).status.code(),
        Some(2)
    );
    drop(world.edge);
}
