//! A call at the API or at the MCP endpoint: the token, its proof, and nothing in the URL (AAP-256 …
//! AAP-265, AAP-319, AAP-320).

use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::dpop::{self, Expected, Proof};
use super::refusal::{Code, Refusal};
use super::replay::Seen;
use super::token::Token;
use super::witness::API_PROOF;
use super::{Issuer, McpTokens, carries_credentials, values};
use crate::store::CallEntry;

/// Who calls, verified. The ids are for authorization and scopes only, never for a log.
#[derive(Clone)]
pub struct Access {
    pub client_id: String,
    pub user_id: String,
    pub agent_id: Option<String>,
    /// For the `DPoP-Nonce` header of the answer.
    pub next_nonce: Option<String>,
}

impl Access {
    fn of(token: Token, next_nonce: Option<String>) -> Self {
        Self {
            client_id: token.client_id,
            user_id: token.user_id,
            agent_id: token.agent_id,
            next_nonce,
        }
    }
}

impl Issuer {
    /// Authenticates a request to the native API for `url`, the configured public URL of what was asked for.
    pub async fn authenticate(
        &self,
        method: &str,
        url: &str,
        query: Option<&str>,
        headers: &HeaderMap,
    ) -> Result<Access, Refusal> {
        let refuse_key = Refusal::new(Code::InvalidDpopProof, "the proof's key is not the token's");
        let resource = &self.settings.resource;
        let text = credentials("dpop", query, headers)?;
        let token = self.check_token(text, resource, false)?;
        self.proven(method, url, headers, (text, token), refuse_key)
            .await
    }

    /// Authenticates a request to the MCP endpoint, where its tokens are this issuer's.
    pub async fn authenticate_mcp(
        &self,
        method: &str,
        query: Option<&str>,
        headers: &HeaderMap,
    ) -> Result<Access, Refusal> {
        let Some(mcp) = &self.settings.mcp else {
            return Err(Refusal::new(Code::InvalidToken, "no resource"));
        };
        let resource = mcp.resource.as_str();
        if mcp.tokens == McpTokens::Bearer {
            let text = credentials("bearer", query, headers)?;
            let token = self.check_token(text, resource, true)?;
            self.take_call(&token.jkt)?;
            if self.has_ended_anywhere(&token.jkt).await? {
                return Err(Refusal::new(Code::InvalidToken, "ended Session"));
            }
            return Ok(Access::of(token, None));
        }
        // MCP's own suites want the code of RFC 9449 figure 16 here
        let stage = "the proof's key is not the token's";
        let refuse_key = Refusal::new(Code::InvalidToken, stage);
        let text = credentials("dpop", query, headers)?;
        let token = self.check_token(text, resource, false)?;
        self.proven(method, resource, headers, (text, token), refuse_key)
            .await
    }

    /// The rest of the check of a token that is bound: its proof, used once.
    async fn proven(
        &self,
        method: &str,
        url: &str,
        headers: &HeaderMap,
        (text, token): (&str, Token),
        refuse_key: Refusal,
    ) -> Result<Access, Refusal> {
        let proof = dpop::check(
            &values(headers, "dpop"),
            &Expected {
                method,
                url,
                token: Some(text),
                now: self.now(),
                window_s: self.settings.proof_window_s,
            },
        )?;
        if proof.jkt != token.jkt {
            return Err(refuse_key);
        }
        self.check_nonce(&self.api_nonces, proof.nonce.as_deref())?;
        self.take_call(&token.jkt)?;
        self.claim_call(&proof).await?;
        Ok(Access::of(token, self.next_nonce(&self.api_nonces)))
    }

    fn take_call(&self, jkt: &str) -> Result<(), Refusal> {
        let now_ms = self.clock.now().as_millisecond();
        self.session_calls
            .take(jkt, now_ms)
            .map_err(|wait_s| Refusal::rate_limited("session", wait_s))
    }

