//! Token exchange (RFC 8693): a Session Token becomes a Bearer token for the one MCP endpoint that cannot
//! take proofs. Never wider, never longer than what it was bought with, never without the Session's proof.

use std::net::IpAddr;

use http::HeaderMap;

use super::form::Form;
use super::grant::{Granted, refuse_published_key, resources};
use super::refusal::{Code, Refusal};
use super::request::ClientFields;
use super::token::Token;
use super::{Issuer, McpTokens};

pub(super) const GRANT: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
pub(super) const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";

impl Issuer {
    /// Answers an exchange; asked only where the MCP endpoint is a resource of this issuer.
    pub(super) async fn exchange(
        &self,
        form: &Form,
        headers: &HeaderMap,
        network: IpAddr,
    ) -> Result<Granted, Refusal> {
        let fields = ClientFields::read(form)?;
        let subject = form.required("subject_token")?;
        check_types(form)?;
        let resource = resources(form)?;
        let (client, proof) = self.authenticate_request(&fields, headers, network).await?;
        if form.optional("scope")?.is_some() {
            // a signed-out Session has no scope, so any would be wider (AAP-322)
            let stage = "a signed-out exchange has no scope";
            return Err(Refusal::new(Code::InvalidScope, stage));
        }
        let audience = form.all("audience").next().is_some();
        let target = self.bearer_target(&resource).filter(|_| !audience);
        let target = target.ok_or(Refusal::new(
            Code::InvalidTarget,
            "resource is not an MCP endpoint without DPoP",
        ))?;
        refuse_published_key(&proof, &client.identity)?;
        let now = self.now();
        let subject = self.subject(subject, fields.client_id, &proof.jkt, now)?;
        let expires_in = subject.expires_at - now;
        let claims = [
            self.assertion_claim(fields.client_id, &client.assertion),
            self.proof_claim("token proof", &proof),
        ];
        match self.ledger.claim_all(&claims, now).await? {
            None => {}
            Some(0) => {
                let stage = "client assertion: replay";
                return Err(Refusal::new(Code::InvalidClient, stage));
            }
            Some(_) => return Err(Refusal::new(Code::InvalidDpopProof, "the proof was used")),
        }
        if self.has_ended_anywhere(&subject.jkt).await? {
            return Err(Refusal::new(Code::InvalidGrant, "an ended Session's token"));
        }
        let token = Token {
            resource: target,
            bearer: true,
            ..subject
        };
        self.issue(&token, expires_in)
    }

    fn bearer_target(&self, given: &[&str]) -> Option<String> {
        let mcp = self.settings.mcp.as_ref()?;
        let fits = mcp.tokens == McpTokens::Bearer && *given == [mcp.resource.as_str()];
        fits.then(|| mcp.resource.clone())
    }

    /// The Session Token that is exchanged: current, this client's, bound to the proof's key (AAP-321).
    /// Whatever is wrong, the answer is the same (AAP-323).
    fn subject(&self, text: &str, client_id: &str, jkt: &str, now: i64) -> Result<Token, Refusal> {
        let refuse = |stage| Refusal::new(Code::InvalidGrant, stage);
        let token = Token::open(text, &self.keys, &self.settings.issuer)
            .ok_or_else(|| refuse("unknown subject token"))?;
        if token.bearer || token.resource != self.settings.resource {
            return Err(refuse("a subject token of another resource"));
        }
        if token.expires_at <= now {
            return Err(refuse("an expired subject token"));
        }
        if token.client_id != client_id {
            return Err(refuse("another client's subject token"));
        }
        if token.jkt != jkt {
            return Err(refuse("a subject token of another key"));
        }
        Ok(token)
    }
}

/// The types around the tokens: one kind in, one kind out, nobody acts for another (RFC 8693 section 2.1).
fn check_types(form: &Form) -> Result<(), Refusal> {
    let refuse = |stage| Err(Refusal::new(Code::InvalidRequest, stage));
    if form.required("subject_token_type")? != ACCESS_TOKEN {
        return refuse("only access tokens are exchanged");
    }
    let requested = form.optional("requested_token_type")?;
    if requested.is_some_and(|requested| requested != ACCESS_TOKEN) {
        return refuse("only access tokens are issued");
    }
    if form.optional("actor_token")?.is_some() || form.optional("actor_token_type")?.is_some() {
        return refuse("nobody acts for another here");
    }
    Ok(())
}
