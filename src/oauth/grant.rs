//! The token request, in the order that burns nothing early: shape, network limit, proof, nonce, policy,
//! client identity, client assertion, client limit, Session assertion, resource; then all three `jti`s
//! in one step, the Session, the token.

use std::net::IpAddr;

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use serde_json::{Map, Value};

use super::assertion::{self, Assertion, MAX_ASSERTION_BYTES};
use super::client::Identity;
use super::dpop::{self, Expected, Proof};
use super::form::Form;
use super::jws::Jws;
use super::key;
use super::ledger::Claim;
use super::refusal::{Code, Refusal, Reply};
use super::token::Token;
use super::{Issuer, carries_credentials, limits, url, values};
use crate::store::SessionEntry;

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const CLIENT_ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// A token that was issued.
pub struct Granted {
    access_token: String,
    expires_in: u32,
    nonce: Option<String>,
}

impl Granted {
    /// The answer: exactly three members and no store (AAP-244 … AAP-247).
    pub fn reply(&self) -> Reply {
        let mut body = Map::new();
        body.insert("access_token".to_owned(), self.access_token.as_str().into());
        body.insert("token_type".to_owned(), "DPoP".into());
        body.insert("expires_in".to_owned(), Value::from(self.expires_in));
        let mut reply = Reply::json(200, body);
        if let Some(nonce) = &self.nonce {
            reply.offer_nonce(nonce);
        }
        reply
    }
}

/// What each grant has in common, read before anything is checked.
pub(super) struct ClientFields<'a> {
    pub(super) client_id: &'a str,
    assertion_type: &'a str,
    assertion: &'a str,
}

impl<'a> ClientFields<'a> {
    pub(super) fn read(form: &'a Form) -> Result<Self, Refusal> {
        Ok(Self {
            client_id: form.required("client_id")?,
            assertion_type: form.required("client_assertion_type")?,
            assertion: form.required("client_assertion")?,
        })
    }
}

/// A client that has proved who it is.
pub(super) struct Authenticated {
    pub(super) identity: std::sync::Arc<Identity>,
    pub(super) assertion: Assertion,
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
        let guest = match form.required("grant_type")? {
            JWT_BEARER => true,
            "refresh_token" => false,
            _ => {
                return Err(Refusal::new(
                    Code::UnsupportedGrantType,
                    "only the JWT bearer grant starts a guest Session",
                ));
            }
        };
        let fields = ClientFields::read(&form)?;
        let session = form.required(if guest { "assertion" } else { "refresh_token" })?;
        let resource = form.all("resource").collect::<Vec<_>>();
        if guest && resource.is_empty() {
            return Err(Refusal::new(Code::InvalidRequest, "resource is missing"));
        }
        self.limit_network(network)?;
        let proof = self.token_proof(headers)?;
        let client = self.authenticate_client(&fields).await?;
        if !guest {
            // no Account Token was ever issued here
            return Err(Refusal::new(Code::InvalidGrant, "refresh_token"));
        }
        let session = self.session_assertion(session, &client, fields.client_id)?;
        if form.optional("scope")?.is_some() {
            return Err(Refusal::new(
                Code::InvalidScope,
                "a guest grant has no scope",
            ));
        }
        self.check_resource(&resource)?;
        refuse_published_key(&proof, &client.identity)?;
        self.claim(fields.client_id, &client.assertion, &session, &proof)
            .await?;
        self.enter_session(fields.client_id, &session, &proof)
            .await?;
        self.issue(fields.client_id, session, proof)
    }

    pub(super) fn limit_network(&self, network: IpAddr) -> Result<(), Refusal> {
        let now_ms = self.clock.now().as_millisecond();
        self.networks
            .take(&limits::network(network), now_ms)
            .map_err(|wait_s| Refusal::rate_limited("network", wait_s))
    }

    fn token_proof(&self, headers: &HeaderMap) -> Result<Proof, Refusal> {
        let proof = dpop::check(
            &values(headers, "dpop"),
            &Expected {
                method: "POST",
                url: &self.settings.token_endpoint(),
                token: None,
                now: self.now(),
                window_s: self.settings.proof_window_s,
            },
        )?;
        self.check_nonce(&self.token_nonces, proof.nonce.as_deref())?;
        Ok(proof)
    }

    /// Policy, identity, assertion, limit. Whatever is wrong, the answer is the same.
    pub(super) async fn authenticate_client(
        &self,
        fields: &ClientFields<'_>,
    ) -> Result<Authenticated, Refusal> {
        let refuse = |stage| Refusal::new(Code::InvalidClient, stage);
        if fields.assertion_type != CLIENT_ASSERTION_TYPE {
            return Err(refuse("client_assertion_type"));
        }
        if !url::client_id_shape(fields.client_id) {
            return Err(refuse("client_id"));
        }
        if !self.settings.registration.admits(fields.client_id) {
            return Err(refuse("registration policy"));
        }
        // an assertion that cannot be this client's costs no fetch
        let jws = Jws::parse(fields.assertion, MAX_ASSERTION_BYTES)
            .ok_or_else(|| refuse("client assertion: form"))?;
        let kid = assertion::kid(&jws).map_err(refuse)?;
        let identity = self
            .clients
            .identity(fields.client_id, kid)
            .await
            .map_err(refuse)?;
        let issuer = &self.settings.issuer;
        let assertion = assertion::check(&jws, &identity, fields.client_id, issuer, self.now())
            .map_err(refuse)?;
        if assertion.subject != fields.client_id {
            return Err(refuse("client assertion: sub"));
        }
        let now_ms = self.clock.now().as_millisecond();
        self.client_requests
            .take(fields.client_id, now_ms)
            .map_err(|wait_s| Refusal::rate_limited("client", wait_s))?;
        Ok(Authenticated {
            identity,
            assertion,
        })
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

    fn check_resource(&self, given: &[&str]) -> Result<(), Refusal> {
        match given {
            [resource] if *resource == self.settings.resource => Ok(()),
            _ => Err(Refusal::new(
                Code::InvalidTarget,
                "resource is not the one that the API entry advertises",
            )),
        }
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

    fn issue(&self, client_id: &str, session: Assertion, proof: Proof) -> Result<Granted, Refusal> {
        let expires_in = self.settings.token_lifetime_s.max(1);
        let token = Token {
            jkt: proof.jkt,
            client_id: client_id.to_owned(),
            user_id: session.subject,
            agent_id: session.agent_id,
            resource: self.settings.resource.clone(),
            expires_at: self.now() + i64::from(expires_in),
        };
        let access_token = token
            .seal(&self.keys, &self.settings.issuer)
            .ok_or_else(|| Refusal::unavailable("seal"))?;
        Ok(Granted {
            access_token,
            expires_in,
            nonce: self.next_nonce(&self.token_nonces),
        })
    }
}

/// Reads a form whose credentials are all in its body.
pub(super) fn read_form(
    headers: &HeaderMap,
    query: Option<&str>,
    body: &[u8],
) -> Result<Form, Refusal> {
    if carries_credentials(query) {
        return Err(Refusal::new(
            Code::InvalidRequest,
            "credentials do not belong into the URL",
        ));
    }
    let media_type = headers.get(CONTENT_TYPE).map(http::HeaderValue::as_bytes);
    Form::parse(media_type, body)
}

/// The Session key is separate from the published ones (AAP-225).
fn refuse_published_key(proof: &Proof, identity: &Identity) -> Result<(), Refusal> {
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
