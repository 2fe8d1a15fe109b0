//! Compact JWTs, taken apart strictly: three parts of strict base64url, header and claims without
//! duplicate names, no `crit`, two algorithms. What a claim must say is for others. Pure.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use super::key::PublicKey;
use crate::contract::json;

/// A signature algorithm that is accepted somewhere; none of them is symmetric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    Es256,
    Rs256,
}

impl Algorithm {
    /// All of them, the smaller signature first.
    pub const ALL: [Self; 2] = [Self::Es256, Self::Rs256];

    /// The name in `alg`.
    pub fn id(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Rs256 => "RS256",
        }
    }
}

/// A JWT whose signature is not yet verified.
#[derive(Debug)]
pub(super) struct Jws<'a> {
    pub(super) algorithm: Algorithm,
    pub(super) header: Map<String, Value>,
    claims: Map<String, Value>,
    message: &'a str,
    signature: &'a str,
}

impl<'a> Jws<'a> {
    pub(super) fn parse(text: &'a str, max_bytes: usize) -> Option<Self> {
        if text.len() > max_bytes {
            return None;
        }
        let (message, signature) = text.rsplit_once('.')?;
        let (header, claims) = message.split_once('.')?;
        if claims.contains('.') {
            return None;
        }
        let header = object(&URL_SAFE_NO_PAD.decode(header).ok()?)?;
        let claims = object(&URL_SAFE_NO_PAD.decode(claims).ok()?)?;
        let algorithm = match header.get("alg")?.as_str()? {
            "ES256" => Algorithm::Es256,
            "RS256" => Algorithm::Rs256,
            _ => return None,
        };
        // RFC 7515 section 4.1.11: no extension is understood here
        if header.contains_key("crit") {
            return None;
        }
        Some(Self {
            algorithm,
            header,
            claims,
            message,
            signature,
        })
    }

    /// `typ` without `application/`: `Ok(None)` when absent, `Err` when it is no string.
    pub(super) fn typ(&self) -> Result<Option<String>, ()> {
        match self.header.get("typ") {
            None => Ok(None),
            Some(Value::String(typ)) => {
                let typ = typ.to_ascii_lowercase();
                let short = typ.strip_prefix("application/").unwrap_or(&typ);
                Ok(Some(short.to_owned()))
            }
            Some(_) => Err(()),
        }
    }

    /// The claims, once `key` verifies.
    pub(super) fn verified(&self, key: &PublicKey) -> Option<&Map<String, Value>> {
        if key.algorithm != self.algorithm {
            return None;
        }
        let algorithm = match self.algorithm {
            Algorithm::Es256 => jsonwebtoken::Algorithm::ES256,
            Algorithm::Rs256 => jsonwebtoken::Algorithm::RS256,
        };
        let message = self.message.as_bytes();
        jsonwebtoken::crypto::verify(self.signature, message, &key.decoding, algorithm)
            .is_ok_and(|verified| verified)
            .then_some(&self.claims)
    }
}

/// One JSON object without duplicate member names: two parsers that choose differently between two
/// `sub` members would see two Users.
pub(super) fn object(bytes: &[u8]) -> Option<Map<String, Value>> {
    match json::read(bytes).ok()? {
        Value::Object(object) => Some(object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            None
        }
    }
}

/// A `NumericDate` in whole seconds. Only numbers count: a date in a string is not a missing date.
pub(super) fn seconds(claims: &Map<String, Value>, name: &str) -> Result<Option<i64>, ()> {
    /// Far enough for every honest date and safe for every sum.
    const LIMIT: i64 = 1 << 40;
    let Some(value) = claims.get(name) else {
        return Ok(None);
    };
    let seconds = match (value.as_i64(), value.as_f64()) {
        (Some(seconds), _) => seconds,
        #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
        (None, Some(seconds)) => seconds.floor() as i64,
        (None, None) => return Err(()),
    };
    if (0..LIMIT).contains(&seconds) {
        Ok(Some(seconds))
    } else {
        Err(())
    }
}

/// A string claim of between 1 and `max` bytes.
pub(super) fn text<'a>(claims: &'a Map<String, Value>, name: &str, max: usize) -> Option<&'a str> {
    claims
        .get(name)?
        .as_str()
        .filter(|text| !text.is_empty() && text.len() <= max)
}
