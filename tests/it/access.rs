//! Protected endpoints, byte by byte: who gets in over MCP and A2A, what a stranger is told, what discovery
//! says of it, and that only equal verified callers are one caller.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use forecourt::clock::Clock;
use forecourt::deployment::Gates;
use forecourt::net::Policy;
use forecourt::oauth::{Algorithm, Authority, AuthoritySettings, Gate, GateSettings};
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};
use serde_json::{Value, json};

use crate::edge::{Answer, Edge, NOW, Plan, Probe, lead};

/// An issuer that publishes its metadata and one key.
struct Issuer {
    url: String,
    key: SigningKey,
}

impl Issuer {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let key = SigningKey::from_slice(&[7; 32]).unwrap();
        let point = key.verifying_key().to_sec1_point(false);
        let jwk = json!({
            "kty": "EC", "crv": "P-256", "kid": "k1",
            "x": B64.encode(point.x().unwrap()), "y": B64.encode(point.y().unwrap()),
        });
        let metadata = json!({"issuer": url, "jwks_uri": format!("{url}/keys")}).to_string();
        let keys = json!({"keys": [jwk]}).to_string();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut head = [0; 4096];
                let read = stream.read(&mut head).unwrap();
                let asks_keys = head[..read].starts_with(b"GET /keys ");
                let body = if asks_keys { &keys } else { &metadata };
                let answer = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                    body.len()
                );
                // a peer that went away is not this thread's matter
                let _sent = stream.write_all(answer.as_bytes());
            }
        });
        Self { url, key }
    }

    /// `Bearer` and a token of this subject for the endpoint at `audience`.
    fn bearer(&self, audience: &str, subject: &str, scope: &str) -> String {
        let now: jiff::Timestamp = NOW.parse().unwrap();
        let claims = json!({
            "iss": self.url, "aud": audience, "sub": subject, "scope": scope,
            "iat": now.as_second(), "exp": now.as_second() + 600,
        });
        let header = json!({"typ": "at+jwt", "alg": "ES256", "kid": "k1"});
        let part = |value: &Value| B64.encode(value.to_string());
        let message = format!("{}.{}", part(&header), part(&claims));
        let signature: Signature = self.key.sign(message.as_bytes());
        format!("Bearer {message}.{}", B64.encode(signature.to_bytes()))
    }

    /// A deployment whose two endpoints trust this issuer.
    fn edge(&self, everything: bool) -> Edge {
        self.with(everything, |_| {})
    }

    fn with(&self, everything: bool, change: impl FnOnce(&mut Plan)) -> Edge {
        let issuer = self.url.clone();
        let gates = move |base: &str| {
            let settings = AuthoritySettings {
                issuer: issuer.clone(),
                jwks_uri: None,
                algorithms: Algorithm::ALL.to_vec(),
                clock_skew_s: 30,
                policy: Policy {
                    allow_http: true,
                    ..Policy::for_operator()
                },
            };
            let clock = Clock::fixed(NOW.parse().unwrap());
            let authority = Arc::new(Authority::new(settings, clock).unwrap());
            let gate = |url: String| {
                let settings = GateSettings {
                    audience: url.clone(),
                    resource: url,
                    name: "Example Motors".into(),
                    everything,
                    scopes: vec!["inventory".into()],
                    lead_scopes: vec!["leads".into()],
                };
                Some(Arc::new(Gate::new(settings, Arc::clone(&authority))))
            };
            Gates {
                mcp: gate(format!("{base}/mcp")),
                a2a: gate(format!("{base}/a2a")),
            }
        };
        let mut plan = Plan {
            gates: Box::new(gates),
            ..Plan::default()
        };
        change(&mut plan);
        Edge::with(plan)
    }

    fn mcp(&self, edge: &Edge, subject: &str, scope: &str) -> String {
        self.bearer(&format!("http://{}/mcp", edge.address), subject, scope)
    }
}

fn get(edge: &Edge, path: &str) -> Answer {
    edge.search().verb("GET").path(path).text("").send()
}

