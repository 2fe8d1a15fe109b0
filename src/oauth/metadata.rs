//! The authorization server metadata (RFC 8414) of an issuer, and where it lies.

use serde_json::{Value, json};

use super::grant::JWT_BEARER;
use super::{Issuer, McpTokens, Settings, exchange};

impl Settings {
    /// The document (AAP-219 … AAP-222, AAP-230, AAP-231).
    pub fn metadata(&self) -> Value {
        let domains = self
            .domains
            .iter()
            .map(|domain| format!("https://{domain}"));
        let algorithms = json!(["ES256", "RS256"]);
        let mut grants = vec![JWT_BEARER, "refresh_token"];
        let mcp = self.mcp.as_ref().map(|mcp| mcp.tokens);
        if mcp == Some(McpTokens::Bearer) {
            grants.push(exchange::GRANT);
        }
        json!({
            "issuer": self.issuer,
            "token_endpoint": self.token_endpoint(),
            "revocation_endpoint": self.revocation_endpoint(),
            "protected_resources": domains.collect::<Vec<_>>(),
            "grant_types_supported": grants,
            "token_endpoint_auth_methods_supported": ["private_key_jwt"],
            // RFC 8414 section 2: required beside private_key_jwt
            "token_endpoint_auth_signing_alg_values_supported": algorithms,
            "revocation_endpoint_auth_methods_supported": ["private_key_jwt"],
            "revocation_endpoint_auth_signing_alg_values_supported": algorithms,
            "dpop_signing_alg_values_supported": ["ES256"],
            "client_id_metadata_document_supported": true,
        })
    }

    /// Where the document lies: the well-known part stands before the issuer's path.
    pub fn metadata_url(&self) -> String {
        well_known("oauth-authorization-server", self.base())
    }

    /// What says how the MCP endpoint is reached with tokens of this issuer (RFC 9728, AAP-318).
    pub fn mcp_metadata(&self) -> Option<Value> {
        let mcp = self.mcp.as_ref()?;
        let common = json!({
            "resource": mcp.resource,
            "authorization_servers": [self.issuer],
            "bearer_methods_supported": ["header"],
        });
        let mut document = common.as_object().cloned()?;
        if mcp.tokens == McpTokens::Dpop {
            let name = "dpop_signing_alg_values_supported".to_owned();
            document.insert(name, json!(["ES256"]));
        }
        Some(Value::Object(document))
    }

    /// Where that lies.
    pub fn mcp_metadata_url(&self) -> Option<String> {
        let mcp = self.mcp.as_ref()?;
        Some(well_known("oauth-protected-resource", &mcp.resource))
    }
}

/// The well-known place of what describes `url`: before its path (RFC 8414 and RFC 9728, section 3).
fn well_known(name: &str, url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    let path = rest.find('/').and_then(|at| rest.split_at_checked(at));
    let (host, path) = path.unwrap_or((rest, ""));
    format!("{scheme}://{host}/.well-known/{name}{path}")
}

impl Issuer {
    /// The metadata document.
    pub fn metadata(&self) -> Value {
        self.settings.metadata()
    }
}
