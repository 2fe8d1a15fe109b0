//! Who calls the MCP endpoint, as far as the head of a request proves it. Credentials that are sent are
//! verified, and nothing runs when they do not hold; callers without any stay anonymous. Must not check a
//! token itself: the issuer does.

use std::sync::Arc;

use http::request::Parts;
use http::{HeaderValue, Response, StatusCode, header};

use super::{Admission, refusal};
use crate::bindings::access;
use crate::contract::{Caller, Rope};
use crate::deployment::Deployment;
use crate::oauth::{Issuer, McpTokens, Refusal};

/// What decides who a caller is.
#[derive(Debug, Default)]
pub(super) struct Gate {
    /// Where Session Tokens of the deployment's own issuer are taken.
    pap: Option<Native>,
    /// Where access tokens of an outside issuer are asked for. A deployment has one of the two at most.
    outside: Option<Arc<crate::oauth::Gate>>,
}

#[derive(Debug)]
struct Native {
    issuer: Arc<Issuer>,
    tokens: McpTokens,
    metadata_url: String,
}

impl Gate {
    pub(super) fn new(deployment: &Deployment) -> Self {
        let native = deployment.pap.as_ref().and_then(|issuer| {
            let settings = issuer.settings();
            Some(Native {
                issuer: Arc::clone(issuer),
                tokens: settings.mcp.as_ref()?.tokens,
                metadata_url: settings.mcp_metadata_url()?,
            })
        });
        Self {
            pap: native,
            outside: deployment.gates.mcp.clone(),
        }
    }

    /// Says who calls. `Err` is the finished answer.
    pub(super) async fn admit(
        &self,
        head: &Parts,
        admission: &mut Admission,
    ) -> Result<(), Response<Rope>> {
        match &self.pap {
            Some(native) if head.headers.contains_key(header::AUTHORIZATION) => {
                return native.admit(head, admission).await;
            }
            _ => {}
        }
        match access::admit(self.outside.as_ref(), head).await {
            Ok(visitor) => {
                admission.caller = access::caller(&visitor);
                admission.visitor = visitor;
                Ok(())
            }
            Err(challenge) => {
                let answer = refusal(StatusCode::UNAUTHORIZED, challenge.message);
                Err(access::challenge(answer, &challenge, "mcp"))
            }
        }
    }
}

impl Native {
    async fn admit(&self, head: &Parts, admission: &mut Admission) -> Result<(), Response<Rope>> {
        let (method, query) = (head.method.as_str(), head.uri.query());
        let access = self.issuer.authenticate_mcp(method, query, &head.headers);
        let access = access.await.map_err(|refused| self.refused(&refused))?;
        let nonce = access.next_nonce;
        admission.nonce = nonce.and_then(|nonce| HeaderValue::try_from(nonce).ok());
        admission.caller = Caller::Pap {
            client_id: access.client_id,
            user_id: access.user_id,
        };
        Ok(())
    }

    /// A refusal of the transport, with the challenge and the times of the issuer's own answer.
    fn refused(&self, refused: &Refusal) -> Response<Rope> {
        let (error, stage) = (refused.code.id(), refused.stage);
        tracing::info!(binding = "mcp", error, stage, "refused");
        let reply = refused.at_mcp(self.tokens, &self.metadata_url);
        let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::UNAUTHORIZED);
        let message = match status {
            StatusCode::UNAUTHORIZED => {
                "The credentials do not hold here; see the WWW-Authenticate header."
            }
            StatusCode::TOO_MANY_REQUESTS => {
                "Too many calls; wait as long as the Retry-After header says."
            }
            StatusCode::SERVICE_UNAVAILABLE => "Not now; try again after Retry-After.",
            _ => "The request carries credentials where none belong.",
        };
        let mut answer = refusal(status, message);
        for name in ["www-authenticate", "retry-after", "dpop-nonce"] {
            if let Some(value) = reply.headers.get(name) {
                answer.headers_mut().insert(name, value.clone());
            }
        }
        answer
    }
}
