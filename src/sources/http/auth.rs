//! Puts credentials on a request, and fetches tokens where they are needed. Must not log any of it.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::net;

use super::super::Fault;
use super::access::{Auth, TokenRequest};
use super::verdict::of_net;
use super::{Failure, escaped, headers};

/// How long before its end a token is given up.
const MARGIN: Duration = Duration::from_secs(30);

/// Credentials with the token they brought.
pub(super) struct Credentials {
    auth: Option<Auth>,
    /// What a request for a token carries beside its own headers.
    headers: HeaderMap,
    token: Mutex<Option<(HeaderValue, Instant)>>,
}

#[derive(Deserialize)]
struct Token {
    access_token: String,
    /// A number; some servers write it as a text.
    expires_in: Option<Value>,
}

impl Credentials {
    pub(super) fn new(auth: Option<Auth>) -> Result<Self, String> {
        let mut own = HeaderMap::new();
        match &auth {
            Some(Auth::Header { name, .. }) => {
                HeaderName::from_bytes(name.as_bytes())
                    .map_err(|_| "auth.name is no header name")?;
            }
            Some(Auth::ClientCredentials(request)) => {
                own = headers(&request.headers)?;
            }
            None | Some(Auth::Query { .. } | Auth::Basic { .. } | Auth::Bearer { .. }) => {}
        }
        Ok(Self {
            auth,
            headers: own,
            token: Mutex::new(None),
        })
    }

    /// Drops a kept token; false when there is none to renew.
    pub(super) async fn forget(&self) -> bool {
        self.token.lock().await.take().is_some()
    }

    pub(super) async fn apply(
        &self,
        client: &net::Client,
        request: &mut net::Request,
    ) -> Result<(), Failure> {
        let (name, value) = match &self.auth {
            None => return Ok(()),
            Some(Auth::Query { name, value }) => {
                let joint = if request.url.contains('?') { '&' } else { '?' };
                request.url = format!("{}{joint}{}={}", request.url, escaped(name), escaped(value));
                return Ok(());
            }
            Some(Auth::Header { name, value }) => {
                let name = HeaderName::from_bytes(name.as_bytes())
                    .map_err(|_| settings("auth.name is no header name"))?;
                (name, secret(value)?)
            }
            Some(Auth::Basic { user, password }) => (AUTHORIZATION, basic(user, password)?),
            Some(Auth::Bearer { token }) => (AUTHORIZATION, secret(&format!("Bearer {token}"))?),
            Some(Auth::ClientCredentials(_)) => (AUTHORIZATION, self.token(client).await?),
        };
        request.headers.insert(name, value);
        Ok(())
    }

    async fn token(&self, client: &net::Client) -> Result<HeaderValue, Failure> {
        let mut kept = self.token.lock().await;
        if let Some((token, until)) = &*kept
            && Instant::now() < *until
        {
            return Ok(token.clone());
        }
        let (token, life) = self.fetch(client).await?;
        *kept = Some((token.clone(), Instant::now() + life));
        Ok(token)
    }

    async fn fetch(&self, client: &net::Client) -> Result<(HeaderValue, Duration), Failure> {
        let Some(Auth::ClientCredentials(TokenRequest {
            token_url,
            client_id,
            client_secret,
            scope,
            in_body,
            parameters,
            ..
        })) = &self.auth
        else {
            return Err(settings("no token is configured"));
        };
        let mut form = "grant_type=client_credentials".to_owned();
        if let Some(scope) = scope {
            form = format!("{form}&scope={}", escaped(scope));
        }
        for (name, value) in parameters {
            form = format!("{form}&{}={}", escaped(name), escaped(value));
        }
        let mut request = net::Request::get(token_url);
        request.headers.clone_from(&self.headers);
        request.method = Method::POST;
        if *in_body {
            let (id, secret) = (escaped(client_id), escaped(client_secret));
            form = format!("{form}&client_id={id}&client_secret={secret}");
        } else {
            let value = basic(client_id, client_secret)?;
            request.headers.insert(AUTHORIZATION, value);
        }
        let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
        request.headers.insert(CONTENT_TYPE, kind);
        request.body = Bytes::from(form);
        let response = client.send(request).await.map_err(|error| {
            let (fault, words) = of_net(&error);
            (fault, format!("fetching a token: {words}"))
        })?;
        if response.status != http::StatusCode::OK {
            let words = format!("fetching a token: status {}", response.status.as_u16());
            let refused = response.status.is_client_error();
            let fault = if refused {
                Fault::Refused
            } else {
                Fault::Unreachable
            };
            return Err((fault, words));
        }
        let token: Token = serde_json::from_slice(&response.body).map_err(|_| {
            let words = "fetching a token: the answer holds no access_token";
            (Fault::Data, words.to_owned())
        })?;
        let life = token.expires_in.and_then(|seconds| match seconds {
            Value::Number(seconds) => seconds.as_u64(),
            Value::String(seconds) => seconds.trim().parse().ok(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        });
        let life = Duration::from_secs(life.unwrap_or(300).min(86_400));
        let value = secret(&format!("Bearer {}", token.access_token))?;
        Ok((value, life.saturating_sub(MARGIN)))
    }
}

fn basic(user: &str, password: &str) -> Result<HeaderValue, Failure> {
    secret(&format!(
        "Basic {}",
        STANDARD.encode(format!("{user}:{password}"))
    ))
}

fn secret(text: &str) -> Result<HeaderValue, Failure> {
    let mut value = HeaderValue::from_str(text)
        .map_err(|_| settings("a credential cannot stand in a header"))?;
    value.set_sensitive(true);
    Ok(value)
}

fn settings(words: &str) -> Failure {
    (Fault::Settings, words.to_owned())
}
