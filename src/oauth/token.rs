//! Access tokens: sealed, so nobody outside reads or makes one, and opened without a store. Rotation of
//! the key ring logs nobody out, because old keys still open.

use serde::{Deserialize, Serialize};

use crate::seal::KeyRing;

const PURPOSE: &str = "pap access token";

/// What a token says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Token {
    /// The Session's key.
    #[serde(rename = "k")]
    pub(super) jkt: String,
    #[serde(rename = "c")]
    pub(super) client_id: String,
    #[serde(rename = "u")]
    pub(super) user_id: String,
    #[serde(rename = "a", skip_serializing_if = "Option::is_none", default)]
    pub(super) agent_id: Option<String>,
    #[serde(rename = "r")]
    pub(super) resource: String,
    #[serde(rename = "e")]
    pub(super) expires_at: i64,
    /// Bought by exchange for an MCP endpoint without DPoP: good without a proof, and only there.
    #[serde(rename = "b", skip_serializing_if = "std::ops::Not::not", default)]
    pub(super) bearer: bool,
}

impl Token {
    /// Seals it for one issuer.
    pub(super) fn seal(&self, keys: &KeyRing, issuer: &str) -> Option<String> {
        let plain = serde_json::to_vec(self).ok()?;
        keys.seal(PURPOSE, issuer.as_bytes(), &plain).ok()
    }

    /// Opens a token of this issuer, whatever its age.
    pub(super) fn open(text: &str, keys: &KeyRing, issuer: &str) -> Option<Self> {
        /// No token of ours is longer.
        const MAX_BYTES: usize = 8192;
        if text.len() > MAX_BYTES {
            return None;
        }
        let plain = keys.open(PURPOSE, issuer.as_bytes(), text)?;
        serde_json::from_slice(&plain).ok()
    }
}
