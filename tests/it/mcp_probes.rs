//! Every row of MCP's ingress, wrong in each way, byte by byte: status, error number, echoed id, and that
//! nothing was executed.

use serde_json::{Value, json};

use crate::edge::{Answer, Edge, Plan, Probe};

const MISMATCH: i64 = -32020;
const VERSION: i64 = -32022;
const META: &str = "/params/_meta";
const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// A refusal: its status, its number, and the id of the request.
fn refused(name: &str, probe: Probe<'_>, status: u16, code: i64) -> Answer {
    let id = probe.body["id"].clone();
    let answer = probe.send();
    assert_eq!(
        (answer.status, answer.code()),
        (status, code),
        "{name}: {answer:?}"
    );
    assert_eq!(
        answer.json().get("id"),
        Some(&id),
        "{name}: the id is echoed"
    );
    assert_eq!(
        answer.json().get("result"),
        None,
        "{name}: nothing was executed"
    );
    answer
}

/// A refusal of something whose id could not be read: no `id` member at all.
fn refused_unread(name: &str, probe: Probe<'_>, status: u16, code: i64) -> Answer {
    let answer = probe.send();
    assert_eq!(
        (answer.status, answer.code()),
        (status, code),
        "{name}: {answer:?}"
    );
    assert_eq!(answer.json().get("id"), None, "{name}");
    answer
}

fn served(name: &str, probe: Probe<'_>) -> Answer {
    let id = probe.body["id"].clone();
    let answer = probe.send();
    assert_eq!(answer.status, 200, "{name}: {answer:?}");
    assert_eq!(answer.json()["id"], id, "{name}");
    assert!(answer.json().get("result").is_some(), "{name}: {answer:?}");
    answer
}

// AAP-071 AAP-072
#[test]
fn origins_are_held_against_the_allowed_ones_before_anything_else() {
    let edge = Edge::start();
    served("no origin", edge.search());
    for origin in [
        "https://agent.example",
        "HTTPS://AGENT.example",
        "http://localhost:6274",
    ] {
        let answer = served(origin, edge.search().header("Origin", origin));
        assert_eq!(answer.header("access-control-allow-origin"), Some(origin));
        assert_eq!(answer.header("vary"), Some("Origin"));
    }
    let bad: [&[u8]; 9] = [
        b"https://evil.example",
        b"null",
        b"",
        b"not-an-origin",
        b"https://agent.example/path",
        b"https://agent.example.evil.example",
        b"http://agent.example",
        b"https://agent.example@evil.example",
        b"https://\xff.example",
    ];
    for origin in bad {
        let name = String::from_utf8_lossy(origin).into_owned();
        for probe in [
            edge.search().header("Origin", origin),
            edge.search().header("Origin", origin).verb("OPTIONS"),
            edge.search().header("Origin", origin).verb("GET"),
        ] {
            let answer = refused_unread(&name, probe, 403, -32600);
            assert_eq!(answer.header("access-control-allow-origin"), None, "{name}");
        }
    }
    let twice = edge.search().header("Origin", "https://agent.example");
    refused_unread(
        "twice",
        twice.more("Origin", "https://agent.example"),
        403,
        -32600,
    );
}

// AAP-071
#[test]
fn a_browser_may_ask_first() {
    let edge = Edge::start();
    let preflight = edge
        .search()
        .verb("OPTIONS")
        .header("Origin", "https://agent.example")
        .header("Access-Control-Request-Method", "POST");
    let answer = preflight.send();
    assert_eq!((answer.status, answer.text.as_str()), (204, ""));
    let allowed = answer.header("access-control-allow-headers").unwrap();
    for name in [
        "accept",
        "authorization",
        "content-type",
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
        "mcp-session-id",
        "last-event-id",
    ] {
        assert!(allowed.split(", ").any(|known| known == name), "{name}");
    }
    assert_eq!(answer.header("access-control-allow-methods"), Some("POST"));
}

