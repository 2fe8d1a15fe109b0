//! DPoP proofs: the checks of RFC 9449 section 4.3 that need no store. Nonce and replay are judged by
//! the caller, last, so that a request that fails elsewhere burns nothing. Pure.

use serde_json::Value;

use super::jws::{self, Algorithm, Jws};
use super::key::{self, PublicKey};
use super::refusal::{Code, Refusal};
use super::url;

/// Bytes of a whole proof.
const MAX_PROOF_BYTES: usize = 4096;
const MAX_JTI_BYTES: usize = 256;
const MAX_NONCE_BYTES: usize = 512;

/// What a proof must prove.
#[derive(Debug)]
pub(super) struct Expected<'a> {
    pub(super) method: &'a str,
    /// The configured public URL of the request, never one built from its headers.
    pub(super) url: &'a str,
    /// The access token at the API; none at the token endpoint, where `ath` must be absent.
    pub(super) token: Option<&'a str>,
    pub(super) now: i64,
    pub(super) window_s: u32,
}

/// A proof that holds.
#[derive(Debug)]
pub(super) struct Proof {
    /// RFC 7638 thumbprint of the proof's key: the Session's name.
    pub(super) jkt: String,
    pub(super) jti: String,
    pub(super) iat: i64,
    pub(super) nonce: Option<String>,
    /// The last second in which this proof could still be accepted, plus one.
    pub(super) expires_at: i64,
}

/// Checks the `DPoP` header values of one request.
pub(super) fn check(headers: &[&[u8]], expected: &Expected<'_>) -> Result<Proof, Refusal> {
    let refuse = |stage| Refusal::new(Code::InvalidDpopProof, stage);
    let [header] = headers else {
        return Err(refuse(if headers.is_empty() {
            "no DPoP header"
        } else {
            "more than one DPoP header"
        }));
    };
    let malformed = || refuse("the proof is no well-formed JWT of an accepted algorithm");
    let text = std::str::from_utf8(header).map_err(|_| malformed())?;
    let jws = Jws::parse(text, MAX_PROOF_BYTES).ok_or_else(malformed)?;
    if jws.header.get("typ").and_then(Value::as_str) != Some("dpop+jwt") {
        return Err(refuse("typ is not dpop+jwt"));
    }
    if jws.algorithm != Algorithm::Es256 {
        return Err(refuse("the proof's algorithm is not ES256"));
    }
    let jwk = jws.header.get("jwk").and_then(Value::as_object);
    let key = jwk
        .and_then(|jwk| PublicKey::from_jwk(jwk).ok())
        .ok_or_else(|| refuse("jwk is not a public P-256 key"))?;
    let claims = jws
        .verified(&key)
        .ok_or_else(|| refuse("the signature does not verify"))?;
    if jws::text(claims, "htm", 16) != Some(expected.method) {
        return Err(refuse("htm is not the method"));
    }
    let htu = claims.get("htu").and_then(Value::as_str);
    let htu = htu.and_then(url::normal_htu);
    if htu.is_none() || htu != url::normal_htu(expected.url) {
        return Err(refuse("htu is not the URL"));
    }
    check_ath(claims.get("ath"), expected.token).map_err(refuse)?;
    let iat = jws::seconds(claims, "iat")
        .ok()
        .flatten()
        .ok_or_else(|| refuse("iat is missing or no number"))?;
    if iat.abs_diff(expected.now) > u64::from(expected.window_s) {
        return Err(refuse("iat is too far from now"));
    }
    let jti = jws::text(claims, "jti", MAX_JTI_BYTES).ok_or_else(|| refuse("jti is missing"))?;
    let nonce = match claims.get("nonce") {
        None => None,
        Some(Value::String(nonce)) if nonce.len() <= MAX_NONCE_BYTES => Some(nonce.clone()),
        Some(_) => return Err(refuse("nonce is no string")),
    };
    Ok(Proof {
        jkt: key.thumbprint,
        jti: jti.to_owned(),
        iat,
        nonce,
        expires_at: iat + i64::from(expected.window_s) + 1,
    })
}

fn check_ath(ath: Option<&Value>, token: Option<&str>) -> Result<(), &'static str> {
    match (ath, token) {
        (None, None) => Ok(()),
        (Some(_), None) => Err("ath at the token endpoint"),
        (Some(Value::String(ath)), Some(token)) if *ath == key::hash(token.as_bytes()) => Ok(()),
        (_, Some(_)) => Err("ath is not the token's hash"),
    }
}
