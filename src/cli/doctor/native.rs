//! Whether the issuer and the native API stand where they should and ask strangers who they are. Must not
//! start a Session.

use http::header;
use serde_json::Value;

use super::documents::Read;
use super::report::Report;
use super::visit::{Visitor, text};
use crate::bindings::discovery::agreement;

const ENDPOINTS: &str = "endpoints";

pub(super) async fn judge(read: &Read, visitor: &Visitor<'_>, report: &mut Report) {
    if let Some(oauth) = &read.oauth {
        let url = agreement::text(oauth, "/token_endpoint");
        let claim = format!("the token endpoint answers at {url}");
        let remedy = "serve the token endpoint that the issuer's metadata names";
        let outcome = token_endpoint(url, visitor).await;
        report.outcome((ENDPOINTS, "pap-token"), &claim, outcome, remedy);
    }
    if let Some(openapi) = &read.openapi {
        let claim = "the native API asks strangers for a Session Token";
        let remedy = "answer calls without a token by 401 and a DPoP challenge";
        let outcome = challenge(openapi, visitor).await;
        report.outcome((ENDPOINTS, "pap-challenge"), claim, outcome, remedy);
    }
}

/// A request that asks for nothing is refused in OAuth's form, and the answer is not kept.
async fn token_endpoint(url: &str, visitor: &Visitor<'_>) -> Result<(), String> {
    let form = [(header::CONTENT_TYPE, "application/x-www-form-urlencoded")];
    let answer = visitor.post(url, &form, String::new()).await?;
    if !matches!(answer.status.as_u16(), 400 | 401 | 429) {
        return Err(format!(
            "{url} answers an empty request by {}",
            answer.status
        ));
    }
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    if agreement::text(&body, "/error").is_empty() {
        return Err(format!("{url} does not say its error as OAuth does"));
    }
    if text(&answer.headers, &header::CACHE_CONTROL).contains("no-store") {
        return Ok(());
    }
    Err(format!("{url} lets its answers be stored"))
}

/// A call without a token runs nothing.
async fn challenge(openapi: &Value, visitor: &Visitor<'_>) -> Result<(), String> {
    let server = agreement::text(openapi, "/servers/0/url").trim_end_matches('/');
    let paths = openapi.get("paths").and_then(Value::as_object);
    let Some(path) = paths.and_then(|paths| paths.keys().next()) else {
        return Err("the OpenAPI document describes no operation".to_owned());
    };
    let url = format!("{server}{path}");
    let json = [(header::CONTENT_TYPE, "application/json")];
    let answer = visitor.post(&url, &json, "{}".to_owned()).await?;
    let challenge = text(&answer.headers, &header::WWW_AUTHENTICATE);
    let is_dpop = challenge.to_ascii_lowercase().starts_with("dpop");
    if answer.status == 401 && is_dpop {
        return Ok(());
    }
    Err(format!(
        "{url} answers a stranger by {} with the challenge {challenge:?}",
        answer.status
    ))
}
