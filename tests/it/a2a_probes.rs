//! A2A's envelope, activation, ProtoJSON and errors, byte by byte; and that MCP and A2A say the same.

use serde_json::{Value, json};

use crate::edge::{Answer, Edge, NOW, Probe, held};

const AAP: &str = "https://autoagentprotocol.org/extensions/aap/v3.0";
const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
const BAD_REQUEST: &str = "type.googleapis.com/google.rpc.BadRequest";
const STRUCT: &str = "type.googleapis.com/google.protobuf.Struct";

fn media(kind: &str) -> String {
    let stem = match kind.split_once(".request") {
        Some(("inventory.vehicle", _)) => "vehicle-detail".to_owned(),
        Some((id, _)) => id.replace('.', "-"),
        None => "inventory-search".to_owned(),
    };
    format!("application/vnd.autoagent.{stem}-request+json")
}

/// The probe that is right; a test makes it wrong.
pub(crate) fn send(edge: &Edge, data: impl Into<Value>) -> Probe<'_> {
    let data = data.into();
    let media = media(data["type"].as_str().unwrap_or_default());
    let mut probe = edge
        .probe("", json!({}))
        .path("/a2a")
        .without("Accept")
        .without("MCP-Protocol-Version")
        .without("Mcp-Method");
    probe.body = json!({
        "jsonrpc": "2.0", "id": 7, "method": "SendMessage",
        "params": {"message": {
            "messageId": "m-1", "role": "ROLE_USER",
            "parts": [{"data": data, "mediaType": media}],
        }},
    });
    probe
}

pub(crate) fn search(edge: &Edge) -> Probe<'_> {
    send(edge, json!({"type": "inventory.search.request"}))
}

/// A success: HTTP 200, the id, one agent message.
pub(crate) fn served(name: &str, probe: Probe<'_>) -> Value {
    let id = probe.body["id"].clone();
    let answer = probe.send();
    assert_eq!(answer.status, 200, "{name}: {answer:?}");
    let json = answer.json();
    assert_eq!(json["id"], id, "{name}");
    assert_eq!(json.get("error"), None, "{name}: {answer:?}");
    let message = json["result"]["message"].clone();
    assert_eq!(message["role"], "ROLE_AGENT", "{name}");
    held(&message["parts"][0]["data"]);
    message
}

/// A JSON-RPC error, which is HTTP 200 and JSON whatever its number, with an id member always.
pub(crate) fn refused(name: &str, probe: Probe<'_>, code: i64, id: &Value) -> Answer {
    let answer = probe.send();
    assert_eq!(
        (answer.status, answer.code()),
        (200, code),
        "{name}: {answer:?}"
    );
    assert_eq!(
        answer.header("content-type"),
        Some("application/json"),
        "{name}"
    );
    assert_eq!(answer.json().get("id"), Some(id), "{name}");
    assert_eq!(answer.json().get("result"), None, "{name}");
    assert_eq!(answer.header("a2a-extensions"), None, "{name}");
    answer
}

pub(crate) fn refused_7(name: &str, probe: Probe<'_>, code: i64) -> Answer {
    refused(name, probe, code, &json!(7))
}

/// The reason and domain of the first detail.
fn reason(answer: &Answer) -> (String, String) {
    let info = answer.json()["error"]["data"][0].clone();
    assert_eq!(info["@type"], ERROR_INFO, "{answer:?}");
    let text = |member: &str| info[member].as_str().unwrap().to_owned();
    (text("reason"), text("domain"))
}

pub(crate) fn a2a_reason(answer: &Answer, expected: &str) {
    assert_eq!(
        reason(answer),
        (expected.to_owned(), "a2a-protocol.org".to_owned())
    );
}

