//! Whether MCP and A2A answer what the card promises, asked by one read. Must not submit anything.

use http::HeaderName;
use serde_json::{Value, json};

use super::jsonrpc::{Reply, call};
use super::mcp::Mcp;
use super::probe;
use super::report::Report;
use super::visit::Visitor;
use crate::bindings::discovery::agreement;
use crate::contract::{Contract, Skill};

const ENDPOINTS: &str = "endpoints";

/// Asks both; the list of tools comes back for comparison.
pub(super) async fn judge(
    card: &Value,
    visitor: &Visitor<'_>,
    contract: &Contract,
    report: &mut Report,
) -> Option<Value> {
    let probe = probe::of(card);
    a2a(card, probe, visitor, contract, report).await;
    let params = agreement::params(card);
    let mcp = Mcp {
        url: agreement::text(params, "/mcp/url"),
        is_public: params.pointer("/mcp/public_read") != Some(&Value::Bool(false)),
        visitor,
    };
    let revisions = params.pointer("/mcp/protocol_versions");
    let revisions = revisions.and_then(Value::as_array).into_iter().flatten();
    let revisions: Vec<&str> = revisions.filter_map(Value::as_str).collect();
    let mut tools = None;
    for revision in revisions {
        let listed = mcp.revision(revision, probe, contract).await;
        let id = format!("mcp-{revision}");
        let claim = format!("MCP {revision} answers at {}", mcp.url);
        let remedy = "serve MCP at the advertised address, or stop advertising the revision";
        match listed {
            Ok(list) => {
                report.good(ENDPOINTS, &id, claim);
                tools = tools.or(list);
            }
            Err(reason) => report.fault((ENDPOINTS, &id), claim, reason, remedy),
        }
    }
    tools
}

async fn a2a(
    card: &Value,
    probe: Option<Skill>,
    visitor: &Visitor<'_>,
    contract: &Contract,
    report: &mut Report,
) {
    let is_ours = |interface: &&Value| {
        agreement::text(interface, "/protocolBinding") == "JSONRPC"
            && agreement::text(interface, "/protocolVersion").starts_with("1.0")
    };
    let interface = agreement::interfaces(card).find(is_ours);
    let claim = "A2A answers a read";
    let place = (ENDPOINTS, "a2a");
    let remedy = "serve A2A 1.0 JSON-RPC at the advertised address";
    let Some(interface) = interface else {
        let reason = "the card names no JSONRPC interface of version 1.0";
        report.fault(place, claim, reason, remedy);
        return;
    };
    let Some(skill) = probe else {
        let reason = "not asked: the card names no skill that can be read without an identifier";
        report.warn(place, claim, reason, "offer dealer.information");
        return;
    };
    let url = agreement::text(interface, "/url");
    let claim = format!("A2A answers {} at {url}", skill.id());
    let outcome = message(interface, skill, card, visitor, contract).await;
    report.outcome(place, &claim, outcome, remedy);
}

async fn message(
    interface: &Value,
    skill: Skill,
    card: &Value,
    visitor: &Visitor<'_>,
    contract: &Contract,
) -> Result<(), String> {
    let url = agreement::text(interface, "/url");
    let part = json!({ "data": probe::payload(skill), "mediaType": skill.request_media_type() });
    let mut params = json!({
        "message": { "messageId": "doctor-1", "role": "ROLE_USER", "parts": [part] },
        "configuration": { "acceptedOutputModes": [skill.response_media_type()] },
    });
    if let (Some(tenant), Some(members)) = (interface.get("tenant"), params.as_object_mut()) {
        members.insert("tenant".to_owned(), tenant.clone());
    }
    let headers = [
        (HeaderName::from_static("a2a-version"), "1.0"),
        (
            HeaderName::from_static("a2a-extensions"),
            contract.extension_uri(),
        ),
    ];
    let result = match call(visitor, url, ("SendMessage", params), &headers).await? {
        Reply::Result(result) => result,
        Reply::SignIn if card.get("securityRequirements").is_some() => return Ok(()),
        Reply::SignIn => {
            return Err(format!(
                "{url} asks for a sign-in that the card does not tell"
            ));
        }
    };
    if agreement::text(&result, "/message/role") != "ROLE_AGENT" {
        return Err(format!("{url} answers without a message of the agent"));
    }
    let kind = agreement::text(&result, "/message/parts/0/mediaType");
    if kind != skill.response_media_type() {
        return Err(format!("the first part of the answer is {kind:?}"));
    }
    let data = result.pointer("/message/parts/0/data");
    probe::fits(contract, skill, data.unwrap_or(&Value::Null))
}
