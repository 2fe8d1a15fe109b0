//! One question and its answer over HTTP, for systems that book. Must not know what is asked.

use serde_json::Value;

use super::DeliveryError;
use super::http::{Http, HttpSettings};

/// The most of an answer's text that is handed on.
const BODY_BYTES: usize = 64 * 1024;

/// An endpoint that answers.
#[derive(Debug)]
pub struct Exchange(Box<Http>);

/// What it answered.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    /// The parsed body; null when it is not JSON.
    pub json: Value,
    pub body: String,
}

impl Exchange {
    /// Makes it ready; asks nothing.
    pub fn new(settings: &HttpSettings) -> Result<Self, DeliveryError> {
        Http::new(settings).map(|http| Self(Box::new(http)))
    }

    /// Posts `body` once, with `key` in the correlation header. The error is for the ledger.
    pub async fn ask(&self, body: &str, key: &str) -> Result<Reply, String> {
        let response = self.0.send(body, key).await?;
        let shown = response.body.get(..BODY_BYTES).unwrap_or(&response.body);
        Ok(Reply {
            status: response.status.as_u16(),
            json: serde_json::from_slice(&response.body).unwrap_or_default(),
            body: String::from_utf8_lossy(shown).into_owned(),
        })
    }
}