// AAP-148 AAP-150 AAP-154 AAP-159 AAP-161 AAP-162 AAP-163 AAP-164 AAP-182 AAP-551
#[test]
fn a_message_is_answered_by_a_message() {
    let edge = Edge::start();
    let answer = search(&edge).send();
    assert_eq!(answer.header("a2a-extensions"), Some(AAP));
    let message = answer.json()["result"]["message"].clone();
    assert!(!message["contextId"].as_str().unwrap().is_empty());
    let id = message["messageId"].as_str().unwrap();
    assert!(!id.is_empty() && id != "m-1", "{id}");
    let again = search(&edge).send().json()["result"]["message"].clone();
    assert_ne!(again["messageId"], message["messageId"]);
    for absent in ["kind", "taskId"] {
        assert_eq!(message.get(absent), None);
    }
    let part = &message["parts"][0];
    assert_eq!(part["data"]["type"], "inventory.search.response");
    assert_eq!(
        part["mediaType"],
        "application/vnd.autoagent.inventory-search-response+json"
    );
    let kept = search(&edge).set("/params/message", "contextId", json!("trip-9"));
    assert_eq!(served("context", kept)["contextId"], "trip-9");
    let stray = served(
        "stray context",
        search(&edge).set("/params", "contextId", json!("x")),
    );
    assert_ne!(stray["contextId"], "x");
    let vehicle = send(
        &edge,
        json!({"type": "inventory.vehicle.request", "vehicle_id": "none"}),
    );
    assert_eq!(
        vehicle.body["params"]["message"]["parts"][0]["mediaType"],
        "application/vnd.autoagent.vehicle-detail-request+json"
    );
    assert_eq!(vehicle.send().code(), -32000);
}

// AAP-159
#[test]
fn the_transport_is_post_of_json() {
    let edge = Edge::start();
    for verb in ["GET", "PUT", "DELETE", "OPTIONS"] {
        let answer = search(&edge).verb(verb).send();
        assert_eq!(
            (answer.status, answer.header("allow")),
            (405, Some("POST")),
            "{verb}"
        );
    }
    for good in [
        "application/json",
        "application/json; charset=utf-8",
        "Application/JSON",
    ] {
        served(good, search(&edge).header("Content-Type", good));
    }
    served("trailing slash", search(&edge).path("/a2a/"));
    for bad in [
        "text/plain",
        "application/a2a+json",
        "application/jsonx",
        "",
    ] {
        let probe = search(&edge).header("Content-Type", bad);
        a2a_reason(
            &refused(bad, probe, -32005, &Value::Null),
            "CONTENT_TYPE_NOT_SUPPORTED",
        );
    }
    refused(
        "none",
        search(&edge).without("Content-Type"),
        -32005,
        &Value::Null,
    );
}

// AAP-193
#[test]
fn the_envelope_is_one_json_rpc_call() {
    let edge = Edge::start();
    let null = Value::Null;
    for (name, text, code) in [
        ("nothing", &b""[..], -32700),
        ("broken", b"{bad", -32700),
        ("two texts", b"{}{}", -32700),
        ("NaN", b"{\"id\":NaN}", -32700),
        (
            "not UTF-8",
            b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\"}",
            -32700,
        ),
        (
            "lone surrogate",
            br#"{"jsonrpc":"2.0","id":"\ud800"}"#,
            -32700,
        ),
        (
            "same name twice",
            br#"{"jsonrpc":"2.0","id":1,"id":1,"method":"SendMessage"}"#,
            -32700,
        ),
        (
            "same name deep inside",
            br#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"a":{"b":1,"b":1}}}"#,
            -32700,
        ),
        ("text", b"\"x\"", -32600),
        ("number", b"7", -32600),
        ("null", b"null", -32600),
        ("empty batch", b"[]", -32600),
        (
            "batch",
            br#"[{"jsonrpc":"2.0","id":1,"method":"SendMessage"}]"#,
            -32600,
        ),
        (
            "no id",
            br#"{"jsonrpc":"2.0","method":"SendMessage"}"#,
            -32600,
        ),
        (
            "fraction id",
            br#"{"jsonrpc":"2.0","id":1.5,"method":"SendMessage"}"#,
            -32600,
        ),
        (
            "float id",
            br#"{"jsonrpc":"2.0","id":1.0,"method":"SendMessage"}"#,
            -32600,
        ),
        (
            "exponent id",
            br#"{"jsonrpc":"2.0","id":1e3,"method":"SendMessage"}"#,
            -32600,
        ),
        (
            "true id",
            br#"{"jsonrpc":"2.0","id":true,"method":"SendMessage"}"#,
            -32600,
        ),
        (
            "object id",
            br#"{"jsonrpc":"2.0","id":{},"method":"SendMessage"}"#,
            -32600,
        ),
        (
            "list id",
            br#"{"jsonrpc":"2.0","id":[1],"method":"SendMessage"}"#,
            -32600,
        ),
    ] {
        let answer = refused(name, search(&edge).text(text), code, &null);
        assert_eq!(answer.json()["error"].get("data"), None, "{name}");
    }
}

