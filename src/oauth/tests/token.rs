//! The token endpoint: shape, assertions, proofs, nonces, replay.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use p256::ecdsa::Signature;
use serde_json::{Value, json};

use crate::oauth::NonceMode;

use super::rig::*;

// AAP-236 AAP-237 AAP-242 AAP-244 AAP-245 AAP-246 AAP-247
#[tokio::test]
async fn a_guest_grant_answers_three_members_and_nothing_to_keep() {
    let rig = Rig::new().await;
    let reply = rig.send(&rig.request()).await;
    assert_eq!(reply.status, 200, "{:?}", reply.body);
    let members: Vec<&str> = reply.body.keys().map(String::as_str).collect();
    assert_eq!(members, ["access_token", "token_type", "expires_in"]);
    assert_eq!(reply.body["token_type"], "DPoP");
    assert_eq!(reply.body["expires_in"], 3600);
    assert_eq!(reply.headers["cache-control"], "no-store");
    assert_eq!(reply.headers["content-type"], "application/json");
    let token = reply.body["access_token"].as_str().unwrap();
    let bytes = B64.decode(token).unwrap();
    let shown = String::from_utf8_lossy(&bytes);
    assert!(!shown.contains(USER) && !shown.contains("buyer-agent"));
}

// AAP-282
#[tokio::test]
async fn requests_of_another_shape_are_invalid() {
    let rig = Rig::new().await;
    for field in [
        "grant_type",
        "client_id",
        "client_assertion_type",
        "client_assertion",
        "assertion",
        "resource",
    ] {
        let missing = rig.try_with(|r| r.without(field)).await;
        refused(field, &missing, 400, "invalid_request");
        let empty = rig.try_with(|r| r.set(field, "")).await;
        refused(field, &empty, 400, "invalid_request");
        if field != "resource" {
            let twice = rig
                .try_with(|r| {
                    let (_, value) = r.fields.iter().find(|(f, _)| f == field).unwrap().clone();
                    r.add(field, &value);
                })
                .await;
            refused(field, &twice, 400, "invalid_request");
        }
    }
    for media_type in ["application/json", "text/plain", "multipart/form-data"] {
        let reply = rig.try_with(|r| r.media_type = media_type).await;
        refused(media_type, &reply, 400, "invalid_request");
    }
    for query in [
        "client_id=x",
        "access_token=y",
        "%61ssertion=z",
        "a=b&token=c",
    ] {
        let reply = rig.try_with(|r| r.query = Some(query)).await;
        refused(query, &reply, 400, "invalid_request");
    }
    let many = rig
        .try_with(|r| (0..40).for_each(|n| r.add(&format!("x{n}"), "y")))
        .await;
    refused("many fields", &many, 400, "invalid_request");
    assert_eq!(rig.fetches("/client.json"), 0);
}

// AAP-237
#[tokio::test]
async fn unknown_fields_are_ignored_session_id_too() {
    let rig = Rig::new().await;
    let reply = rig
        .try_with(|r| {
            r.add("session_id", "s-1");
            r.add("x", "y");
            r.media_type = "Application/X-WWW-Form-Urlencoded; charset=UTF-8";
            r.query = Some("utm=1");
        })
        .await;
    assert_eq!(reply.status, 200, "{:?}", reply.body);
}

// AAP-221 AAP-248
#[tokio::test]
async fn other_grants_are_refused_by_name() {
    let rig = Rig::new().await;
    for grant in [
        "client_credentials",
        "authorization_code",
        "urn:ietf:params:oauth:grant-type:token-exchange",
    ] {
        let reply = rig.try_with(|r| r.set("grant_type", grant)).await;
        refused(grant, &reply, 400, "unsupported_grant_type");
    }
    let unknown = rig
        .try_with(|r| {
            r.set("grant_type", "refresh_token");
            r.set("refresh_token", "no-such-token");
        })
        .await;
    refused("refresh_token", &unknown, 400, "invalid_grant");
    let scoped = rig.try_with(|r| r.set("scope", "poppy:read")).await;
    refused("scope", &scoped, 400, "invalid_scope");
}

