//! The token request, in the order that burns nothing early: shape, network limit, proof, nonce, policy,
//! client identity, client assertion, client limit, Session assertion, resource; then all three `jti`s
//! in one step, the Session, the token.

use std::net::IpAddr;

use http::HeaderMap;
use serde_json::{Map, Value};

use super::assertion::{self, Assertion, MAX_ASSERTION_BYTES};
use super::client::Identity;
use super::dpop::Proof;
use super::form::Form;
use super::jws::Jws;
use super::key;
use super::ledger::Claim;
use super::refusal::{Code, Refusal, Reply};
use super::request::{Authenticated, ClientFields, read_form};
use super::token::Token;
use super::{Issuer, McpTokens, exchange};
use crate::store::SessionEntry;

pub(super) const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/// A token that was issued.
pub struct Granted {
    access_token: String,
    /// Whether it was exchanged for an MCP endpoint without DPoP.
    bearer: bool,
    expires_in: i64,
    nonce: Option<String>,
}

impl Granted {
    /// The answer: exactly three members and no store (AAP-244 … AAP-247); RFC 8693 section 2.2.1 adds a
    /// fourth to an exchange.
    pub fn reply(&self) -> Reply {
        let token_type = if self.bearer { "Bearer" } else { "DPoP" };
        let mut body = Map::new();
        body.insert("access_token".to_owned(), self.access_token.as_str().into());
        body.insert("token_type".to_owned(), token_type.into());
        body.insert("expires_in".to_owned(), Value::from(self.expires_in));
        if self.bearer {
            let issued = exchange::ACCESS_TOKEN.into();
            body.insert("issued_token_type".to_owned(), issued);
        }
        let mut reply = Reply::json(200, body);
        if let Some(nonce) = &self.nonce {
            reply.offer_nonce(nonce);
        }
        reply
    }
}

impl Issuer {
    /// Answers a token request. `network` is the peer's address, for the limit of unverified requests.
    pub async fn token(
        &self,
        headers: &HeaderMap,
        query: Option<&str>,
        body: &[u8],
        network: IpAddr,
    ) -> Result<Granted, Refusal> {
        let form = read_form(headers, query, body)?;
        match form.required("grant_type")? {
            JWT_BEARER => self.guest(&form, headers, network).await,
            "refresh_token" => self.refresh(&form, headers, network).await,
            exchange::GRANT if self.settings.mcp.is_some() => {
                self.exchange(&form, headers, network).await
            }
            _ => Err(Refusal::new(
                Code::UnsupportedGrantType,
                "only the JWT bearer grant starts a guest Session",
            )),
        }
    }

    async fn guest(
        &self,
        form: &Form,
        headers: &HeaderMap,
        network: IpAddr,
    ) -> Result<Granted, Refusal> {
        let fields = ClientFields::read(form)?;
        let session = form.required("assertion")?;
        let resource = resources(form)?;
        let (client, proof) = self.authenticate_request(&fields, headers, network).await?;
        let session = self.session_assertion(session, &client, fields.client_id)?;
        if form.optional("scope")?.is_some() {
            return Err(Refusal::new(
                Code::InvalidScope,
                "a guest grant has no scope",
            ));
        }
        let resource = self.dpop_target(&resource)?;
        refuse_published_key(&proof, &client.identity)?;
        self.claim(fields.client_id, &client.assertion, &session, &proof)
            .await?;
        self.enter_session(fields.client_id, &session, &proof)
            .await?;
        let lifetime_s = i64::from(self.settings.token_lifetime_s.max(1));
        self.issue(
            &Token {
                jkt: proof.jkt,
                client_id: fields.client_id.to_owned(),
                user_id: session.subject,
                agent_id: session.agent_id,
                resource: resource.to_owned(),
                expires_at: self.now() + lifetime_s,
                bearer: false,
            },
            lifetime_s,
        )
    }

    /// No Account Token was ever issued here, so none is good; but the request is judged like any other.
    async fn refresh(
        &self,
        form: &Form,
        headers: &HeaderMap,
        network: IpAddr,
    ) -> Result<Granted, Refusal> {
        let fields = ClientFields::read(form)?;
        form.required("refresh_token")?;
        self.authenticate_request(&fields, headers, network).await?;
        Err(Refusal::new(Code::InvalidGrant, "refresh_token"))
    }

    fn session_assertion(
        &self,
        text: &str,
        client: &Authenticated,
        client_id: &str,
    ) -> Result<Assertion, Refusal> {
        let refuse = |stage| Refusal::new(Code::InvalidGrant, stage);
        let jws = Jws::parse(text, MAX_ASSERTION_BYTES)
            .ok_or_else(|| refuse("session assertion: form"))?;
        let issuer = &self.settings.issuer;
        let session = assertion::check(&jws, &client.identity, client_id, issuer, self.now())
            .map_err(refuse)?;
        if !assertion::is_user_id(&session.subject) || session.subject == client_id {
            return Err(refuse("session assertion: sub"));
        }
        if session.jti == client.assertion.jti {
            return Err(refuse("both assertions have one jti"));
        }
        Ok(session)
    }

