//! What arrives from outside, mutated: proofs, assertions and token forms. Each target is a plain function
//! over bytes, replayed over a small corpus and over mutations that proptest shrinks.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::json;

use crate::oauth::dpop::{self, Expected};
use crate::oauth::form::Form;
use crate::oauth::jws::Jws;
use crate::oauth::key::PublicKey;

use super::rig;

const NOW: i64 = 1_796_000_000;
const URL: &str = "https://d.example/oauth/token";

/// A proof: whoever accepts it knows its key, and nothing but the text that was signed is accepted.
fn proof(original: &str, bytes: &[u8]) {
    let expected = Expected {
        method: "POST",
        url: URL,
        token: None,
        now: NOW,
        window_s: 60,
    };
    if let Ok(proof) = dpop::check(&[bytes], &expected) {
        assert_eq!(proof.jkt.len(), 43);
        assert!(!proof.jti.is_empty() && proof.expires_at > proof.iat);
        assert_eq!(bytes, original.as_bytes(), "an accepted proof was altered");
    }
}

/// An assertion: the same.
fn assertion(original: &str, bytes: &[u8]) {
    let jwk = rig::jwk(&rig::key(1));
    let key = PublicKey::from_jwk(jwk.as_object().unwrap()).unwrap();
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let verified = Jws::parse(text, 8192).and_then(|jws| jws.verified(&key).cloned());
    if verified.is_some() {
        assert_eq!(text, original, "a verified assertion was altered");
    }
}

/// A form: each field is read once or refused, and an empty one is none.
fn token_form(bytes: &[u8]) {
    let media_type = Some(b"application/x-www-form-urlencoded".as_slice());
    if let Ok(form) = Form::parse(media_type, bytes) {
        for name in ["grant_type", "client_id", "assertion", "resource"] {
            let all = form.all(name).count();
            match form.optional(name) {
                Ok(Some(value)) => assert!(!value.is_empty() && all == 1),
                Ok(None) => assert_eq!(all, 0),
                Err(_) => {}
            }
        }
    }
}

fn good_proof() -> String {
    let header = json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": rig::jwk(&rig::key(2)) });
    let claims = json!({ "htm": "POST", "htu": URL, "iat": NOW, "jti": "jti-1" });
    rig::sign(&header.to_string(), &claims.to_string(), &rig::key(2))
}

fn good_assertion() -> String {
    let header = json!({ "alg": "ES256", "typ": "JWT", "kid": "k1" });
    let claims = json!({ "iss": rig::CLIENT, "sub": rig::USER, "aud": rig::ISSUER });
    rig::sign(&header.to_string(), &claims.to_string(), &rig::key(1))
}

const GOOD_FORM: &str = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&client_id=https%3A%2F%2Fa.example%2Fc\
     &assertion=a.b.c&resource=https%3A%2F%2Fd.example&empty=&resource=x";

/// Shapes that have brought readers down elsewhere.
const CORPUS: &[&str] = &[
    "",
    ".",
    "..",
    "...",
    "=",
    "&",
    "%",
    "%%%",
    "a=%",
    "a=%f",
    "a=%ff",
    "a=%00",
    "a&a&a",
    "=b&=c",
    "e30.e30.",
    "e30.e30.AA",
    "bnVsbA.bnVsbA.AA",
    "W10.W10.AA",
    "eyJhbGciOiJFUzI1NiJ9.e30.AA",
    "eyJhbGciOiJFUzI1NiIsImp3ayI6bnVsbH0.e30.AA",
    "eyJhbGciOiJub25lIn0.e30.",
    "\u{0}",
    "\u{feff}e30.e30.AA",
    "é.é.é",
];

#[test]
fn the_corpus_brings_no_reader_down() {
    let (good_proof, good_assertion) = (good_proof(), good_assertion());
    let long = "A".repeat(100_000);
    let deep = format!("a={}", "%5B".repeat(20_000));
    let own = [&*good_proof, &*good_assertion, GOOD_FORM, &long, &deep];
    for text in CORPUS.iter().copied().chain(own) {
        proof(&good_proof, text.as_bytes());
        assertion(&good_assertion, text.as_bytes());
        token_form(text.as_bytes());
    }
    // the good ones are good, or nothing above was tried
    let expected = Expected {
        method: "POST",
        url: URL,
        token: None,
        now: NOW,
        window_s: 60,
    };
    assert!(dpop::check(&[good_proof.as_bytes()], &expected).is_ok());
    assert!(Jws::parse(&good_assertion, 8192).is_some());
}

/// One change of a text: a byte replaced, put in, taken out, or all from there cut off or said again.
#[derive(Clone, Debug)]
struct Change {
    at: Index,
    byte: u8,
    kind: u8,
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = (any::<Index>(), any::<u8>(), 0_u8..6);
    let change = change.prop_map(|(at, byte, kind)| Change { at, byte, kind });
    proptest::collection::vec(change, 1..4)
}

fn changed(text: &str, changes: &[Change]) -> Vec<u8> {
    /// What a parser is likely to stumble over.
    const TOKENS: &[u8] = b".=%&+-_/\"\\{}[]\0 ,:";
    let mut bytes = text.as_bytes().to_vec();
    for change in changes.iter().filter(|_| !text.is_empty()) {
        if bytes.is_empty() {
            return bytes;
        }
        let at = change.at.index(bytes.len());
        match change.kind {
            0 => bytes[at] = change.byte,
            1 => bytes[at] = TOKENS[usize::from(change.byte) % TOKENS.len()],
            2 => bytes.insert(at, change.byte),
            3 => drop(bytes.remove(at)),
            4 => bytes.truncate(at),
            _ => {
                let tail = bytes[at..].to_vec();
                bytes.extend(tail);
            }
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    // AAP-257 AAP-258
    #[test]
    fn an_altered_proof_is_no_proof(changes in changes()) {
        let good = good_proof();
        proof(&good, &changed(&good, &changes));
    }

    // AAP-228
    #[test]
    fn an_altered_assertion_is_no_assertion(changes in changes()) {
        let good = good_assertion();
        assertion(&good, &changed(&good, &changes));
    }

    // AAP-282
    #[test]
    fn an_altered_form_is_read_strictly_or_not_at_all(changes in changes()) {
        token_form(&changed(GOOD_FORM, &changes));
    }
}