// AAP-193
#[test]
fn an_envelope_has_its_members() {
    let edge = Edge::start();
    for (name, member, value) in [
        ("no version", "jsonrpc", Value::Null),
        ("1.0", "jsonrpc", json!("1.0")),
        ("number version", "jsonrpc", json!(2.0)),
        ("no method", "method", Value::Null),
        ("empty method", "method", json!("")),
        ("number method", "method", json!(1)),
        ("text params", "params", json!("x")),
        ("number params", "params", json!(1)),
    ] {
        refused_7(name, search(&edge).set("", member, value), -32600);
    }
    refused_7(
        "no params",
        search(&edge).set("", "params", Value::Null),
        -32602,
    );
    refused_7(
        "list params",
        search(&edge).set("", "params", json!([1])),
        -32602,
    );
    served("further member", search(&edge).set("", "future", json!(1)));
}

// AAP-159
#[test]
fn ids_come_back_to_the_letter() {
    let edge = Edge::start();
    for id in [
        "7",
        "\"7\"",
        "0",
        "-3",
        "9223372036854775808",
        "123456789012345678901234567890",
        "\"\"",
        "\"a\\u00e9\\n\"",
        "null",
    ] {
        for method in ["SendMessage", "GetTask"] {
            let mut body = search(&edge).body;
            body["method"] = json!(method);
            let text = body
                .to_string()
                .replace("\"id\":7", &format!("\"id\":{id}"));
            let answer = search(&edge).text(text).send();
            assert_eq!(answer.status, 200);
            let echoed = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},");
            assert!(answer.text.starts_with(&echoed), "{id}: {}", answer.text);
        }
    }
}

// AAP-152 AAP-153 AAP-171 AAP-172 AAP-173 AAP-179 AAP-551
#[test]
fn a_version_is_the_endpoints_or_refused() {
    let edge = Edge::start();
    for good in ["1.0", " 1.0 ", "1.0.0", "1.0.17"] {
        served(good, search(&edge).header("A2A-Version", good));
    }
    for bad in [
        "", "0.3", "1", "1.1", "v1.0", "1.0.", "1.0.x", "99.0", "1.0,1.0",
    ] {
        let answer = refused_7(bad, search(&edge).header("A2A-Version", bad), -32009);
        a2a_reason(&answer, "VERSION_NOT_SUPPORTED");
    }
    let twice = search(&edge)
        .header("A2A-Version", "1.0")
        .more("A2A-Version", "1.0");
    refused_7("twice", twice, -32009);
    refused_7(
        "no text",
        search(&edge).header("A2A-Version", &b"\xff"[..]),
        -32009,
    );
    served("query", search(&edge).path("/a2a?A2A-Version=1.0"));
    refused_7("query", search(&edge).path("/a2a?A2A-Version=0.3"), -32009);
    let header = search(&edge)
        .path("/a2a?A2A-Version=0.3")
        .header("A2A-Version", "1.0");
    served("header over query", header);
    let earlier =
        search(&edge)
            .header("A2A-Version", "0.3")
            .set("", "method", json!("message/send"));
    refused_7("version first", earlier, -32009);
}

