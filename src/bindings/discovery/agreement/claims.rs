//! What the documents say of the deployment: whose it is, its release, skills, abilities, issuer and API. Must
//! not look at the links between them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Seen, apis, bridge, extension, host, links, list, params, text, tool_meta};
use crate::contract::Skill;

/// Every claim that is not the first one's.
fn unlike(first: (&str, &str), others: &[(&str, &str)]) -> Vec<String> {
    let (place, value) = first;
    let mut found = Vec::new();
    if value.is_empty() {
        found.push(format!("{place} says nothing"));
    }
    for (other, said) in others {
        if *said != value {
            found.push(format!("{place} says {value:?}, {other} says {said:?}"));
        }
    }
    found
}

pub(super) fn identity(seen: &Seen<'_>) -> Vec<String> {
    let domain = text(seen.poppy, "/organization/domain");
    let host = host(seen.poppy_url).unwrap_or_default();
    if !domain.is_empty() && domain.eq_ignore_ascii_case(&host) {
        return Vec::new();
    }
    vec![format!(
        "organization.domain is {domain:?}, but the document lies on {host:?}"
    )]
}

pub(super) fn mcp(seen: &Seen<'_>) -> Vec<String> {
    let url = text(params(seen.agent_card), "/mcp/url");
    let named = ("the Poppy extension", text(bridge(seen.poppy), "/mcp"));
    let mut found = unlike(("the card", url), &[named]);
    if !links(seen.llms_txt).any(|link| link == url) {
        found.push(format!("llms.txt does not link to {url:?}"));
    }
    for api in apis(seen.poppy, "mcp") {
        let native = [
            ("apis[mcp].url", text(api, "/url")),
            ("apis[mcp].resource", text(api, "/resource")),
        ];
        found.extend(unlike(("the card", url), &native));
    }
    found
}

pub(super) fn release(seen: &Seen<'_>) -> Vec<String> {
    let params = params(seen.agent_card);
    let version = text(params, "/version");
    let named = (
        "the Poppy extension",
        text(bridge(seen.poppy), "/aap_version"),
    );
    let mut found = unlike(("the card", version), &[named]);
    if !seen.llms_txt.contains(version) {
        found.push(format!("llms.txt does not name the release {version}"));
    }
    if let Some(openapi) = seen.openapi {
        let named = ("the OpenAPI document", text(openapi, "/x-aap-extension"));
        let uri = text(extension(seen.agent_card), "/uri");
        found.extend(unlike(("the card", uri), &[named]));
    }
    for tool in list(seen.tools) {
        found.extend(tool_release(params, tool));
    }
    found
}

fn tool_release(params: &Value, tool: &Value) -> Vec<String> {
    let (meta, name) = (tool_meta(tool), text(tool, "/name"));
    let mut found = unlike(
        ("the card", text(params, "/version")),
        &[(name, text(meta, "/version"))],
    );
    let skill = text(meta, "/skill_id");
    let schemas = params.get("skills").and_then(|skills| skills.get(skill));
    if let Some(schemas) = schemas {
        for member in ["/request_schema", "/response_schema"] {
            let said = (name, text(meta, member));
            found.extend(unlike(("the card", text(schemas, member)), &[said]));
        }
    }
    found
}

pub(super) fn skills(seen: &Seen<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let ids: Vec<&str> = list(seen.agent_card.get("skills"))
        .map(|skill| text(skill, "/id"))
        .collect();
    let card: BTreeSet<&str> = ids.iter().copied().collect();
    if card.is_empty() {
        found.push("the card names no skill".to_owned());
    }
    if card.len() != ids.len() {
        found.push("the card names a skill twice".to_owned());
    }
    let mut same = |place: &str, named: BTreeSet<&str>| {
        if named != card {
            found.push(format!("the card names {card:?}, {place} {named:?}"));
        }
    };
    same("its parameters", members(params(seen.agent_card), "skills"));
    // An index need not list skills; where it does, it lists these.
    let known = Skill::ALL.iter().map(|skill| skill.id());
    let mentioned: BTreeSet<&str> = known.filter(|id| mentions(seen.llms_txt, id)).collect();
    if !mentioned.is_empty() {
        same("llms.txt", mentioned);
    }
    if seen.tools.is_some() {
        let tools = list(seen.tools).map(|tool| text(tool_meta(tool), "/skill_id"));
        same("tools/list", tools.collect());
    }
    if let Some(openapi) = seen.openapi {
        let paths = members(openapi, "paths").into_iter();
        let skills = paths.map(|path| path.strip_prefix("/skills/").unwrap_or(path));
        same("the OpenAPI document", skills.collect());
    }
    found
}

fn members<'a>(value: &'a Value, name: &str) -> BTreeSet<&'a str> {
    let members = value.get(name).and_then(Value::as_object);
    members
        .into_iter()
        .flat_map(|members| members.keys().map(String::as_str))
        .collect()
}

/// Whether an id stands in the text as a word.
fn mentions(text: &str, id: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
    text.split(|c: char| !inner(c))
        .any(|word| word.trim_matches('.') == id)
}

pub(super) fn capabilities(seen: &Seen<'_>) -> Vec<String> {
    let skill = params(seen.agent_card).pointer("/skills/inventory.search");
    let card = skill.and_then(|skill| skill.get("capabilities"));
    let mut found = Vec::new();
    if skill.is_some() && card.is_none() {
        found.push("the card does not say what search supports".to_owned());
    }
    for tool in list(seen.tools) {
        let meta = tool_meta(tool);
        if text(meta, "/skill_id") == "inventory.search" && meta.get("capabilities") != card {
            let name = text(tool, "/name");
            found.push(format!("{name} states other capabilities than the card"));
        }
    }
    found
}

pub(super) fn issuer(seen: &Seen<'_>) -> Vec<String> {
    let named = text(seen.poppy, "/auth/issuer");
    let Some(oauth) = seen.oauth else {
        return Vec::new();
    };
    let said = ("the issuer's metadata", text(oauth, "/issuer"));
    let mut found = unlike(("the Poppy document", named), &[said]);
    let domain = text(seen.poppy, "/organization/domain");
    let wanted = format!("https://{domain}");
    let is_wanted = |entry: &Value| {
        let entry = entry.as_str().unwrap_or_default();
        entry.starts_with("https://") && entry.eq_ignore_ascii_case(&wanted)
    };
    if !list(oauth.get("protected_resources")).any(is_wanted) {
        found.push(format!(
            "the issuer's protected_resources do not hold {wanted:?}"
        ));
    }
    found
}

pub(super) fn api(seen: &Seen<'_>) -> Vec<String> {
    let Some(openapi) = seen.openapi else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if seen.poppy.pointer("/auth/issuer").is_none() {
        found.push("a native API is described, but no issuer is named for it".to_owned());
    }
    let servers: Vec<&str> = list(openapi.get("servers"))
        .map(|server| text(server, "/url"))
        .collect();
    if servers.is_empty() {
        found.push("the OpenAPI document names no server".to_owned());
    }
    for api in apis(seen.poppy, "openapi") {
        let resource = text(api, "/resource");
        if !resource.is_empty() && !servers.contains(&resource) {
            found.push(format!(
                "the Poppy document says {resource:?}, the OpenAPI document {servers:?}"
            ));
        }
    }
    if list(openapi.get("security")).next().is_none() {
        found.push("the OpenAPI document asks for no Session Token".to_owned());
    }
    found
}
