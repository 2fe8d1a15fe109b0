//! Delivery by HTTP. There is no ADF response format, so each target says in expressions how its receiver's
//! answers are to be read; what no expression settles is read with suspicion. Redirects are not followed.

mod patience;
mod verdict;

use std::fmt;
use std::fmt::Write as _;

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, Method};
use serde_json::{Map, Value};

use super::{Content, DeliveryError, Outcome, Parcel};
use crate::net::{Client, NetError, Policy, Request, Response};
use verdict::Judge;
pub use verdict::Rules;

/// An endpoint that takes leads.
#[derive(Clone)]
pub struct HttpSettings {
    pub url: String,
    pub policy: Policy,
    pub form: HttpForm,
    pub auth: HttpAuth,
    /// Names and values of further headers.
    pub headers: Vec<(String, String)>,
    /// The header that carries the HMAC-SHA256 of the body in hexadecimal, and its secret.
    pub signature: Option<(String, String)>,
    /// The header that carries the delivery's correlation, where the receiver knows one.
    pub correlation_header: Option<String>,
    pub rules: Rules,
    /// The receiver knows a correlation again and makes no second lead of it: what is unknown may be
    /// repeated.
    pub deduplicates: bool,
}

/// How the document stands in the body.
#[derive(Clone, Debug)]
pub enum HttpForm {
    /// As it is, with this content type.
    Plain { content_type: String },
    /// As one member of a JSON object, beside fixed others.
    Json {
        member: String,
        others: Map<String, Value>,
    },
}

/// How the client shows who it is.
#[derive(Clone)]
pub enum HttpAuth {
    None,
    Basic {
        user: String,
        password: String,
    },
    Bearer(String),
    /// A query parameter of this name and value.
    Query {
        name: String,
        value: String,
    },
}

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
        let mut headers = HeaderMap::new();
        for (name, value) in &settings.headers {
            headers.insert(header_name(name)?, header_value(value)?);
        }
        match &settings.auth {
            HttpAuth::Basic { user, password } => {
                let pair = STANDARD.encode(format!("{user}:{password}"));
                headers.insert(AUTHORIZATION, header_value(&format!("Basic {pair}"))?);
            }
            HttpAuth::Bearer(token) => {
                headers.insert(AUTHORIZATION, header_value(&format!("Bearer {token}"))?);
            }
            HttpAuth::None | HttpAuth::Query { .. } => {}
        }
        let signature = match &settings.signature {
            Some((name, secret)) => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
                Some((header_name(name)?, key))
            }
            None => None,
        };
        let correlation_header = settings
            .correlation_header
            .as_deref()
            .map(header_name)
            .transpose()?;
        Ok(Self {
            client,
            url: url(settings)?,
            headers,
            form: settings.form.clone(),
            signature,
            correlation_header,
            judge: Judge::new(&settings.rules).map_err(DeliveryError::Http)?,
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

/// The URL with its query credential, escaped.
fn url(settings: &HttpSettings) -> Result<String, DeliveryError> {
    let uri: http::Uri = settings
        .url
        .parse()
        .map_err(|_| DeliveryError::Http("the URL is not valid".to_owned()))?;
    if !matches!(uri.scheme_str(), Some("https" | "http")) || uri.host().is_none() {
        return Err(DeliveryError::Http(
            "the URL must be absolute, https or http".to_owned(),
        ));
    }
    let HttpAuth::Query { name, value } = &settings.auth else {
        return Ok(settings.url.clone());
    };
    let mark = if uri.query().is_some() { '&' } else { '?' };
    Ok(format!(
        "{}{mark}{}={}",
        settings.url,
        escape(name),
        escape(value)
    ))
}

/// Percent-encodes everything but unreserved characters (RFC 3986 §2.3).
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").ok();
        }
    }
    out
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

impl fmt::Debug for HttpAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Basic { .. } => "Basic",
            Self::Bearer(_) => "Bearer",
            Self::Query { .. } => "Query",
        })
    }
}

impl fmt::Debug for HttpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpSettings")
            .field("auth", &self.auth)
            .finish_non_exhaustive()
    }
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
