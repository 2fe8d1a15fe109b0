//! Fetches as a client does: HTTPS, no redirect followed, bounded. Must not judge what a document says.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};

use super::report::Report;
use crate::bindings::discovery::agreement;
use crate::net::{Client, NetError, Request, Response};

/// Reads what a site shows to strangers.
pub(super) struct Visitor<'a> {
    client: &'a Client,
}

/// Whether the site can be looked at at all; notes how it is reached.
pub(super) fn transport(base: &str, report: &mut Report) -> bool {
    let place = ("transport", "https");
    let claim = "the site is reached over HTTPS";
    if base.starts_with("https://") {
        report.good(place.0, place.1, claim);
        return true;
    }
    if agreement::is_loopback(base) {
        let reason = "plain HTTP on loopback: good for development, and for nobody else";
        report.warn(place, claim, reason, "publish the site over HTTPS");
        return true;
    }
    let reason = "plain HTTP outside loopback; nothing was fetched";
    report.fault(place, claim, reason, "terminate TLS in front of the site");
    false
}

impl<'a> Visitor<'a> {
    pub(super) fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// The answer to a GET with these headers, whatever it is.
    pub(super) async fn get(
        &self,
        url: &str,
        headers: &[(HeaderName, &str)],
    ) -> Result<Response, String> {
        self.send(Method::GET, url, headers, Bytes::new()).await
    }

    /// The answer to a POST.
    pub(super) async fn post(
        &self,
        url: &str,
        headers: &[(HeaderName, &str)],
        body: String,
    ) -> Result<Response, String> {
        self.send(Method::POST, url, headers, body.into()).await
    }

    pub(super) async fn send(
        &self,
        method: Method,
        url: &str,
        headers: &[(HeaderName, &str)],
        body: Bytes,
    ) -> Result<Response, String> {
        if !url.starts_with("https://") && !agreement::is_loopback(url) {
            return Err(format!("{url:?} is not an HTTPS address; not fetched"));
        }
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let value = HeaderValue::from_str(value);
            map.insert(name, value.map_err(|error| error.to_string())?);
        }
        let request = Request {
            method,
            url: url.to_owned(),
            headers: map,
            body,
        };
        let answer = self.client.send(request).await;
        answer.map_err(|error| format!("{url}: {}", words(&error)))
    }

    /// A document: HTTP 200, from where it should be, of this media type.
    pub(super) async fn document(&self, url: &str, types: &[&str]) -> Result<Response, String> {
        let answer = self.get(url, &[]).await?;
        if answer.status.is_redirection() {
            let target = text(&answer.headers, &header::LOCATION);
            return Err(format!(
                "{url} redirects to {target:?}; clients do not follow"
            ));
        }
        if answer.status != 200 {
            return Err(format!("{url} answers {}", answer.status));
        }
        let kind = answer.media_type().unwrap_or_default();
        if !types.contains(&kind.as_str()) {
            let types = types.join(" or ");
            return Err(format!("{url} comes as {kind:?} and not as {types}"));
        }
        Ok(answer)
    }
}

/// A header as text, empty where there is none.
pub(super) fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> &'a str {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.unwrap_or_default()
}

fn words(error: &NetError) -> String {
    if let NetError::Tls(cause) = error {
        return format!("the TLS handshake failed: {cause}");
    }
    if matches!(error, NetError::Address) {
        return "its address is not a public one (see --allow-private)".to_owned();
    }
    error.to_string()
}