/// An A2A message with this payload.
fn message<'a>(edge: &'a Edge, data: &Value) -> Probe<'a> {
    let stem = data["type"]
        .as_str()
        .unwrap()
        .replace(".request", "")
        .replace('.', "-");
    let media = format!("application/vnd.autoagent.{stem}-request+json");
    let mut probe = edge.probe("", json!({})).path("/a2a");
    probe = probe.without("MCP-Protocol-Version").without("Mcp-Method");
    probe.body = json!({
        "jsonrpc": "2.0", "id": 7, "method": "SendMessage",
        "params": {"message": {
            "messageId": "m-1", "role": "ROLE_USER",
            "parts": [{"data": data, "mediaType": media}],
        }},
    });
    probe
}

/// A refusal by the transport: status, challenge, and that nothing was run.
fn challenged(what: &str, answer: &Answer, status: u16, challenge: &str) {
    assert_eq!(answer.status, status, "{what}: {answer:?}");
    assert_eq!(answer.header("www-authenticate"), Some(challenge), "{what}");
    assert_eq!(answer.json().get("result"), None, "{what}");
    assert_eq!(answer.header("cache-control"), Some("no-store"), "{what}");
}

// AAP-091 AAP-099 AAP-100 AAP-122 AAP-133 AAP-142
#[test]
fn a_protected_mcp_endpoint_lets_nobody_in_without_a_good_token() {
    let issuer = Issuer::start();
    let edge = issuer.edge(true);
    let base = format!("http://{}", edge.address);
    let about = format!("resource_metadata=\"{base}/.well-known/oauth-protected-resource/mcp\"");
    let stranger = format!("Bearer {about}, scope=\"inventory\"");
    let invalid = format!("Bearer error=\"invalid_token\", {about}, scope=\"inventory\"");
    let narrow = format!("Bearer error=\"insufficient_scope\", {about}, scope=\"inventory\"");
    let lead_narrow =
        format!("Bearer error=\"insufficient_scope\", {about}, scope=\"inventory leads\"");
    let good = issuer.mcp(&edge, "one", "inventory");
    for probe in [
        edge.search(),
        edge.probe("tools/list", json!({})),
        edge.probe("server/discover", json!({})),
        edge.initialize("2025-11-25"),
        edge.call("aap_lead_submit", lead("k")),
        edge.search().text("{no message"),
    ] {
        challenged("a stranger", &probe.clone().send(), 401, &stranger);
        let probe = probe.header("Authorization", "Basic dXNlcjpwYXNz");
        challenged("no Bearer", &probe.send(), 401, &stranger);
    }
    let mut altered = good.clone();
    altered.pop();
    for (what, token) in [
        ("an altered token", altered),
        (
            "A2A's token",
            issuer.bearer(&format!("{base}/a2a"), "one", "inventory"),
        ),
        (
            "another tenant's token",
            issuer.bearer("https://other.example/mcp", "one", "inventory"),
        ),
    ] {
        let answer = edge.search().header("Authorization", token).send();
        challenged(what, &answer, 401, &invalid);
    }
    let small = issuer.mcp(&edge, "one", "profile");
    let answer = edge.search().header("Authorization", small).send();
    challenged("too small a scope", &answer, 403, &narrow);
    let answer = edge.call("aap_lead_submit", lead("k"));
    let answer = answer.header("Authorization", good.as_str()).send();
    challenged("a lead with a reader's scope", &answer, 403, &lead_narrow);
    assert_eq!(answer.json()["id"], 7);
    let twice = edge.search().header("Authorization", good.as_str());
    let twice = twice.more("Authorization", good.as_str()).send();
    assert_eq!(
        (twice.status, twice.header("www-authenticate")),
        (400, None)
    );
    let in_url = edge.search().path("/mcp?access_token=x").send();
    assert_eq!(in_url.status, 400);
}