// AAP-067
#[test]
fn only_post_is_a_message() {
    let edge = Edge::start();
    for verb in ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "TRACE"] {
        let answer = edge.search().verb(verb).send();
        assert_eq!(answer.status, 405, "{verb}");
        assert_eq!(answer.header("allow"), Some("POST"), "{verb}");
    }
    let head = edge.search().verb("HEAD").send();
    assert_eq!((head.status, head.text.as_str()), (405, ""));
}

// AAP-067
#[test]
fn the_body_is_declared_as_json() {
    let edge = Edge::start();
    for good in [
        "application/json",
        "APPLICATION/JSON",
        "application/json; charset=utf-8",
    ] {
        served(good, edge.search().header("Content-Type", good));
    }
    for bad in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "",
        "application/json-rpc",
    ] {
        refused_unread(bad, edge.search().header("Content-Type", bad), 415, -32600);
    }
    refused_unread("absent", edge.search().without("Content-Type"), 415, -32600);
    let twice = edge.search().more("Content-Type", "application/json");
    refused_unread("twice", twice, 415, -32600);
}

// AAP-068 AAP-069 AAP-070 AAP-128
#[test]
fn accept_chooses_json_an_event_or_nothing() {
    let edge = Edge::start();
    served("absent", edge.search().without("Accept"));
    for good in [
        "*/*",
        "application/*",
        "application/json",
        "text/event-stream, application/json",
    ] {
        let answer = served(good, edge.search().header("Accept", good));
        assert_eq!(
            answer.header("content-type"),
            Some("application/json"),
            "{good}"
        );
    }
    for bad in ["application/json;q=0", "text/html", "*/*;q=0"] {
        refused_unread(bad, edge.search().header("Accept", bad), 406, -32600);
    }
    let answer = edge.search().header("Accept", "text/event-stream").send();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let data = answer
        .text
        .strip_prefix("event: message\ndata: ")
        .and_then(|rest| rest.strip_suffix("\n\n"))
        .unwrap();
    let message: Value = serde_json::from_str(data).unwrap();
    assert_eq!(message["id"], 7);
    assert_eq!(message["result"]["isError"], false);
}

// AAP-097
#[test]
fn the_body_is_exactly_one_json_rpc_message() {
    let edge = Edge::start();
    let unread: [(&str, &[u8], i64); 13] = [
        ("nothing", b"", -32700),
        ("broken", b"{bad", -32700),
        ("two texts", b"{}{}", -32700),
        (
            "not UTF-8",
            b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\"}",
            -32700,
        ),
        ("byte order mark", b"\xef\xbb\xbf{}", -32700),
        ("number", b"7", -32600),
        ("null", b"null", -32600),
        ("empty batch", b"[]", -32600),
        (
            "batch",
            br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
            -32600,
        ),
        (
            "null id",
            br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            -32600,
        ),
        (
            "fraction id",
            br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
            -32600,
        ),
        (
            "object id",
            br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
            -32600,
        ),
        (
            "same name twice",
            br#"{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}"#,
            -32700,
        ),
    ];
    for (name, text, code) in unread {
        refused_unread(name, edge.search().text(text), 400, code);
    }
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    assert_eq!(edge.search().text(deep).send().status, 400);
}

// AAP-097
#[test]
fn a_message_has_the_members_of_json_rpc() {
    let edge = Edge::start();
    refused(
        "no version",
        edge.search().set("", "jsonrpc", Value::Null),
        400,
        -32600,
    );
    refused(
        "version 1",
        edge.search().set("", "jsonrpc", json!("1.0")),
        400,
        -32600,
    );
    refused(
        "no method",
        edge.search().set("", "method", Value::Null),
        400,
        -32600,
    );
    refused(
        "method 1",
        edge.search().set("", "method", json!(1)),
        400,
        -32600,
    );
    refused(
        "params list",
        edge.search().set("", "params", json!([])),
        400,
        -32600,
    );
    refused(
        "params text",
        edge.search().set("", "params", json!("x")),
        400,
        -32600,
    );
}