    /// Whether a Session has ended, here or at another process.
    pub(super) async fn has_ended_anywhere(&self, jkt: &str) -> Result<bool, Refusal> {
        if self.witness.has_ended(jkt) {
            return Ok(true);
        }
        let issuer = &self.settings.issuer;
        self.ledger.has_ended(issuer, jkt, self.now()).await
    }

    fn check_token(&self, text: &str, resource: &str, bearer: bool) -> Result<Token, Refusal> {
        let refuse = |stage| Refusal::new(Code::InvalidToken, stage);
        let token = Token::open(text, &self.keys, &self.settings.issuer)
            .ok_or_else(|| refuse("unknown token"))?;
        if token.expires_at <= self.now() {
            return Err(refuse("expired token"));
        }
        // a bound token that is sent as Bearer is no token (AAP-325)
        if token.resource != resource || token.bearer != bearer {
            return Err(refuse("another resource's token"));
        }
        // a client that was blocked after it got its token stops at once
        if !self.settings.registration.admits(&token.client_id) {
            return Err(refuse("registration policy"));
        }
        if self.witness.has_ended(&token.jkt) {
            return Err(refuse("ended Session"));
        }
        Ok(token)
    }

    /// Refuses a proof that was used: by the one shared ledger, or from memory. What memory cannot know is refused,
    /// if it is from before the start, or asked of the ledger, which outlives a restart: proofs that came ahead
    /// of their time, and for a while after the start whether such a one comes again.
    async fn claim_call(&self, proof: &Proof) -> Result<(), Refusal> {
        let used = || Refusal::new(Code::InvalidDpopProof, "the proof was used");
        let now = self.now();
        let claim = self.proof_claim(API_PROOF, proof);
        if self.ledger.is_shared() {
            let issuer = &self.settings.issuer;
            return match self.ledger.call(issuer, &proof.jkt, &claim, now).await? {
                CallEntry::Passed => Ok(()),
                CallEntry::Used => Err(used()),
                CallEntry::Ended => Err(Refusal::new(Code::InvalidToken, "ended Session")),
            };
        }
        if proof.iat < self.witness.started_at {
            return Err(Refusal::new(
                Code::InvalidDpopProof,
                "the proof is older than this server's start",
            ));
        }
        match self.witness.proofs.claim(&claim.key, proof.expires_at, now) {
            Seen::New => {}
            Seen::Before => return Err(used()),
            Seen::Full => return Err(Refusal::unavailable("proof window")),
        }
        let known = if proof.iat > now {
            self.ledger.claim_all(&[claim], now).await?.is_some()
        } else if now < self.witness.ahead_until {
            self.ledger.is_claimed(&claim, now).await?
        } else {
            false
        };
        if known { Err(used()) } else { Ok(()) }
    }
}

/// The token of the one `Authorization` header, which is of this scheme (in lower case).
fn credentials<'a>(
    wanted: &str,
    query: Option<&str>,
    headers: &'a HeaderMap,
) -> Result<&'a str, Refusal> {
    let refuse = |stage| Refusal::new(Code::InvalidToken, stage);
    if carries_credentials(query) {
        return Err(Refusal::new(
            Code::InvalidRequest,
            "credentials do not belong into the URL",
        ));
    }
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = given.next() else {
        return Err(refuse("no credentials"));
    };
    if given.next().is_some() {
        // RFC 9449 figure 19
        return Err(Refusal::new(
            Code::InvalidRequest,
            "more than one Authorization header",
        ));
    }
    let value = value.to_str().map_err(|_| refuse("credentials"))?;
    let (scheme, token) = value.split_once(' ').ok_or_else(|| refuse("credentials"))?;
    if !scheme.eq_ignore_ascii_case(wanted) {
        return Err(refuse("another scheme"));
    }
    Ok(token.trim_matches(' '))
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access").finish_non_exhaustive()
    }
}
