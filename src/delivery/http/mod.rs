//! Delivery by HTTP. There is no ADF response format, so each target says in expressions how its receiver's
//! answers are to be read; what no expression settles is read with suspicion. Redirects are not followed.

mod patience;
mod settings;
mod verdict;

use std::fmt;
use std::fmt::Write as _;

use aws_lc_rs::hmac;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, Method};
use serde_json::Value;

use super::{Content, DeliveryError, Outcome, Parcel};
use crate::net::{Client, NetError, Request, Response};
pub use settings::{HttpAuth, HttpForm, HttpSettings};
use verdict::Judge;
pub use verdict::Rules;

/// An endpoint, ready to use.
pub struct Http {
    client: Client,
    url: String,
    headers: HeaderMap,
    form: HttpForm,
    signature: Option<(HeaderName, hmac::Key)>,
    correlation_header: Option<HeaderName>,
    judge: Judge,
    deduplicates: bool,
}

impl Http {
    pub(super) fn new(settings: &HttpSettings) -> Result<Self, DeliveryError> {
        let client = Client::new(settings.policy.clone())
            .map_err(|error| DeliveryError::Http(error.to_string()))?;
        Ok(Self {
            client,
            url: settings.full_url()?,
            headers: settings.fixed_headers()?,
            form: settings.form.clone(),
            signature: settings.signature()?,
            correlation_header: settings.correlation_header()?,
            judge: Judge::new(&settings.rules)?,
            deduplicates: settings.deduplicates,
        })
    }

    pub(super) fn deduplicates(&self) -> bool {
        self.deduplicates
    }

    /// Posts a text in the settings' form and gives back what was answered, whatever it was. The error is for the
    /// ledger.
    pub(super) async fn send(&self, text: &str, correlation: &str) -> Result<Response, String> {
        let request = self.request(text, false, correlation);
        let request = request.map_err(|error| error.to_string())?;
        let answered = self.client.send(request).await;
        answered.map_err(|error| error.to_string())
    }

    /// Posts the parcel.
    pub(super) async fn post(&self, parcel: &Parcel) -> Outcome {
        let (text, plain) = match &parcel.content {
            Content::Adf(document) => (document, false),
            Content::Text(words) => (words, true),
        };
        let request = match self.request(text, plain, &parcel.correlation) {
            Ok(request) => request,
            Err(error) => return Outcome::Refused(error.to_string()),
        };
        let mut wait = None;
        let outcome = match self.client.send(request).await {
            Ok(response) => {
                wait = patience::asked(&response, parcel.date);
                self.judge.judge(&response)
            }
            Err(NetError::Url(reason)) => {
                Outcome::Refused(format!("the URL is not permitted: {reason}"))
            }
            Err(error) if error.may_have_arrived() => Outcome::Unknown(error.to_string()),
            Err(error) => Outcome::Retry(error.to_string()),
        };
        let outcome = if let (Outcome::Unknown(detail), true) = (&outcome, self.deduplicates) {
            Outcome::Retry(detail.clone())
        } else {
            outcome
        };
        match (outcome, wait) {
            (Outcome::Retry(detail), Some(wait)) => Outcome::Later(detail, wait),
            (other, _) => other,
        }
    }

    /// `plain`: the text is words for people, whatever content type the settings name.
    fn request(
        &self,
        text: &str,
        plain: bool,
        correlation: &str,
    ) -> Result<Request, DeliveryError> {
        let mut headers = self.headers.clone();
        let (content_type, body) = match &self.form {
            HttpForm::Plain { .. } if plain => {
                ("text/plain; charset=utf-8".to_owned(), text.to_owned())
            }
            HttpForm::Plain { content_type } => (content_type.clone(), text.to_owned()),
            HttpForm::Json { member, others } => {
                let mut object = others.clone();
                object.insert(member.clone(), text.into());
                (
                    "application/json".to_owned(),
                    Value::Object(object).to_string(),
                )
            }
        };
        headers.insert(CONTENT_TYPE, header_value(&content_type)?);
        if let Some(name) = &self.correlation_header {
            headers.insert(name.clone(), header_value(correlation)?);
        }
        if let Some((name, key)) = &self.signature {
            headers.insert(name.clone(), header_value(&sign(key, body.as_bytes()))?);
        }
        Ok(Request {
            method: Method::POST,
            url: self.url.clone(),
            headers,
            body: Bytes::from(body),
        })
    }
}

fn sign(key: &hmac::Key, body: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in hmac::sign(key, body).as_ref() {
        // Writing to a string cannot fail.
        write!(text, "{byte:02x}").ok();
    }
    text
}

fn header_name(name: &str) -> Result<HeaderName, DeliveryError> {
    name.parse()
        .map_err(|_| DeliveryError::Http(format!("header name {name:?} is not valid")))
}

/// A header's value; never shown when it is bad, since it may be a secret.
fn header_value(value: &str) -> Result<HeaderValue, DeliveryError> {
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| DeliveryError::Http("a header value holds what no header may".to_owned()))?;
    value.set_sensitive(true);
    Ok(value)
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http")
            .field("deduplicates", &self.deduplicates)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
