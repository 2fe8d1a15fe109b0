//! Public keys from JWKs: P-256 and RSA of 2048 bits or more, and their RFC 7638 thumbprints. A JWK is
//! read from its raw members, because libraries silently drop the private ones (AAP-258). Pure.

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::DecodingKey;
use serde_json::{Map, Value};

use super::jws::Algorithm;

/// Members that only a private or symmetric key has.
const PRIVATE: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];
const P256_BYTES: usize = 32;
const RSA_BYTES: std::ops::RangeInclusive<usize> = 256..=1024;

/// A key that verifies signatures of one algorithm.
#[derive(Clone, Debug)]
pub(super) struct PublicKey {
    pub(super) algorithm: Algorithm,
    pub(super) kid: Option<String>,
    /// RFC 7638, SHA-256, base64url.
    pub(super) thumbprint: String,
    pub(super) decoding: DecodingKey,
}

/// Why a JWK is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyError {
    /// It holds private or symmetric key material: whoever published it has lost it.
    Private,
    /// Another type, curve, use, algorithm or size than is accepted, or malformed.
    Unusable,
}

impl PublicKey {
    pub(super) fn from_jwk(jwk: &Map<String, Value>) -> Result<Self, KeyError> {
        let text = |name| jwk.get(name).and_then(Value::as_str);
        if PRIVATE.iter().any(|name| jwk.contains_key(*name)) || text("kty") == Some("oct") {
            return Err(KeyError::Private);
        }
        let kid = match jwk.get("kid") {
            None => None,
            Some(Value::String(kid)) if kid.len() <= 512 => Some(kid.clone()),
            Some(_) => return Err(KeyError::Unusable),
        };
        let signing = |name, value| jwk.get(name).is_none_or(|given| given == value);
        let (algorithm, required, decoding) = match text("kty") {
            Some("EC") => ec(jwk)?,
            Some("RSA") => rsa(jwk)?,
            _ => return Err(KeyError::Unusable),
        };
        if !signing("use", "sig") || !signing("alg", algorithm.id()) {
            return Err(KeyError::Unusable);
        }
        if jwk.get("key_ops").is_some_and(|ops| !holds(ops, "verify")) {
            return Err(KeyError::Unusable);
        }
        Ok(Self {
            algorithm,
            kid,
            thumbprint: hash(required.as_bytes()),
            decoding,
        })
    }
}

fn holds(list: &Value, text: &str) -> bool {
    list.as_array()
        .is_some_and(|list| list.iter().any(|item| item == text))
}

/// The key and its members in RFC 7638 form. Encodings are canonical, so equal keys have equal texts.
type Parts = (Algorithm, String, DecodingKey);

fn ec(jwk: &Map<String, Value>) -> Result<Parts, KeyError> {
    if jwk.get("crv").and_then(Value::as_str) != Some("P-256") {
        return Err(KeyError::Unusable);
    }
    // RFC 7518 section 6.2.1: exactly the curve's size; a longer one is a second name of the key
    let x = bytes(jwk, "x").filter(|x| x.len() == P256_BYTES);
    let y = bytes(jwk, "y").filter(|y| y.len() == P256_BYTES);
    let (Some(x), Some(y)) = (x, y) else {
        return Err(KeyError::Unusable);
    };
    let (x, y) = (URL_SAFE_NO_PAD.encode(x), URL_SAFE_NO_PAD.encode(y));
    let required = format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#);
    // a point off the curve passes here and fails at verification
    let decoding = DecodingKey::from_ec_components(&x, &y).map_err(|_| KeyError::Unusable)?;
    Ok((Algorithm::Es256, required, decoding))
}

fn rsa(jwk: &Map<String, Value>) -> Result<Parts, KeyError> {
    let (Some(n), Some(e)) = (bytes(jwk, "n"), bytes(jwk, "e")) else {
        return Err(KeyError::Unusable);
    };
    let minimal = |number: &[u8]| number.first().is_some_and(|first| *first != 0);
    if !RSA_BYTES.contains(&n.len()) || !minimal(&n) || !minimal(&e) || e.len() > 8 {
        return Err(KeyError::Unusable);
    }
    let required = format!(
        r#"{{"e":"{}","kty":"RSA","n":"{}"}}"#,
        URL_SAFE_NO_PAD.encode(&e),
        URL_SAFE_NO_PAD.encode(&n)
    );
    let decoding = DecodingKey::from_rsa_raw_components(&n, &e);
    Ok((Algorithm::Rs256, required, decoding))
}

fn bytes(jwk: &Map<String, Value>, name: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(jwk.get(name)?.as_str()?).ok()
}

/// SHA-256 in base64url: thumbprints and `ath`.
pub(super) fn hash(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, bytes))
}

/// The same over several parts, which cannot run together.
pub(super) fn hash_parts(parts: &[&str]) -> String {
    let mut joined = Vec::new();
    for part in parts {
        joined.extend_from_slice(&(part.len() as u64).to_be_bytes());
        joined.extend_from_slice(part.as_bytes());
    }
    hash(&joined)
}
