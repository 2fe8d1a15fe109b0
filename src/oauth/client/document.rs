//! What a client publishes: its metadata document and its JWKS, read strictly in what is used and not
//! at all in what is not. No other URL in them is ever fetched. Pure.

use serde_json::Value;

use super::super::key::{KeyError, PublicKey};
use super::super::{jws, url};

/// Keys in one set.
const MAX_KEYS: usize = 32;
const MAX_REDIRECTS: usize = 64;

/// A client's published identity.
#[derive(Debug)]
pub(in super::super) struct Identity {
    pub(in super::super) jwks_uri: String,
    pub(in super::super) keys: Vec<PublicKey>,
}

impl Identity {
    pub(in super::super) fn names(&self, kid: &str) -> bool {
        let mut keys = self.keys.iter();
        keys.any(|key| key.kid.as_deref() == Some(kid))
    }
}

/// What is used of a metadata document.
pub(in super::super) struct Metadata {
    pub(in super::super) jwks_uri: String,
}

/// Reads the document fetched from `client_id` (AAP-224, AAP-226).
pub(in super::super) fn metadata(client_id: &str, body: &[u8]) -> Option<Metadata> {
    let document = jws::object(body)?;
    let text = |name: &str| document.get(name).and_then(Value::as_str);
    if text("client_id") != Some(client_id)
        || text("token_endpoint_auth_method") != Some("private_key_jwt")
        || document.contains_key("client_secret")
    {
        return None;
    }
    let host = url::https_host(client_id)?;
    let jwks_uri = text("jwks_uri")?;
    if url::https_host(jwks_uri)? != host {
        return None;
    }
    let redirects = document.get("redirect_uris")?.as_array()?;
    let permitted = |uri: &Value| uri.as_str().is_some_and(|u| url::redirect_shape(u, &host));
    if redirects.len() > MAX_REDIRECTS || !redirects.iter().all(permitted) {
        return None;
    }
    Some(Metadata {
        jwks_uri: jwks_uri.to_owned(),
    })
}

/// Reads a JWKS. Keys of other kinds are passed over; one private key spoils the set.
pub(in super::super) fn keys(body: &[u8]) -> Option<Vec<PublicKey>> {
    let document = jws::object(body)?;
    let published = document.get("keys")?.as_array()?;
    if published.len() > MAX_KEYS {
        return None;
    }
    let mut keys = Vec::new();
    for jwk in published {
        match PublicKey::from_jwk(jwk.as_object()?) {
            Ok(key) => keys.push(key),
            Err(KeyError::Unusable) => {}
            Err(KeyError::Private) => return None,
        }
    }
    Some(keys)
}
