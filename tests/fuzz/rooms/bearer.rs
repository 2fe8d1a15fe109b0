//! What the fuzzer gives the reader of an outside issuer's access tokens. Compiled into the room, because that
//! reader is private. Must not answer anything: it panics when a promise is broken.
#![expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    clippy::indexing_slicing,
    reason = "a broken promise ends the run"
)]

use serde_json::Value;

use super::super::jws::{self, Algorithm};
use super::token::{self, Wanted};

const ISSUER: &str = "https://login.example/";
const AUDIENCE: &str = "https://d.example/mcp";
const NOW: i64 = 1_796_000_000;

/// Claims that are taken name this issuer and this resource, are in date, bound to no key, and have a subject.
pub fn claims(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(jws) = token::parse(text, &[Algorithm::Es256])
    {
        assert_eq!(jws.algorithm, Algorithm::Es256);
        assert!(text.len() <= 8192, "an unbounded token");
        if let Ok(Some(kid)) = token::kid(&jws) {
            assert!(kid.len() <= 512 && jws.header["kid"] == kid);
        }
    }
    let Some(read) = jws::object(bytes) else {
        return;
    };
    let wanted = Wanted {
        issuer: ISSUER,
        audience: AUDIENCE,
        now: NOW,
        skew_s: 30,
    };
    let Ok(taken) = token::claims(&read, &wanted) else {
        return;
    };
    let said: Value = serde_json::from_slice(bytes).unwrap();
    assert_eq!(said["iss"], ISSUER);
    let named = said["aud"] == AUDIENCE
        || said["aud"]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| one == AUDIENCE));
    assert!(named, "a token for somebody else");
    let date = |name: &str| said.get(name).map(|date| date.as_f64().unwrap().floor());
    #[expect(clippy::cast_precision_loss, reason = "the instant is small")]
    let now = NOW as f64;
    assert!(date("exp").unwrap() + 30.0 > now, "expired");
    for name in ["nbf", "iat"] {
        assert!(
            date(name).is_none_or(|date| date <= now + 30.0),
            "{name} lies ahead"
        );
    }
    assert!(said.get("cnf").is_none(), "bound to a key");
    assert_eq!(said["sub"], taken.subject.as_str());
    assert!((1..=256).contains(&taken.subject.len()));
}
