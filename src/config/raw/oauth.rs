//! `[deployments.ID.oauth]`.

use std::path::PathBuf;

use serde::Deserialize;

/// `[deployments.ID.oauth]`: the issuer whose access tokens (JWT) are taken where MCP or A2A asks for them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Oauth {
    /// The issuer, exactly as its tokens name it, e.g. `https://login.example`. Required.
    pub issuer: Option<String>,
    /// Where its public keys are. Default what its own metadata says.
    pub jwks_url: Option<String>,
    /// The scopes that every access token must cover. Default none.
    pub scopes: Option<Vec<String>>,
    /// The scopes that one must cover besides to submit a lead. Default none.
    pub lead_scopes: Option<Vec<String>>,
    /// The signature algorithms that are taken: `ES256`, `RS256`. Default both.
    pub algorithms: Option<Vec<String>>,
    /// Seconds by which the issuer's clock may differ. Default 30.
    pub clock_skew_s: Option<u32>,
    /// A PEM file of authorities that are trusted beside the public ones when the issuer is asked.
    pub ca_file: Option<PathBuf>,
}