// AAP-238 AAP-286
#[tokio::test]
async fn the_resource_is_the_advertised_one_to_the_character() {
    let rig = Rig::new().await;
    for resource in [
        "https://demo-toyota.example.com/poppy/",
        "https://demo-toyota.example.com/poppy#x",
        "https://DEMO-toyota.example.com/poppy",
        "https://demo-toyota.example.com:443/poppy",
        "https://other.example/poppy",
        "poppy",
    ] {
        let reply = rig.try_with(|r| r.set("resource", resource)).await;
        refused(resource, &reply, 400, "invalid_target");
    }
    let two = rig
        .try_with(|r| r.add("resource", "https://other.example/"))
        .await;
    refused("two resources", &two, 400, "invalid_target");
}

/// A change of an assertion that spoils it.
type Spoil = (&'static str, fn(&mut Jwt, i64));

/// What spoils either assertion alike.
const SPOILT: &[Spoil] = &[
    ("aud is the token endpoint", |j, _| {
        j.claim("aud", TOKEN_ENDPOINT);
    }),
    ("aud is a list", |j, _| j.claim("aud", json!([ISSUER]))),
    ("aud is a longer list", |j, _| {
        j.claim("aud", json!([ISSUER, "https://evil.example"]));
    }),
    ("aud with a slash", |j, _| {
        j.claim("aud", format!("{ISSUER}/"));
    }),
    ("aud in another case", |j, _| {
        j.claim("aud", "https://DEMO-TOYOTA.example.com/poppy");
    }),
    ("aud with a port", |j, _| {
        j.claim("aud", "https://demo-toyota.example.com:443/poppy");
    }),
    ("no aud", |j, _| j.drop_claim("aud")),
    ("iss is another", |j, _| {
        j.claim("iss", "https://buyer-agent.example/");
    }),
    ("iss is a list", |j, _| j.claim("iss", json!([CLIENT]))),
    ("no iss", |j, _| j.drop_claim("iss")),
    ("sub is a list", |j, _| j.claim("sub", json!([CLIENT]))),
    ("no sub", |j, _| j.drop_claim("sub")),
    ("301 seconds", |j, now| j.claim("exp", now + 301)),
    ("no lifetime", |j, now| j.claim("exp", now)),
    ("no exp", |j, _| j.drop_claim("exp")),
    ("no iat", |j, _| j.drop_claim("iat")),
    ("expired", |j, now| {
        j.claim("iat", now - 840);
        j.claim("exp", now - 600);
    }),
    ("from the future", |j, now| {
        j.claim("iat", now + 300);
        j.claim("exp", now + 400);
    }),
    ("nbf in the future", |j, now| j.claim("nbf", now + 3600)),
    ("nbf a string", |j, now| j.claim("nbf", now.to_string())),
    ("exp a string", |j, _| j.claim("exp", "4102444800")),
    ("exp a boolean", |j, _| j.claim("exp", true)),
    ("iat null", |j, _| j.claim("iat", Value::Null)),
    ("exp 1e400", |j, _| {
        j.with_claims_text(|t| t.replace("\"exp\":", "\"exp\":1e400,\"x\":"));
    }),
    ("iat i64::MIN", |j, _| {
        j.claim("iat", i64::MIN);
        j.claim("exp", 4_102_444_800_i64);
    }),
    ("exp 1e300", |j, _| j.claim("exp", 1e300)),
    ("no jti", |j, _| j.drop_claim("jti")),
    ("jti a number", |j, _| {
        j.claim("jti", 1_234_567_890_123_456_789_u64);
    }),
    ("short jti", |j, _| j.claim("jti", "123456789012345")),
    ("long jti", |j, _| j.claim("jti", "j".repeat(257))),
    ("typ of a proof", |j, _| j.header["typ"] = json!("dpop+jwt")),
    ("typ of no kind", |j, _| {
        j.header["typ"] = json!("application/application/jwt");
    }),
    ("typ of a browser assertion", |j, _| {
        j.header["typ"] = json!("poppy-browser+jwt");
    }),
    ("typ a number", |j, _| j.header["typ"] = json!(1)),
    ("alg none", |j, _| {
        j.header["alg"] = json!("none");
        let signed = j.text();
        j.raw = Some(format!("{}.", signed.rsplit_once('.').unwrap().0));
    }),
    ("alg HS256", |j, _| j.header["alg"] = json!("HS256")),
    ("alg RS256 over an EC key", |j, _| {
        j.header["alg"] = json!("RS256");
    }),
    ("alg es256", |j, _| j.header["alg"] = json!("es256")),
    ("no alg", |j, _| {
        j.header.as_object_mut().unwrap().remove("alg");
    }),
    ("a stranger's embedded key", |j, _| {
        j.key = key(9);
        j.header["jwk"] = jwk(&key(9));
        j.header["jku"] = json!("https://evil.example/jwks.json");
        j.header["x5u"] = json!("https://evil.example/x5u");
    }),
    ("a stranger's signature", |j, _| j.key = key(9)),
    ("zero signature", |j, _| {
        let signed = j.text();
        let message = signed.rsplit_once('.').unwrap().0;
        j.raw = Some(format!("{message}.{}", B64.encode([0; 64])));
    }),
    ("crit", |j, _| {
        j.header["crit"] = json!(["bork"]);
        j.header["bork"] = json!(1);
    }),
    ("unknown kid", |j, _| j.header["kid"] = json!("k9")),
    ("kid a number", |j, _| j.header["kid"] = json!(1)),
    ("duplicate sub", |j, _| {
        j.with_claims_text(|t| t.replacen('{', "{\"sub\":\"someone-else\",", 1));
    }),
    ("duplicate jti", |j, _| {
        j.with_claims_text(|t| t.replacen('{', "{\"jti\":\"0123456789abcdef\",", 1));
    }),
    ("four parts", |j, _| {
        j.raw = Some(format!("{}.AAAA", j.text()));
    }),
    ("no JWT", |j, _| j.raw = Some("assertion".to_owned())),
    ("padding", |j, _| j.raw = Some(format!("{}=", j.text()))),
    ("too long", |j, _| j.claim("x", "x".repeat(8192))),
];

// AAP-228 AAP-229 AAP-239 AAP-283
#[tokio::test]
async fn every_defect_of_a_client_assertion_is_invalid_client() {
    let rig = Rig::new().await;
    for (what, spoil) in SPOILT {
        let reply = rig.try_with(|r| spoil(&mut r.client, rig.now())).await;
        refused(what, &reply, 401, "invalid_client");
        rig.wait(1);
    }
    let other = rig.try_with(|r| r.client.claim("sub", USER)).await;
    refused("sub is the User", &other, 401, "invalid_client");
    let urn = rig
        .try_with(|r| r.set("client_assertion_type", "urn:example:other"))
        .await;
    refused("another assertion type", &urn, 401, "invalid_client");
    assert_eq!(rig.send(&rig.request()).await.status, 200);
}

// AAP-228 AAP-229 AAP-239 AAP-284
#[tokio::test]
async fn every_defect_of_a_session_assertion_is_invalid_grant() {
    let rig = Rig::new().await;
    for (what, spoil) in SPOILT {
        let reply = rig.try_with(|r| spoil(&mut r.session, rig.now())).await;
        refused(what, &reply, 400, "invalid_grant");
        rig.wait(1);
    }
    let own: [Spoil; 7] = [
        ("empty sub", |j, _| j.claim("sub", "")),
        ("long sub", |j, _| j.claim("sub", "u".repeat(257))),
        ("sub is the client", |j, _| j.claim("sub", CLIENT)),
        ("agent_id a number", |j, _| j.claim("agent_id", 7)),
        ("agent_id null", |j, _| j.claim("agent_id", Value::Null)),
        ("agent_id empty", |j, _| j.claim("agent_id", "")),
        ("agent_id long", |j, _| j.claim("agent_id", "a".repeat(257))),
    ];
    for (what, spoil) in own {
        let reply = rig.try_with(|r| spoil(&mut r.session, rig.now())).await;
        refused(what, &reply, 400, "invalid_grant");
    }
    let twice = rig.try_with(|r| r.session = r.client.clone()).await;
    refused("one assertion for both", &twice, 400, "invalid_grant");
    let one_jti = rig
        .try_with(|r| r.session.claims["jti"] = r.client.claims["jti"].clone())
        .await;
    refused("one jti for both", &one_jti, 400, "invalid_grant");
    assert_eq!(rig.send(&rig.request()).await.status, 200);
}

// AAP-239
#[tokio::test]
async fn what_honest_agents_send_differently_is_accepted() {
    let rig = Rig::new().await;
    let honest: [Spoil; 8] = [
        ("300 seconds", |j, now| j.claim("exp", now + 300)),
        ("a clock ten seconds ahead", |j, now| {
            j.claim("iat", now + 10);
            j.claim("exp", now + 60);
        }),
        ("just expired", |j, now| {
            j.claim("iat", now - 200);
            j.claim("exp", now - 20);
        }),
        ("dates with fractions", |j, now| {
            j.with_claims_text(|t| t.replace(&format!("{now}"), &format!("{now}.25")));
        }),
        ("no typ", |j, _| {
            j.header.as_object_mut().unwrap().remove("typ");
        }),
        ("typ of RFC 10070", |j, _| {
            j.header["typ"] = json!("client-authentication+jwt");
        }),
        ("no kid with one key", |j, _| {
            j.header.as_object_mut().unwrap().remove("kid");
        }),
        ("unknown claims", |j, _| {
            j.claim("extensions", json!({"a": 1}));
        }),
    ];
    for (what, change) in honest {
        let client = rig.try_with(|r| change(&mut r.client, rig.now())).await;
        assert_eq!(client.status, 200, "client: {what}");
        let session = rig.try_with(|r| change(&mut r.session, rig.now())).await;
        assert_eq!(session.status, 200, "session: {what}");
    }
}

/// What spoils a proof for the token endpoint.
const SPOILT_PROOFS: &[Spoil] = &[
    ("no header", |j, _| j.raw = Some(String::new())),
    ("two in one header", |j, _| {
        j.raw = Some(format!("{0}, {0}", j.text()));
    }),
    ("typ JWT", |j, _| j.header["typ"] = json!("JWT")),
    ("no typ", |j, _| {
        j.header.as_object_mut().unwrap().remove("typ");
    }),
    ("alg none", |j, _| {
        j.header["alg"] = json!("none");
        let signed = j.text();
        j.raw = Some(format!("{}.", signed.rsplit_once('.').unwrap().0));
    }),
    ("alg HS256", |j, _| j.header["alg"] = json!("HS256")),
    ("alg RS256", |j, _| j.header["alg"] = json!("RS256")),
    ("alg ES384", |j, _| j.header["alg"] = json!("ES384")),
    ("no jwk", |j, _| {
        j.header.as_object_mut().unwrap().remove("jwk");
    }),
    ("a private jwk", |j, _| j.header["jwk"]["d"] = json!("AAAA")),
    ("an oct jwk", |j, _| {
        j.header["jwk"] = json!({"kty": "oct", "k": "AAAA"});
    }),
    ("crv P-384", |j, _| j.header["jwk"]["crv"] = json!("P-384")),
    ("crv secp256k1", |j, _| {
        j.header["jwk"]["crv"] = json!("secp256k1");
    }),
    ("a point off the curve", |j, _| {
        j.header["jwk"] = json!({
            "kty": "EC",
            "crv": "P-256",
            "x": "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs",
            "y": "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDE",
        });
    }),
    ("a second name of the key", |j, _| {
        let x = B64.decode(j.header["jwk"]["x"].as_str().unwrap()).unwrap();
        let longer = [vec![0], x].concat();
        j.header["jwk"]["x"] = json!(B64.encode(longer));
    }),
    ("a key that is not the signer's", |j, _| {
        j.header["jwk"] = jwk(&key(8));
    }),
    ("zero signature", |j, _| {
        let signed = j.text();
        let message = signed.rsplit_once('.').unwrap().0;
        j.raw = Some(format!("{message}.{}", B64.encode([0; 64])));
    }),
    ("crit", |j, _| {
        j.header["crit"] = json!(["bork"]);
        j.header["bork"] = json!(1);
    }),
    ("htm GET", |j, _| j.claim("htm", "GET")),
    ("htm post", |j, _| j.claim("htm", "post")),
    ("no htm", |j, _| j.drop_claim("htm")),
    ("htu another path", |j, _| j.claim("htu", SKILL)),
    ("htu with a slash", |j, _| {
        j.claim("htu", format!("{TOKEN_ENDPOINT}/"));
    }),
    ("htu over http", |j, _| {
        j.claim("htu", "http://demo-toyota.example.com/poppy/oauth/token");
    }),
    ("htu of another host", |j, _| {
        j.claim("htu", "https://evil.example/poppy/oauth/token");
    }),
    ("htu the issuer", |j, _| j.claim("htu", ISSUER)),
    ("htu with %2F", |j, _| {
        j.claim("htu", "https://demo-toyota.example.com/poppy%2Foauth/token");
    }),
    ("no htu", |j, _| j.drop_claim("htu")),
    ("ath", |j, _| {
        j.claim("ath", "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo");
    }),
    ("ath null", |j, _| j.claim("ath", Value::Null)),
    ("old", |j, now| j.claim("iat", now - 120)),
    ("from the future", |j, now| j.claim("iat", now + 120)),
    ("iat i64::MIN", |j, _| j.claim("iat", i64::MIN)),
    ("iat a string", |j, now| j.claim("iat", now.to_string())),
    ("no iat", |j, _| j.drop_claim("iat")),
    ("no jti", |j, _| j.drop_claim("jti")),
    ("empty jti", |j, _| j.claim("jti", "")),
    ("long jti", |j, _| j.claim("jti", "j".repeat(257))),
    ("duplicate jti", |j, _| {
        j.with_claims_text(|t| t.replacen('{', "{\"jti\":\"b\",", 1));
    }),
    ("duplicate htu", |j, _| {
        j.with_claims_text(|t| t.replacen('{', "{\"htu\":\"b\",", 1));
    }),
    ("nonce a number", |j, _| j.claim("nonce", 7)),
    ("too long", |j, _| j.claim("x", "x".repeat(4096))),
];

// AAP-225 AAP-243 AAP-258 AAP-259 AAP-287
#[tokio::test]
async fn every_defect_of_a_proof_is_invalid_dpop_proof_and_fetches_nothing() {
    let rig = Rig::new().await;
    for (what, spoil) in SPOILT_PROOFS {
        let reply = rig.try_with(|r| spoil(&mut r.proof, rig.now())).await;
        refused(what, &reply, 400, "invalid_dpop_proof");
    }
    let second = rig.proof(TOKEN_ENDPOINT).text();
    let two = rig.try_with(|r| r.more_proofs.push(second)).await;
    refused("two headers", &two, 400, "invalid_dpop_proof");
    assert_eq!(rig.fetches("/client.json"), 0);
    let published = rig.try_with(|r| r.of_session(1)).await;
    refused("a published key", &published, 400, "invalid_dpop_proof");
}

// AAP-243
#[tokio::test]
async fn htu_may_be_spelt_differently_and_clocks_may_differ() {
    let rig = Rig::new().await;
    let honest: [Spoil; 5] = [
        ("port", |j, _| {
            j.claim(
                "htu",
                "https://demo-toyota.example.com:443/poppy/oauth/token",
            );
        }),
        ("case", |j, _| {
            j.claim("htu", "https://DEMO-TOYOTA.example.com/poppy/%6Fauth/token");
        }),
        ("query", |j, _| {
            j.claim("htu", format!("{TOKEN_ENDPOINT}?page=2#x"));
        }),
        ("ten seconds ahead", |j, now| j.claim("iat", now + 10)),
        ("fifty seconds behind", |j, now| j.claim("iat", now - 50)),
    ];
    for (what, change) in honest {
        let reply = rig.try_with(|r| change(&mut r.proof, rig.now())).await;
        assert_eq!(reply.status, 200, "{what}: {:?}", reply.body);
    }
}

// AAP-240 AAP-241
#[tokio::test]
async fn each_jti_works_once_whatever_the_rest_of_the_request() {
    let rig = Rig::new().await;
    let first = rig.request();
    assert_eq!(rig.send(&first).await.status, 200);
    let whole = rig.send(&first).await;
    refused("the whole request", &whole, 401, "invalid_client");
    let client = rig.try_with(|r| r.client = first.client.clone()).await;
    refused("client assertion", &client, 401, "invalid_client");
    let session = rig.try_with(|r| r.session = first.session.clone()).await;
    refused("session assertion", &session, 400, "invalid_grant");
    let swapped = rig
        .try_with(|r| r.client.claims["jti"] = first.session.claims["jti"].clone())
        .await;
    refused(
        "one namespace for both assertions",
        &swapped,
        401,
        "invalid_client",
    );
    let proof = rig.try_with(|r| r.proof = first.proof.clone()).await;
    refused("proof", &proof, 400, "invalid_dpop_proof");
    let spelt = rig
        .try_with(|r| {
            r.proof.claims["jti"] = first.proof.claims["jti"].clone();
            r.proof.claim("htu", format!("{TOKEN_ENDPOINT}?x=1"));
        })
        .await;
    refused(
        "the proof's jti with another htu",
        &spelt,
        400,
        "invalid_dpop_proof",
    );
    let twin = rig
        .try_with(|r| {
            let text = first.proof.text();
            let (message, signature) = text.rsplit_once('.').unwrap();
            let signature = Signature::from_slice(&B64.decode(signature).unwrap()).unwrap();
            let negated = -*signature.s();
            let twin = Signature::from_scalars(*signature.r(), negated).unwrap();
            assert_ne!(twin, signature);
            r.proof.raw = Some(format!("{message}.{}", B64.encode(twin.to_bytes())));
        })
        .await;
    refused(
        "the proof's twin signature",
        &twin,
        400,
        "invalid_dpop_proof",
    );
}

// AAP-241
#[tokio::test]
async fn a_proof_from_ahead_is_remembered_until_it_is_too_old() {
    let rig = Rig::new().await;
    let mut first = rig.request();
    first.proof.claim("iat", rig.now() + 55);
    assert_eq!(rig.send(&first).await.status, 200);
    for wait in [100, 15] {
        rig.wait(wait);
        let again = rig.try_with(|r| r.proof = first.proof.clone()).await;
        refused("again", &again, 400, "invalid_dpop_proof");
    }
}

// AAP-240
#[tokio::test]
async fn refused_requests_burn_no_jti() {
    let rig = Rig::new().await;
    let good = rig.request();
    let mut forged = good.clone();
    forged.client.key = key(9);
    refused("forged", &rig.send(&forged).await, 401, "invalid_client");
    let mut late = good.clone();
    late.session.claim("exp", rig.now() - 600);
    refused("session", &rig.send(&late).await, 400, "invalid_grant");
    let mut target = good.clone();
    target.set("resource", "https://other.example/");
    refused("resource", &rig.send(&target).await, 400, "invalid_target");
    assert_eq!(rig.send(&good).await.status, 200);
}

// AAP-240
#[tokio::test]
async fn one_clients_jti_is_not_anothers() {
    let rig = Rig::new().await;
    rig.publish("/client.json", &metadata(CLIENT));
    let first = rig.request();
    assert_eq!(rig.send(&first).await.status, 200);
    rig.publish("/client.json", &metadata(OTHER_CLIENT));
    let other = rig
        .try_with(|r| {
            *r = first.clone();
            r.of_client(OTHER_CLIENT);
            r.of_session(3);
        })
        .await;
    assert_eq!(other.status, 200, "{:?}", other.body);
}

// AAP-261 AAP-287
#[tokio::test]
async fn a_required_nonce_is_asked_for_and_burns_nothing() {
    let rig = Rig::with(|s| s.nonces = NonceMode::Required).await;
    let mut request = rig.request();
    let challenge = rig.send(&request).await;
    refused("no nonce", &challenge, 400, "use_dpop_nonce");
    assert_eq!(rig.fetches("/client.json"), 0);
    let nonce = challenge.headers["dpop-nonce"].to_str().unwrap().to_owned();
    let nqchar = |b: u8| matches!(b, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    assert!(nonce.bytes().all(nqchar));
    // the same assertions with a new proof
    request.proof = rig.proof(TOKEN_ENDPOINT);
    request.proof.claim("nonce", nonce.as_str());
    let granted = rig.send(&request).await;
    assert_eq!(granted.status, 200, "{:?}", granted.body);
    assert_eq!(granted.headers.get_all("dpop-nonce").iter().count(), 1);
    for wrong in ["", "guess", ISSUER] {
        let reply = rig.try_with(|r| r.proof.claim("nonce", wrong)).await;
        refused(wrong, &reply, 400, "use_dpop_nonce");
    }
    rig.wait(301);
    let old = rig
        .try_with(|r| r.proof.claim("nonce", nonce.as_str()))
        .await;
    refused("an old nonce", &old, 400, "use_dpop_nonce");
}

// AAP-261
#[tokio::test]
async fn an_optional_nonce_is_offered_and_must_be_ours_when_used() {
    let rig = Rig::with(|s| s.nonces = NonceMode::Optional).await;
    let granted = rig.send(&rig.request()).await;
    assert_eq!(granted.status, 200);
    let nonce = granted.headers["dpop-nonce"].to_str().unwrap().to_owned();
    let used = rig
        .try_with(|r| r.proof.claim("nonce", nonce.as_str()))
        .await;
    assert_eq!(used.status, 200);
    let foreign = rig.try_with(|r| r.proof.claim("nonce", "guess")).await;
    refused("foreign", &foreign, 400, "use_dpop_nonce");
}

// AAP-292
#[tokio::test]
async fn networks_and_clients_are_limited_and_forgeries_cost_a_client_nothing() {
    let rig = Rig::with(|s| {
        s.token_requests_per_minute_and_network = 8;
        s.token_requests_per_minute_and_client = 2;
    })
    .await;
    for _ in 0..4 {
        let forged = rig.try_with(|r| r.client.key = key(9)).await;
        refused("forged", &forged, 401, "invalid_client");
    }
    assert_eq!(rig.send(&rig.request()).await.status, 200);
    assert_eq!(rig.send(&rig.request()).await.status, 200);
    for _ in 0..3 {
        let limited = rig.send(&rig.request()).await;
        refused("limited", &limited, 429, "rate_limited");
        assert_eq!(limited.body.len(), 1);
        let wait: u32 = limited.headers["retry-after"]
            .to_str()
            .unwrap()
            .parse()
            .unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
    }
    rig.wait(60);
    assert_eq!(rig.send(&rig.request()).await.status, 200);
}

// AAP-218 AAP-219 AAP-220 AAP-221 AAP-222 AAP-214 AAP-230 AAP-231
#[tokio::test]
async fn the_metadata_says_what_is_there() {
    let rig = Rig::new().await;
    let metadata = rig.issuer.metadata();
    assert_eq!(metadata["issuer"], ISSUER);
    assert_eq!(metadata["token_endpoint"], TOKEN_ENDPOINT);
    assert_eq!(
        metadata["protected_resources"],
        json!(["https://demo-toyota.example.com"])
    );
    assert_eq!(
        metadata["dpop_signing_alg_values_supported"],
        json!(["ES256"])
    );
    assert_eq!(
        metadata["token_endpoint_auth_methods_supported"],
        json!(["private_key_jwt"])
    );
    let grants = metadata["grant_types_supported"].as_array().unwrap();
    assert!(grants.contains(&json!("urn:ietf:params:oauth:grant-type:jwt-bearer")));
    assert!(grants.contains(&json!("refresh_token")) && grants.len() == 2);
    for absent in [
        "authorization_endpoint",
        "device_authorization_endpoint",
        "poppy_domains",
        "scopes_supported",
        "response_types_supported",
    ] {
        assert!(metadata.get(absent).is_none(), "{absent}");
    }
    for (issuer, path, token) in [
        (
            "https://d.example/poppy",
            "/poppy",
            "https://d.example/poppy/oauth/token",
        ),
        (
            "https://d.example/poppy/",
            "/poppy",
            "https://d.example/poppy/oauth/token",
        ),
        ("https://d.example", "", "https://d.example/oauth/token"),
    ] {
        let settings = crate::oauth::Settings::new(issuer, "d.example");
        let expected = format!("https://d.example/.well-known/oauth-authorization-server{path}");
        assert_eq!(settings.metadata_url(), expected);
        assert_eq!(settings.metadata()["issuer"], issuer);
        assert_eq!(settings.token_endpoint(), token);
    }
}
