//! Keys of a personal agent and what it signs: ES256 alone, which every company must take (AAP-230).

use aws_lc_rs::rand;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use p256::SecretKey;
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};
use p256::pkcs8::{DecodePrivateKey as _, EncodePrivateKey as _, LineEnding};
use serde_json::{Map, Value, json};

use super::super::failure::{Exit, Failure};

/// A P-256 key pair.
pub(super) struct Key(SecretKey);

impl Key {
    /// A fresh one.
    pub(super) fn fresh() -> Result<Self, Failure> {
        let random = || {
            let mut bytes = [0; 32];
            rand::fill(&mut bytes).ok()?;
            SecretKey::from_slice(&bytes).ok()
        };
        // a draw outside the group's order is as likely as guessing a key
        random()
            .or_else(random)
            .map(Self)
            .ok_or_else(|| Failure::new(Exit::Internal, "no randomness"))
    }

    pub(super) fn from_pem(pem: &str) -> Option<Self> {
        SecretKey::from_pkcs8_pem(pem).ok().map(Self)
    }

    pub(super) fn to_pem(&self) -> Option<String> {
        let pem = self.0.to_pkcs8_pem(LineEnding::LF).ok()?;
        Some(pem.as_str().to_owned())
    }

    /// The public half.
    pub(super) fn jwk(&self) -> Value {
        let point = SigningKey::from(&self.0)
            .verifying_key()
            .to_sec1_point(false);
        let coordinate = |bytes: Option<&[u8]>| URL_SAFE_NO_PAD.encode(bytes.unwrap_or_default());
        json!({
            "kty": "EC",
            "crv": "P-256",
            "x": coordinate(point.x().map(AsRef::as_ref)),
            "y": coordinate(point.y().map(AsRef::as_ref)),
        })
    }

    /// A compact JWT; `alg` is added.
    pub(super) fn sign(&self, mut header: Map<String, Value>, claims: &Value) -> String {
        header.insert("alg".to_owned(), "ES256".into());
        let part = |text: String| URL_SAFE_NO_PAD.encode(text);
        let header = part(Value::Object(header).to_string());
        let message = format!("{header}.{}", part(claims.to_string()));
        let signature: Signature = SigningKey::from(&self.0).sign(message.as_bytes());
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature.to_bytes()))
    }
}

/// SHA-256 in base64url, for `ath`.
pub(super) fn hash(text: &str) -> String {
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, text.as_bytes());
    URL_SAFE_NO_PAD.encode(digest)
}

/// An identifier with 128 random bits and more.
pub(super) fn random_id() -> Result<String, Failure> {
    let mut bytes = [0; 18];
    rand::fill(&mut bytes).map_err(|_| Failure::new(Exit::Internal, "no randomness"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}