// AAP-174 AAP-175 AAP-176 AAP-183 AAP-195 AAP-543 AAP-544 AAP-551
#[test]
fn an_extension_is_the_endpoints_or_refused() {
    let edge = Edge::start();
    let listed = |list: &str| search(&edge).header("A2A-Extensions", list);
    served("exact", listed(AAP));
    served("among others", listed(&format!("urn:x , {AAP},urn:y")));
    served("second line", listed("urn:x").more("A2A-Extensions", AAP));
    served(
        "0.3 header",
        search(&edge).header("X-A2A-Extensions", "urn:x"),
    );
    for bad in [
        "",
        "urn:x",
        "https://autoagentprotocol.org/extensions/aap/v2.1",
        "https://autoagentprotocol.org/extensions/aap/v3.0/",
        "HTTPS://autoagentprotocol.org/extensions/aap/v3.0",
    ] {
        let answer = refused_7(bad, listed(bad), -32008);
        a2a_reason(&answer, "EXTENSION_SUPPORT_REQUIRED");
        let error = answer.json()["error"].clone();
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains(AAP) && message.contains("A2A-Extensions"),
            "{message}"
        );
        assert_eq!(
            error["data"][0]["metadata"],
            json!({"extensionUri": AAP, "requiredHeader": "A2A-Extensions"})
        );
    }
}

// AAP-158 AAP-165 AAP-166 AAP-167 AAP-168 AAP-542
#[test]
fn other_operations_have_their_own_errors() {
    let edge = Edge::start();
    let call = |method: &str| {
        let probe = search(&edge).set("", "method", json!(method));
        [probe.clone(), probe.set("", "params", Value::Null)]
    };
    for method in [
        "SendStreamingMessage",
        "SubscribeToTask",
        "GetTask",
        "ListTasks",
        "CancelTask",
        "GetExtendedAgentCard",
    ] {
        for probe in call(method) {
            a2a_reason(&refused_7(method, probe, -32004), "UNSUPPORTED_OPERATION");
        }
    }
    for method in [
        "CreateTaskPushNotificationConfig",
        "GetTaskPushNotificationConfig",
        "ListTaskPushNotificationConfigs",
        "DeleteTaskPushNotificationConfig",
    ] {
        for probe in call(method) {
            a2a_reason(
                &refused_7(method, probe, -32003),
                "PUSH_NOTIFICATION_NOT_SUPPORTED",
            );
        }
    }
    for method in [
        "message/send",
        "message/stream",
        "tasks/get",
        "sendMessage",
        "x",
        "tools/call",
    ] {
        for probe in call(method) {
            let answer = refused_7(method, probe, -32601);
            assert_eq!(answer.json()["error"].get("data"), None, "{method}");
        }
    }
}

// AAP-154 AAP-155 AAP-156 AAP-184
#[test]
fn a_message_is_read_by_proto_json() {
    let edge = Edge::start();
    let message = "/params/message";
    let part = "/params/message/parts/0";
    let at = |parent: &'static str, name: &'static str, value: Value| {
        search(&edge).set(parent, name, value)
    };
    for (name, probe) in [
        ("unknown in params", at("/params", "future", json!(1))),
        ("unknown in message", at(message, "future", json!(1))),
        ("0.3 kind", at(part, "kind", json!("data"))),
        ("numeric role", at(message, "role", json!(1))),
        ("empty tenant", at("/params", "tenant", json!(""))),
        ("empty taskId", at(message, "taskId", json!(""))),
        ("empty contextId", at(message, "contextId", json!(""))),
        ("references", at(message, "referenceTaskIds", json!(["t"]))),
        ("metadata", at(message, "metadata", json!({"a": 1}))),
        (
            "empty configuration",
            at("/params", "configuration", json!({})),
        ),
        (
            "no modes",
            at(
                "/params",
                "configuration",
                json!({"acceptedOutputModes": []}),
            ),
        ),
        (
            "any mode",
            at(
                "/params",
                "configuration",
                json!({"acceptedOutputModes": ["*/*"]}),
            ),
        ),
        (
            "history",
            at("/params", "configuration", json!({"historyLength": "5"})),
        ),
        (
            "float history",
            at("/params", "configuration", json!({"historyLength": 5.0})),
        ),
        (
            "immediately",
            at(
                "/params",
                "configuration",
                json!({"returnImmediately": true}),
            ),
        ),
        (
            "blocking",
            at("/params", "configuration", json!({"blocking": true})),
        ),
        (
            "snake mode",
            at(
                "/params",
                "configuration",
                json!({"accepted_output_modes": ["*/*"]}),
            ),
        ),
        ("same message id", search(&edge)),
    ] {
        served(name, probe);
    }
    let snake = search(&edge)
        .set(message, "messageId", Value::Null)
        .set(message, "message_id", json!("m"))
        .set(part, "mediaType", Value::Null)
        .set(
            part,
            "media_type",
            json!("application/vnd.autoagent.inventory-search-request+json"),
        );
    served("snake_case", snake);
}

