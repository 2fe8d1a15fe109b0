//! The discovery documents: whether each is there, fits its schema, and agrees with the others.

use serde_json::Value;

use super::report::Report;
use super::visit::Visitor;
use crate::bindings::discovery::agreement::{self, Disagreement, Seen, Topic};
use crate::contract::{Contract, Problem, json};

const DOCUMENTS: &str = "documents";
const JSON: [&str; 1] = ["application/json"];
/// Other links of an index that are tried.
const MAX_LINKS: usize = 10;

const SERVE_IT: &str = "serve it at this address, without redirect, to everybody";
const FIT_IT: &str = "compare it with the contract's schema: forecourt validate";

/// What was there to read.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) poppy_url: String,
    pub(super) agent_card: Option<Value>,
    pub(super) poppy: Option<Value>,
    pub(super) llms_txt: Option<String>,
    pub(super) api_catalog: Option<Value>,
    pub(super) openapi: Option<Value>,
    pub(super) oauth: Option<Value>,
}

/// Reads every document that the site has or names.
pub(super) async fn read(
    base: &str,
    visitor: &Visitor<'_>,
    contract: &Contract,
    report: &mut Report,
) -> Read {
    let poppy_url = format!("{base}/.well-known/poppy.json");
    let reader = Reader { visitor, contract };
    let card_url = format!("{base}/.well-known/agent-card.json");
    let mut read = Read {
        agent_card: reader.json("agent-card", &card_url, report).await,
        poppy: reader.json("poppy", &poppy_url, report).await,
        llms_txt: reader.index(base, report).await,
        api_catalog: reader.catalogue(base, report).await,
        poppy_url,
        ..Read::default()
    };
    let Some(poppy) = &read.poppy else {
        return read;
    };
    let issuer = agreement::text(poppy, "/auth/issuer");
    if let Some(url) = metadata_url(issuer) {
        read.oauth = reader.json("oauth-metadata", &url, report).await;
    }
    let api = agreement::apis(poppy, "openapi").next();
    if let Some(url) = api.map(|api| agreement::text(api, "/url").to_owned()) {
        read.openapi = reader.openapi(&url, report).await;
    }
    read
}

/// Where an issuer's metadata lies (RFC 8414 section 3.1).
fn metadata_url(issuer: &str) -> Option<String> {
    let issuer = issuer.strip_suffix('/').unwrap_or(issuer);
    let (scheme, rest) = issuer.split_once("://")?;
    let at = rest.find('/').unwrap_or(rest.len());
    let (host, path) = rest.split_at_checked(at)?;
    Some(format!(
        "{scheme}://{host}/.well-known/oauth-authorization-server{path}"
    ))
}

struct Reader<'a> {
    visitor: &'a Visitor<'a>,
    contract: &'a Contract,
}

impl Reader<'_> {
    /// A JSON document with a schema of the contract.
    async fn json(&self, name: &str, url: &str, report: &mut Report) -> Option<Value> {
        let document = self.fetch(name, url, report).await?;
        let id = format!("{name}-schema");
        let fits = self.contract.check_document(name, &document);
        let fits = fits.map_err(|problems| words(&problems));
        let claim = format!("{name} fits its schema");
        report.outcome((DOCUMENTS, &id), &claim, fits, FIT_IT);
        Some(document)
    }

    async fn fetch(&self, name: &str, url: &str, report: &mut Report) -> Option<Value> {
        let document = self.visitor.document(url, &JSON).await;
        let document = document.and_then(|answer| {
            let parsed = json::read(&answer.body);
            parsed.map_err(|error| format!("{url} is not JSON: {error}"))
        });
        let claim = format!("{name} is there: {url}");
        match document {
            Ok(document) => {
                report.good(DOCUMENTS, name, claim);
                Some(document)
            }
            Err(reason) => {
                report.fault((DOCUMENTS, name), claim, reason, SERVE_IT);
                None
            }
        }
    }

    async fn openapi(&self, url: &str, report: &mut Report) -> Option<Value> {
        let document = self.fetch("openapi", url, report).await?;
        let version = agreement::text(&document, "/openapi");
        let is_3_1 = version.starts_with("3.1.");
        let fits = if is_3_1 {
            Ok(())
        } else {
            Err(format!("it says openapi is {version:?}"))
        };
        let claim = "openapi is an OpenAPI 3.1 document";
        let place = (DOCUMENTS, "openapi-version");
        report.outcome(place, claim, fits, "describe the API in OpenAPI 3.1");
        Some(document)
    }

    async fn index(&self, base: &str, report: &mut Report) -> Option<String> {
        let url = format!("{base}/llms.txt");
        let types = ["text/markdown", "text/plain"];
        let answer = self.visitor.document(&url, &types).await;
        let text = answer.and_then(|answer| {
            let text = String::from_utf8(answer.body.to_vec());
            text.map_err(|_| format!("{url} is not UTF-8"))
        });
        let claim = format!("llms.txt is there: {url}");
        let place = (DOCUMENTS, "llms.txt");
        let text = match text {
            Ok(text) => text,
            Err(reason) => {
                report.fault(place, claim, reason, SERVE_IT);
                return None;
            }
        };
        report.good(place.0, place.1, claim);
        let told = text.to_ascii_lowercase().contains("consent");
        let told = if told {
            Ok(())
        } else {
            Err("the word consent does not occur".to_owned())
        };
        let claim = "llms.txt says that a lead needs the customer's consent";
        let remedy = "say that submitting a lead needs the customer's explicit consent";
        report.outcome((DOCUMENTS, "llms.txt-consent"), claim, told, remedy);
        Some(text)
    }

    /// The catalogue is optional: where there is none, nothing is said.
    async fn catalogue(&self, base: &str, report: &mut Report) -> Option<Value> {
        let url = format!("{base}/.well-known/api-catalog");
        let answer = self.visitor.get(&url, &[]).await.ok()?;
        if answer.status == 404 {
            return None;
        }
        let types = ["application/linkset+json"];
        let answer = self.visitor.document(&url, &types).await;
        let parsed = answer.and_then(|answer| {
            let parsed = json::read(&answer.body);
            parsed.map_err(|error| format!("{url} is not JSON: {error}"))
        });
        let claim = format!("api-catalog is a linkset: {url}");
        let place = (DOCUMENTS, "api-catalog");
        match parsed {
            Ok(document) => {
                report.good(place.0, place.1, claim);
                Some(document)
            }
            Err(reason) => {
                report.fault(place, claim, reason, SERVE_IT);
                None
            }
        }
    }
}

