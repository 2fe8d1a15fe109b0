//! What the listener lets a peer do: sizes, times, hosts, shutdown; and the documents it serves.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use forecourt::contract::Skill;
use forecourt::deployment::Quota;
use forecourt::server;
use serde_json::json;

use crate::edge::{Edge, Plan, lead};

fn short() -> server::Settings {
    server::Settings {
        header_timeout: Duration::from_millis(300),
        body_timeout: Duration::from_millis(300),
        max_body_bytes: 4096,
        ..server::Settings::default()
    }
}

fn edge_with(settings: server::Settings) -> Edge {
    Edge::with(Plan {
        server: settings,
        ..Plan::default()
    })
}

#[test]
fn a_body_over_the_limit_is_413_whether_it_says_so_or_not() {
    let edge = edge_with(short());
    let long = edge.search().set("/params", "x", json!("x".repeat(5000)));
    let answer = long.send();
    assert_eq!((answer.status, answer.code()), (413, -32600));
    assert!(answer.header("x-request-id").is_some());
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
        edge.address
    );
    let chunk = format!("{:x}\r\n{}\r\n", 5000, "x".repeat(5000));
    let answer = edge.raw(format!("{head}{chunk}").as_bytes());
    assert_eq!(answer.status, 413);
}

#[test]
fn a_slow_body_is_408_and_a_slow_head_is_let_go() {
    let edge = edge_with(short());
    let slow = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{",
        edge.address
    );
    let answer = edge.raw(slow.as_bytes());
    assert_eq!((answer.status, answer.code()), (408, -32600));
    for start in ["", "P", "PRI * HT", "POST /mcp HTTP/1.1\r\nHost: x\r\n"] {
        let began = Instant::now();
        let mut stream = edge.connect();
        stream.write_all(start.as_bytes()).unwrap();
        let mut rest = Vec::new();
        // A reset is as good an end as a close.
        drop(stream.read_to_end(&mut rest));
        assert!(began.elapsed() < Duration::from_secs(10), "{start:?}");
    }
}

#[test]
fn a_refusal_leaves_the_connection_to_the_next_request() {
    let edge = Edge::with(Plan {
        pap: true,
        ..Plan::default()
    });
    let own = edge.address.to_string();
    for (what, path, host, status) in [
        (
            "no credentials",
            "/poppy/skills/lead.submit",
            own.as_str(),
            401,
        ),
        ("no such path", "/nothing", own.as_str(), 404),
        ("another host", "/mcp", "evil.example", 421),
        ("a document", "/llms.txt", own.as_str(), 405),
        ("no JSON", "/mcp", own.as_str(), 415),
    ] {
        for _ in 0..10 {
            let mut stream = edge.connect();
            let body = "x".repeat(5000);
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            // as clients do: the head first, and the body when that is out
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(body.as_bytes()).unwrap();
            let next = format!("GET /livez HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n");
            stream.write_all(next.as_bytes()).unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            assert!(
                text.starts_with(&format!("HTTP/1.1 {status}")),
                "{what}: {text}"
            );
            assert!(text.contains("HTTP/1.1 200 OK"), "{what}: {text}");
        }
    }
    let short = edge_with(short());
    let slow = format!(
        "POST /nothing HTTP/1.1\r\nHost: {}\r\nContent-Length: 100\r\n\r\nx",
        short.address
    );
    let answer = short.raw(slow.as_bytes());
    assert_eq!(
        (answer.status, answer.header("connection")),
        (404, Some("close"))
    );
}

#[test]
fn a_head_over_the_limit_is_431() {
    let edge = Edge::start();
    let answer = edge.search().header("X-Long", "x".repeat(64 * 1024)).send();
    assert_eq!(answer.status, 431);
    let mut many = edge.search();
    for index in 0..200 {
        many = many.more(&format!("X-{index}"), "x");
    }
    assert_eq!(many.send().status, 431);
}

#[test]
fn an_idle_and_a_busy_connection_do_not_hold_up_the_end() {
    let mut edge = Edge::start();
    let mut idle = edge.connect();
    let mut busy = edge.connect();
    busy.write_all(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n").unwrap();
    assert_eq!(edge.search().send().status, 200);
    assert!(edge.stop(Duration::from_secs(2)));
    let mut rest = String::new();
    drop(idle.read_to_string(&mut rest));
    assert_eq!(rest, "");
}

#[test]
fn every_answer_has_a_request_id_of_its_own() {
    let edge = Edge::start();
    let mut seen = std::collections::BTreeSet::new();
    for probe in [
        edge.search(),
        edge.search().verb("GET"),
        edge.search().path("/nowhere"),
        edge.search().header("Host", "evil.example"),
        edge.search().verb("GET").path("/llms.txt"),
        edge.search().header("X-Request-Id", "mine"),
    ] {
        seen.insert(probe.send().header("x-request-id").unwrap().to_owned());
    }
    assert_eq!(seen.len(), 6);
    assert!(!seen.contains("mine"));
}

#[test]
fn health_is_told_whatever_the_host() {
    let edge = Edge::start();
    for (path, status) in [("/livez", 200), ("/readyz", 200)] {
        let answer = edge
            .search()
            .verb("GET")
            .path(path)
            .header("Host", "probe")
            .send();
        assert_eq!(answer.status, status, "{path}");
    }
    let edge = Edge::with(Plan {
        ready: false,
        ..Plan::default()
    });
    assert_eq!(edge.search().verb("GET").path("/livez").send().status, 200);
    assert_eq!(edge.search().verb("GET").path("/readyz").send().status, 503);
}

// AAP-101 AAP-504
#[test]
fn too_many_requests_from_an_address_are_429_with_a_wait() {
    let edge = edge_with(server::Settings {
        requests_per_minute_per_address: Some(2),
        ..server::Settings::default()
    });
    assert_eq!(edge.search().send().status, 200);
    assert_eq!(edge.search().send().status, 200);
    let answer = edge.search().send();
    assert_eq!(answer.status, 429);
    let wait_s: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait_s));
}

