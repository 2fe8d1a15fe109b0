//! `llms.txt`: a short, readable index of the interfaces and what they ask for (AAP-036). Must not name what
//! is not there.

use crate::bindings::mcp;
use crate::contract::Skill;
use crate::deployment::Deployment;

/// UTF-8 Markdown (AAP-009).
pub const CONTENT_TYPE: &str = "text/markdown; charset=utf-8";

/// Writes a deployment's index.
pub fn write(deployment: &Deployment) -> String {
    let urls = &deployment.urls;
    let name = plain(deployment.name());
    let mut text = format!(
        "# {name}\n\n> {name} answers buyers' AI agents under the Auto Agent Protocol {}.\n\n",
        deployment.contract.version()
    );
    text.push_str(&reading(deployment));
    if deployment.offers(Skill::LeadSubmit) {
        text.push_str(
            "Submitting a lead needs the customer's explicit consent to be contacted, for the channels the consent names. ",
        );
    } else {
        text.push_str("Leads are not taken here; contacting the dealer needs the customer's explicit consent. ");
    }
    let access = match &deployment.gates.mcp {
        None => "public",
        Some(gate) if gate.protects_everything() => "with an OAuth access token",
        Some(_) => "public reads, leads with an OAuth access token",
    };
    let skills: Vec<&str> = deployment.skills.iter().map(|skill| skill.id()).collect();
    text.extend(["Implemented skills: ", &skills.join(", "), ".\n\n"]);
    text.extend([
        "## Interfaces\n\n- [MCP endpoint](",
        &urls.mcp,
        "): ",
        access,
        ", Streamable HTTP, revisions ",
        &mcp::revisions().join(", "),
        "; send POST\n",
    ]);
    let others = [
        (
            Some(&urls.agent_card),
            "Agent Card",
            "A2A interface and search capabilities",
        ),
        (Some(&urls.poppy), "Poppy document", poppy_words(deployment)),
        (
            urls.openapi.as_ref(),
            "OpenAPI document",
            "native operations; every call needs a Session Token with DPoP, guests too",
        ),
    ];
    for (url, title, says) in others {
        if let Some(url) = url {
            text.extend(["- [", title, "](", url, "): ", says, "\n"]);
        }
    }
    text.extend([
        "\n## For people\n\n- [Inventory](",
        &urls.inventory_page,
        "): the vehicles on offer, as a web page\n",
    ]);
    text
}

/// What reading asks for, and of whom (AAP-139).
fn reading(deployment: &Deployment) -> String {
    match &deployment.gates.mcp {
        Some(gate) if gate.protects_everything() => format!(
            "Reading the inventory over MCP needs an OAuth access token of {}; {} describes it. It needs no personal data. ",
            gate.issuer(),
            gate.metadata_url()
        ),
        Some(gate) => format!(
            "Reading the inventory is public over MCP: no sign-in, no key, no personal data. Submitting a lead there needs an OAuth access token of {}. ",
            gate.issuer()
        ),
        None => "Reading the inventory is public over MCP: no sign-in, no key, no personal data. "
            .to_owned(),
    }
}

fn poppy_words(deployment: &Deployment) -> &'static str {
    match deployment.pap {
        Some(_) => "identity, issuer and native API under the Personal Agent Protocol",
        None => "the dealer's identity and links to these interfaces",
    }
}

/// A name on one line, without what Markdown would read as markup.
fn plain(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .filter(|c| !"[]<>`*_#".contains(*c))
        .collect()
}