// AAP-153 AAP-155
#[test]
fn a_message_that_proto_json_refuses_names_its_field() {
    let edge = Edge::start();
    let message = "/params/message";
    let part = "/params/message/parts/0";
    let at = |parent: &'static str, name: &'static str, value: Value| {
        search(&edge).set(parent, name, value)
    };
    for (name, probe) in [
        ("no message", at("/params", "message", Value::Null)),
        (
            "text message",
            at("/params", "message", json!("find a car")),
        ),
        ("no messageId", at(message, "messageId", Value::Null)),
        ("empty messageId", at(message, "messageId", json!(""))),
        ("number messageId", at(message, "messageId", json!(5))),
        ("two spellings", at(message, "message_id", json!("m"))),
        ("no role", at(message, "role", Value::Null)),
        ("0.3 role", at(message, "role", json!("user"))),
        ("agent role", at(message, "role", json!("ROLE_AGENT"))),
        (
            "unspecified role",
            at(message, "role", json!("ROLE_UNSPECIFIED")),
        ),
        ("number role 2", at(message, "role", json!(2))),
        ("no parts", at(message, "parts", Value::Null)),
        ("empty parts", at(message, "parts", json!([]))),
        ("object parts", at(message, "parts", json!({}))),
        ("text part", at(message, "parts", json!(["x"]))),
        ("empty part", at(message, "parts", json!([{}]))),
        ("two contents", at(part, "text", json!(""))),
        ("number mediaType", at(part, "mediaType", json!(1))),
        ("list metadata", at(part, "metadata", json!([]))),
        ("number contextId", at(message, "contextId", json!(1))),
        ("control contextId", at(message, "contextId", json!("a\nb"))),
        (
            "long contextId",
            at(message, "contextId", json!("x".repeat(257))),
        ),
        ("other tenant", at("/params", "tenant", json!("t-2"))),
        ("number tenant", at("/params", "tenant", json!(1))),
        (
            "text configuration",
            at("/params", "configuration", json!("x")),
        ),
        (
            "text modes",
            at(
                "/params",
                "configuration",
                json!({"acceptedOutputModes": "*/*"}),
            ),
        ),
        (
            "number mode",
            at(
                "/params",
                "configuration",
                json!({"acceptedOutputModes": [1]}),
            ),
        ),
        (
            "negative history",
            at("/params", "configuration", json!({"historyLength": -1})),
        ),
        (
            "half history",
            at("/params", "configuration", json!({"historyLength": 1.5})),
        ),
        (
            "large history",
            at(
                "/params",
                "configuration",
                json!({"historyLength": 2_147_483_648_i64}),
            ),
        ),
        (
            "word boolean",
            at(
                "/params",
                "configuration",
                json!({"returnImmediately": "true"}),
            ),
        ),
    ] {
        let answer = refused_7(name, probe, -32602);
        let detail = &answer.json()["error"]["data"][0];
        assert_eq!(detail["@type"], BAD_REQUEST, "{name}");
        assert!(
            !detail["fieldViolations"][0]["field"]
                .as_str()
                .unwrap()
                .is_empty(),
            "{name}"
        );
    }
    let task = at(message, "taskId", json!("t-1"));
    a2a_reason(&refused_7("task", task, -32001), "TASK_NOT_FOUND");
    let push = at(
        "/params",
        "configuration",
        json!({"taskPushNotificationConfig": {}}),
    );
    a2a_reason(
        &refused_7("push", push, -32003),
        "PUSH_NOTIFICATION_NOT_SUPPORTED",
    );
}

