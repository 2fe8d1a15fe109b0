//! What a dealer's domain says of its agent endpoints. Names only what works (AAP-047), and nowhere what is
//! not said everywhere (AAP-066).

pub mod agent_card;
pub mod agreement;
pub mod api_catalog;
pub mod inventory_page;
pub mod llms_txt;
pub mod openapi;
pub mod poppy;
mod yaml;

use serde_json::Value;

use crate::bindings::mcp;
use crate::deployment::Deployment;
use agreement::{Disagreement, Seen};

const JSON: &str = "application/json";
/// RFC 9512.
const YAML: &str = "application/yaml";

/// Every document of one deployment.
#[derive(Clone, Debug)]
pub struct Documents {
    pub agent_card: Value,
    pub poppy: Value,
    pub llms_txt: String,
    pub api_catalog: Value,
    pub openapi: Option<Value>,
    /// The issuer's metadata.
    pub oauth: Option<Value>,
    /// What `tools/list` says.
    pub tools: Value,
}

/// A document at its address.
#[derive(Clone, Debug)]
pub struct Page {
    pub url: String,
    pub content_type: &'static str,
    pub text: String,
}

impl Documents {
    /// Writes what this deployment says of itself.
    pub fn write(deployment: &Deployment) -> Self {
        Self {
            agent_card: agent_card::write(deployment),
            poppy: poppy::write(deployment),
            llms_txt: llms_txt::write(deployment),
            api_catalog: api_catalog::write(deployment),
            openapi: openapi::write(deployment),
            oauth: deployment.pap.as_ref().map(|issuer| issuer.metadata()),
            tools: mcp::tools(deployment),
        }
    }

    /// The Poppy document as it is read at one of the company's hosts.
    pub fn poppy_page(deployment: &Deployment, domain: &str) -> Page {
        Page {
            url: deployment.urls.poppy.clone(),
            content_type: JSON,
            text: poppy::write_for(deployment, domain).to_string(),
        }
    }

    /// The documents that are fetched, each where it lies, but for the Poppy document.
    pub fn pages(&self, deployment: &Deployment) -> Vec<Page> {
        let urls = &deployment.urls;
        let page = |url: &str, content_type, text| Page {
            url: url.to_owned(),
            content_type,
            text,
        };
        let mut pages = vec![
            page(&urls.agent_card, JSON, self.agent_card.to_string()),
            page(
                &urls.llms_txt,
                llms_txt::CONTENT_TYPE,
                self.llms_txt.clone(),
            ),
            page(
                &urls.api_catalog,
                api_catalog::CONTENT_TYPE,
                self.api_catalog.to_string(),
            ),
        ];
        if let (Some(document), Some(url)) = (&self.openapi, &urls.openapi) {
            pages.push(page(url, JSON, document.to_string()));
            pages.push(page(&openapi::yaml_url(url), YAML, yaml::write(document)));
        }
        if let (Some(document), Some(issuer)) = (&self.oauth, &deployment.pap) {
            let settings = issuer.settings();
            pages.push(page(&settings.metadata_url(), JSON, document.to_string()));
            let mcp = settings.mcp_metadata().zip(settings.mcp_metadata_url());
            pages.extend(mcp.map(|(document, url)| page(&url, JSON, document.to_string())));
        }
        pages.extend(gate_pages(deployment));
        pages
    }

    /// What these documents say differently of one thing.
    pub fn disagreements(&self, deployment: &Deployment) -> Vec<Disagreement> {
        agreement::find(&Seen {
            poppy_url: &deployment.urls.poppy,
            agent_card: &self.agent_card,
            poppy: &self.poppy,
            llms_txt: &self.llms_txt,
            api_catalog: Some(&self.api_catalog),
            openapi: self.openapi.as_ref(),
            oauth: self.oauth.as_ref(),
            tools: Some(&self.tools),
        })
    }
}

/// What describes the protected endpoints (RFC 9728 section 3.1): each below its path, and MCP's, whose
/// clients look there too, at the root. Where nothing is protected nothing stands there: clients take such a
/// document for a demand to sign in.
fn gate_pages(deployment: &Deployment) -> Vec<Page> {
    let gates = &deployment.gates;
    let root = gates.mcp.as_ref().or(gates.a2a.as_ref());
    let root = root.map(|gate| (gate, gate.root_metadata_url()));
    let each = [&gates.mcp, &gates.a2a].into_iter().flatten();
    let each = each.map(|gate| (gate, gate.metadata_url()));
    let mut pages: Vec<Page> = Vec::new();
    for (gate, url) in each.chain(root) {
        if !pages.iter().any(|page| page.url == url) {
            pages.push(Page {
                url,
                content_type: JSON,
                text: gate.metadata().to_string(),
            });
        }
    }
    pages
}

/// The `Link` header of pages and documents, with registered relations only (AAP-040).
pub fn links(deployment: &Deployment) -> String {
    let urls = &deployment.urls;
    let mut links = vec![
        format!("<{}>; rel=\"api-catalog\"", urls.api_catalog),
        format!(
            "<{}>; rel=\"service-doc\"; type=\"text/markdown\"",
            urls.llms_txt
        ),
    ];
    for url in [&urls.agent_card, &urls.poppy] {
        links.push(format!("<{url}>; rel=\"service-meta\"; type=\"{JSON}\""));
    }
    if let Some(url) = &urls.openapi {
        links.push(format!("<{url}>; rel=\"service-desc\"; type=\"{JSON}\""));
    }
    links.join(", ")
}

#[cfg(test)]
mod tests;