// AAP-097
#[test]
fn ids_come_back_as_they_were() {
    let edge = Edge::start();
    for id in [
        json!("7"),
        json!(""),
        json!(0),
        json!(-3),
        json!(9_007_199_254_740_993_i64),
        json!("é\""),
    ] {
        served(&id.to_string(), edge.search().id(id.clone()));
        refused(
            "text",
            edge.search().id(id).header("Mcp-Method", "ping"),
            400,
            MISMATCH,
        );
    }
}

// AAP-113
#[test]
fn notifications_get_202_and_nothing() {
    let edge = Edge::start();
    for method in [
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/unknown",
    ] {
        for probe in [
            edge.probe(method, json!({})),
            edge.legacy("2025-11-25", method, json!({})),
            edge.legacy("2025-06-18", method, json!({})),
            edge.legacy("", method, json!({}))
                .without("MCP-Protocol-Version"),
        ] {
            let answer = probe.set("", "id", Value::Null).send();
            assert_eq!((answer.status, answer.text.as_str()), (202, ""), "{method}");
            assert_eq!(answer.header("content-length"), Some("0"), "{method}");
            assert_eq!(answer.header("content-type"), None, "{method}");
        }
    }
    let posted = br#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    let legacy = edge.legacy("2025-11-25", "ping", json!({})).text(posted);
    assert_eq!(legacy.send().status, 202);
    refused_unread("a response", edge.search().text(posted), 400, -32600);
}

// AAP-062 AAP-060
#[test]
fn the_current_revision_wants_its_metadata_in_the_body() {
    let edge = Edge::start();
    let set = |name: &str, value: Value| edge.search().set(META, name, value);
    let cases = [
        (
            "no _meta",
            edge.search().set("/params", "_meta", Value::Null),
        ),
        (
            "_meta text",
            edge.search().set("/params", "_meta", json!("x")),
        ),
        (
            "_meta list",
            edge.search().set("/params", "_meta", json!([])),
        ),
        (
            "empty _meta",
            edge.search().set("/params", "_meta", json!({})),
        ),
        ("no params", edge.search().set("", "params", Value::Null)),
        ("no version", set(META_VERSION, Value::Null)),
        ("version 20260728", set(META_VERSION, json!(20_260_728))),
        ("version list", set(META_VERSION, json!(["2026-07-28"]))),
        ("no capabilities", set(META_CAPABILITIES, Value::Null)),
        ("capabilities text", set(META_CAPABILITIES, json!("none"))),
        ("capabilities list", set(META_CAPABILITIES, json!([]))),
        (
            "log level",
            set("io.modelcontextprotocol/logLevel", json!("loud")),
        ),
    ];
    for (name, probe) in cases {
        refused(name, probe, 400, -32602);
    }
    let info = json!({"name": "probe", "version": "1", "title": "Probe"});
    served(
        "client info",
        set("io.modelcontextprotocol/clientInfo", info),
    );
    served(
        "log level",
        set("io.modelcontextprotocol/logLevel", json!("debug")),
    );
    served("progress token", set("progressToken", json!(0)));
    served(
        "capabilities",
        set(META_CAPABILITIES, json!({"sampling": {}, "extensions": {}})),
    );
}

