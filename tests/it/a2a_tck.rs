//! What A2A's conformance kit asks of a server that only exchanges messages, and what broke other servers.

use serde_json::{Value, json};

use crate::a2a_probes::{a2a_reason, refused, refused_7, search, send, served, typed};
use crate::edge::{Answer, Edge};

fn card(edge: &Edge) -> Value {
    let probe = search(edge).verb("GET").text("");
    probe.path("/.well-known/agent-card.json").send().json()
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    keys
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

// AAP-015 AAP-016 AAP-204
#[test]
fn the_card_has_the_members_of_a_1_0_card_and_no_others() {
    let edge = Edge::start();
    let card = card(&edge);
    assert_eq!(
        keys(&card),
        [
            "capabilities",
            "defaultInputModes",
            "defaultOutputModes",
            "description",
            "name",
            "skills",
            "supportedInterfaces",
            "version",
        ]
    );
    assert_eq!(
        keys(&card["capabilities"]),
        [
            "extendedAgentCard",
            "extensions",
            "pushNotifications",
            "streaming"
        ]
    );
    let interfaces = card["supportedInterfaces"].as_array().unwrap();
    assert_eq!(interfaces.len(), 1, "there is no further interface");
    assert_eq!(
        interfaces[0],
        json!({
            "url": format!("http://{}/a2a", edge.address),
            "protocolBinding": "JSONRPC", "protocolVersion": "1.0",
        })
    );
    assert!(!has_null(&card));
    for list in ["defaultInputModes", "defaultOutputModes", "skills"] {
        assert!(!card[list].as_array().unwrap().is_empty(), "{list}");
    }
    for skill in card["skills"].as_array().unwrap() {
        assert_eq!(
            keys(skill),
            [
                "description",
                "id",
                "inputModes",
                "name",
                "outputModes",
                "tags"
            ]
        );
        assert!(!skill["tags"].as_array().unwrap().is_empty());
        for text in ["id", "name", "description"] {
            assert!(!skill[text].as_str().unwrap().is_empty());
        }
    }
    let extension = &card["capabilities"]["extensions"][0];
    assert!(extension["params"].is_object());
}

// AAP-005 AAP-019 AAP-028
#[test]
fn the_card_tells_contract_software_and_deployment_apart() {
    let edge = Edge::start();
    let card = card(&edge);
    let extension = &card["capabilities"]["extensions"][0];
    assert!(
        extension["uri"]
            .as_str()
            .unwrap()
            .ends_with("/extensions/aap/v3.0")
    );
    assert_eq!(extension["params"]["version"], "3.0.0");
    assert_eq!(card["version"], env!("CARGO_PKG_VERSION"));
    assert_ne!(card["version"], extension["params"]["version"]);
    assert_eq!(extension["params"]["id"], "example");
    let asked = search(&edge)
        .verb("GET")
        .path("/.well-known/agent-card.json?user=u-1")
        .header("Authorization", "Bearer x")
        .header("Cookie", "user=u-1")
        .text("")
        .send();
    assert_eq!(asked.json(), card, "whoever asks");
}

/// Closed members, a code of JSON-RPC's or A2A's range, `ErrorInfo` first where there are details.
fn well_formed(name: &str, answer: &Answer) {
    let json = answer.json();
    assert_eq!(keys(&json), ["error", "id", "jsonrpc"], "{name}");
    assert_eq!(json["jsonrpc"], "2.0", "{name}");
    let error = &json["error"];
    let code = error["code"].as_i64().unwrap();
    let known =
        (-32603..=-32600).contains(&code) || code == -32700 || (-32099..=-32000).contains(&code);
    assert!(known, "{name}: {code}");
    assert!(!error["message"].as_str().unwrap().is_empty(), "{name}");
    let Some(details) = error.get("data") else {
        assert_eq!(keys(error), ["code", "message"], "{name}");
        return;
    };
    assert_eq!(keys(error), ["code", "data", "message"], "{name}");
    for detail in details.as_array().unwrap() {
        let kind = detail["@type"].as_str().unwrap();
        assert!(
            kind.starts_with("type.googleapis.com/google."),
            "{name}: {kind}"
        );
        let metadata = detail
            .get("metadata")
            .map(|metadata| metadata.as_object().unwrap());
        let texts = metadata.is_none_or(|metadata| metadata.values().all(Value::is_string));
        assert!(texts, "{name}: {detail}");
        assert_ne!(
            metadata.map(serde_json::Map::len),
            Some(0),
            "{name}: no empty metadata"
        );
    }
}

/// Method, parameters, number and reason.
const NOT_SERVED: &[(&str, &str, i64, &str)] = &[
    (
        "CreateTaskPushNotificationConfig",
        r#"{"task_id": "t", "url": "https://x.example"}"#,
        -32003,
        PUSH,
    ),
    (
        "ListTaskPushNotificationConfigs",
        r#"{"task_id": "t"}"#,
        -32003,
        PUSH,
    ),
    (
        "GetTaskPushNotificationConfig",
        r#"{"task_id": "t", "id": "c"}"#,
        -32003,
        PUSH,
    ),
    (
        "DeleteTaskPushNotificationConfig",
        r#"{"task_id": "t", "id": "c"}"#,
        -32003,
        PUSH,
    ),
    (
        "SendStreamingMessage",
        r#"{"message": {}}"#,
        -32004,
        OPERATION,
    ),
    ("SubscribeToTask", r#"{"id": "t"}"#, -32004, OPERATION),
    (
        "GetTask",
        r#"{"id": "t", "history_length": 1}"#,
        -32004,
        OPERATION,
    ),
    ("CancelTask", r#"{"id": "t"}"#, -32004, OPERATION),
    (
        "ListTasks",
        r#"{"page_size": 5, "context_id": "c"}"#,
        -32004,
        OPERATION,
    ),
    ("GetExtendedAgentCard", "null", -32004, OPERATION),
];
const PUSH: &str = "PUSH_NOTIFICATION_NOT_SUPPORTED";
const OPERATION: &str = "UNSUPPORTED_OPERATION";

// AAP-151 AAP-165 AAP-166 AAP-167 AAP-168 AAP-542
#[test]
fn every_operation_that_is_not_served_has_its_error() {
    let edge = Edge::start();
    for (method, params, code, reason) in NOT_SERVED {
        let params: Value = serde_json::from_str(params).unwrap();
        let probe = search(&edge).path("/a2a/").set("", "method", json!(method));
        let answer = refused_7(method, probe.set("", "params", params), *code);
        a2a_reason(&answer, reason);
        well_formed(method, &answer);
    }
    for earlier in [
        "message/send",
        "message/stream",
        "tasks/get",
        "tasks/list",
        "tasks/cancel",
        "tasks/resubscribe",
        "tasks/pushNotificationConfig/set",
        "tasks/pushNotificationConfig/get",
        "tasks/pushNotificationConfig/list",
        "tasks/pushNotificationConfig/delete",
        "agent/getAuthenticatedExtendedCard",
        "sendMessage",
        "SENDMESSAGE",
        "SendMessage ",
        "NonExistentMethod",
    ] {
        let answer = refused_7(
            earlier,
            search(&edge).set("", "method", json!(earlier)),
            -32601,
        );
        well_formed(earlier, &answer);
    }
}

// AAP-151 AAP-169 AAP-187 AAP-542
#[test]
fn every_error_has_the_kits_form() {
    let edge = Edge::start();
    let message = "/params/message";
    let unsupported = json!([{"raw": "dGNr", "mediaType": "application/x-unsupported"}]);
    for (code, reason, probe) in [
        (
            -32001,
            "TASK_NOT_FOUND",
            search(&edge).set(message, "taskId", json!("t")),
        ),
        (
            -32001,
            "TASK_NOT_FOUND",
            search(&edge).set(message, "task_id", json!("t")),
        ),
        (
            -32005,
            "CONTENT_TYPE_NOT_SUPPORTED",
            search(&edge).set(message, "parts", unsupported),
        ),
        (
            -32008,
            "EXTENSION_SUPPORT_REQUIRED",
            search(&edge).header("A2A-Extensions", "urn:other"),
        ),
        (
            -32009,
            "VERSION_NOT_SUPPORTED",
            search(&edge).header("A2A-Version", "99.0"),
        ),
        (
            -32009,
            "VERSION_NOT_SUPPORTED",
            search(&edge).header("A2A-Version", ""),
        ),
    ] {
        let answer = refused_7(reason, probe, code);
        a2a_reason(&answer, reason);
        well_formed(reason, &answer);
    }
    for (name, code, text) in [
        ("no JSON", -32700, "{\"jsonrpc\": \"2.0\", \"method\":"),
        ("no method", -32600, r#"{"jsonrpc":"2.0","id":7}"#),
        (
            "no message",
            -32602,
            r#"{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":{}}"#,
        ),
    ] {
        let answer = search(&edge).text(text).send();
        assert_eq!((answer.status, answer.code()), (200, code), "{name}");
        well_formed(name, &answer);
    }
    for data in [
        json!({"type": "inventory.search.request", "filters": {"x": 1}}),
        json!({"type": "inventory.vehicle.request", "vehicle_id": "none"}),
    ] {
        let answer = send(&edge, data).send();
        well_formed("a skill's", &answer);
        assert_eq!(
            answer.json()["error"]["data"][0]["domain"],
            "autoagentprotocol.org"
        );
        assert_eq!(typed(&answer)["type"], "aap.error");
    }
}

// AAP-159 AAP-162
#[test]
fn every_answer_is_json_whatever_it_says() {
    let edge = Edge::start();
    for probe in [
        search(&edge),
        search(&edge).text("{"),
        search(&edge).set("", "method", json!("GetTask")),
        search(&edge).header(
            "A2A-Extensions",
            "urn:aap:some, https://autoagentprotocol.org/extensions/aap/v3.0",
        ),
    ] {
        let answer = probe.send();
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert!(
            !answer.text.contains("\"error\":null") && !answer.text.contains("\"result\":null")
        );
    }
}

/// Whole-number floats are whole numbers, and come back as such.
#[test]
fn floats_ask_the_same_as_integers() {
    let edge = Edge::start();
    let ask = |text: &str| {
        let data: Value = serde_json::from_str(text).unwrap();
        let message = served("search", send(&edge, data));
        message["parts"][0]["data"]["data"]["vehicles"].clone()
    };
    let floats = ask(
        r#"{"type":"inventory.search.request","pagination":{"limit":2.0},"filters":{"price_max":20001.0,"year_min":2024.0}}"#,
    );
    let integers = ask(
        r#"{"type":"inventory.search.request","pagination":{"limit":2},"filters":{"price_max":20001,"year_min":2024}}"#,
    );
    assert_eq!(floats, integers);
    let text = floats.to_string();
    assert!(
        text.contains("\"year\":2024,") && !text.contains(".0"),
        "{text}"
    );
}

/// What is set, where, and to what; all of it at once.
type Sets = &'static [(&'static str, &'static str, &'static str)];

const P: &str = "/params";
const M: &str = "/params/message";
const PART: &str = "/params/message/parts/0";

const TAKEN: &[(&str, Sets)] = &[
    (
        "unknown members",
        &[
            (P, "future", "1"),
            (M, "future", "{}"),
            (PART, "future", "[]"),
        ],
    ),
    ("message extensions", &[(M, "extensions", r#"["urn:x"]"#)]),
    ("no message extensions", &[(M, "extensions", "[]")]),
    (
        "part metadata",
        &[(PART, "metadata", r#"{"a": [1, null]}"#)],
    ),
    ("a file name", &[(PART, "filename", "\"request.json\"")]),
    ("params metadata", &[(P, "metadata", r#"{"trace": "x"}"#)]),
    (
        "numeric text for an int",
        &[(P, "configuration", r#"{"historyLength": "0"}"#)],
    ),
    (
        "null settings",
        &[(
            P,
            "configuration",
            r#"{"historyLength": null, "acceptedOutputModes": null}"#,
        )],
    ),
    (
        "snake case",
        &[
            (M, "context_id", "\"trip\""),
            (
                P,
                "configuration",
                r#"{"return_immediately": true, "history_length": 0}"#,
            ),
        ],
    ),
    (
        "media type parameters",
        &[(
            PART,
            "mediaType",
            "\"application/vnd.autoagent.inventory-search-request+json; charset=utf-8\"",
        )],
    ),
    (
        "media type in capitals",
        &[(
            PART,
            "mediaType",
            "\"Application/vnd.autoagent.inventory-search-request+json\"",
        )],
    ),
];

const REFUSED: &[(&str, Sets)] = &[
    ("oneof placeholder", &[(PART, "text", "\"\"")]),
    ("two contents", &[(PART, "url", "\"https://x.example\"")]),
    ("a null part", &[(M, "parts", "[null]")]),
    ("number filename", &[(PART, "filename", "1")]),
    ("text metadata", &[(M, "metadata", "\"x\"")]),
    (
        "context under two names",
        &[(M, "contextId", "\"a\""), (M, "context_id", "\"a\"")],
    ),
    ("tenant that nobody declared", &[(P, "tenant", "\"t-1\"")]),
    (
        "modes as an object",
        &[(P, "configuration", r#"{"acceptedOutputModes": {}}"#)],
    ),
    (
        "an empty mode",
        &[(P, "configuration", r#"{"acceptedOutputModes": [""]}"#)],
    ),
    (
        "huge history",
        &[(P, "configuration", r#"{"historyLength": 1e300}"#)],
    ),
    (
        "history in words",
        &[(P, "configuration", r#"{"historyLength": "many"}"#)],
    ),
    ("configuration as a list", &[(P, "configuration", "[]")]),
];

fn with(edge: &Edge, sets: Sets) -> crate::edge::Probe<'_> {
    sets.iter()
        .fold(search(edge), |probe, (parent, name, value)| {
            probe.set(parent, name, serde_json::from_str(value).unwrap())
        })
}

// AAP-155 AAP-156
#[test]
fn what_broke_other_servers_breaks_nothing_here() {
    let edge = Edge::start();
    for _ in 0..2 {
        served("the same messageId again", search(&edge));
    }
    for (name, sets) in TAKEN {
        served(name, with(&edge, sets));
    }
    for (name, sets) in REFUSED {
        refused_7(name, with(&edge, sets), -32602);
    }
    let inner = send(
        &edge,
        json!({"type": "inventory.search.request", "filters": {"future": 1}}),
    );
    let inner = typed(&refused_7("unknown in the payload", inner, -32602));
    assert_eq!(inner["code"], "SCHEMA_VALIDATION_FAILED");
    let mut null = search(&edge);
    null.body.pointer_mut(PART).unwrap()["data"] = Value::Null;
    let null = typed(&refused_7("null data", null, -32602));
    assert_eq!(null["type"], "aap.error");
}

#[test]
fn deep_nesting_is_refused_and_the_next_call_answered() {
    let edge = Edge::start();
    for depth in [200, 20_000] {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":{{"metadata":{}1{}}}}}"#,
            "[".repeat(depth),
            "]".repeat(depth),
        );
        refused("deep", search(&edge).text(deep), -32700, &Value::Null);
        served("after", search(&edge));
    }
}

// AAP-177 AAP-178 AAP-181
#[test]
fn what_is_left_out_is_filled_in_before_everything_is_checked() {
    let edge = Edge::start();
    let uri = "https://autoagentprotocol.org/extensions/aap/v3.0";
    let both = |with: bool, data: Value| {
        let probe = send(&edge, data);
        let probe = if with {
            probe
                .header("A2A-Version", "1.0")
                .header("A2A-Extensions", uri)
        } else {
            probe
        };
        let answer = probe.send();
        let said = answer.json();
        match said.get("error") {
            Some(error) => (error["code"].clone(), typed(&answer)["code"].clone()),
            None => (
                said["result"]["message"]["parts"][0]["data"]["data"]["total"].clone(),
                Value::Null,
            ),
        }
    };
    for data in [
        json!({"type": "inventory.search.request"}),
        json!({"type": "inventory.search.request", "filters": {"x": 1}}),
        json!({"type": "inventory.vehicle.request", "vehicle_id": "none"}),
        json!({"type": "lead.submit.request"}),
    ] {
        assert_eq!(
            both(true, data.clone()),
            both(false, data.clone()),
            "{data}"
        );
    }
    refused_7(
        "method",
        search(&edge).set("", "method", json!("x")),
        -32601,
    );
    refused_7(
        "parameters",
        search(&edge).set("/params", "message", Value::Null),
        -32602,
    );
    // Two other contracts side by side: none of them is guessed.
    let two = "https://autoagentprotocol.org/extensions/aap/v2.1, https://autoagentprotocol.org/extensions/aap/v3.1";
    refused_7("two", search(&edge).header("A2A-Extensions", two), -32008);
}