// AAP-156 AAP-157 AAP-160 AAP-188
#[test]
fn the_first_part_says_what_is_asked() {
    let edge = Edge::start();
    let part = "/params/message/parts/0";
    let modes = |list: Value| {
        search(&edge).set(
            "/params",
            "configuration",
            json!({"acceptedOutputModes": list}),
        )
    };
    let response = "application/vnd.autoagent.inventory-search-response+json";
    served("the mode", modes(json!([response])));
    served("one of two", modes(json!(["text/plain", response])));
    for (name, probe) in [
        ("other mode", modes(json!(["application/x-nope"]))),
        (
            "no media type",
            search(&edge).set(part, "mediaType", Value::Null),
        ),
        (
            "plain JSON",
            search(&edge).set(part, "mediaType", json!("application/json")),
        ),
        (
            "response type",
            search(&edge).set(part, "mediaType", json!(response)),
        ),
        (
            "other skill's",
            search(&edge).set(part, "mediaType", json!(media("lead.submit.request"))),
        ),
        (
            "text",
            search(&edge).set(
                "/params/message",
                "parts",
                json!([{"text": "find a Honda"}]),
            ),
        ),
        (
            "raw",
            search(&edge).set(
                "/params/message",
                "parts",
                json!([{"raw": "dGNr", "mediaType": "application/x"}]),
            ),
        ),
        ("text before data", {
            let data = search(&edge).body["params"]["message"]["parts"][0].clone();
            search(&edge).set("/params/message", "parts", json!([{"text": "x"}, data]))
        }),
    ] {
        a2a_reason(
            &refused_7(name, probe, -32005),
            "CONTENT_TYPE_NOT_SUPPORTED",
        );
    }
    let data = search(&edge).body["params"]["message"]["parts"][0].clone();
    let after = search(&edge).set(
        "/params/message",
        "parts",
        json!([data, {"text": "only Hondas"}]),
    );
    let total = |message: &Value| message["parts"][0]["data"]["data"]["total"].clone();
    assert_eq!(
        total(&served("text after", after)),
        total(&served("alone", search(&edge)))
    );
    for (name, value) in [("null data", Value::Null), ("list data", json!([]))] {
        let mut probe = search(&edge);
        probe.body["params"]["message"]["parts"][0]["data"] = value;
        let answer = refused_7(name, probe, -32602);
        assert_eq!(reason(&answer).1, "autoagentprotocol.org", "{name}");
    }
    let unknown = send(&edge, json!({"type": "inventory.trade.request"}));
    let answer = refused_7("unknown skill", unknown, -32602);
    assert_eq!(reason(&answer).0, "UNSUPPORTED_SKILL");
}

/// The typed error inside a skill's error.
pub(crate) fn typed(answer: &Answer) -> Value {
    let data = answer.json()["error"]["data"].clone();
    let find = |kind: &str| {
        data.as_array()
            .unwrap()
            .iter()
            .find(|detail| detail["@type"] == kind)
            .cloned()
    };
    let error = find(STRUCT).unwrap()["value"].clone();
    let info = find(ERROR_INFO).unwrap();
    assert_eq!(info["metadata"]["error_id"], error["error_id"]);
    assert_eq!(info["metadata"]["code"], error["code"]);
    assert_eq!(
        info["metadata"]["retryable"],
        error["retryable"].to_string()
    );
    assert_eq!(info["metadata"]["created_at"], error["created_at"]);
    assert!(
        info["metadata"]
            .as_object()
            .unwrap()
            .values()
            .all(Value::is_string)
    );
    let listed = error["details"]["errors"].as_array().map_or(0, Vec::len);
    let violations = find(BAD_REQUEST).map(|detail| detail["fieldViolations"].clone());
    assert_eq!(
        violations
            .and_then(|v| v.as_array().map(Vec::len))
            .unwrap_or(0),
        listed
    );
    held(&error);
    error
}

fn lead(key: &str) -> Value {
    json!({
        "type": "lead.submit.request",
        "customer": {"first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com"},
        "consent": {"granted_at": NOW, "allowed_channels": ["email"], "scope": ["lead_submission"],
                    "consent_text": "Yes, by e-mail."},
        "source_agent": {"name": "probe"}, "idempotency_key": key,
    })
}

