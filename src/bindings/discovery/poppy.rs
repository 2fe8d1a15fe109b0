//! `/.well-known/poppy.json`: who the dealer is to a personal agent, its issuer and its native API, and the
//! bridge to the other interfaces (AAP-196, AAP-215). Must not name what is not there.

use serde_json::{Value, json};

use crate::deployment::Deployment;

/// Writes the document. Without an issuer it is the website-only form: who the dealer is, and the bridge
/// to the other interfaces (AAP-202).
pub fn write(deployment: &Deployment) -> Value {
    write_for(deployment, &deployment.domain)
}

/// The same as it is read at another final host of the same company (AAP-213).
pub fn write_for(deployment: &Deployment, domain: &str) -> Value {
    let urls = &deployment.urls;
    let mut document = json!({
        "protocol_version": deployment.contract.pap_version(),
        "organization": {
            "name": deployment.name(),
            "domain": domain,
        },
        "web": {},
        "extensions": {
            "autoagentprotocol.org/aap": {
                "version": "1",
                "agent_card": urls.agent_card,
                "mcp": urls.mcp,
                "aap_version": deployment.contract.version(),
                "llms_txt": urls.llms_txt,
                "api_catalog": urls.api_catalog,
            },
        },
    });
    if let (Some(issuer), Some(openapi), Some(members)) =
        (&deployment.pap, &urls.openapi, document.as_object_mut())
    {
        let settings = issuer.settings();
        members.insert("auth".to_owned(), json!({ "issuer": settings.issuer }));
        let api = json!({
            "type": "openapi",
            "url": openapi,
            "resource": settings.resource,
            "description": "Dealer information, inventory and consented leads as Auto Agent Protocol operations, in signed-out Sessions.",
        });
        let mut apis = vec![api];
        // a public MCP address stands in the bridge; here it promises Session Tokens (AAP-030, AAP-042)
        apis.extend(settings.mcp.as_ref().map(|mcp| {
            json!({
                "type": "mcp",
                "url": mcp.resource,
                "resource": mcp.resource,
                "description": "The same operations as MCP tools, for Session Tokens of this issuer.",
            })
        }));
        members.insert("apis".to_owned(), json!(apis));
    }
    document
}
