//! What the fuzzer gives the issuer's readers, and `cargo test` gives them again: proofs, assertions, forms, URLs,
//! client documents, sealed tokens. Compiled into the room, because its readers are private. Must not answer
//! anything: it panics when a promise is broken.
#![expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    clippy::indexing_slicing,
    reason = "a broken promise ends the run"
)]

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use p256::ecdsa::signature::{Signer as _, Verifier as _};
use p256::ecdsa::{Signature, SigningKey, VerifyingKey};
use serde_json::{Map, Value, json};

use super::assertion;
use super::client::{Identity, read_keys, read_metadata};
use super::dpop::{self, Expected};
use super::form::{self, Form};
use super::jws::{self, Jws};
use super::key::PublicKey;
use super::token::Token;
use super::url;
use crate::seal::KeyRing;

/// The instant of every check.
pub const NOW: i64 = 1_796_000_000;
/// Where the proofs go.
pub const URL: &str = "https://d.example/oauth/token";
/// Who signs in.
pub const CLIENT: &str = "https://a.example/client.json";
/// Whom the assertions are for.
pub const ISSUER: &str = "https://d.example/poppy";

fn key(seed: u8) -> SigningKey {
    SigningKey::from_slice(&[seed; 32]).unwrap()
}

/// The public half of a key, as a proof's header holds it.
pub fn jwk(seed: u8) -> Value {
    let point = key(seed).verifying_key().to_sec1_point(false);
    json!({
        "kty": "EC",
        "crv": "P-256",
        "x": B64.encode(point.x().unwrap()),
        "y": B64.encode(point.y().unwrap()),
    })
}

/// A compact JWT: the bytes themselves, or, where they are two lines, a signature over them as header and
/// claims, so that what stands behind the signature is reached.
fn compact(bytes: &[u8], seed: u8) -> Option<String> {
    let mut lines = bytes.splitn(2, |byte| *byte == b'\n');
    let (header, claims) = (lines.next()?, lines.next());
    let Some(claims) = claims else {
        return std::str::from_utf8(bytes).ok().map(str::to_owned);
    };
    let message = format!("{}.{}", B64.encode(header), B64.encode(claims));
    // only what can be read is worth a signature
    let readable = jws::object(header).is_some() && jws::object(claims).is_some();
    let signature: Signature = if readable {
        key(seed).sign(message.as_bytes())
    } else {
        Signature::from_slice(&[1; 64]).unwrap()
    };
    Some(format!("{message}.{}", B64.encode(signature.to_bytes())))
}

/// Header and claims of a JWT that this key signed, read by another library.
fn signed(text: &str, key: &VerifyingKey) -> (Map<String, Value>, Map<String, Value>) {
    let parts: Vec<&str> = text.split('.').collect();
    assert_eq!(parts.len(), 3, "an accepted JWT has three parts");
    let message = format!("{}.{}", parts[0], parts[1]);
    let signature = Signature::from_slice(&B64.decode(parts[2]).unwrap()).unwrap();
    let verified = key.verify(message.as_bytes(), &signature);
    assert!(verified.is_ok(), "accepted without a signature");
    let read = |part: &str| serde_json::from_slice(&B64.decode(part).unwrap()).unwrap();
    (read(parts[0]), read(parts[1]))
}

fn number(claims: &Map<String, Value>, name: &str) -> f64 {
    claims[name].as_f64().unwrap()
}

#[expect(clippy::cast_precision_loss, reason = "the instant is small")]
const NOW_F: f64 = NOW as f64;