/// Requests of every skill, right and wrong in each way that a skill answers.
fn requests() -> Vec<(&'static str, Value)> {
    let mut late = lead("late");
    late["consent"]["expires_at"] = json!("2026-11-30T11:00:00Z");
    late["consent"]["granted_at"] = json!("2026-11-30T10:00:00Z");
    let mut bare = lead("bare");
    bare.as_object_mut().unwrap().remove("consent");
    let search = |filters: Value| json!({"type": "inventory.search.request", "filters": filters});
    vec![
        (
            "aap_dealer_information",
            json!({"type": "dealer.information.request"}),
        ),
        (
            "aap_dealer_information",
            json!({"type": "dealer.information.request", "dealer_id": "no"}),
        ),
        (
            "aap_inventory_facets",
            json!({"type": "inventory.facets.request"}),
        ),
        ("aap_inventory_search", search(json!({}))),
        (
            "aap_inventory_search",
            search(json!({"price_max": 35000.0})),
        ),
        (
            "aap_inventory_search",
            search(json!({"made_up": 1, "year_min": "x"})),
        ),
        (
            "aap_inventory_search",
            search(json!({"price_min": 2, "price_max": 1})),
        ),
        (
            "aap_inventory_search",
            search(json!({"features_all": ["no_such_feature"]})),
        ),
        (
            "aap_inventory_search",
            json!({"type": "inventory.search.request", "pagination": {"cursor": "x"}}),
        ),
        (
            "aap_inventory_vehicle",
            json!({"type": "inventory.vehicle.request", "vehicle_id": "none"}),
        ),
        (
            "aap_inventory_vehicle",
            json!({"type": "inventory.vehicle.request"}),
        ),
        ("aap_lead_submit", bare),
        ("aap_lead_submit", late),
        ("aap_lead_submit", lead("once")),
    ]
}

/// Without what is new in each answer.
pub(crate) fn settled(mut value: Value) -> Value {
    if let Some(members) = value.as_object_mut() {
        for fresh in ["error_id", "created_at"] {
            members.remove(fresh);
        }
    }
    // The second binding replays the first one's lead.
    if let Some(data) = value.pointer_mut("/data").and_then(Value::as_object_mut) {
        data.remove("replayed");
    }
    value
}

// AAP-041 AAP-050 AAP-055 AAP-116 AAP-151 AAP-185 AAP-186 AAP-187 AAP-189 AAP-192 AAP-447 AAP-475 AAP-526 AAP-533 AAP-535 AAP-536 AAP-537 AAP-549
#[test]
fn mcp_and_a2a_say_the_same() {
    let edge = Edge::start();
    for (tool, request) in requests() {
        let over_mcp = edge.call(tool, request.clone()).send().payload();
        let answer = send(&edge, request.clone()).send();
        let over_a2a = match answer.json().get("error") {
            Some(_) => typed(&answer),
            None => answer.json()["result"]["message"]["parts"][0]["data"].clone(),
        };
        assert_eq!(settled(over_mcp), settled(over_a2a), "{tool}: {request}");
    }
}

// AAP-476: an official client sends every number as a float, in an order of its own.
#[test]
fn a_retry_with_floats_is_the_same_lead() {
    let edge = Edge::start();
    let mut first = lead("floats");
    first["vehicle_of_interest"] = json!({"year": 2024, "make": "Honda"});
    let first = served("first", send(&edge, first));
    let text = r#"{"idempotency_key":"floats","source_agent":{"name":"probe"},"vehicle_of_interest":{"make":"Honda","year":2024.0},"consent":{"scope":["lead_submission"],"consent_text":"Yes, by e-mail.","allowed_channels":["email"],"granted_at":"NOW"},"customer":{"email":"ada@example.com","last_name":"Lovelace","first_name":"Ada"},"type":"lead.submit.request"}"#;
    let retry: Value = serde_json::from_str(&text.replace("NOW", NOW)).unwrap();
    let retry = served("retry", send(&edge, retry));
    let data = |message: &Value| message["parts"][0]["data"]["data"].clone();
    assert_eq!(data(&retry)["replayed"], true);
    assert_eq!(data(&retry)["lead_id"], data(&first)["lead_id"]);
}

