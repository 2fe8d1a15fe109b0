//! A call at the API: the DPoP token, its proof, and nothing in the URL (AAP-256 … AAP-265).

use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::dpop::{self, Expected, Proof};
use super::refusal::{Code, Refusal};
use super::replay::Seen;
use super::token::Token;
use super::{Issuer, carries_credentials, key, values};
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

impl Issuer {
    /// Authenticates a request for `url`, the configured public URL of what was asked for.
    pub async fn authenticate(
        &self,
        method: &str,
        url: &str,
        query: Option<&str>,
        headers: &HeaderMap,
    ) -> Result<Access, Refusal> {
        if carries_credentials(query) {
            return Err(Refusal::new(
                Code::InvalidRequest,
                "credentials do not belong into the URL",
            ));
        }
        let text = credentials(headers)?;
        let token = self.check_token(text)?;
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
            return Err(Refusal::new(
                Code::InvalidDpopProof,
                "the proof's key is not the token's",
            ));
        }
        self.check_nonce(&self.api_nonces, proof.nonce.as_deref())?;
        let now_ms = self.clock.now().as_millisecond();
        self.session_calls
            .take(&token.jkt, now_ms)
            .map_err(|wait_s| Refusal::rate_limited("session", wait_s))?;
        self.claim_call(&proof).await?;
        Ok(Access {
            client_id: token.client_id,
            user_id: token.user_id,
            agent_id: token.agent_id,
            next_nonce: self.next_nonce(&self.api_nonces),
        })
    }

    fn check_token(&self, text: &str) -> Result<Token, Refusal> {
        let refuse = |stage| Refusal::new(Code::InvalidToken, stage);
        let token = Token::open(text, &self.keys, &self.settings.issuer)
            .ok_or_else(|| refuse("unknown token"))?;
        if token.expires_at <= self.now() {
            return Err(refuse("expired token"));
        }
        if token.resource != self.settings.resource {
            return Err(refuse("another resource's token"));
        }
        // a client that was blocked after it got its token stops at once
        if !self.settings.registration.admits(&token.client_id) {
            return Err(refuse("registration policy"));
        }
        if self.has_ended(&token.jkt) {
            return Err(refuse("ended Session"));
        }
        Ok(token)
    }

    /// Refuses a proof that was used: by the one shared ledger, or from memory. What this process cannot know is refused or asked of the ledger:
    /// proofs from before its start, and proofs dated ahead, which may outlive a restart.
    async fn claim_call(&self, proof: &Proof) -> Result<(), Refusal> {
        let used = || Refusal::new(Code::InvalidDpopProof, "the proof was used");
        let now = self.now();
        if self.ledger.is_shared() {
            let claim = self.proof_claim("api proof", proof);
            let issuer = &self.settings.issuer;
            return match self.ledger.call(issuer, &proof.jkt, &claim, now).await? {
                CallEntry::Passed => Ok(()),
                CallEntry::Used => Err(used()),
                CallEntry::Ended => Err(Refusal::new(Code::InvalidToken, "ended Session")),
            };
        }
        if proof.iat < self.started_at {
            return Err(Refusal::new(
                Code::InvalidDpopProof,
                "the proof is older than this server's start",
            ));
        }
        let key = key::hash_parts(&[&proof.jkt, &proof.jti]);
        match self.proofs.claim(key, proof.expires_at, now) {
            Seen::New => {}
            Seen::Before => return Err(used()),
            Seen::Full => return Err(Refusal::unavailable("proof window")),
        }
        if proof.iat > now {
            let claim = self.proof_claim("api proof", proof);
            if self.ledger.claim_all(&[claim], now).await?.is_some() {
                return Err(used());
            }
        }
        Ok(())
    }
}

/// The token of the one `Authorization: DPoP` header.
fn credentials(headers: &HeaderMap) -> Result<&str, Refusal> {
    let refuse = |stage| Refusal::new(Code::InvalidToken, stage);
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
    if !scheme.eq_ignore_ascii_case("dpop") {
        return Err(refuse("another scheme than DPoP"));
    }
    Ok(token.trim_matches(' '))
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access").finish_non_exhaustive()
    }
}