/// A proof that is accepted is signed by the key it names, and says what RFC 9449 section 4.3 asks for; the
/// same proof gets the same verdict.
pub fn proof(bytes: &[u8]) {
    let Some(text) = compact(bytes, 2) else {
        return;
    };
    let expected = Expected {
        method: "POST",
        url: URL,
        token: None,
        now: NOW,
        window_s: 60,
    };
    let verdict = dpop::check(&[text.as_bytes()], &expected);
    let again = dpop::check(&[text.as_bytes()], &expected);
    assert_eq!(verdict.is_ok(), again.is_ok(), "two verdicts on one proof");
    let Ok(proof) = verdict else {
        return;
    };
    assert!(text.len() <= 4096, "an unbounded proof");
    let parts: Vec<&str> = text.split('.').collect();
    let header: Value = serde_json::from_slice(&B64.decode(parts[0]).unwrap()).unwrap();
    let coordinate = |name: &str| B64.decode(header["jwk"][name].as_str().unwrap()).unwrap();
    let point = [vec![4], coordinate("x"), coordinate("y")].concat();
    let (header, claims) = signed(&text, &VerifyingKey::from_sec1_bytes(&point).unwrap());
    assert_eq!(
        (&header["typ"], &header["alg"]),
        (&json!("dpop+jwt"), &json!("ES256"))
    );
    assert!(!header.contains_key("crit"));
    let secrets = ["d", "k", "p", "q"];
    assert!(secrets.iter().all(|name| header["jwk"].get(name).is_none()));
    assert_eq!(claims["htm"], "POST");
    let htu = claims["htu"].as_str().unwrap();
    assert!(
        htu.to_ascii_lowercase().starts_with("https://d.example"),
        "{htu}"
    );
    assert!(!claims.contains_key("ath"), "ath where there is no token");
    assert!(
        (number(&claims, "iat") - NOW_F).abs() < 61.0,
        "out of the window"
    );
    assert_eq!(claims["jti"], proof.jti.as_str());
    assert!((1..=256).contains(&proof.jti.len()) && proof.expires_at > NOW);
    assert_eq!(proof.jkt.len(), 43);
}

/// An assertion that is accepted is signed by the client's published key, and holds for this issuer now.
pub fn assertion(bytes: &[u8]) {
    let Some(text) = compact(bytes, 1) else {
        return;
    };
    let published = PublicKey::from_jwk(jwk(1).as_object().unwrap()).unwrap();
    let client = Identity {
        jwks_uri: "https://a.example/jwks.json".to_owned(),
        keys: vec![PublicKey {
            kid: Some("k1".to_owned()),
            ..published
        }],
    };
    let Some(read) = Jws::parse(&text, assertion::MAX_ASSERTION_BYTES) else {
        return;
    };
    let Ok(accepted) = assertion::check(&read, &client, CLIENT, ISSUER, NOW) else {
        return;
    };
    let (header, claims) = signed(&text, key(1).verifying_key());
    assert!(header.get("kid").is_none_or(|kid| kid == "k1"));
    assert_eq!(
        (&claims["iss"], &claims["aud"]),
        (&json!(CLIENT), &json!(ISSUER))
    );
    let (iat, exp) = (
        number(&claims, "iat").floor(),
        number(&claims, "exp").floor(),
    );
    assert!(exp > iat && exp - iat <= 300.0, "lives from {iat} to {exp}");
    assert!(
        iat <= NOW_F + 30.0 && exp + 30.0 > NOW_F,
        "from {iat} to {exp}"
    );
    assert_eq!(claims["sub"], accepted.subject.as_str());
    assert_eq!(claims["jti"], accepted.jti.as_str());
    assert!((16..=256).contains(&accepted.jti.chars().count()));
    assert!(accepted.expires_at > NOW, "its jti is forgotten too early");
}

/// A form: each field stands there as often as the body names it, and only one that stands there once is read.
pub fn token_form(bytes: &[u8]) {
    let media_type = Some(b"application/x-www-form-urlencoded".as_slice());
    let Ok(read) = Form::parse(media_type, bytes) else {
        return;
    };
    let body = std::str::from_utf8(bytes).unwrap();
    let pairs = body.split('&').filter(|pair| !pair.is_empty());
    let pairs: Vec<(String, String)> = pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (form::decode(name).unwrap(), form::decode(value).unwrap())
        })
        .collect();
    assert!(pairs.len() <= 32, "an unbounded form");
    for (name, _) in &pairs {
        let of_name = pairs.iter().filter(|(other, _)| other == name);
        let values: Vec<&str> = of_name.map(|(_, value)| value.as_str()).collect();
        let told: Vec<&str> = values.iter().copied().filter(|v| !v.is_empty()).collect();
        assert_eq!(read.all(name).collect::<Vec<_>>(), told);
        match read.optional(name) {
            Ok(one) => assert_eq!((values.len(), one), (1, told.first().copied())),
            Err(_) => assert!(values.len() > 1),
        }
    }
}

