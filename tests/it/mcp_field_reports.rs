//! What real clients were reported to do or to stumble over, each as a test.

use serde_json::{Value, json};

use crate::edge::{Edge, lead};

// Clients that open a stream after connecting must see at once that there is none.
// AAP-067
#[test]
fn r01_get_is_405_and_closes() {
    let edge = Edge::start();
    for verb in ["GET", "DELETE", "PUT", "HEAD"] {
        for probe in [
            edge.search()
                .verb(verb)
                .header("Accept", "text/event-stream"),
            edge.search()
                .verb(verb)
                .header("Mcp-Session-Id", "x")
                .header("Last-Event-ID", "1"),
        ] {
            let answer = probe.send();
            assert_eq!(
                (answer.status, answer.header("allow")),
                (405, Some("POST")),
                "{verb}"
            );
        }
    }
}

// AAP-068 AAP-069
#[test]
fn r02_json_only_and_stream_only_clients_are_served() {
    let edge = Edge::start();
    let json_only = edge
        .initialize("2025-11-25")
        .header("Accept", "application/json")
        .send();
    assert_eq!(json_only.json()["result"]["protocolVersion"], "2025-11-25");
    let stream_only = edge
        .initialize("2025-11-25")
        .header("Accept", "text/event-stream")
        .send();
    assert!(
        stream_only.text.starts_with("event: message\ndata: {"),
        "{stream_only:?}"
    );
    assert_eq!(stream_only.text.matches("data:").count(), 1);
}

// AAP-112
#[test]
fn r03_negotiation_never_fails() {
    let edge = Edge::start();
    for (asked, given) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2026-07-28", "2025-11-25"),
        ("2027-01-01", "2025-11-25"),
        ("1.0.0", "2025-11-25"),
        ("2024-11-05", "2025-11-25"),
        ("2025-03-26", "2025-11-25"),
        ("", "2025-11-25"),
    ] {
        let answer = edge.initialize(asked).send();
        assert_eq!(answer.status, 200, "{asked}");
        assert_eq!(answer.json()["result"]["protocolVersion"], given, "{asked}");
    }
}

// AAP-113
#[test]
fn r04_a_notification_gets_202_without_body_or_type() {
    let edge = Edge::start();
    let note = edge
        .legacy("2025-11-25", "notifications/initialized", json!({}))
        .set("", "id", Value::Null)
        .send();
    assert_eq!((note.status, note.text.as_str()), (202, ""));
    assert_eq!(
        (note.header("content-type"), note.header("content-length")),
        (None, Some("0"))
    );
}

/// No member is null, save where the contract says so.
fn assert_no_null(value: &Value, place: &str) {
    match value {
        Value::Null => panic!("null at {place}"),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, item)| assert_no_null(item, &format!("{place}/{index}"))),
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| !matches!(name.as_str(), "enum" | "const" | "examples" | "default"))
            .for_each(|(name, member)| assert_no_null(member, &format!("{place}/{name}"))),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