    /// The resource of a normal grant: the native API, or an MCP endpoint with DPoP (AAP-286, AAP-323).
    fn dpop_target<'a>(&self, given: &[&'a str]) -> Result<&'a str, Refusal> {
        let mcp = self.settings.mcp.as_ref();
        let mcp = mcp.filter(|mcp| mcp.tokens == McpTokens::Dpop);
        match given {
            [resource] if *resource == self.settings.resource => Some(*resource),
            [resource] => mcp
                .filter(|mcp| mcp.resource == *resource)
                .map(|_| *resource),
            _ => None,
        }
        .ok_or(Refusal::new(
            Code::InvalidTarget,
            "resource is not one that an API entry advertises for this grant",
        ))
    }

    /// One atomic step for all three, after every other check (AAP-240, AAP-241).
    async fn claim(
        &self,
        client_id: &str,
        client: &Assertion,
        session: &Assertion,
        proof: &Proof,
    ) -> Result<(), Refusal> {
        let claims = [
            self.assertion_claim(client_id, client),
            self.assertion_claim(client_id, session),
            self.proof_claim("token proof", proof),
        ];
        match self.ledger.claim_all(&claims, self.now()).await? {
            None => Ok(()),
            Some(0) => Err(Refusal::new(
                Code::InvalidClient,
                "client assertion: replay",
            )),
            Some(1) => Err(Refusal::new(
                Code::InvalidGrant,
                "session assertion: replay",
            )),
            Some(_) => Err(Refusal::new(Code::InvalidDpopProof, "the proof was used")),
        }
    }

    pub(super) fn assertion_claim(&self, client_id: &str, assertion: &Assertion) -> Claim {
        Claim {
            namespace: "assertion",
            key: key::hash_parts(&[&self.settings.issuer, client_id, &assertion.jti]),
            expires_at: assertion.expires_at,
        }
    }

    /// Named by key and `jti`, never by the proof's text: one proof has two valid signatures.
    pub(super) fn proof_claim(&self, namespace: &'static str, proof: &Proof) -> Claim {
        Claim {
            namespace,
            key: key::hash_parts(&[&self.settings.issuer, &proof.jkt, &proof.jti]),
            expires_at: proof.expires_at,
        }
    }

    /// Finds or starts the Session that the key names, for its one owner (AAP-251, AAP-254).
    async fn enter_session(
        &self,
        client_id: &str,
        session: &Assertion,
        proof: &Proof,
    ) -> Result<(), Refusal> {
        let (present, agent_id) = match &session.agent_id {
            Some(agent_id) => ("with agent", agent_id.as_str()),
            None => ("without agent", ""),
        };
        let owner = key::hash_parts(&[client_id, &session.subject, present, agent_id]);
        let now = self.now();
        let forget_at = now + i64::from(self.settings.session_idle_s);
        let issuer = &self.settings.issuer;
        match self
            .ledger
            .enter(issuer, &proof.jkt, &owner, now, forget_at)
            .await?
        {
            SessionEntry::Owned => Ok(()),
            SessionEntry::Foreign => Err(Refusal::new(Code::InvalidGrant, "another owner's key")),
            SessionEntry::Ended => Err(Refusal::new(Code::InvalidGrant, "an ended Session's key")),
        }
    }

    pub(super) fn issue(&self, token: &Token, expires_in: i64) -> Result<Granted, Refusal> {
        let access_token = token
            .seal(&self.keys, &self.settings.issuer)
            .ok_or_else(|| Refusal::unavailable("seal"))?;
        Ok(Granted {
            access_token,
            bearer: token.bearer,
            expires_in,
            nonce: self.next_nonce(&self.token_nonces),
        })
    }
}

/// The resources that a form names: one at least (AAP-238).
pub(super) fn resources(form: &Form) -> Result<Vec<&str>, Refusal> {
    let given: Vec<&str> = form.all("resource").collect();
    if given.is_empty() {
        return Err(Refusal::new(Code::InvalidRequest, "resource is missing"));
    }
    Ok(given)
}

/// The Session key is separate from the published ones (AAP-225).
pub(super) fn refuse_published_key(proof: &Proof, identity: &Identity) -> Result<(), Refusal> {
    if identity.keys.iter().any(|key| key.thumbprint == proof.jkt) {
        return Err(Refusal::new(
            Code::InvalidDpopProof,
            "the proof's key is a published identity key",
        ));
    }
    Ok(())
}

impl std::fmt::Debug for Granted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Granted")
            .field("expires_in", &self.expires_in)
            .finish_non_exhaustive()
    }
}