/// URLs: the normal form is its own, and what RFC 3986 calls equal has the same; a `client_id` names a host.
pub fn urls(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Some(normal) = url::normal_htu(text) {
        assert_eq!(
            url::normal_htu(&normal).as_ref(),
            Some(&normal),
            "of {text}"
        );
        assert!(!normal.contains(['?', '#', '\\']), "{normal}");
        let authority = normal.split('/').nth(2).unwrap();
        assert!(!authority.contains('@'), "{normal}");
        assert!(
            !normal.contains("/../") && !normal.contains("/./"),
            "{normal}"
        );
        let (bare, _) = text.split_at(text.find(['?', '#']).unwrap_or(text.len()));
        for more in ["?a=b", "#c"] {
            let longer = format!("{bare}{more}");
            assert_eq!(url::normal_htu(&longer).as_ref(), Some(&normal));
        }
        let (scheme, rest) = bare.split_once("://").unwrap();
        let loud = format!("{}://{rest}", scheme.to_ascii_uppercase());
        assert_eq!(url::normal_htu(&loud).as_ref(), Some(&normal));
    }
    if url::client_id_shape(text) {
        let host = url::https_host(text).unwrap();
        assert!(text.len() <= 2048 && text.starts_with("https://"), "{text}");
        let plain = host.starts_with('[') || !host.contains(':');
        assert!(
            plain && !host.contains('@') && !text.contains(['#', ' ']),
            "{text}"
        );
        assert!(url::redirect_shape(text, &host), "its own host's redirect");
    }
    if url::redirect_shape(text, "a.example") {
        let local = text.starts_with("http://127.0.0.1") || text.starts_with("http://[::1]");
        assert!(
            local || url::https_host(text).as_deref() == Some("a.example"),
            "{text}"
        );
    }
}

/// Client metadata and JWKS: what is taken is the client's own and holds no secret.
pub fn documents(bytes: &[u8]) {
    if let Some(taken) = read_metadata(CLIENT, bytes) {
        let document: Value = serde_json::from_slice(bytes).unwrap();
        assert_eq!(document["client_id"], CLIENT);
        assert_eq!(document["token_endpoint_auth_method"], "private_key_jwt");
        assert!(document.get("client_secret").is_none());
        assert_eq!(document["jwks_uri"], taken.jwks_uri.as_str());
        assert_eq!(
            url::https_host(&taken.jwks_uri).as_deref(),
            Some("a.example")
        );
    }
    let Some(keys) = read_keys(bytes) else {
        return;
    };
    let document: Value = serde_json::from_slice(bytes).unwrap();
    let published = document["keys"].as_array().unwrap();
    assert!(published.len() <= 32 && keys.len() <= published.len());
    let private = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];
    assert!(
        published
            .iter()
            .all(|jwk| private.iter().all(|name| jwk.get(name).is_none()))
    );
    assert!(keys.iter().all(|key| key.thumbprint.len() == 43));
}

/// A sealed token opens as what was sealed, only whole, and only at its own issuer.
pub fn sealed(bytes: &[u8]) {
    let keys = KeyRing::generate().unwrap();
    if let Ok(text) = std::str::from_utf8(bytes) {
        assert!(
            Token::open(text, &keys, ISSUER).is_none(),
            "opens what was never sealed"
        );
    }
    let good = keys
        .seal("pap access token", ISSUER.as_bytes(), bytes)
        .unwrap();
    let opened = Token::open(&good, &keys, ISSUER);
    assert!(Token::open(&good, &keys, "https://e.example/poppy").is_none());
    assert!(keys.open("cursor", ISSUER.as_bytes(), &good).is_none());
    let at = bytes.first().map_or(0, |byte| usize::from(*byte)) % good.len();
    let mut altered = good.clone().into_bytes();
    altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
    let altered = String::from_utf8(altered).unwrap();
    assert!(
        Token::open(&altered, &keys, ISSUER).is_none(),
        "opens altered"
    );
    assert!(Token::open(good.get(1..).unwrap(), &keys, ISSUER).is_none());
    if let Some(token) = opened {
        let again = token.seal(&keys, ISSUER).unwrap();
        assert_eq!(Token::open(&again, &keys, ISSUER).as_ref(), Some(&token));
    }
}