// AAP-006 AAP-008 AAP-012 AAP-013 AAP-014 AAP-016 AAP-017 AAP-018 AAP-020 AAP-021 AAP-022 AAP-023 AAP-024 AAP-029 AAP-044 AAP-046 AAP-064 AAP-149 AAP-206 AAP-215 AAP-549
#[test]
fn discovery_documents_tell_one_truth() {
    let edge = Edge::start();
    let get = |path: &str| search(&edge).verb("GET").path(path).text("").send();
    let contract = forecourt::contract::Contract::v3_0().unwrap();
    let card = get("/.well-known/agent-card.json");
    assert_eq!(card.header("content-type"), Some("application/json"));
    assert!(card.header("etag").is_some() && card.header("cache-control").is_some());
    let card = card.json();
    assert_eq!(contract.check_document("agent-card", &card), Ok(()));
    let poppy = get("/.well-known/poppy.json").json();
    assert_eq!(contract.check_document("poppy", &poppy), Ok(()));
    assert_eq!(
        (poppy.get("auth"), poppy.get("apis")),
        (None, None),
        "no issuer is named"
    );
    let params = &card["capabilities"]["extensions"][0]["params"];
    let bridge = &poppy["extensions"]["autoagentprotocol.org/aap"];
    assert_eq!(params["mcp"]["url"], bridge["mcp"]);
    let llms = get("/llms.txt").text;
    for url in [
        &params["mcp"]["url"],
        &params["poppy"],
        &bridge["agent_card"],
    ] {
        assert!(llms.contains(url.as_str().unwrap()), "{url}");
    }
    let tools = edge.probe("tools/list", json!({})).send().json();
    let ids: Vec<_> = card["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skill| &skill["id"])
        .collect();
    assert_eq!(
        ids.len(),
        tools["result"]["tools"].as_array().unwrap().len()
    );
    assert_eq!(params["skills"].as_object().unwrap().len(), ids.len());
    let head = search(&edge)
        .verb("HEAD")
        .path("/.well-known/agent-card.json")
        .text("")
        .send();
    assert_eq!((head.status, head.text.as_str()), (200, ""));
    let etag = head.header("etag").unwrap().to_owned();
    let again = search(&edge)
        .verb("GET")
        .path("/.well-known/agent-card.json")
        .text("");
    assert_eq!(again.header("If-None-Match", etag).send().status, 304);
}

// AAP-044 AAP-390
#[test]
fn card_and_tool_offer_the_same_search() {
    let edge = Edge::start();
    let card = search(&edge)
        .verb("GET")
        .path("/.well-known/agent-card.json")
        .text("");
    let card = card.send().json();
    let params = &card["capabilities"]["extensions"][0]["params"];
    let tools = edge.probe("tools/list", json!({})).send().json();
    let tools = tools["result"]["tools"].as_array().unwrap();
    let tool = tools
        .iter()
        .find(|tool| tool["name"] == "aap_inventory_search");
    let of_tool = &tool.unwrap()["_meta"]["autoagentprotocol.org/aap"]["capabilities"];
    let on_card = &params["skills"]["inventory.search"]["capabilities"];
    assert_eq!(of_tool, on_card);
    let contract = forecourt::contract::Contract::v3_0().unwrap();
    let held = contract.check_document("inventory-capabilities", on_card);
    assert_eq!(held, Ok(()));
}

// AAP-003 AAP-079 AAP-198
#[test]
fn a_smaller_set_of_skills_is_smaller_everywhere() {
    let plan = crate::edge::Plan {
        skills: vec![forecourt::contract::Skill::DealerInformation],
        ..crate::edge::Plan::default()
    };
    let edge = Edge::with(plan);
    let card = search(&edge)
        .verb("GET")
        .path("/.well-known/agent-card.json")
        .text("")
        .send()
        .json();
    assert_eq!(card["skills"].as_array().unwrap().len(), 1);
    let params = &card["capabilities"]["extensions"][0]["params"];
    assert_eq!(
        params["skills"]
            .as_object()
            .unwrap()
            .keys()
            .collect::<Vec<_>>(),
        ["dealer.information"]
    );
    let answer = refused_7("not offered", search(&edge), -32602);
    assert_eq!(typed(&answer)["code"], "UNSUPPORTED_SKILL");
}
