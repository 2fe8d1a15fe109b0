//! Published vectors, and the pure parts in tables.

use serde_json::json;

use crate::oauth::dpop::{self, Expected};
use crate::oauth::key::{self, KeyError, PublicKey};
use crate::oauth::url::{client_id_shape, normal_htu, redirect_shape};
use crate::oauth::{form, jws};

use super::rig;

/// RFC 9449 figure 2 and its decoded content in figure 3.
const RFC_9449_PROOF: &str = "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg";

// AAP-242
#[test]
fn thumbprints_are_those_of_rfc_7638_and_rfc_9449() {
    let rsa = json!({
        "kty": "RSA",
        "n": "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw",
        "e": "AQAB",
        "alg": "RS256",
        "kid": "2011-04-29",
    });
    let rsa = PublicKey::from_jwk(rsa.as_object().unwrap()).unwrap();
    assert_eq!(
        rsa.thumbprint,
        "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"
    );
    let ec = json!({
        "kty": "EC",
        "x": "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs",
        "y": "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA",
        "crv": "P-256",
    });
    let ec = PublicKey::from_jwk(ec.as_object().unwrap()).unwrap();
    assert_eq!(ec.thumbprint, "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I");
}

// AAP-257
#[test]
fn ath_is_that_of_rfc_9449() {
    let token = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU";
    assert_eq!(
        key::hash(token.as_bytes()),
        "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"
    );
}

// AAP-230
#[test]
fn the_proof_of_rfc_9449_holds_and_its_altered_forms_do_not() {
    let expected = Expected {
        method: "POST",
        url: "https://server.example.com/token",
        token: None,
        now: 1_562_262_620,
        window_s: 60,
    };
    let proof = dpop::check(&[RFC_9449_PROOF.as_bytes()], &expected).unwrap();
    assert_eq!(proof.jkt, "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I");
    assert_eq!(proof.jti, "-BwC3ESc6acc2lTc");
    for altered in [
        RFC_9449_PROOF.replace(".2-G", ".3-G"),
        RFC_9449_PROOF.replace("T3Lg", "T3Lh"),
        format!("{RFC_9449_PROOF}="),
        format!("{RFC_9449_PROOF}."),
        format!(" {RFC_9449_PROOF}"),
        RFC_9449_PROOF.rsplit_once('.').unwrap().0.to_owned(),
        String::new(),
    ] {
        assert!(
            dpop::check(&[altered.as_bytes()], &expected).is_err(),
            "{altered}"
        );
    }
}

// AAP-257
#[test]
fn htu_is_normalised_as_rfc_3986_says_and_no_further() {
    let url = "https://d.example/poppy/oauth/token";
    for same in [
        "HTTPS://D.Example/poppy/oauth/token",
        "https://d.example:443/poppy/oauth/token",
        "https://d.example:/poppy/oauth/token",
        "https://d.example/poppy/%6Fauth/token",
        "https://d.example/poppy/%6fauth/./token",
        "https://d.example/x/../poppy/oauth/token",
        "https://d.example/%2e/poppy/oauth/token?page=2#x",
    ] {
        assert_eq!(normal_htu(same), normal_htu(url), "{same}");
    }
    for other in [
        "https://d.example/poppy/oauth/token/",
        "https://d.example/Poppy/oauth/token",
        "https://d.example/poppy%2Foauth/token",
        "https://d.example/poppy//oauth/token",
        "https://d.example./poppy/oauth/token",
        "https://d.example:8443/poppy/oauth/token",
        "http://d.example/poppy/oauth/token",
        "https://evil.example/poppy/oauth/token",
        "https://d.example@evil.example/poppy/oauth/token",
    ] {
        assert_ne!(normal_htu(other), normal_htu(url), "{other}");
    }
    assert_eq!(
        normal_htu("https://d.example"),
        normal_htu("https://d.example/")
    );
    assert_eq!(
        normal_htu("https://d.example/%2f"),
        normal_htu("https://d.example/%2F")
    );
    assert_eq!(
        normal_htu("HTTPS://[::1]:443/x").as_deref(),
        Some("https://[::1]/x")
    );
    for none in [
        "https://d.example::443/",
        "https://d.example:44x/",
        "https://[::1/",
        "https://[::1]]/",
        "https://[d.example]/",
        "https://::1/",
        "/poppy",
        "ftp://d.example/",
        "https:///",
        "https://./",
        "https://../",
        "https://d..example/",
        "https://d.example/%zz",
        "https://d\\e/",
        "https://d e/",
    ] {
        assert_eq!(normal_htu(none), None, "{none}");
    }
}

// AAP-224
#[test]
fn client_ids_must_be_plain_https_urls_with_a_path() {
    for good in [
        "https://a.example/c",
        "https://a.example/c.json?v=1",
        "https://a.example:443/c/",
    ] {
        assert!(client_id_shape(good), "{good}");
    }
    let long = format!("https://a.example/{}", "c".repeat(2048));
    for bad in [
        "http://a.example/c",
        "HTTPS://a.example/c",
        "https://a.example",
        "https://a.example/",
        "https://a.example/c#f",
        "https://u@a.example/c",
        "https://u:p@a.example/c",
        "https://a.example/x/../c",
        "https://a.example/./c",
        "https://a.example/%2E%2e/c",
        "https://a.example/c d",
        "https:///c",
        "https://./c",
        "https://a..example/c",
        "https://.a.example/c",
        "a.example/c",
        "",
        &long,
    ] {
        assert!(!client_id_shape(bad), "{bad}");
    }
}

