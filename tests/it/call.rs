//! `forecourt call` beside a running demo: the whole flow over each binding, with nothing secret printed.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::cli::{Demo, forecourt};

struct Site {
    demo: Demo,
    folder: tempfile::TempDir,
}

impl Site {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let demo = Demo::start(&folder.path().join("demo"));
        Self { demo, folder }
    }

    fn command(&self, skill: &str, via: &str, more: &[&str]) -> Command {
        let base = self.demo.text("base_url");
        let agent = self.folder.path().join("demo/agent");
        let mut command = forecourt(&["call", skill, "--via", via, &base, "--agent"]);
        command.arg(agent).args(more);
        command
    }

    fn call(&self, skill: &str, via: &str, more: &[&str]) -> (Option<i32>, Value) {
        let output = self
            .command(skill, via, &[&["--output", "json"], more].concat())
            .output()
            .unwrap();
        held(&output);
        let text = String::from_utf8(output.stdout).unwrap();
        let value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
        (output.status.code(), value)
    }

    fn payload(&self, value: &Value) -> String {
        let file = self.folder.path().join("payload.json");
        fs::write(&file, value.to_string()).unwrap();
        file.to_str().unwrap().to_owned()
    }
}

/// No JWT, and so no assertion or proof; and nothing long after the scheme, and so no token.
fn held(output: &Output) {
    for stream in [&output.stdout, &output.stderr] {
        let text = String::from_utf8_lossy(stream);
        assert!(!text.contains("eyJ"), "{text}");
        for after in text.split("DPoP ").skip(1) {
            let word = after.split([' ', '"', '\n']).next().unwrap();
            assert!(word.len() < 40, "{word}");
        }
    }
}

// AAP-548 AAP-549
#[test]
fn each_binding_answers_a_search_with_the_same_vehicles() {
    let site = Site::start();
    let mut answers = Vec::new();
    for via in ["pap", "mcp", "a2a"] {
        let (code, value) = site.call("inventory.search", via, &[]);
        assert_eq!(code, Some(0), "{via}: {value:#}");
        assert_eq!(
            (&value["via"], &value["answered"]),
            (&json!(via), &json!(true))
        );
        assert_eq!(
            value["answer"]["type"], "inventory.search.response",
            "{via}"
        );
        answers.push(value["answer"]["data"]["vehicles"].clone());
        for exchange in value["exchanges"].as_array().unwrap() {
            assert!(exchange["request"]["url"].is_string());
            assert_eq!(exchange["response"]["status"], 200);
        }
    }
    assert!(!answers[0].as_array().unwrap().is_empty());
    assert!(answers[0] == answers[1] && answers[1] == answers[2]);

    let (_, value) = site.call("dealer.information", "pap", &[]);
    let exchanges = value["exchanges"].as_array().unwrap();
    let token = exchanges.iter().find(|e| {
        e["request"]["url"]
            .as_str()
            .unwrap()
            .ends_with("/oauth/token")
    });
    let token = token.unwrap();
    assert_eq!(token["request"]["headers"]["dpop"], "[redacted]");
    let fields = &token["request"]["body"];
    for secret in ["client_assertion", "assertion"] {
        assert_eq!(fields[secret], "[redacted]");
    }
    assert_eq!(token["response"]["body"]["access_token"], "[redacted]");
    assert_eq!(token["response"]["body"]["token_type"], "DPoP");
}

// AAP-276 AAP-277
#[test]
fn a_lead_called_twice_by_one_user_is_one_lead() {
    let site = Site::start();
    let payload = site.payload(&lead());
    let who = ["--payload", &payload, "--user", "user-of-the-test-1"];
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = port.local_addr().unwrap().to_string();
    drop(port);
    let who = [&who[..], &["--publish", &address]].concat();
    let (code, first) = site.call("lead.submit", "pap", &who);
    assert_eq!(code, Some(0), "{first:#}");
    let (code, again) = site.call("lead.submit", "pap", &who);
    assert_eq!(code, Some(0), "{again:#}");
    assert_eq!(again["answer"]["data"]["replayed"], true);
    assert_eq!(
        again["answer"]["data"]["lead_id"],
        first["answer"]["data"]["lead_id"]
    );
    for via in ["mcp", "a2a"] {
        let (code, answer) = site.call("lead.submit", via, &["--payload", &payload]);
        assert_eq!(code, Some(0), "{answer:#}");
    }
}

#[test]
fn what_goes_wrong_has_its_exit_code() {
    let site = Site::start();
    let wrong = site.payload(&json!({ "type": "inventory.search.request", "colour": "red" }));
    for via in ["pap", "mcp", "a2a"] {
        let (code, value) = site.call("inventory.search", via, &["--payload", &wrong]);
        assert_eq!(code, Some(1), "{via}");
        assert_eq!(value["answer"]["type"], "aap.error", "{via}: {value:#}");
        assert_eq!(value["answered"], false);
    }
    let stranger = site.folder.path().join("stranger");
    let stranger = ["--agent", stranger.to_str().unwrap()];
    let base = site.demo.text("base_url");
    let call = |more: &[&str]| {
        let output = forecourt(&["call", "dealer.information"])
            .args(more)
            .output();
        let output = output.unwrap();
        held(&output);
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (code, said) = call(&[&["--via", "pap", &base][..], &stranger].concat());
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("invalid_client") && said.contains("--agent"),
        "{said}"
    );
    let (code, _) = call(&["--via", "mcp", "http://127.0.0.1:9"]);
    assert_eq!(code, Some(69));
    let (code, said) = call(&["--via", "mcp", "http://dealer.example"]);
    assert_eq!(code, Some(2), "plain HTTP beyond loopback: {said}");
    let (code, _) = call(&["--via", "pap", &base, "--payload", "/no/such/file"]);
    assert_eq!(code, Some(2));
    // what people see, with both sides
    let shown = site
        .command("dealer.information", "pap", &[])
        .output()
        .unwrap();
    held(&shown);
    let text = String::from_utf8(shown.stdout).unwrap();
    for line in [
        "> POST ",
        "> authorization: DPoP [redacted]",
        "< 200",
        "dealer.information.response",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn the_development_identity_is_the_owner_s_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let site = Site::start();
    let agent = site.folder.path().join("demo/agent");
    for file in ["ca.pem", "server.pem", "server-key.pem", "identity-key.pem"] {
        let mode = fs::metadata(agent.join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    let keys = keys_in(&agent);
    assert_eq!(
        keys,
        ["identity-key.pem", "server-key.pem"],
        "the authority's key is gone"
    );
}

fn keys_in(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let mut keys: Vec<String> = files
        .filter(|file| fs::read_to_string(file).unwrap().contains("PRIVATE KEY"))
        .map(|file| file.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    keys.sort_unstable();
    keys
}

fn lead() -> Value {
    json!({
        "type": "lead.submit.request",
        "customer": {
            "first_name": "Ada",
            "last_name": "Lovelace",
            "email": "ada@example.com",
            "preferred_contact": "email",
        },
        "consent": {
            "granted_at": forecourt::clock::Clock::system().now().to_string(),
            "allowed_channels": ["email"],
            "scope": ["lead_submission"],
            "consent_text": "Please send my inquiry to the dealer so they can reply by email.",
        },
        "source_agent": { "name": "example-buyer", "url": "https://buyer.example" },
        "message": "Which hybrids do you have?",
        "idempotency_key": "6f2a1c3e-5b7d-4a9e-8c1f-0d2e4b6a8c0e",
    })
}
