//! What the endpoint says of itself: tools, discovery, the answer to `initialize`. Finished once, the same
//! bytes for every client (AAP-116). Must not vary by connection.

use serde_json::{Map, Value, json};

use super::texts;
use super::version::Revision;
use crate::contract::Skill;
use crate::deployment::Deployment;

const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
const AAP: &str = "autoagentprotocol.org/aap";

/// Finished JSON texts.
#[derive(Debug)]
pub(super) struct Catalogue {
    server_info: Value,
    instructions: String,
    /// `_meta` of results under the current revision.
    result_meta: String,
    /// The tool list, which is most of what a deployment holds, and what the current revision puts around it.
    tools: String,
    around_tools: (String, String),
    discover: String,
}

impl Catalogue {
    pub(super) fn new(deployment: &Deployment) -> Self {
        let server_info = json!({
            "name": "forecourt",
            "title": deployment.name(),
            "version": env!("CARGO_PKG_VERSION"),
        });
        let meta = json!({SERVER_INFO: server_info});
        let instructions = texts::instructions(deployment);
        let tools = tools(deployment);
        #[cfg(feature = "conformance-tools")]
        let tools = [tools, super::suite_tools::tools(deployment)].concat();
        let ttl_ms = deployment.mcp.cache_ttl_ms;
        // What only signed-in callers see is not shared between them (AAP-075).
        let scope = if deployment.public_read() {
            "public"
        } else {
            "private"
        };
        let modern = json!({
            "resultType": "complete", "tools": null,
            "ttlMs": ttl_ms, "cacheScope": scope, "_meta": meta,
        });
        let discover = json!({
            "resultType": "complete",
            "supportedVersions": Revision::dates(),
            "capabilities": {"tools": {}},
            "instructions": instructions,
            "ttlMs": ttl_ms, "cacheScope": scope, "_meta": meta,
        });
        let modern = modern.to_string();
        let (before, after) = modern.split_once("null").unwrap_or_default();
        Self {
            around_tools: (before.to_owned(), after.to_owned()),
            result_meta: meta.to_string(),
            tools: Value::Array(tools).to_string(),
            discover: discover.to_string(),
            server_info,
            instructions,
        }
    }

    /// The result of `tools/list`; all tools stand on its one page (AAP-077).
    pub(super) fn tools(&self, revision: Revision) -> String {
        let (before, after) = &self.around_tools;
        if revision.is_modern() {
            [before, self.tools.as_str(), after].concat()
        } else {
            ["{\"tools\":", &self.tools, "}"].concat()
        }
    }

    /// The result of `server/discover` (AAP-073).
    pub(super) fn discover(&self) -> &str {
        &self.discover
    }

    /// The result of `initialize` (AAP-112).
    pub(super) fn initialize(&self, revision: Revision) -> String {
        let result = json!({
            "protocolVersion": revision.date(),
            "capabilities": {"tools": {}},
            "serverInfo": self.server_info,
            "instructions": self.instructions,
        });
        result.to_string()
    }

    /// `_meta` of a result under the current revision.
    pub(super) fn server_info(&self) -> &str {
        &self.result_meta
    }
}

/// The tool list.
pub(super) fn tools(deployment: &Deployment) -> Vec<Value> {
    let tool = |skill: &Skill| tool(deployment, *skill);
    deployment.skills.iter().map(tool).collect()
}

/// One entry of the tool list (contract section 17).
fn tool(deployment: &Deployment, skill: Skill) -> Value {
    let contract = &deployment.contract;
    let text = texts::tool(deployment, skill);
    let read = skill.is_read();
    json!({
        "name": skill.tool_name(),
        "title": text.title,
        "description": text.description,
        "inputSchema": contract.input_schema(skill),
        "outputSchema": contract.output_schema(skill),
        // Every hint explicit: some hosts' catalogues demand it.
        "annotations": {
            "title": text.title,
            "readOnlyHint": read,
            "destructiveHint": false,
            "idempotentHint": read,
            "openWorldHint": true,
        },
        "_meta": {AAP: aap_meta(deployment, skill)},
    })
}

/// AAP's own metadata (AAP-086); search also states its capabilities as the Agent Card does (AAP-080).
fn aap_meta(deployment: &Deployment, skill: Skill) -> Value {
    let contract = &deployment.contract;
    let mut meta = Map::new();
    let members = [
        ("version", contract.version().to_owned()),
        ("skill_id", skill.id().to_owned()),
        ("request_type", skill.request_type()),
        ("response_type", skill.response_type()),
        ("request_schema", contract.request_schema_url(skill)),
        ("response_schema", contract.response_schema_url(skill)),
    ];
    for (key, value) in members {
        meta.insert(key.to_owned(), value.into());
    }
    if skill == Skill::InventorySearch
        && let Some(inventory) = &deployment.inventory
    {
        meta.insert("capabilities".to_owned(), json!(inventory.capabilities()));
    }
    Value::Object(meta)
}
