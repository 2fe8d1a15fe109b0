//! MCP and A2A messages, whole: head, envelope, metadata, payload, answer.

use bytes::Bytes;
use forecourt::contract::json;
use http::Response;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::shop::{Shop, message, shop};

/// No answer to one message is longer: a page has 100 vehicles at most.
const LONGEST: usize = 1 << 20;

/// The id alone, as it was written.
#[derive(serde::Deserialize)]
struct OnlyId<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
}

fn id(bytes: &[u8]) -> Option<String> {
    let only: OnlyId<'_> = serde_json::from_slice(bytes).ok()?;
    only.id.map(|id| id.get().to_owned())
}

/// An MCP message: whatever it is, the answer is one bounded JSON-RPC answer or none; a result goes to a request
/// that can be read, under its id; a payload keeps the contract and stands in both copies; twice is the same.
pub fn mcp(bytes: &[u8]) {
    let shop = shop();
    let (head, body) = message("/mcp", bytes);
    let first = judge_mcp(&shop, body, &shop.mcp(&head, body));
    let second = judge_mcp(&shop, body, &shop.mcp(&head, body));
    assert_eq!(first, second, "two answers to one message");
}

/// The answer without what is new each time.
fn judge_mcp(shop: &Shop, body: &[u8], answer: &Response<Bytes>) -> (u16, Value) {
    let status = answer.status().as_u16();
    assert!(
        [200, 202, 400, 403, 404, 406, 415].contains(&status),
        "{status}"
    );
    assert!(
        answer.body().len() < LONGEST,
        "{} bytes",
        answer.body().len()
    );
    if status == 202 {
        assert!(answer.body().is_empty());
        return (status, Value::Null);
    }
    let text = answer.body();
    let text = match text.strip_prefix(b"event: message\ndata: ") {
        Some(event) => event.trim_ascii_end(),
        None => text,
    };
    let mut said: Value = serde_json::from_slice(text).unwrap();
    assert_eq!(said["jsonrpc"], "2.0");
    judge_outcome(&said, body);
    if said.get("result").is_some() {
        let request = json::read(body).unwrap();
        assert_eq!(said["id"], request["id"], "another request's answer");
    }
    let payload = said.pointer("/result/structuredContent").cloned();
    if let (Some(payload), Some(result)) = (payload, said.get_mut("result")) {
        let copy = result["content"][0]["text"].take();
        let copy: Value = serde_json::from_str(copy.as_str().unwrap()).unwrap();
        assert_eq!(copy, payload, "two copies");
        let failed = result.get("isError") == Some(&Value::Bool(true));
        assert_eq!(failed, payload["type"] == "aap.error");
        shop.check_payload(&payload);
    }
    scrub(&mut said);
    (status, said)
}

/// Result or error, and no result for what is no JSON.
fn judge_outcome(said: &Value, body: &[u8]) {
    let error = said.get("error");
    assert!(said.get("result").is_some() != error.is_some(), "{said}");
    if let Some(error) = error {
        assert!(error["code"].is_i64(), "{said}");
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|words| !words.is_empty()),
            "{said}"
        );
    } else {
        assert!(json::read(body).is_ok(), "a result for what cannot be read");
    }
}

/// Takes out what is new in each answer.
fn scrub(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for name in ["error_id", "next_cursor", "messageId", "contextId"] {
                members.remove(name);
            }
            members.values_mut().for_each(scrub);
        }
        Value::Array(all) => all.iter_mut().for_each(scrub),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// An A2A message: the same, the id to the letter, and errors with ProtoJSON details.
pub fn a2a(bytes: &[u8]) {
    let shop = shop();
    let (head, body) = message("/a2a", bytes);
    let first = judge_a2a(&shop, body, &shop.a2a(&head, body));
    let second = judge_a2a(&shop, body, &shop.a2a(&head, body));
    assert_eq!(first, second, "two answers to one message");
}

fn judge_a2a(shop: &Shop, body: &[u8], answer: &Response<Bytes>) -> Value {
    assert_eq!(answer.status(), 200);
    assert!(
        answer.body().len() < LONGEST,
        "{} bytes",
        answer.body().len()
    );
    let mut said: Value = serde_json::from_slice(answer.body()).unwrap();
    assert_eq!(said["jsonrpc"], "2.0");
    judge_outcome(&said, body);
    let echoed = said.get("id").unwrap();
    assert!(
        echoed.is_null() || id(answer.body()) == id(body),
        "another id"
    );
    if let Some(result) = said.get("result") {
        let sent = &result["message"];
        assert_eq!(sent["role"], "ROLE_AGENT");
        let parts = sent["parts"].as_array().unwrap();
        assert_eq!(parts.len(), 1);
        shop.check_payload(&parts[0]["data"]);
        let asked = json::read(body).unwrap();
        let context = asked["params"]["message"]
            .get("contextId")
            .and_then(Value::as_str);
        if let Some(context) = context.filter(|context| !context.is_empty()) {
            assert_eq!(sent["contextId"], context, "another context");
        }
    }
    let details = said["error"].get("data").and_then(Value::as_array);
    for detail in details.into_iter().flatten() {
        let kind = detail["@type"].as_str().unwrap();
        assert!(kind.starts_with("type.googleapis.com/"), "{said}");
        if kind.ends_with("/google.protobuf.Struct") {
            let empty = Map::new();
            let typed = detail.get("value").unwrap();
            assert!(
                typed.as_object().unwrap_or(&empty).contains_key("code"),
                "{said}"
            );
            shop.check_payload(typed);
        }
    }
    scrub(&mut said);
    said
}
