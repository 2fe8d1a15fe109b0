//! Canaries in every part of every kind of request: nothing that the process tells of itself may hold one, in
//! whatever form.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use crate::collector::Collector;
use crate::fleet::{feed, lead};
use crate::process::{Process, dealer, exchange};

/// Has a character that JSON, one that URLs, and one that both escape.
const CANARY: &str = "kanarien\"vogel é/7";
/// What of it stands in a header, where quotes and é may.
const PLAIN: &str = "kanarienvogel-7";

/// The forms in which a text can leak.
fn forms(text: &str) -> Vec<String> {
    let mut url = String::new();
    for byte in text.bytes() {
        write!(url, "%{byte:02X}").unwrap();
    }
    let json = serde_json::to_string(text).unwrap();
    let twice = serde_json::to_string(&json).unwrap();
    let mut ascii = String::new();
    for unit in text.encode_utf16() {
        match char::from_u32(u32::from(unit)).filter(char::is_ascii) {
            Some(plain) => ascii.push(plain),
            None => write!(ascii, "\\u{unit:04x}").unwrap(),
        }
    }
    let mut forms = vec![
        text.to_owned(),
        url.clone(),
        url.to_lowercase(),
        json.trim_matches('"').to_owned(),
        twice.trim_matches(['"', '\\']).to_owned(),
        ascii,
    ];
    // In base64 a text looks different at each of three places; what is sure of each is its middle.
    for before in 0..3 {
        let mut bytes = vec![b' '; before];
        bytes.extend_from_slice(text.as_bytes());
        for engine in [&STANDARD, &URL_SAFE_NO_PAD] {
            let encoded = engine.encode(&bytes);
            let end = encoded.len() - 6;
            forms.push(encoded[4..end].to_owned());
        }
    }
    forms
}

/// Replaces every text in a request by the canary, one at a time.
fn with_canary(request: &Value) -> Vec<Value> {
    fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => members
                .iter()
                .for_each(|(key, member)| pointers(member, &format!("{at}/{key}"), found)),
            Value::Array(list) => list
                .iter()
                .enumerate()
                .for_each(|(index, member)| pointers(member, &format!("{at}/{index}"), found)),
            Value::String(_) | Value::Number(_) | Value::Bool(_) => found.push(at.to_owned()),
            Value::Null => {}
        }
    }
    let mut found = Vec::new();
    pointers(request, "", &mut found);
    let replaced = found.iter().map(|at| {
        let mut request = request.clone();
        *request.pointer_mut(at).unwrap() = json!(CANARY);
        request
    });
    // And a member that nobody knows.
    let mut strange = request.clone();
    strange[CANARY] = json!(CANARY);
    replaced.chain([strange]).collect()
}

/// A request of every skill, with as much in it as it takes.
fn requests() -> Vec<(&'static str, Value)> {
    let filters = json!({ "make": ["Toyota"], "query": "camry", "price_max": 30_000 });
    let mut inquiry = lead("a-key", &json!({ "stock": "S1", "condition": "used" }));
    inquiry["customer"]["phone"] = json!("+13125550199");
    inquiry["customer"]["address"] = json!({ "city": "Chicago", "zip": "60601" });
    inquiry["appointment"] = json!({ "appointment_type": "sales", "notes": "soon" });
    vec![
        (
            "aap_dealer_information",
            json!({ "type": "dealer.information.request", "dealer_id": "x" }),
        ),
        (
            "aap_inventory_facets",
            json!({ "type": "inventory.facets.request", "filters": filters }),
        ),
        (
            "aap_inventory_search",
            json!({
                "type": "inventory.search.request", "filters": filters,
                "pagination": { "cursor": "x", "limit": 5 },
                "sort": { "field": "price", "order": "asc" },
            }),
        ),
        (
            "aap_inventory_vehicle",
            json!({ "type": "inventory.vehicle.request", "vin": "x", "stock": "S1", "vehicle_id": "a-1" }),
        ),
        ("aap_lead_submit", inquiry),
    ]
}

fn post(process: &Process, path: &str, kind: &str, headers: &str, body: &str) -> u16 {
    let length = body.len();
    let text = format!(
        "POST {path} HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\nContent-Type: {kind}\r\n{headers}\
         Content-Length: {length}\r\n\r\n{body}"
    );
    exchange(process.address, text.as_bytes()).status
}

/// Every header by which anything about a caller or a proxy can come.
fn headers() -> String {
    let names = [
        "Authorization",
        "Cookie",
        "DPoP",
        "Forwarded",
        "X-Forwarded-For",
        "X-Real-IP",
        "X-Request-Id",
        "User-Agent",
        "Referer",
        "Origin",
        "Mcp-Session-Id",
        "Mcp-Name",
        "A2A-Extensions",
        "Traceparent",
        "Idempotency-Key",
        "X-Own",
    ];
    let lines = names.map(|name| format!("{name}: {PLAIN}\r\n"));
    lines.concat()
}

