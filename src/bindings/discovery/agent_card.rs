//! `/.well-known/agent-card.json`: an ordinary A2A 1.0 card with AAP's one extension (AAP-012 … AAP-024).
//! Must not name what is not there, nor hold a null.

use serde_json::{Map, Value, json};

use crate::bindings::mcp;
use crate::contract::Skill;
use crate::deployment::Deployment;
use crate::oauth::Gate;

/// Writes a deployment's card.
pub fn write(deployment: &Deployment) -> Value {
    let urls = &deployment.urls;
    let name = deployment.name();
    let media =
        |of: fn(Skill) -> String| deployment.skills.iter().map(|s| of(*s)).collect::<Vec<_>>();
    let mut card = json!({
        "name": name,
        "description": format!("{name} under the Auto Agent Protocol: inventory, vehicles and consented inquiries."),
        "version": env!("CARGO_PKG_VERSION"),
        "supportedInterfaces": [{
            "url": urls.a2a,
            "protocolBinding": "JSONRPC",
            "protocolVersion": "1.0",
        }],
        "capabilities": {
            "streaming": false,
            "pushNotifications": false,
            "extendedAgentCard": false,
            "extensions": [{
                "uri": deployment.contract.extension_uri(),
                "description": "Typed automotive requests and answers in the first part of each message.",
                "required": true,
                "params": params(deployment),
            }],
        },
        "defaultInputModes": media(Skill::request_media_type),
        "defaultOutputModes": media(Skill::response_media_type),
        "skills": deployment.skills.iter().map(|skill| entry(deployment, *skill)).collect::<Vec<_>>(),
    });
    if let (Some(gate), Some(members)) = (&deployment.gates.a2a, card.as_object_mut()) {
        members.insert("securitySchemes".to_owned(), schemes(gate));
        if gate.protects_everything() {
            members.insert("securityRequirements".to_owned(), requirements(gate, false));
        }
    }
    card
}

const SCHEME: &str = "oauth";

/// The one scheme: access tokens, sent as Bearer.
fn schemes(gate: &Gate) -> Value {
    let words = format!(
        "Access token of {} for this A2A interface; {} describes it.",
        gate.issuer(),
        gate.metadata_url()
    );
    json!({SCHEME: {"httpAuthSecurityScheme": {
        "scheme": "Bearer", "bearerFormat": "JWT", "description": words,
    }}})
}

fn requirements(gate: &Gate, lead: bool) -> Value {
    json!([{"schemes": {SCHEME: {"list": gate.scopes(lead)}}}])
}

/// The extension's parameters (AAP-018).
fn params(deployment: &Deployment) -> Value {
    let urls = &deployment.urls;
    let skills: Map<_, _> = deployment
        .skills
        .iter()
        .map(|skill| (skill.id().to_owned(), schemas(deployment, *skill)))
        .collect();
    json!({
        "id": deployment.id,
        "version": deployment.contract.version(),
        "schema_base_url": deployment.contract.schema_base_url(),
        "skills": skills,
        "mcp": {
            "url": urls.mcp,
            "transport": "streamable-http",
            "protocol_versions": mcp::revisions(),
            "public_read": deployment.public_read(),
        },
        "poppy": urls.poppy,
        "llms_txt": urls.llms_txt,
    })
}

/// Where a skill's schemas are; for search also what it can do, as the MCP tool says it (AAP-044).
fn schemas(deployment: &Deployment, skill: Skill) -> Value {
    let contract = &deployment.contract;
    let mut members = Map::new();
    members.insert(
        "request_schema".to_owned(),
        contract.request_schema_url(skill).into(),
    );
    members.insert(
        "response_schema".to_owned(),
        contract.response_schema_url(skill).into(),
    );
    if let (Skill::InventorySearch, Some(inventory)) = (skill, &deployment.inventory) {
        members.insert("capabilities".to_owned(), json!(inventory.capabilities()));
    }
    Value::Object(members)
}

fn entry(deployment: &Deployment, skill: Skill) -> Value {
    let (name, description, tags) = match skill {
        Skill::DealerInformation => (
            "Dealer information",
            "Who the dealer is: places, hours, contacts and usual fees.",
            ["dealer", "hours"],
        ),
        Skill::InventoryFacets => (
            "Inventory facets",
            "Which values, ranges and feature codes the inventory has, with exact counts.",
            ["inventory", "facets"],
        ),
        Skill::InventorySearch => (
            "Inventory search",
            "Vehicles by explicit filters, with exact totals and pages to the end.",
            ["inventory", "search"],
        ),
        Skill::InventoryVehicle => (
            "Vehicle details",
            "One vehicle as it is offered now, by VIN, stock number or id.",
            ["inventory", "vehicle"],
        ),
        Skill::LeadSubmit => (
            "Lead submission",
            "One inquiry with the buyer's explicit consent to be contacted.",
            ["lead", "consent"],
        ),
    };
    let mut entry = json!({
        "id": skill.id(),
        "name": name,
        "description": description,
        "tags": tags,
        "inputModes": [skill.request_media_type()],
        "outputModes": [skill.response_media_type()],
    });
    let gate = deployment.gates.a2a.as_ref().filter(|_| !skill.is_read());
    if let (Some(gate), Some(members)) = (gate, entry.as_object_mut()) {
        members.insert("securityRequirements".to_owned(), requirements(gate, true));
    }
    entry
}