// AAP-072 AAP-075 AAP-091
#[test]
fn a_protected_mcp_endpoint_checks_origins_first_and_serves_whoever_may_come() {
    let issuer = Issuer::start();
    let edge = issuer.edge(true);
    let good = issuer.mcp(&edge, "one", "inventory");
    // what comes before it still comes first
    let foreign = edge.search().header("Origin", "https://evil.example");
    assert_eq!(foreign.send().status, 403);
    assert_eq!(get(&edge, "/mcp").status, 405);
    let preflight = edge
        .search()
        .verb("OPTIONS")
        .header("Origin", "https://agent.example");
    assert_eq!(preflight.send().status, 204);
    let origin = edge
        .search()
        .header("Origin", "https://agent.example")
        .send();
    let exposed = origin.header("access-control-expose-headers").unwrap();
    assert!(exposed.contains("www-authenticate"), "{exposed}");
    // who may come, comes in, in every revision
    let listed = edge.probe("tools/list", json!({}));
    let listed = listed.header("Authorization", good.as_str()).send().json();
    assert_eq!(listed["result"]["cacheScope"], "private");
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 5);
    let found = edge.probe("server/discover", json!({}));
    let found = found.header("Authorization", good.as_str()).send().json();
    assert_eq!(found["result"]["cacheScope"], "private");
    for probe in [
        edge.search(),
        edge.legacy(
            "2025-11-25",
            "tools/call",
            json!({"name": "aap_inventory_search", "arguments": {"type": "inventory.search.request"}}),
        ),
    ] {
        let answer = probe.header("Authorization", good.as_str()).send();
        assert_eq!(answer.payload()["data"]["total"], 5);
    }
}

// AAP-036 AAP-051 AAP-139
#[test]
fn a_protected_endpoint_says_so_everywhere() {
    let issuer = Issuer::start();
    let edge = issuer.edge(true);
    let base = format!("http://{}", edge.address);
    let own = get(&edge, "/.well-known/oauth-protected-resource/mcp");
    assert_eq!(own.status, 200);
    assert_eq!(own.header("access-control-allow-origin"), Some("*"));
    let document = own.json();
    assert_eq!(document["resource"], format!("{base}/mcp"));
    assert_eq!(document["authorization_servers"], json!([issuer.url]));
    assert_eq!(document["scopes_supported"], json!(["inventory", "leads"]));
    let root = get(&edge, "/.well-known/oauth-protected-resource").json();
    assert_eq!(root, document);
    let a2a = get(&edge, "/.well-known/oauth-protected-resource/a2a").json();
    assert_eq!(a2a["resource"], format!("{base}/a2a"));
    // the issuer's own documents are the issuer's
    assert_eq!(
        get(&edge, "/.well-known/oauth-authorization-server").status,
        404
    );
    let llms = get(&edge, "/llms.txt").text;
    assert!(
        llms.contains(&issuer.url) && !llms.contains("no sign-in"),
        "{llms}"
    );
    let card = get(&edge, "/.well-known/agent-card.json").json();
    assert_eq!(
        card["capabilities"]["extensions"][0]["params"]["mcp"]["public_read"],
        false
    );
    let scheme = &card["securitySchemes"]["oauth"]["httpAuthSecurityScheme"];
    assert_eq!(scheme["scheme"], "Bearer");
    let needs = |scopes: Value| json!([{"schemes": {"oauth": {"list": scopes}}}]);
    assert_eq!(card["securityRequirements"], needs(json!(["inventory"])));
    for skill in card["skills"].as_array().unwrap() {
        let leads = (skill["id"] == "lead.submit").then(|| needs(json!(["inventory", "leads"])));
        assert_eq!(skill.get("securityRequirements"), leads.as_ref(), "{skill}");
    }
}