// AAP-106 AAP-125 AAP-131
#[test]
fn a_version_header_agrees_with_the_body() {
    let edge = Edge::start();
    let with = |value: &str| edge.search().header("MCP-Protocol-Version", value);
    for wrong in [
        "2025-11-25",
        "2027-01-01",
        "2026-07-29",
        "",
        "2026-07-28, 2026-07-28",
        "latest",
    ] {
        let answer = refused(wrong, with(wrong), 400, MISMATCH);
        let message = answer.json()["error"]["message"]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(
            message.contains("2026-07-28") && message.contains(wrong),
            "{message}"
        );
    }
    refused(
        "twice",
        with("2026-07-28").more("MCP-Protocol-Version", "2026-07-28"),
        400,
        MISMATCH,
    );
    let bytes = edge
        .search()
        .header("MCP-Protocol-Version", &b"2026\xff"[..]);
    refused("bytes", bytes, 400, MISMATCH);
    served("white space", with("  2026-07-28\t"));
}

// AAP-107 AAP-534
#[test]
fn an_unknown_revision_is_answered_with_the_known_ones() {
    let edge = Edge::start();
    for date in ["2027-01-01", "2025-03-26", "2024-11-05", "1.0.0", ""] {
        let modern = edge
            .search()
            .set(META, META_VERSION, json!(date))
            .header("MCP-Protocol-Version", date);
        let answer = refused(date, modern, 400, VERSION);
        assert_eq!(answer.json()["error"]["data"]["requested"], date);
        let discover = edge.probe("server/discover", json!({})).send().json();
        let supported = &answer.json()["error"]["data"]["supported"];
        assert_eq!(supported, &discover["result"]["supportedVersions"]);
        let legacy = edge.legacy(date, "tools/list", json!({}));
        refused(date, legacy, 400, VERSION);
    }
}

// AAP-106 AAP-126 AAP-127
#[test]
fn mirrored_method_and_name_agree_with_the_body() {
    let edge = Edge::start();
    let method = |value: &str| edge.search().header("Mcp-Method", value);
    let name = |value: &str| edge.search().header("Mcp-Name", value);
    for wrong in ["tools/list", "TOOLS/CALL", "", "tools/call;x", "tools"] {
        refused(wrong, method(wrong), 400, MISMATCH);
    }
    refused(
        "twice",
        method("tools/call").more("Mcp-Method", "tools/call"),
        400,
        MISMATCH,
    );
    let encode = |text: &str| {
        use base64::Engine as _;
        let inner = base64::engine::general_purpose::STANDARD.encode(text);
        format!("=?base64?{inner}?=")
    };
    let tool = "aap_inventory_search";
    for wrong in [
        "aap_lead_submit".to_owned(),
        "AAP_INVENTORY_SEARCH".to_owned(),
        String::new(),
        encode("aap_lead_submit"),
        encode(tool).replace("==", ""),
        encode(tool).replace("=?base64?", "=?base64?*"),
        encode(tool).replace("base64", "BASE64"),
        "=?base64?/w==?=".to_owned(),
    ] {
        if wrong != encode(tool) {
            refused(&wrong, name(&wrong), 400, MISMATCH);
        }
    }
    refused("twice", name(tool).more("Mcp-Name", tool), 400, MISMATCH);
    refused(
        "bytes",
        edge.search().header("Mcp-Name", &b"aap\xff"[..]),
        400,
        MISMATCH,
    );
    refused(
        "no name in the body",
        edge.search().set("/params", "name", Value::Null),
        400,
        MISMATCH,
    );
    served("encoded", name(&encode(tool)));
    served("white space", name("  aap_inventory_search  "));
    served(
        "lower case header names",
        method("tools/call")
            .without("Mcp-Name")
            .header("mcp-name", tool),
    );
}