// AAP-102 AAP-504 AAP-545
#[test]
fn a_spent_skill_quota_is_a_typed_result() {
    let edge = Edge::with(Plan {
        quota: Quota {
            leads_per_minute: Some(1),
            calls_per_minute: None,
            requests_per_minute: None,
        },
        ..Plan::default()
    });
    let first = edge.call("aap_lead_submit", lead("one")).send().payload();
    assert_eq!(first["data"]["status"], "received", "{first}");
    let error = edge.call("aap_lead_submit", lead("two")).send().payload();
    assert_eq!(
        (&error["code"], &error["retryable"]),
        (&json!("RATE_LIMITED"), &json!(true))
    );
    assert!(error["details"]["retry_after_ms"].as_u64().unwrap() > 0);
    assert_eq!(edge.search().send().payload()["data"]["total"], 5);
}

// AAP-009 AAP-036 AAP-037 AAP-038 AAP-046
#[test]
fn llms_txt_names_what_works_and_is_cacheable() {
    let edge = Edge::start();
    let get = || edge.search().verb("GET").path("/llms.txt").text("");
    let answer = get().send();
    assert_eq!(
        answer.header("content-type"),
        Some("text/markdown; charset=utf-8")
    );
    let mcp = format!("[MCP endpoint](http://{}/mcp)", edge.address);
    let inventory = format!("[Inventory](http://{}/inventory)", edge.address);
    for part in [
        "# Example Motors",
        "3.0.0",
        &mcp,
        &inventory,
        "no sign-in",
        "explicit consent",
    ] {
        assert!(answer.text.contains(part), "{part}: {}", answer.text);
    }
    for part in ["Agent Card", "Poppy document"] {
        assert!(answer.text.contains(part), "{part}: {}", answer.text);
    }
    assert!(
        !answer.text.contains("OpenAPI"),
        "without an issuer there is no native API"
    );
    let etag = answer.header("etag").unwrap().to_owned();
    let again = get().header("If-None-Match", etag).send();
    assert_eq!((again.status, again.text.as_str()), (304, ""));
    assert_eq!(get().verb("HEAD").send().text, "");
    assert_eq!(get().verb("POST").send().status, 405);
}

// AAP-036
#[test]
fn people_see_the_inventory_as_a_page() {
    let edge = Edge::start();
    let answer = edge.search().verb("GET").path("/inventory").text("").send();
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    assert!(answer.text.contains("5 vehicles on offer"));
    assert!(answer.text.contains("2024 Toyota Camry"));
    let foreign = edge
        .search()
        .verb("GET")
        .path("/inventory?cursor=%3Cscript%3E")
        .text("")
        .send();
    assert_eq!(foreign.status, 404);
    assert!(!foreign.text.contains("script"));
}

// AAP-079 AAP-084 AAP-085 AAP-086 AAP-087 AAP-088 AAP-089 AAP-090
#[test]
fn only_offered_skills_are_tools_and_each_says_what_it_is() {
    let edge = Edge::with(Plan {
        skills: vec![Skill::LeadSubmit, Skill::DealerInformation],
        ..Plan::default()
    });
    let list = edge.probe("tools/list", json!({})).send().json();
    let tools = list["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["aap_dealer_information", "aap_lead_submit"]);
    let read = json!({"title": "Dealer information", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": true});
    let lead = json!({"title": "Contact the dealer", "readOnlyHint": false, "destructiveHint": false, "idempotentHint": false, "openWorldHint": true});
    assert_eq!(
        (&tools[0]["annotations"], &tools[1]["annotations"]),
        (&read, &lead)
    );
    assert!(tools[1]["description"].as_str().unwrap().contains("7 days"));
    let base = "https://autoagentprotocol.org/v3.0/schemas/";
    assert_eq!(
        tools[0]["_meta"]["autoagentprotocol.org/aap"],
        json!({
            "version": "3.0.0", "skill_id": "dealer.information",
            "request_type": "dealer.information.request",
            "response_type": "dealer.information.response",
            "request_schema": format!("{base}dealer-information-request.schema.json"),
            "response_schema": format!("{base}dealer-information-response.schema.json"),
        })
    );
    let absent = edge.search().send();
    assert_eq!(
        (absent.status, absent.code()),
        (200, -32602),
        "not offered: no such tool"
    );
}

// AAP-044 AAP-080
#[test]
fn the_search_tool_states_its_capabilities() {
    let edge = Edge::start();
    let list = edge.probe("tools/list", json!({})).send().json();
    let search = &list["result"]["tools"][2];
    let capabilities = &search["_meta"]["autoagentprotocol.org/aap"]["capabilities"];
    assert_eq!(capabilities["scope"], "dealer");
    assert!(
        capabilities["filters"]
            .as_array()
            .unwrap()
            .contains(&json!("price_max"))
    );
}