/// Sends canaries everywhere; how many requests that were.
fn sing(process: &Process) -> usize {
    let mut sent = 0;
    let mut post_to = |path: &str, kind: &str, headers: &str, body: &str| {
        sent += 1;
        assert_ne!(post(process, path, kind, headers, body), 0);
    };
    let json_kind = "application/json";
    for (tool, request) in requests() {
        let skill = tool.replace("aap_", "").replacen('_', ".", 1);
        for arguments in with_canary(&request) {
            let params = json!({ "name": tool, "arguments": arguments });
            let call =
                json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
            let version = "MCP-Protocol-Version: 2025-11-25\r\n";
            post_to("/mcp", json_kind, version, &call.to_string());
            let part = json!({
                "data": arguments,
                "mediaType": format!("application/vnd.autoagent.{}-request+json", skill.replace('.', "-")),
            });
            let message = json!({
                "messageId": CANARY, "contextId": CANARY, "role": "ROLE_USER", "parts": [part],
            });
            let call = json!({
                "jsonrpc": "2.0", "id": CANARY, "method": "SendMessage", "params": { "message": message },
            });
            let extension = "A2A-Version: 1.0\r\nA2A-Extensions: https://autoagentprotocol.org/extensions/aap/v3.0\r\n";
            post_to("/a2a", json_kind, extension, &call.to_string());
            let path = format!("/poppy/skills/{skill}");
            let proof = format!("Authorization: DPoP {PLAIN}\r\nDPoP: {PLAIN}\r\n");
            post_to(&path, json_kind, &proof, &arguments.to_string());
        }
        // Headers, one request of each kind; then what is no request at all.
        for path in ["/mcp", "/a2a", "/poppy/skills/inventory.search"] {
            post_to(path, json_kind, &headers(), &request.to_string());
            post_to(path, json_kind, "", &format!("{{\"{PLAIN}"));
            post_to(path, PLAIN, "", PLAIN);
            post_to(&format!("{path}?{PLAIN}={PLAIN}"), json_kind, "", "{}");
        }
    }
    let form = format!(
        "grant_type={PLAIN}&assertion={PLAIN}&client_assertion={PLAIN}&client_id={PLAIN}&refresh_token={PLAIN}"
    );
    for path in ["/poppy/oauth/token", "/poppy/oauth/revoke"] {
        let kind = "application/x-www-form-urlencoded";
        post_to(path, kind, &headers(), &form);
        post_to(&format!("{path}?assertion={PLAIN}"), kind, "", &form);
    }
    for path in ["/inventory", "/llms.txt", "/readyz", "/nothing"] {
        post_to(
            &format!("{path}?cursor={PLAIN}"),
            "text/plain",
            &headers(),
            PLAIN,
        );
        post_to(&format!("{path}/{PLAIN}"), "text/plain", "", "");
    }
    for raw in [
        format!("GET /{PLAIN} HTTP/1.1\r\nHost: {PLAIN}\r\nConnection: close\r\n\r\n"),
        format!("{PLAIN} / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: a.example\r\n{PLAIN}\r\n\r\n"),
        format!("GET / {PLAIN}\r\n\r\n"),
    ] {
        exchange(process.address, raw.as_bytes());
        sent += 1;
    }
    sent
}

// AAP-146 AAP-341
#[test]
fn nothing_that_a_request_says_is_told_in_any_form() {
    let pap = format!(
        "{}[deployments.a.pap]\nenabled = true\n",
        dealer("a", "Dealer a")
    );
    let collector = Collector::start(200);
    let mut process = Process::start(
        "",
        &[
            ("conf/a.toml", pap),
            ("conf/otlp.toml", collector.config()),
            ("a.csv", feed("a", 30)),
        ],
    );
    let sent = sing(&process);
    assert!(sent > 150, "{sent}");
    // A delivery's own lines come later.
    process.wait_until("a lead is delivered", |process| {
        process
            .admin("/metrics")
            .text
            .contains("state=\"delivered\"")
    });
    process.wait_until("every request is told to the collector", |_| {
        collector.spans().len() > sent
    });
    let exported: Vec<u8> = collector
        .messages()
        .into_iter()
        .flat_map(|message| message.body)
        .collect();
    let told = [
        (
            "traces and metrics",
            String::from_utf8_lossy(&exported).into_owned(),
        ),
        ("log", process.log()),
        ("metrics", process.admin("/metrics").text),
        ("readiness", process.admin("/readyz").text),
    ];
    assert!(
        told[1].1.lines().count() > sent,
        "the log tells each request"
    );
    assert!(
        told[1].1.contains("\"level\":\"DEBUG\""),
        "at the finest level"
    );
    for (what, text) in told {
        for form in forms(CANARY).into_iter().chain(forms(PLAIN)) {
            let found = text.lines().find(|line| line.contains(&form));
            assert_eq!(found, None, "{what}: {form}");
        }
        for shared in [
            "alex@example.com",
            "+13125550199",
            "Is it still there",
            "60601",
        ] {
            let found = text.lines().find(|line| line.contains(shared));
            assert_eq!(found, None, "{what}: {shared}");
        }
    }
}

#[test]
fn the_search_for_canaries_finds_them() {
    let message = serde_json::to_string(&json!({ "m": format!("x {CANARY} y") })).unwrap();
    let encoded = STANDARD.encode(format!("Bearer a{CANARY}, more"));
    let mut url = String::new();
    for byte in CANARY.bytes() {
        write!(url, "%{byte:02x}").unwrap();
    }
    for text in [CANARY.to_owned(), message, encoded, url] {
        let found = forms(CANARY).into_iter().any(|form| text.contains(&form));
        assert!(found, "{text}");
    }
}