// AAP-124 AAP-126 AAP-127 AAP-129 AAP-550
#[test]
fn omitted_mirror_headers_are_taken_from_the_body() {
    let edge = Edge::start();
    let names = ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"];
    for set in 0..8_u8 {
        let omit = |probe| {
            let chosen = names
                .iter()
                .enumerate()
                .filter(|(bit, _)| set & (1 << bit) != 0);
            chosen.fold(probe, |probe: Probe<'_>, (_, name)| probe.without(name))
        };
        served("call", omit(edge.search()));
        served("list", omit(edge.probe("tools/list", json!({}))));
        served("discover", omit(edge.probe("server/discover", json!({}))));
    }
}

// AAP-129: the switch that upstream's own suite wants.
#[test]
fn strict_headers_refuses_each_omission_and_leaves_older_revisions_alone() {
    let mut plan = Plan::default();
    plan.mcp.strict_headers = true;
    let edge = Edge::with(plan);
    served("complete", edge.search());
    for name in ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"] {
        refused(name, edge.search().without(name), 400, MISMATCH);
    }
    served("a list has no name", edge.probe("tools/list", json!({})));
    served("older", edge.legacy("2025-11-25", "tools/list", json!({})));
}

// AAP-119
#[test]
fn methods_that_are_gone_are_404_and_sessions_are_ignored() {
    let edge = Edge::start();
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/list",
        "prompts/list",
        "subscriptions/listen",
        "tools/unknown",
        "",
        "server/Discover",
    ] {
        refused(method, edge.probe(method, json!({"x": {}})), 404, -32601);
    }
    for session in ["stray", "", "é"] {
        let answer = served(session, edge.search().header("Mcp-Session-Id", session));
        assert_eq!(answer.header("mcp-session-id"), None);
    }
    let answer = served("events", edge.search().header("Last-Event-ID", "7"));
    assert_eq!(answer.header("mcp-session-id"), None);
}

// AAP-097 AAP-098 AAP-534
#[test]
fn calls_that_are_no_calls_are_protocol_errors_and_bad_arguments_are_results() {
    let edge = Edge::start();
    let bare = || edge.search().without("Mcp-Name");
    for (name, value) in [
        ("unknown tool", json!("inventory.search")),
        ("tool of another case", json!("AAP_INVENTORY_SEARCH")),
        ("number", json!(1)),
        ("no name", Value::Null),
    ] {
        refused(name, bare().set("/params", "name", value), 200, -32602);
    }
    for arguments in [json!("x"), json!([]), json!(1), json!(true)] {
        refused(
            "arguments",
            bare().set("/params", "arguments", arguments),
            200,
            -32602,
        );
    }
    for cursor in [json!("x"), json!(""), json!(1)] {
        refused(
            "cursor",
            edge.probe("tools/list", json!({"cursor": cursor})),
            200,
            -32602,
        );
    }
    let text = bare().text(bare().body.to_string().replace(
        r#""arguments":{"type":"inventory.search.request"}"#,
        r#""arguments":null"#,
    ));
    for probe in [bare().set("/params", "arguments", Value::Null), text] {
        let error = served("absent arguments", probe).payload();
        assert_eq!(error["code"], "MISSING_REQUIRED_FIELD", "{error}");
        assert_eq!(error["details"]["errors"][0]["instanceLocation"], "/type");
    }
    let other = bare().set("/params/arguments", "type", json!("lead.submit.request"));
    let error = served("another type", other).payload();
    assert_eq!(error["code"], "SCHEMA_VALIDATION_FAILED");
    assert_eq!(error["details"]["errors"][0]["instanceLocation"], "/type");
}

// AAP-054 AAP-058 AAP-059 AAP-073 AAP-074 AAP-094 AAP-589
#[test]
fn results_of_the_current_revision_are_complete_and_say_whose_they_are() {
    let edge = Edge::start();
    for probe in [
        edge.probe("server/discover", json!({})),
        edge.probe("tools/list", json!({})),
        edge.search(),
    ] {
        let result = probe.send().json()["result"].take();
        assert_eq!(result["resultType"], "complete");
        assert_eq!(
            result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
            "forecourt"
        );
    }
    for method in ["server/discover", "tools/list"] {
        let result = edge.probe(method, json!({})).send().json()["result"].take();
        assert!(result["ttlMs"].is_u64(), "{method}");
        assert_eq!(result["cacheScope"], "public", "{method}");
    }
    let discover = edge.probe("server/discover", json!({})).send().json();
    let versions = &discover["result"]["supportedVersions"];
    assert_eq!(versions, &json!(["2026-07-28", "2025-11-25", "2025-06-18"]));
    assert_eq!(discover["result"]["capabilities"], json!({"tools": {}}));
}

