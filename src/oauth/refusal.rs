//! Everything this room says no with, and how that stands on the wire at the issuer and at the API.

use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::McpTokens;

pub(super) const DPOP_NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

/// An OAuth error code (RFC 6749, 6750, 8707, 9449; `rate_limited` is PAP's).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    InvalidRequest,
    InvalidClient,
    InvalidGrant,
    InvalidTarget,
    InvalidScope,
    UnsupportedGrantType,
    InvalidDpopProof,
    UseDpopNonce,
    InvalidToken,
    RateLimited,
    Unavailable,
}

impl Code {
    /// The code as it stands on the wire.
    pub fn id(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::InvalidClient => "invalid_client",
            Self::InvalidGrant => "invalid_grant",
            Self::InvalidTarget => "invalid_target",
            Self::InvalidScope => "invalid_scope",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::InvalidDpopProof => "invalid_dpop_proof",
            Self::UseDpopNonce => "use_dpop_nonce",
            Self::InvalidToken => "invalid_token",
            Self::RateLimited => "rate_limited",
            Self::Unavailable => "temporarily_unavailable",
        }
    }

    /// The status at the token and revocation endpoints (AAP-282 … AAP-287, AAP-292).
    fn status_at_issuer(self) -> u16 {
        match self {
            Self::InvalidClient => 401,
            Self::RateLimited => 429,
            Self::Unavailable => 503,
            Self::InvalidRequest
            | Self::InvalidGrant
            | Self::InvalidTarget
            | Self::InvalidScope
            | Self::UnsupportedGrantType
            | Self::InvalidDpopProof
            | Self::UseDpopNonce
            | Self::InvalidToken => 400,
        }
    }

    /// The status at the API (AAP-288, AAP-289, AAP-292).
    fn status_at_api(self) -> u16 {
        match self {
            Self::InvalidRequest => 400,
            Self::RateLimited => 429,
            Self::Unavailable => 503,
            Self::InvalidClient
            | Self::InvalidGrant
            | Self::InvalidTarget
            | Self::InvalidScope
            | Self::UnsupportedGrantType
            | Self::InvalidDpopProof
            | Self::UseDpopNonce
            | Self::InvalidToken => 401,
        }
    }

    /// Whether the stage may be told to the caller. What a client or an assertion lacks may not: the
    /// answer would tell what a fetch met or what another knows.
    fn tells_stage(self) -> bool {
        match self {
            Self::InvalidRequest
            | Self::InvalidTarget
            | Self::InvalidScope
            | Self::UnsupportedGrantType
            | Self::InvalidDpopProof => true,
            Self::InvalidClient
            | Self::InvalidGrant
            | Self::UseDpopNonce
            | Self::InvalidToken
            | Self::RateLimited
            | Self::Unavailable => false,
        }
    }
}

/// A refusal. `stage` says which check failed in fixed words, so it may stand in a log (AAP-340).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {stage}", code.id())]
pub struct Refusal {
    pub code: Code,
    pub stage: &'static str,
    nonce: Option<String>,
    retry_after_s: Option<u32>,
}

impl Refusal {
    pub(super) fn new(code: Code, stage: &'static str) -> Self {
        Self {
            code,
            stage,
            nonce: None,
            retry_after_s: None,
        }
    }

    pub(super) fn nonce(fresh: String) -> Self {
        Self {
            nonce: Some(fresh),
            ..Self::new(Code::UseDpopNonce, "nonce")
        }
    }

    pub(super) fn rate_limited(stage: &'static str, retry_after_s: u32) -> Self {
        Self {
            retry_after_s: Some(retry_after_s.max(1)),
            ..Self::new(Code::RateLimited, stage)
        }
    }

    pub(super) fn unavailable(stage: &'static str) -> Self {
        Self {
            retry_after_s: Some(5),
            ..Self::new(Code::Unavailable, stage)
        }
    }

    /// Seconds to wait, where that helps.
    pub fn retry_after_s(&self) -> Option<u32> {
        self.retry_after_s
    }

    /// The answer at the token and revocation endpoints.
    pub fn at_issuer(&self) -> Reply {
        let mut reply = self.reply(self.code.status_at_issuer());
        if self.code == Code::InvalidClient {
            // RFC 9110 section 15.5.2: every 401 names a scheme
            let value = HeaderValue::from_static("DPoP algs=\"ES256\"");
            reply.headers.insert(WWW_AUTHENTICATE, value);
        }
        reply
    }

    /// The answer at the API.
    pub fn at_api(&self) -> Reply {
        self.challenged("DPoP", "algs=\"ES256\"")
    }

    /// The answer at the MCP endpoint: the scheme it takes, and where that is described (AAP-326).
    pub fn at_mcp(&self, tokens: McpTokens, metadata_url: &str) -> Reply {
        match tokens {
            McpTokens::Dpop => {
                let more = format!("algs=\"ES256\", resource_metadata=\"{metadata_url}\"");
                self.challenged("DPoP", &more)
            }
            McpTokens::Bearer => {
                self.challenged("Bearer", &format!("resource_metadata=\"{metadata_url}\""))
            }
        }
    }

    fn challenged(&self, scheme: &str, more: &str) -> Reply {
        let mut reply = self.reply(self.code.status_at_api());
        if reply.status == 401 {
            let challenge = format!("{scheme} error=\"{}\", {more}", self.code.id());
            if let Ok(value) = HeaderValue::from_str(&challenge) {
                reply.headers.insert(WWW_AUTHENTICATE, value);
            }
        }
        reply
    }

    fn reply(&self, status: u16) -> Reply {
        let mut body = Map::new();
        body.insert("error".to_owned(), self.code.id().into());
        if self.code.tells_stage() {
            body.insert("error_description".to_owned(), self.stage.into());
        }
        let mut reply = Reply::json(status, body);
        if let Some(nonce) = &self.nonce {
            reply.offer_nonce(nonce);
        }
        if let Some(seconds) = self.retry_after_s {
            reply
                .headers
                .insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        reply
    }
}

/// An answer of the issuer, ready for the wire.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    /// A JSON object.
    pub body: Map<String, Value>,
}

impl Reply {
    /// A JSON answer that nobody may keep.
    pub(super) fn json(status: u16, body: Map<String, Value>) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Self {
            status,
            headers,
            body,
        }
    }

    pub(super) fn offer_nonce(&mut self, nonce: &str) {
        if let Ok(value) = HeaderValue::from_str(nonce) {
            self.headers.insert(DPOP_NONCE, value);
        }
    }
}
