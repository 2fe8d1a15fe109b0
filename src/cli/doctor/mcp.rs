//! What one revision of MCP answers: greeting, tools, one read. Must not say what that means for the site.

use http::HeaderName;
use serde_json::{Value, json};

use super::jsonrpc::{Reply, call};
use super::probe::{fits, payload};
use super::visit::Visitor;
use crate::bindings::discovery::agreement;
use crate::contract::{Contract, Skill};

const META: &str = "io.modelcontextprotocol/";
/// Pages of a tool list that are read.
const MAX_PAGES: usize = 10;

/// The MCP endpoint as the card tells it.
pub(super) struct Mcp<'a> {
    pub(super) url: &'a str,
    pub(super) is_public: bool,
    pub(super) visitor: &'a Visitor<'a>,
}

impl Mcp<'_> {
    /// Goes through one revision: greeting, tools, one read. The tools come back where they may be read.
    pub(super) async fn revision(
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