// AAP-226
#[test]
fn redirects_are_https_on_the_clients_host_or_loopback_literals() {
    for (uri, permitted) in [
        ("https://a.example/cb", true),
        ("http://127.0.0.1:8123/cb", true),
        ("http://127.0.0.1/cb", true),
        ("http://[::1]:8123/cb", true),
        ("http://localhost:8123/cb", false),
        ("https://other.example/cb", false),
        ("http://a.example/cb", false),
        ("http://127.0.0.1.evil.example/cb", false),
        ("http://127.0.0.1:8123@evil.example/cb", false),
        ("http://127.0.0.2:8123/cb", false),
        ("myapp:/cb", false),
    ] {
        assert_eq!(redirect_shape(uri, "a.example"), permitted, "{uri}");
    }
}

// AAP-258
#[test]
fn private_and_symmetric_keys_are_told_from_unusable_ones() {
    let good = rig::jwk(&rig::key(3));
    let verdict = |jwk: &serde_json::Value| PublicKey::from_jwk(jwk.as_object().unwrap()).err();
    assert_eq!(verdict(&good), None);
    for member in ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] {
        let spoiled = rig::with(&good, member, json!("AAAA"));
        assert_eq!(verdict(&spoiled), Some(KeyError::Private), "{member}");
    }
    assert_eq!(verdict(&json!({"kty": "oct"})), Some(KeyError::Private));
    let x = good["x"].as_str().unwrap();
    for (member, value) in [
        ("crv", json!("P-384")),
        ("crv", json!("secp256k1")),
        ("kty", json!("OKP")),
        ("use", json!("enc")),
        ("alg", json!("HS256")),
        ("key_ops", json!(["sign"])),
        ("x", json!(format!("{x}="))),
        ("x", json!("AQ")),
        ("x", json!(7)),
        ("kid", json!(7)),
    ] {
        let spoiled = rig::with(&good, member, value);
        assert_eq!(verdict(&spoiled), Some(KeyError::Unusable), "{member}");
    }
    for (n, e) in [(255, 3), (1025, 3), (256, 9)] {
        use base64::Engine as _;
        let encode =
            |bytes| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(vec![1; bytes]);
        let rsa = json!({"kty": "RSA", "n": encode(n), "e": encode(e)});
        assert_eq!(verdict(&rsa), Some(KeyError::Unusable), "{n} {e}");
    }
}

// AAP-228
#[test]
fn duplicate_member_names_are_refused_at_any_depth() {
    assert!(jws::object(br#"{"a":1,"b":{"a":1}}"#).is_some());
    for bad in [
        r#"{"a":1,"a":1}"#,
        r#"{"a":{"b":1,"b":2}}"#,
        r#"{"a":[{"b":1,"b":2}]}"#,
        r#"{"a":1,"\u0061":2}"#,
        r#"{"a":1} x"#,
        r#"{"a":1e400}"#,
        "[]",
        "1",
        "",
    ] {
        assert!(jws::object(bad.as_bytes()).is_none(), "{bad}");
    }
    let deep = format!("{}1{}", r#"{"a":"#.repeat(5000), "}".repeat(5000));
    assert!(jws::object(deep.as_bytes()).is_none());
}

// AAP-282
#[test]
fn percent_encoding_is_decoded_strictly() {
    assert_eq!(form::decode("a+b%2Bc").as_deref(), Some("a b+c"));
    for bad in ["%", "%2", "%zz", "%ff", "%+1"] {
        assert_eq!(form::decode(bad), None, "{bad}");
    }
}

proptest::proptest! {
    // AAP-282
    #[test]
    fn no_text_from_outside_brings_a_reader_down(text in "\\PC{0,200}", parts in "[A-Za-z0-9_.=-]{0,200}") {
        for text in [text.as_str(), parts.as_str()] {
            let media_type = Some(b"application/x-www-form-urlencoded".as_slice());
            let _form = form::Form::parse(media_type, text.as_bytes()).is_ok();
            let _jws = jws::Jws::parse(text, 4096).is_some();
            let _shape = client_id_shape(text) || redirect_shape(text, "a.example");
            let htu = format!("https://d.example/{text}");
            if let Some(normal) = normal_htu(&htu) {
                // normal forms stay as they are
                proptest::prop_assert_eq!(normal_htu(&normal), Some(normal));
            }
            let expected = Expected {
                method: "POST",
                url: "https://d.example/",
                token: None,
                now: 0,
                window_s: 60,
            };
            proptest::prop_assert!(dpop::check(&[text.as_bytes()], &expected).is_err());
        }
    }

    // AAP-240 AAP-284
    #[test]
    fn dates_of_any_number_are_judged_without_overflow(number in proptest::prelude::any::<f64>(), whole in proptest::prelude::any::<i64>()) {
        for value in [json!(number), json!(whole)] {
            let claims = json!({ "exp": value });
            if let Ok(Some(seconds)) = jws::seconds(claims.as_object().unwrap(), "exp") {
                proptest::prop_assert!((0..1 << 40).contains(&seconds));
            }
        }
    }
}
