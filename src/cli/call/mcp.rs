//! A tool call over MCP, in the current revision, which needs no session.

use serde_json::{Value, json};

use super::super::failure::Failure;
use super::wire::Wire;
use super::{Call, has_path, member};

const REVISION: &str = "2026-07-28";
const META: &str = "io.modelcontextprotocol/";

pub(super) async fn call(wire: &mut Wire, call: &Call) -> Result<Value, Failure> {
    let endpoint = if has_path(&call.url) {
        call.url.clone()
    } else {
        let poppy = wire
            .get(&format!("{}/.well-known/poppy.json", call.url))
            .await?;
        member(&poppy.json()?, "/extensions/autoagentprotocol.org~1aap/mcp")?.to_owned()
    };
    let tool = call.skill.tool_name();
    let headers = [
        ("content-type", "application/json".to_owned()),
        ("accept", "application/json, text/event-stream".to_owned()),
        ("mcp-protocol-version", REVISION.to_owned()),
        ("mcp-method", "tools/call".to_owned()),
        ("mcp-name", tool.to_owned()),
    ];
    let message = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": tool,
            "arguments": call.payload,
            "_meta": {
                format!("{META}protocolVersion"): REVISION,
                format!("{META}clientCapabilities"): {},
                format!("{META}clientInfo"): {
                    "name": "forecourt call",
                    "version": env!("CARGO_PKG_VERSION"),
                },
            },
        },
    });
    let answer = wire.post(&endpoint, &headers, message.to_string()).await?;
    answer.json()
}
