//! The authorization server metadata (RFC 8414) of an issuer, and where it lies.

use serde_json::{Value, json};

use super::{Issuer, Settings};

impl Settings {
    /// The document (AAP-219 … AAP-222, AAP-230, AAP-231).
    pub fn metadata(&self) -> Value {
        let domains = self
            .domains
            .iter()
            .map(|domain| format!("https://{domain}"));
        let algorithms = json!(["ES256", "RS256"]);
        json!({
            "issuer": self.issuer,
            "token_endpoint": self.token_endpoint(),
            "revocation_endpoint": self.revocation_endpoint(),
            "protected_resources": domains.collect::<Vec<_>>(),
            "grant_types_supported": [
                "urn:ietf:params:oauth:grant-type:jwt-bearer",
                "refresh_token",
            ],
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
        let (scheme, rest) = self.base().split_once("://").unwrap_or_default();
        let path = rest.find('/').and_then(|at| rest.split_at_checked(at));
        let (host, path) = path.unwrap_or((rest, ""));
        format!("{scheme}://{host}/.well-known/oauth-authorization-server{path}")
    }
}

impl Issuer {
    /// The metadata document.
    pub fn metadata(&self) -> Value {
        self.settings.metadata()
    }
}
