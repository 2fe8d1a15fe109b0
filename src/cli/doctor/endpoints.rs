//! Whether MCP and A2A answer what the card promises, asked by one read. Must not submit anything.

use http::HeaderName;
use serde_json::{Value, json};

use super::jsonrpc::{Reply, call};
use super::report::Report;
use super::visit::Visitor;
use crate::bindings::discovery::agreement;
use crate::contract::{Contract, Problem, Skill};

const ENDPOINTS: &str = "endpoints";
const META: &str = "io.modelcontextprotocol/";
/// Pages of a tool list that are read.
const MAX_PAGES: usize = 10;

/// Asks both; the list of tools comes back for comparison.
pub(super) async fn judge(
    card: &Value,
    visitor: &Visitor<'_>,
    contract: &Contract,
    report: &mut Report,
) -> Option<Value> {
    let probe = probe(card);
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

/// The read that is asked: of one of the skills that the card names.
fn probe(card: &Value) -> Option<Skill> {
    let skills = card.get("skills").and_then(Value::as_array);
    let ids: Vec<&str> = skills
        .into_iter()
        .flatten()
        .map(|skill| agreement::text(skill, "/id"))
        .collect();
    let reads = [
        Skill::DealerInformation,
        Skill::InventoryFacets,
        Skill::InventorySearch,
    ];
    reads.into_iter().find(|skill| ids.contains(&skill.id()))
}

/// The payload, which names nobody and asks for nothing.
fn payload(skill: Skill) -> Value {
    json!({ "type": skill.request_type() })
}

fn fits(contract: &Contract, skill: Skill, answer: &Value) -> Result<(), String> {
    contract.check_answer(skill, answer).map_err(|problems| {
        let word = |problem: &Problem| format!("{} {}", problem.instance_location, problem.error);
        let words: Vec<String> = problems.iter().take(3).map(word).collect();
        format!("the answer does not fit its schema: {}", words.join("; "))
    })
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
    let part = json!({ "data": payload(skill), "mediaType": skill.request_media_type() });
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
    fits(contract, skill, data.unwrap_or(&Value::Null))
}

struct Mcp<'a> {
    url: &'a str,
    is_public: bool,
    visitor: &'a Visitor<'a>,
}

impl Mcp<'_> {
    /// Goes through one revision: greeting, tools, one read. The tools come back where they may be read.
    async fn revision(
        &self,
        revision: &str,
        probe: Option<Skill>,
        contract: &Contract,
    ) -> Result<Option<Value>, String> {
        let is_modern = revision >= "2026-07-28";
        let greeted = if is_modern {
            self.ask(revision, "server/discover", json!({})).await?
        } else {
            self.initialize(revision).await?
        };
        if greeted.is_none() {
            return Ok(None);
        }
        let tools = self.tools(revision).await?;
        if let (Some(skill), Some(_)) = (probe, &tools) {
            let arguments = json!({ "name": skill.tool_name(), "arguments": payload(skill) });
            let answer = self.ask(revision, "tools/call", arguments).await?;
            let answer = answer.unwrap_or_default();
            let data = answer.get("structuredContent").unwrap_or(&Value::Null);
            fits(contract, skill, data)?;
        }
        Ok(tools)
    }

    async fn initialize(&self, revision: &str) -> Result<Option<Value>, String> {
        let params = json!({
            "protocolVersion": revision,
            "capabilities": {},
            "clientInfo": { "name": "forecourt-doctor", "version": env!("CARGO_PKG_VERSION") },
        });
        let Some(result) = self.ask(revision, "initialize", params).await? else {
            return Ok(None);
        };
        let agreed = agreement::text(&result, "/protocolVersion");
        if agreed == revision {
            return Ok(Some(result));
        }
        Err(format!("{} negotiates {agreed:?} instead", self.url))
    }

    /// Every page of the tool list.
    async fn tools(&self, revision: &str) -> Result<Option<Value>, String> {
        let mut all = Vec::new();
        let mut params = json!({});
        for _ in 0..MAX_PAGES {
            let page = self.ask(revision, "tools/list", params).await?;
            let Some(mut page) = page else {
                return Ok(None);
            };
            match page.get_mut("tools").map(Value::take) {
                Some(Value::Array(tools)) => all.extend(tools),
                _ => return Err(format!("{} lists no tools", self.url)),
            }
            match page.get("nextCursor") {
                Some(Value::String(cursor)) => params = json!({ "cursor": cursor }),
                _ => return Ok(Some(all.into())),
            }
        }
        Err(format!("the tool list of {} does not end", self.url))
    }

    /// `None` where a sign-in is asked for, as announced.
    async fn ask(
        &self,
        revision: &str,
        method: &str,
        mut params: Value,
    ) -> Result<Option<Value>, String> {
        let is_modern = revision >= "2026-07-28";
        let tool = agreement::text(&params, "/name").to_owned();
        let mut headers = Vec::new();
        if method != "initialize" {
            headers.push((HeaderName::from_static("mcp-protocol-version"), revision));
        }
        if is_modern {
            headers.push((HeaderName::from_static("mcp-method"), method));
            if !tool.is_empty() {
                headers.push((HeaderName::from_static("mcp-name"), tool.as_str()));
            }
            if let Some(members) = params.as_object_mut() {
                let meta = json!({
                    format!("{META}protocolVersion"): revision,
                    format!("{META}clientCapabilities"): {},
                });
                members.insert("_meta".to_owned(), meta);
            }
        }
        match call(self.visitor, self.url, (method, params), &headers).await? {
            Reply::Result(result) => Ok(Some(result)),
            Reply::SignIn if !self.is_public => Ok(None),
            Reply::SignIn => Err(format!(
                "{} asks for a sign-in, but the card says public_read",
                self.url
            )),
        }
    }
}
