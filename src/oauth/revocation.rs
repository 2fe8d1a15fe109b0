//! Revocation (RFC 7009): a Session Token that is given back ends its Session, and the key stays behind
//! as a tombstone (AAP-252). A foreign or unknown token changes nothing and tells nothing.

use std::net::IpAddr;

use http::HeaderMap;
use serde_json::Map;

use super::Issuer;
use super::refusal::{Code, Refusal, Reply};
use super::request::{ClientFields, read_form};
use super::token::Token;

impl Issuer {
    /// Answers a revocation request. No proof belongs here; one that is sent is not looked at.
    pub async fn revoke(
        &self,
        headers: &HeaderMap,
        query: Option<&str>,
        body: &[u8],
        network: IpAddr,
    ) -> Result<Reply, Refusal> {
        let form = read_form(headers, query, body)?;
        let fields = ClientFields::read(&form)?;
        let token = form.required("token")?;
        self.limit_network(network)?;
        let client = self.authenticate_client(&fields).await?;
        let claim = self.assertion_claim(fields.client_id, &client.assertion);
        let now = self.now();
        if self.ledger.claim_all(&[claim], now).await?.is_some() {
            return Err(Refusal::new(
                Code::InvalidClient,
                "client assertion: replay",
            ));
        }
        let own = Token::open(token, &self.keys, &self.settings.issuer)
            .filter(|token| token.client_id == fields.client_id && token.expires_at > now);
        if let Some(token) = own {
            let forget_at = now + i64::from(self.settings.tombstone_s);
            self.ledger
                .end(&self.settings.issuer, &token.jkt, now, forget_at)
                .await?;
            self.witness.note_end(token.jkt, now);
        }
        Ok(Reply::json(200, Map::new()))
    }
}
