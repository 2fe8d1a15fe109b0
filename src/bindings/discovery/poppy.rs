//! `/.well-known/poppy.json`: who the dealer is to a personal agent, its issuer and its native API, and the
//! bridge to the other interfaces (AAP-196, AAP-215). Must not name what is not there.

use serde_json::json;

use crate::deployment::Deployment;

/// Writes the document; `None` unless every interface that it must link is there.
pub fn write(deployment: &Deployment) -> Option<String> {
    let settings = deployment.pap.as_ref()?.settings();
    let urls = &deployment.urls;
    let (agent_card, openapi) = (urls.agent_card.as_ref()?, urls.openapi.as_ref()?);
    let document = json!({
        "protocol_version": "0.3",
        "organization": {
            "name": deployment.name(),
            "domain": deployment.domain,
        },
        "auth": { "issuer": settings.issuer },
        "apis": [{
            "type": "openapi",
            "url": openapi,
            "resource": settings.resource,
            "description": "Dealer information, inventory and consented leads as Auto Agent Protocol operations, in signed-out Sessions.",
        }],
        "web": {},
        "extensions": {
            "autoagentprotocol.org/aap": {
                "version": "1",
                "agent_card": agent_card,
                "mcp": urls.mcp,
                "aap_version": deployment.contract.version(),
                "llms_txt": urls.llms_txt,
            },
        },
    });
    Some(document.to_string())
}