fn words(problems: &[Problem]) -> String {
    let word = |problem: &Problem| {
        let place = &problem.instance_location;
        format!("{place} {}: {}", problem.keyword, problem.error)
    };
    let words: Vec<String> = problems.iter().take(3).map(word).collect();
    words.join("; ")
}

/// What else the documents link to answers, too: the page for people before all.
pub(super) async fn people(read: &Read, visitor: &Visitor<'_>, report: &mut Report) {
    let Some(index) = &read.llms_txt else {
        return;
    };
    let catalogue = read.api_catalog.iter();
    let described = catalogue.flat_map(|catalogue| agreement::described(catalogue));
    let mcp = read.agent_card.iter();
    let mcp = mcp.map(|card| agreement::text(agreement::params(card), "/mcp/url"));
    let endpoints: Vec<&str> = mcp.collect();
    let mut links: Vec<&str> = agreement::links(index).chain(described).collect();
    links.retain(|link| !endpoints.contains(link));
    links.sort_unstable();
    links.dedup();
    let mut dead = Vec::new();
    for link in links.into_iter().take(MAX_LINKS) {
        match visitor.get(link, &[]).await {
            Ok(answer) if answer.status.as_u16() < 400 => {}
            Ok(answer) => dead.push(format!("{link} answers {}", answer.status)),
            Err(reason) => dead.push(reason),
        }
    }
    let alive = if dead.is_empty() {
        Ok(())
    } else {
        Err(dead.join("; "))
    };
    let claim = "what llms.txt and the catalogue link to is there";
    let remedy = "link only to what is served";
    report.outcome((DOCUMENTS, "dead-links"), claim, alive, remedy);
}

/// Holds the documents against each other.
pub(super) fn agree(read: &Read, tools: Option<&Value>, report: &mut Report) {
    let section = "agreement";
    let (Some(card), Some(poppy), Some(llms_txt)) = (&read.agent_card, &read.poppy, &read.llms_txt)
    else {
        let claim = "the documents agree";
        let reason = "not judged: a document is missing";
        report.warn(
            (section, "judged"),
            claim,
            reason,
            "serve all three documents",
        );
        return;
    };
    let seen = Seen {
        poppy_url: &read.poppy_url,
        agent_card: card,
        poppy,
        llms_txt,
        api_catalog: read.api_catalog.as_ref(),
        openapi: read.openapi.as_ref(),
        oauth: read.oauth.as_ref(),
        tools,
    };
    let found = agreement::find(&seen);
    let applies = |topic: &Topic| match topic {
        Topic::Issuer => seen.oauth.is_some(),
        Topic::Api => seen.openapi.is_some(),
        Topic::Catalogue => seen.api_catalog.is_some(),
        Topic::Identity
        | Topic::Mcp
        | Topic::Release
        | Topic::Skills
        | Topic::Capabilities
        | Topic::Links
        | Topic::Addresses => true,
    };
    for topic in Topic::ALL.into_iter().filter(applies) {
        let words: Vec<&str> = words_about(&found, topic);
        let outcome = if words.is_empty() {
            Ok(())
        } else {
            Err(words.join("; "))
        };
        let remedy = "let every document be made from one configuration, and publish them together";
        report.outcome((section, topic.id()), topic.claim(), outcome, remedy);
    }
}

fn words_about(found: &[Disagreement], topic: Topic) -> Vec<&str> {
    let about = found.iter().filter(|one| one.topic == topic);
    about.map(|one| one.words.as_str()).collect()
}