// AAP-081
#[test]
fn r05_absent_is_absent_and_a_null_cursor_is_none() {
    let edge = Edge::start();
    for probe in [
        edge.initialize("2025-11-25"),
        edge.probe("server/discover", json!({})),
        edge.probe("tools/list", json!({})),
    ] {
        assert_no_null(&probe.send().json()["result"], "");
    }
    let list = edge.probe("tools/list", json!({}));
    let text = list
        .body
        .to_string()
        .replace(r#""params":{"#, r#""params":{"cursor":null,"#);
    let answer = list.text(text).send().json();
    assert_eq!(answer["result"]["tools"].as_array().unwrap().len(), 5);
}

// AAP-059 AAP-074
#[test]
fn r06_cache_hints_stand_where_they_must_and_nowhere_else() {
    let edge = Edge::start();
    for method in ["server/discover", "tools/list"] {
        let result = edge.probe(method, json!({})).send().json()["result"].take();
        assert!(
            result["ttlMs"].is_u64() && result["cacheScope"].is_string(),
            "{method}"
        );
    }
    let call = edge.search().send().json()["result"].take();
    assert_eq!((call.get("ttlMs"), call.get("cacheScope")), (None, None));
}

fn lint_schema(schema: &Value, root: &Value, place: &str) {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let pointer = reference
            .strip_prefix('#')
            .unwrap_or_else(|| panic!("{place}: {reference}"));
        assert!(pointer.starts_with("/$defs/"), "{place}: {reference}");
        assert!(
            root.pointer(pointer).is_some(),
            "{place}: {reference} resolves"
        );
    }
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        for (name, property) in properties {
            assert!(property.is_object(), "{place}/{name} is an object");
        }
    }
    match schema {
        Value::Object(members) => {
            for (name, member) in members {
                if !matches!(name.as_str(), "enum" | "const" | "examples" | "default") {
                    lint_schema(member, root, &format!("{place}/{name}"));
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| lint_schema(item, root, place)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

// AAP-081 AAP-082 AAP-083 AAP-108
#[test]
fn r07_no_schema_makes_a_client_lose_tools() {
    let edge = Edge::start();
    let list = edge.probe("tools/list", json!({})).send().json();
    for tool in list["result"]["tools"].as_array().unwrap() {
        let name = &tool["name"];
        for kind in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[kind]["type"], "object", "{name} {kind}");
            lint_schema(&tool[kind], &tool[kind], &format!("{name} {kind}"));
            assert!(
                jsonschema::draft202012::new(&tool[kind]).is_ok(),
                "{name} {kind} compiles"
            );
        }
        for keyword in ["oneOf", "anyOf", "allOf", "if", "not", "$ref"] {
            assert_eq!(
                tool["inputSchema"].get(keyword),
                None,
                "{name}: {keyword} at the root"
            );
        }
    }
}

// AAP-106 AAP-131
#[test]
fn r08_an_older_header_over_a_current_body_is_refused_and_named() {
    let edge = Edge::start();
    let probe = edge
        .call("aap_lead_submit", lead("r08"))
        .header("MCP-Protocol-Version", "2025-11-25");
    let answer = probe.send();
    assert_eq!((answer.status, answer.code()), (400, -32020));
    let message = answer.json()["error"]["message"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        message.contains("2025-11-25") && message.contains("2026-07-28"),
        "{message}"
    );
    let first = edge.call("aap_lead_submit", lead("r08")).send().payload();
    assert_eq!(
        first["data"].get("replayed"),
        None,
        "the refused one was not executed: {first}"
    );
}

// AAP-107 AAP-115 AAP-134
#[test]
fn r09_a_version_is_never_guessed() {
    let edge = Edge::start();
    let headerless = edge
        .legacy("", "tools/list", json!({}))
        .without("MCP-Protocol-Version")
        .send();
    assert_eq!((headerless.status, headerless.code()), (400, -32022));
    assert_eq!(headerless.json()["error"]["data"]["requested"], "");
    let newer = edge.legacy("2026-07-28", "tools/list", json!({})).send();
    assert_eq!((newer.status, newer.code()), (400, -32602));
    let torn = edge
        .initialize("2025-11-25")
        .header("MCP-Protocol-Version", "2026-07-28")
        .send();
    assert_eq!((torn.status, torn.code()), (400, -32020));
}

// AAP-129
#[test]
fn r10_bridges_that_drop_mirror_headers_are_served() {
    let edge = Edge::start();
    let bare = edge
        .search()
        .without("Mcp-Method")
        .without("Mcp-Name")
        .without("MCP-Protocol-Version")
        .send();
    assert_eq!(bare.payload()["data"]["total"], 5);
    let wrong = edge
        .probe("tools/list", json!({}))
        .header("Mcp-Method", "TOOLS/LIST")
        .send();
    assert_eq!((wrong.status, wrong.code()), (400, -32020));
}

// AAP-098
#[test]
fn r11_shapes_of_params_and_arguments() {
    let edge = Edge::start();
    for params in [
        json!({}),
        json!({"_meta": {"progressToken": 0}}),
        json!({"_meta": {}}),
    ] {
        let mut probe = edge.legacy("2025-11-25", "tools/list", json!({}));
        probe.body["params"] = params;
        assert_eq!(
            probe.send().json()["result"]["tools"]
                .as_array()
                .unwrap()
                .len(),
            5
        );
    }
    let none = edge
        .legacy("2025-11-25", "tools/list", json!({}))
        .set("", "params", Value::Null);
    assert_eq!(
        none.send().json()["result"]["tools"]
            .as_array()
            .unwrap()
            .len(),
        5
    );
    let text = json!({"type": "inventory.search.request", "filters": "{\"price_max\":1}"});
    let error = edge.call("aap_inventory_search", text).send().payload();
    assert_eq!(error["code"], "SCHEMA_VALIDATION_FAILED");
    assert_eq!(
        error["details"]["errors"][0]["instanceLocation"],
        "/filters"
    );
    let correction = error["details"]["errors"][0]["error"].as_str().unwrap();
    assert!(correction.to_lowercase().contains("object"), "{correction}");
}

// AAP-097
#[test]
fn r12_one_object_in_one_object_out() {
    let edge = Edge::start();
    let body = edge.search().body.to_string();
    for batch in [format!("[{body}]"), "[]".to_owned()] {
        let answer = edge.search().text(batch).send();
        assert_eq!((answer.status, answer.code()), (400, -32600));
        assert_eq!(answer.json().get("id"), None);
    }
    assert!(edge.search().send().json().is_object());
}

// AAP-122 AAP-139
#[test]
fn r13_an_open_endpoint_answers_oauth_probes_with_404_in_json() {
    let edge = Edge::start();
    for path in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-authorization-server/mcp",
        "/.well-known/openid-configuration",
        "/.well-known/openid-configuration/mcp",
        "/mcp/.well-known/openid-configuration",
    ] {
        let answer = edge.search().verb("GET").path(path).text("").send();
        assert_eq!(answer.status, 404, "{path}");
        assert_eq!(
            answer.header("content-type"),
            Some("application/json"),
            "{path}"
        );
        assert!(answer.json().is_object(), "{path}");
    }
    let register = edge.search().path("/register").send();
    assert_eq!((register.status, register.json().is_object()), (404, true));
}

// AAP-071
#[test]
fn r14_both_forms_of_the_path_answer_without_a_redirect_and_foreign_hosts_do_not() {
    let edge = Edge::start();
    for path in ["/mcp", "/mcp/"] {
        let answer = edge.search().path(path).send();
        assert_eq!(
            (answer.status, answer.header("location")),
            (200, None),
            "{path}"
        );
    }
    let port = edge.address.port();
    for host in [
        format!("localhost:{port}"),
        format!("[::1]:{port}"),
        "127.0.0.1".to_owned(),
    ] {
        assert_eq!(
            edge.search().header("Host", host.as_str()).send().status,
            200,
            "{host}"
        );
    }
    for host in [
        "evil.example",
        "127.0.0.1.evil.example",
        "127.0.0.1@evil.example",
        "",
    ] {
        let answer = edge.search().header("Host", host).send();
        assert!((400..500).contains(&answer.status), "{host}: {answer:?}");
    }
    let twice = edge.search().more("Host", "evil.example").send();
    assert_eq!(twice.status, 400);
}

// AAP-447 AAP-476 AAP-484 AAP-557
#[test]
fn r15_a_lead_whose_answer_was_lost_is_sent_once() {
    use std::io::Write as _;
    let edge = Edge::start();
    let mut cut = edge.connect();
    cut.write_all(&edge.call("aap_lead_submit", lead("r15")).bytes())
        .unwrap();
    cut.shutdown(std::net::Shutdown::Both).unwrap();
    drop(cut);
    let again = edge
        .call("aap_lead_submit", lead("r15"))
        .id(json!("other"))
        .send()
        .payload();
    assert_eq!(again["data"]["status"], "received", "{again}");
    let params = json!({"name": "aap_lead_submit", "arguments": lead("r15")});
    let legacy = edge.legacy("2025-11-25", "tools/call", params);
    let legacy = legacy.header("Mcp-Session-Id", "stale").send().payload();
    assert_eq!(legacy["data"]["replayed"], true);
    assert_eq!(legacy["data"]["lead_id"], again["data"]["lead_id"]);
    let mut changed = lead("r15");
    changed["message"] = json!("Something else.");
    let conflict = edge.call("aap_lead_submit", changed).send().payload();
    assert_eq!(conflict["code"], "IDEMPOTENCY_CONFLICT");
}
