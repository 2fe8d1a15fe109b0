//! One `SendMessage` over A2A's JSON-RPC binding, with AAP activated as the Agent Card says.

use serde_json::{Value, json};

use super::super::failure::Failure;
use super::wire::Wire;
use super::{Call, broken, has_path, member};

const EXTENSION: &str = "https://autoagentprotocol.org/extensions/aap/v3.0";

pub(super) async fn call(wire: &mut Wire, call: &Call) -> Result<Value, Failure> {
    let endpoint = if has_path(&call.url) {
        call.url.clone()
    } else {
        let card = wire
            .get(&format!("{}/.well-known/agent-card.json", call.url))
            .await?;
        interface(&card.json()?)?
    };
    let headers = [
        ("content-type", "application/json".to_owned()),
        ("accept", "application/json".to_owned()),
        ("a2a-version", "1.0".to_owned()),
        ("a2a-extensions", EXTENSION.to_owned()),
    ];
    let media_type = call.skill.request_media_type();
    let message = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "SendMessage",
        "params": {
            "message": {
                "messageId": uuid::Uuid::new_v4().to_string(),
                "role": "ROLE_USER",
                "parts": [{ "data": call.payload, "mediaType": media_type }],
            },
        },
    });
    let answer = wire.post(&endpoint, &headers, message.to_string()).await?;
    answer.json()
}

/// The JSON-RPC interface of A2A 1.0 on a card that declares AAP.
fn interface(card: &Value) -> Result<String, Failure> {
    let all = |pointer| {
        card.pointer(pointer)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    let declared = all("/capabilities/extensions").any(|e| e.get("uri") == Some(&EXTENSION.into()));
    if !declared {
        return Err(broken("the card declares the AAP 3.0 extension"));
    }
    let interface = all("/supportedInterfaces").find(|interface| {
        interface.get("protocolBinding") == Some(&"JSONRPC".into())
            && interface.get("protocolVersion") == Some(&"1.0".into())
    });
    let interface = interface.ok_or_else(|| broken("the card lists JSONRPC 1.0"))?;
    Ok(member(interface, "/url")?.to_owned())
}
