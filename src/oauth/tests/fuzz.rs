//! What arrives from outside, mutated: proofs, assertions and token forms. Each target is a plain function
//! over bytes, replayed over a small corpus and over mutations that proptest shrinks.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::json;

use crate::oauth::dpop::{self, Expected};
use crate::oauth::fuzz::{self, NOW, URL};
use crate::oauth::fuzz_bearer;
use crate::oauth::jws::Jws;
use crate::oauth::key::PublicKey;

use super::rig;

/// A proof: nothing but the text that was signed is accepted.
fn proof(original: &str, bytes: &[u8]) {
    fuzz::proof(bytes);
    let expected = Expected {
        method: "POST",
        url: URL,
        token: None,
        now: NOW,
        window_s: 60,
    };
    if dpop::check(&[bytes], &expected).is_ok() {
        assert_eq!(bytes, original.as_bytes(), "an accepted proof was altered");
    }
}

/// An assertion: the same.
fn assertion(original: &str, bytes: &[u8]) {
    fuzz::assertion(bytes);
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
        fuzz::token_form(text.as_bytes());
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
        fuzz::token_form(&changed(GOOD_FORM, &changes));
    }
}

type Target = fn(&[u8]);

/// The fuzzers' corpora through the same targets: whole, cut short, and with one byte changed.
fn replay(name: &str, target: Target) {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("tests/fuzz/corpus").join(name);
    let mut seeds = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let seed = std::fs::read(entry.unwrap().path()).unwrap();
        seeds += 1;
        target(&seed);
        for at in (0..seed.len()).step_by(seed.len() / 40 + 1) {
            target(&seed[..at]);
            for byte in [b'"', b'9', b'.', 0xff] {
                let mut damaged = seed.clone();
                damaged[at] = byte;
                target(&damaged);
            }
        }
    }
    assert!(seeds > 2, "{name}: {seeds} seeds");
}

// AAP-228 AAP-229 AAP-239 AAP-257 AAP-258
#[test]
fn the_fuzzers_corpora_break_no_promise() {
    let targets: [(&str, Target); 7] = [
        ("proof", fuzz::proof),
        ("assertion", fuzz::assertion),
        ("form", fuzz::token_form),
        ("urls", fuzz::urls),
        ("documents", fuzz::documents),
        ("sealed", fuzz::sealed),
        ("claims", fuzz_bearer::claims),
    ];
    for (name, target) in targets {
        replay(name, target);
    }
    // what the corpora call good is good, or nothing was tried behind a signature
    let lines = include_str!("../../../tests/fuzz/corpus/proof/good");
    let (header, claims) = lines.split_once('\n').unwrap();
    let good = rig::sign(header, claims, &rig::key(2));
    let expected = Expected {
        method: "POST",
        url: URL,
        token: None,
        now: NOW,
        window_s: 60,
    };
    assert!(dpop::check(&[good.as_bytes()], &expected).is_ok());
}