// AAP-056 AAP-096 AAP-112 AAP-116 AAP-120 AAP-123 AAP-137
#[test]
fn older_revisions_begin_with_initialize_and_get_the_same_tools_and_answers() {
    let edge = Edge::start();
    for version in ["2025-11-25", "2025-06-18"] {
        let begun = served(version, edge.initialize(version));
        assert_eq!(begun.header("mcp-session-id"), None);
        let result = begun.json()["result"].take();
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["capabilities"], json!({"tools": {}}));
        let tools = served(version, edge.legacy(version, "tools/list", json!({}))).json();
        let modern = edge.probe("tools/list", json!({})).send().json();
        assert_eq!(tools["result"]["tools"], modern["result"]["tools"]);
        assert_eq!(tools["result"].get("resultType"), None);
        let params = json!({"name": "aap_inventory_search", "arguments": {"type": "inventory.search.request"}});
        let call = edge.legacy(version, "tools/call", params);
        // Mirror headers are of the current revision only.
        let answer = served(
            version,
            call.header("Mcp-Method", "wrong")
                .header("Mcp-Name", "wrong"),
        );
        assert_eq!(answer.json()["result"].get("resultType"), None);
        assert_eq!(answer.payload(), edge.search().send().payload());
        served(version, edge.legacy(version, "ping", json!({})));
        refused(
            version,
            edge.legacy(version, "server/discover", json!({})),
            200,
            -32601,
        );
        refused(
            version,
            edge.legacy(version, "resources/list", json!({})),
            200,
            -32601,
        );
    }
}

// AAP-063
#[test]
fn initialize_wants_its_three_members() {
    let edge = Edge::start();
    for (name, value) in [
        ("protocolVersion", Value::Null),
        ("protocolVersion", json!(1)),
        ("capabilities", Value::Null),
        ("capabilities", json!([])),
        ("clientInfo", Value::Null),
        ("clientInfo", json!("probe")),
    ] {
        refused(
            name,
            edge.initialize("2025-11-25").set("/params", name, value),
            200,
            -32602,
        );
    }
}

// AAP-114 AAP-117 AAP-118
#[test]
fn a_session_recovers_the_version_and_nothing_else() {
    let mut plan = Plan::default();
    plan.mcp.legacy_sessions = Some(forecourt::deployment::LegacySessions {
        keys: std::sync::Arc::new(forecourt::seal::KeyRing::generate().unwrap()),
        lifetime: std::time::Duration::from_hours(1),
    });
    let edge = Edge::with(plan);
    let begun = served("initialize", edge.initialize("2025-06-18"));
    let session = begun.header("mcp-session-id").unwrap().to_owned();
    assert!(session.bytes().all(|byte| byte.is_ascii_graphic()));
    let list = |session: &str| {
        edge.legacy("", "tools/list", json!({}))
            .without("MCP-Protocol-Version")
            .header("Mcp-Session-Id", session)
    };
    served("without the header", list(&session));
    served(
        "with it",
        list(&session).header("MCP-Protocol-Version", "2025-06-18"),
    );
    refused(
        "another",
        list(&session).header("MCP-Protocol-Version", "2025-11-25"),
        400,
        MISMATCH,
    );
    refused("unknown", list("stray"), 404, -32600);
    let altered = format!("{}A", session.trim_end_matches(|_: char| false));
    refused("altered", list(&altered), 404, -32600);
    served(
        "current requests ignore it",
        edge.search().header("Mcp-Session-Id", "stray"),
    );
    edge.clock.advance(jiff::SignedDuration::from_secs(3601));
    refused("ended", list(&session), 404, -32600);
}
