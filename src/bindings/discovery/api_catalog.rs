//! `/.well-known/api-catalog` (RFC 9727): the endpoints, and which document describes each. Must not name
//! what is not there.

use serde_json::{Value, json};

use super::{JSON, YAML, openapi};
use crate::deployment::Deployment;

/// A linkset (RFC 9264) with the catalogue's profile.
pub const CONTENT_TYPE: &str =
    "application/linkset+json; profile=\"https://www.rfc-editor.org/info/rfc9727\"";

/// Writes the catalogue.
pub fn write(deployment: &Deployment) -> Value {
    let urls = &deployment.urls;
    let link = |href: &str, kind: &str| json!({ "href": href, "type": kind });
    let people = || link(&urls.llms_txt, "text/markdown");
    let card = || link(&urls.agent_card, JSON);
    let mut contexts = vec![
        json!({ "anchor": urls.mcp, "service-doc": [people()], "service-meta": [card()] }),
        json!({ "anchor": urls.a2a, "service-doc": [people()], "service-meta": [card()] }),
    ];
    if let (Some(issuer), Some(url)) = (&deployment.pap, &urls.openapi) {
        let settings = issuer.settings();
        contexts.push(json!({
            "anchor": settings.resource,
            "service-desc": [link(url, JSON), link(&openapi::yaml_url(url), YAML)],
            "service-doc": [people()],
            "service-meta": [link(&urls.poppy, JSON), link(&settings.metadata_url(), JSON)],
        }));
    }
    json!({ "linkset": contexts })
}
