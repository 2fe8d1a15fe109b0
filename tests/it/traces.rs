//! What a log tells of each stage of a call, and what it never holds.

use std::io;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::a2a_probes::send;
use crate::edge::{Answer, Edge, Plan, lead};

/// Everything that this process logs, once somebody asks. One subscriber for all threads: scoped ones lose
/// events of call sites that other threads meet at the same time.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn start() -> Self {
        let log = Self::default();
        let writer = log.clone();
        let lines = tracing_subscriber::fmt()
            .json()
            .flatten_event(true)
            .with_env_filter("forecourt=trace,hyper=debug")
            .with_writer(move || writer.clone());
        tracing::subscriber::set_global_default(lines.finish()).unwrap();
        log
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// The lines that name this request.
    fn of(&self, request_id: &str) -> Vec<Value> {
        let text = self.text();
        let lines = text.lines().filter(|line| line.contains(request_id));
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The messages of a request, and the skills that its spans and events name.
fn told(lines: &[Value]) -> (Vec<&str>, Vec<String>) {
    let messages = lines
        .iter()
        .filter_map(|line| line["message"].as_str())
        .collect();
    let mut skills: Vec<String> = Vec::new();
    for line in lines {
        let spans = line["spans"].as_array().into_iter().flatten();
        let named = spans.filter_map(|span| span["skill"].as_str());
        skills.extend(named.map(str::to_owned));
    }
    (messages, skills)
}

/// Sends a lead and its credentials full of canaries, accepted, refused and broken; gives the accepted one.
fn sing(edge: &Edge) -> Answer {
    let mut secret = lead("kanarienvogel-key");
    for place in [
        "/customer/first_name",
        "/customer/last_name",
        "/consent/consent_text",
        "/message",
    ] {
        *secret.pointer_mut(place).unwrap() = json!("kanarienvogel");
    }
    secret["customer"]["email"] = json!("kanarienvogel@example.com");
    let call = |request: Value| {
        edge.call("aap_lead_submit", request)
            .more("Authorization", "Bearer kanarienvogel")
            .more("Cookie", "session=kanarienvogel")
            .more("DPoP", "kanarienvogel")
            .send()
    };
    let sent = call(secret.clone());
    assert_eq!(sent.payload()["data"]["status"], "received");
    secret["consent"]["granted_at"] = json!("kanarienvogel");
    assert_eq!(call(secret).payload()["type"], "aap.error");
    assert_eq!(edge.search().text("{\"kanarienvogel").send().code(), -32700);
    sent
}

// AAP-146 AAP-501 AAP-506 AAP-507
#[test]
fn stages_are_told_apart_and_nothing_of_a_buyer_is_told() {
    let log = Log::start();
    let edge = Edge::with(Plan::default());
    let id = |answer: &Answer| answer.header("x-request-id").unwrap().to_owned();

    // looking at discovery and at the tool list runs no skill
    let card = edge
        .search()
        .verb("GET")
        .path("/.well-known/agent-card.json")
        .text("")
        .send();
    let tools = edge.probe("tools/list", json!({})).send();
    for answer in [&card, &tools] {
        assert_eq!(answer.status, 200);
        let lines = log.of(&id(answer));
        assert_eq!(told(&lines).1, Vec::<String>::new(), "{lines:?}");
    }
    // what fails before a skill says so, and names none
    let early = send(&edge, json!({"type": "inventory.search.request"}))
        .header("A2A-Version", "9.9")
        .send();
    assert_eq!(early.code(), -32009);
    let lines = log.of(&id(&early));
    let (messages, skills) = told(&lines);
    assert_eq!(
        (messages, skills),
        (vec!["a2a refused", "request"], vec![]),
        "{lines:?}"
    );
    // a skill's own line names it, its binding and its outcome
    for (binding, answer) in [
        ("mcp", edge.search().send()),
        (
            "a2a",
            send(&edge, json!({"type": "inventory.search.request"})).send(),
        ),
    ] {
        let lines = log.of(&id(&answer));
        let (messages, skills) = told(&lines);
        assert_eq!(
            (messages, skills),
            (vec!["call", "request"], vec!["inventory.search".to_owned()]),
            "{lines:?}"
        );
        assert_eq!(lines[0]["outcome"], "ok");
        assert!(
            lines[0]
                .to_string()
                .contains(&format!("\"binding\":\"{binding}\"")),
            "{lines:?}"
        );
    }

    let sent = sing(&edge);
    assert!(!log.of(&id(&sent)).is_empty());
    assert!(!log.text().contains("kanarienvogel"));
}