// AAP-091 AAP-099 AAP-138 AAP-143
#[test]
fn leads_may_ask_for_a_token_while_reading_is_public() {
    let issuer = Issuer::start();
    let edge = issuer.edge(false);
    let base = format!("http://{}", edge.address);
    assert_eq!(edge.search().send().payload()["data"]["total"], 5);
    let listed = edge.probe("tools/list", json!({})).send().json();
    assert_eq!(listed["result"]["cacheScope"], "public");
    assert_eq!(listed["result"]["tools"][4]["name"], "aap_lead_submit");
    let about = format!("resource_metadata=\"{base}/.well-known/oauth-protected-resource/mcp\"");
    let stranger = format!("Bearer {about}, scope=\"inventory leads\"");
    for probe in [
        edge.call("aap_lead_submit", lead("k")),
        edge.legacy(
            "2025-11-25",
            "tools/call",
            json!({"name": "aap_lead_submit", "arguments": lead("k")}),
        ),
        edge.call("aap_lead_submit", json!({})),
    ] {
        let answer = probe.header("Accept", "text/event-stream").send();
        challenged("a stranger's lead", &answer, 401, &stranger);
        assert_eq!(answer.json()["id"], 7);
    }
    // a bad token is no sign of a stranger
    let bad = edge.search().header("Authorization", "Bearer x").send();
    assert_eq!(bad.status, 401);
    // and a good one does not stand for the buyer's consent
    let token = issuer.mcp(&edge, "one", "inventory leads");
    let mut unconsented = lead("k");
    unconsented.as_object_mut().unwrap().remove("consent");
    let answer = edge.call("aap_lead_submit", unconsented);
    let refused = answer
        .header("Authorization", token.as_str())
        .send()
        .payload();
    assert_eq!(refused["code"], "CONTACT_CONSENT_REQUIRED");
    let answer = edge.call("aap_lead_submit", lead("k"));
    let sent = answer.header("Authorization", token).send().payload();
    assert_eq!(sent["data"]["status"], "received");
    assert_eq!(sent["data"].get("replayed"), None);
    let card = get(&edge, "/.well-known/agent-card.json").json();
    assert_eq!(
        card["capabilities"]["extensions"][0]["params"]["mcp"]["public_read"],
        true
    );
    assert_eq!(card.get("securityRequirements"), None);
    let llms = get(&edge, "/llms.txt").text;
    assert!(
        llms.contains("public reads, leads with an OAuth access token"),
        "{llms}"
    );
}

// AAP-114 AAP-118 AAP-132
#[test]
fn a_session_of_one_caller_is_nothing_to_another() {
    let issuer = Issuer::start();
    let edge = issuer.with(true, |plan| {
        plan.mcp.legacy_sessions = Some(forecourt::deployment::LegacySessions {
            keys: Arc::new(forecourt::seal::KeyRing::generate().unwrap()),
            lifetime: std::time::Duration::from_hours(1),
        });
    });
    let one = issuer.mcp(&edge, "one", "inventory");
    let two = issuer.mcp(&edge, "two", "inventory");
    let begun = edge.initialize("2025-06-18");
    let begun = begun.header("Authorization", one.as_str()).send();
    let session = begun.header("mcp-session-id").unwrap().to_owned();
    let list = |token: Option<&str>| {
        let probe = edge.legacy("", "tools/list", json!({}));
        let probe = probe.without("MCP-Protocol-Version");
        let probe = probe.header("Mcp-Session-Id", session.as_str());
        match token {
            Some(token) => probe.header("Authorization", token).send().status,
            None => probe.send().status,
        }
    };
    assert_eq!(list(Some(&one)), 200);
    assert_eq!(list(Some(&two)), 404);
    assert_eq!(list(None), 401, "a session is no credential");
}

// AAP-130
#[test]
fn what_is_derived_is_checked_like_what_was_sent() {
    let issuer = Issuer::start();
    let edge = issuer.edge(true);
    let bare = |probe: Probe<'_>| {
        let names = ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Accept"];
        let mut probe = probe.without("Origin");
        for name in names {
            probe = probe.without(name);
        }
        probe.send()
    };
    assert_eq!(bare(edge.search()).status, 401);
    let reader = issuer.mcp(&edge, "one", "inventory");
    let with = |probe: Probe<'_>| bare(probe.header("Authorization", reader.as_str()));
    assert_eq!(with(edge.call("aap_lead_submit", lead("k"))).status, 403);
    let wrong = json!({"type": "inventory.search.request", "pagination": {"limit": 1000}});
    let answer = with(edge.call("aap_inventory_search", wrong));
    assert_eq!(answer.payload()["code"], "SCHEMA_VALIDATION_FAILED");
    assert_eq!(with(edge.call("aap_unknown", json!({}))).code(), -32602);
    assert_eq!(with(edge.search()).payload()["data"]["total"], 5);
}

