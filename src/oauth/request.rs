//! What every request at the issuer's endpoints proves before its grant is looked at: a well-formed body,
//! a network within its limit, a proof, and a client that is who it says. Burns nothing.

use std::net::IpAddr;

use http::HeaderMap;
use http::header::CONTENT_TYPE;

use super::assertion::{self, Assertion, MAX_ASSERTION_BYTES};
use super::client::Identity;
use super::dpop::{self, Expected, Proof};
use super::form::Form;
use super::jws::Jws;
use super::refusal::{Code, Refusal};
use super::{Issuer, carries_credentials, limits, url, values};

const CLIENT_ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

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
    /// What every token request proves: its key, then who asks.
    pub(super) async fn authenticate_request(
        &self,
        fields: &ClientFields<'_>,
        headers: &HeaderMap,
        network: IpAddr,
    ) -> Result<(Authenticated, Proof), Refusal> {
        self.limit_network(network)?;
        let proof = self.token_proof(headers)?;
        let client = self.authenticate_client(fields).await?;
        Ok((client, proof))
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
