//! What an operator says of an endpoint that takes leads, and what of each request is fixed by it. Must not send.

use std::fmt;
use std::fmt::Write as _;

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::{AUTHORIZATION, HeaderName};
use serde_json::{Map, Value};

use super::super::DeliveryError;
use super::verdict::{Judge, Rules};
use super::{header_name, header_value};
use crate::net::Policy;

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

impl HttpSettings {
    /// Whether everything that is sent can be made of them, and what comes back be judged; opens nothing.
    pub fn check(&self) -> Result<(), DeliveryError> {
        self.full_url()?;
        self.fixed_headers()?;
        self.signature()?;
        self.correlation_header()?;
        if let HttpForm::Plain { content_type } = &self.form {
            header_value(content_type)?;
        }
        Judge::new(&self.rules).map(drop)
    }

    /// What is sent with every request, credentials included.
    pub(super) fn fixed_headers(&self) -> Result<HeaderMap, DeliveryError> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            headers.insert(header_name(name)?, header_value(value)?);
        }
        match &self.auth {
            HttpAuth::Basic { user, password } => {
                let pair = STANDARD.encode(format!("{user}:{password}"));
                headers.insert(AUTHORIZATION, header_value(&format!("Basic {pair}"))?);
            }
            HttpAuth::Bearer(token) => {
                headers.insert(AUTHORIZATION, header_value(&format!("Bearer {token}"))?);
            }
            HttpAuth::None | HttpAuth::Query { .. } => {}
        }
        Ok(headers)
    }

    pub(super) fn signature(&self) -> Result<Option<(HeaderName, hmac::Key)>, DeliveryError> {
        let Some((name, secret)) = &self.signature else {
            return Ok(None);
        };
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        Ok(Some((header_name(name)?, key)))
    }

    pub(super) fn correlation_header(&self) -> Result<Option<HeaderName>, DeliveryError> {
        let name = self.correlation_header.as_deref();
        name.map(header_name).transpose()
    }

    /// The URL with its query credential, escaped.
    pub(super) fn full_url(&self) -> Result<String, DeliveryError> {
        let uri: http::Uri = self
            .url
            .parse()
            .map_err(|_| DeliveryError::Http("the URL is not valid".to_owned()))?;
        if !matches!(uri.scheme_str(), Some("https" | "http")) || uri.host().is_none() {
            return Err(DeliveryError::Http(
                "the URL must be absolute, https or http".to_owned(),
            ));
        }
        let HttpAuth::Query { name, value } = &self.auth else {
            return Ok(self.url.clone());
        };
        let mark = if uri.query().is_some() { '&' } else { '?' };
        Ok(format!(
            "{}{mark}{}={}",
            self.url,
            escape(name),
            escape(value)
        ))
    }
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