// AAP-061 AAP-280 AAP-474
#[test]
fn only_equal_verified_callers_share_a_key_and_mcp_and_a2a_share_it() {
    let issuer = Issuer::start();
    let edge = issuer.edge(true);
    let scope = "inventory leads";
    let submit = |subject: &str, by_a2a: bool| -> Value {
        if by_a2a {
            let url = format!("http://{}/a2a", edge.address);
            let probe = message(&edge, &lead("same-key"));
            let probe = probe.header("Authorization", issuer.bearer(&url, subject, scope));
            let answer = probe.send();
            answer.json()["result"]["message"]["parts"][0]["data"]["data"].clone()
        } else {
            let probe = edge.call("aap_lead_submit", lead("same-key"));
            let token = issuer.mcp(&edge, subject, scope);
            probe.header("Authorization", token).send().payload()["data"].clone()
        }
    };
    let first = submit("one", false);
    assert_eq!(first["status"], "received", "{first}");
    assert_eq!(submit("one", true)["replayed"], true);
    assert_eq!(submit("one", false)["replayed"], true);
    for by_a2a in [false, true] {
        let other = submit(if by_a2a { "two" } else { "three" }, by_a2a);
        assert_eq!(other["status"], "received", "{other}");
        assert_eq!(other.get("replayed"), None, "{other}");
    }
}

// AAP-474
#[test]
fn anonymous_callers_of_mcp_and_a2a_are_one() {
    let edge = Edge::start();
    let first = edge
        .call("aap_lead_submit", lead("same-key"))
        .send()
        .payload();
    assert_eq!(first["data"].get("replayed"), None, "{first}");
    // where nothing is protected, nobody's token is looked at
    let again = message(&edge, &lead("same-key"))
        .header("Authorization", "Bearer x")
        .send();
    let data = &again.json()["result"]["message"]["parts"][0]["data"];
    assert_eq!(data["data"]["replayed"], true, "{again:?}");
}

// AAP-052 AAP-170
#[test]
fn a2a_refuses_strangers_with_http_and_its_own_metadata() {
    let issuer = Issuer::start();
    let search = json!({"type": "inventory.search.request"});
    for everything in [true, false] {
        let edge = issuer.edge(everything);
        let base = format!("http://{}", edge.address);
        let about =
            format!("resource_metadata=\"{base}/.well-known/oauth-protected-resource/a2a\"");
        let answer = message(&edge, &search).send();
        if everything {
            let stranger = format!("Bearer {about}, scope=\"inventory\"");
            challenged("a stranger", &answer, 401, &stranger);
        } else {
            assert_eq!(answer.status, 200);
        }
        let token = issuer.bearer(&format!("{base}/a2a"), "one", "inventory");
        let lead = message(&edge, &lead("k"))
            .header("Authorization", token.as_str())
            .send();
        let narrow =
            format!("Bearer error=\"insufficient_scope\", {about}, scope=\"inventory leads\"");
        challenged("a reader's lead", &lead, 403, &narrow);
        assert_eq!(lead.json()["id"], 7);
        let read = message(&edge, &search)
            .header("Authorization", token)
            .send();
        let data = &read.json()["result"]["message"]["parts"][0]["data"];
        assert_eq!(data["data"]["total"], 5);
        let mcp = issuer.mcp(&edge, "one", "inventory leads");
        let foreign = message(&edge, &search).header("Authorization", mcp).send();
        assert_eq!(foreign.status, 401, "MCP's token at A2A");
    }
}
