//! Client identities: what is fetched, what is believed, what is remembered.

use std::collections::BTreeSet;
use std::sync::Arc;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair as RsaKeyPair, KeySize};
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA256};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use serde_json::{Value, json};

use crate::oauth::Registration;

use super::rig::*;

// AAP-224 AAP-226 AAP-227 AAP-283
#[tokio::test]
async fn metadata_that_breaks_a_rule_is_no_identity() {
    let good = metadata(CLIENT);
    let other = "https://other-agent.example/jwks.json";
    for (member, value) in [
        (
            "client_id",
            json!("https://buyer-agent.example/client.json/"),
        ),
        (
            "client_id",
            json!("https://Buyer-agent.example/client.json"),
        ),
        (
            "client_id",
            json!("https://buyer-agent.example:443/client.json"),
        ),
        ("client_id", json!([CLIENT])),
        ("jwks_uri", json!(other)),
        ("jwks_uri", json!("http://buyer-agent.example/jwks.json")),
        (
            "jwks_uri",
            json!("https://buyer-agent.example@other-agent.example/jwks.json"),
        ),
        (
            "jwks_uri",
            json!("https://buyer-agent.example:8443/jwks.json"),
        ),
        ("jwks_uri", Value::Null),
        ("redirect_uris", json!(["http://localhost:8123/cb"])),
        ("redirect_uris", json!(["https://other-agent.example/cb"])),
        ("redirect_uris", json!([7])),
        ("redirect_uris", json!("https://buyer-agent.example/cb")),
        ("redirect_uris", Value::Null),
        ("token_endpoint_auth_method", json!("none")),
        ("token_endpoint_auth_method", Value::Null),
        ("client_secret", json!("s")),
    ] {
        let rig = Rig::new().await;
        rig.publish("/client.json", &with(&good, member, value));
        let reply = rig.send(&rig.request()).await;
        refused(member, &reply, 401, "invalid_client");
    }
    let rig = Rig::new().await;
    let redirects = json!([
        "https://buyer-agent.example/cb",
        "http://127.0.0.1:1/cb",
        "http://[::1]:2/cb"
    ]);
    let mut document = with(&good, "redirect_uris", redirects);
    // never fetched, whatever they say
    for url in ["logo_uri", "policy_uri", "sector_identifier_uri"] {
        document[url] = json!("https://169.254.169.254/");
    }
    rig.publish("/client.json", &document);
    assert_eq!(rig.send(&rig.request()).await.status, 200);
    assert_eq!(rig.site.requests().len(), 2);
}

// AAP-233 AAP-234 AAP-283
#[tokio::test]
async fn whatever_a_fetch_meets_the_answer_is_the_same() {
    let document = metadata(CLIENT).to_string();
    let duplicate = document.replacen('{', "{\"jwks_uri\":\"https://buyer-agent.example/x\",", 1);
    let long = format!("{document}{}", " ".repeat(100 * 1024));
    for (what, status, media_type, body) in [
        ("404", 404, "application/json", document.as_str()),
        ("500", 500, "application/json", &document),
        ("201", 201, "application/json", &document),
        ("302", 302, "application/json", &document),
        ("html", 200, "text/html", &document),
        ("no JSON", 200, "application/json", "<html>"),
        ("a list", 200, "application/json", "[]"),
        ("duplicate names", 200, "application/json", &duplicate),
        ("too long", 200, "application/json", &long),
    ] {
        let rig = Rig::new().await;
        rig.publish_raw("/client.json", status, media_type, body);
        let reply = rig.send(&rig.request()).await;
        refused(what, &reply, 401, "invalid_client");
        assert_eq!(rig.network.dialled().len(), 1, "{what}");
    }
    let rig = Rig::new().await;
    rig.network.name(
        "buyer-agent.example",
        vec![vec!["127.0.0.1:443".parse().unwrap()]],
    );
    refused(
        "loopback",
        &rig.send(&rig.request()).await,
        401,
        "invalid_client",
    );
    assert!(rig.network.dialled().is_empty());
    let hurry = std::time::Duration::from_millis(500);
    let silent = Rig::new().await.hurried(hurry).await;
    silent.documents.lock().unwrap().remove("/client.json");
    refused(
        "silence",
        &silent.send(&silent.request()).await,
        401,
        "invalid_client",
    );
}

// AAP-232 AAP-233
#[tokio::test]
async fn client_ids_of_another_shape_or_place_cause_no_connection() {
    let rig = Rig::new().await;
    for client_id in [
        "http://buyer-agent.example/client.json",
        "https://buyer-agent.example/client.json#f",
        "https://u@buyer-agent.example/client.json",
        "https://buyer-agent.example/../client.json",
        "https://buyer-agent.example",
        "https://buyer-agent.example:8443/client.json",
        "https://127.0.0.1/client.json",
        "https://2130706433/client.json",
        "https://[::ffff:127.0.0.1]/client.json",
        "https://[64:ff9b::7f00:1]/client.json",
        "https://169.254.169.254/client.json",
        "https://100.64.0.1/client.json",
    ] {
        let reply = rig.try_with(|r| r.of_client(client_id)).await;
        refused(client_id, &reply, 401, "invalid_client");
    }
    assert!(rig.network.dialled().is_empty());
}

// AAP-235
#[tokio::test]
async fn registration_is_asked_before_anything_is_fetched() {
    let listed = BTreeSet::from([CLIENT.to_owned()]);
    let only = Rig::with(|s| s.registration = Registration::Only(listed.clone())).await;
    assert_eq!(only.send(&only.request()).await.status, 200);
    let other = only.try_with(|r| r.of_client(OTHER_CLIENT)).await;
    refused("not listed", &other, 401, "invalid_client");
    assert_eq!(
        only.network.asked(),
        ["buyer-agent.example", "buyer-agent.example"]
    );
    let but = Rig::with(|s| s.registration = Registration::AllBut(listed)).await;
    refused(
        "blocked",
        &but.send(&but.request()).await,
        401,
        "invalid_client",
    );
    assert!(but.network.asked().is_empty());
}

// AAP-234
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_first_requests_make_one_fetch_of_each_document() {
    let rig = Arc::new(
        Rig::with(|s| {
            s.token_requests_per_minute_and_network = 1000;
            s.token_requests_per_minute_and_client = 1000;
        })
        .await,
    );
    let requests = (0..100).map(|_| {
        let (rig, request) = (Arc::clone(&rig), rig.request());
        tokio::spawn(async move { rig.send(&request).await.status })
    });
    for request in requests.collect::<Vec<_>>() {
        assert_eq!(request.await.unwrap(), 200);
    }
    assert_eq!(rig.fetches("/client.json"), 1);
    assert_eq!(rig.fetches("/jwks.json"), 1);
}

// AAP-234
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn who_hangs_up_does_not_lock_the_client_out() {
    let rig = Arc::new(Rig::new().await);
    let held = rig.documents.lock().unwrap();
    let request = rig.request();
    let asking = Arc::clone(&rig);
    let asked = tokio::spawn(async move { asking.send(&request).await });
    while rig.fetches("/client.json") == 0 {
        std::thread::yield_now();
    }
    asked.abort();
    drop(held);
    assert!(asked.await.unwrap_err().is_cancelled());
    assert_eq!(rig.send(&rig.request()).await.status, 200);
    assert_eq!(rig.fetches("/client.json"), 1, "what was begun is used");
}

#[tokio::test]
async fn a_failed_fetch_is_remembered_and_never_cached_as_valid() {
    let rig = Rig::new().await;
    rig.publish_raw("/client.json", 500, "application/json", "{}");
    for _ in 0..3 {
        refused(
            "down",
            &rig.send(&rig.request()).await,
            401,
            "invalid_client",
        );
    }
    assert_eq!(rig.fetches("/client.json"), 1);
    rig.publish("/client.json", &metadata(CLIENT));
    rig.wait(30);
    assert_eq!(rig.send(&rig.request()).await.status, 200);
    assert_eq!(rig.fetches("/client.json"), 2);
}

// AAP-234
#[tokio::test]
async fn unknown_kids_cause_one_refetch_in_thirty_seconds() {
    for keys in [json!([]), json!([with(&jwk(&key(1)), "kid", json!("k1"))])] {
        let rig = Rig::with(|s| s.token_requests_per_minute_and_network = 1000).await;
        rig.publish_keys(&keys);
        for n in 0..40 {
            let reply = rig
                .try_with(|r| r.client.header["kid"] = json!(format!("random-{n}")))
                .await;
            refused("unknown", &reply, 401, "invalid_client");
            rig.wait(1);
        }
        assert_eq!(rig.fetches("/jwks.json"), 2);
        assert_eq!(rig.fetches("/client.json"), 1);
        // refetches that fail count as well
        rig.publish_raw("/jwks.json", 500, "application/json", "{}");
        for n in 0..61 {
            let reply = rig
                .try_with(|r| r.client.header["kid"] = json!(format!("other-{n}")))
                .await;
            refused("unknown", &reply, 401, "invalid_client");
            rig.wait(1);
        }
        assert!(rig.fetches("/jwks.json") <= 4);
    }
}

// AAP-228
#[tokio::test]
async fn a_new_key_is_found_and_an_old_one_dies_with_the_cache() {
    let rig = Rig::new().await;
    assert_eq!(rig.send(&rig.request()).await.status, 200);
    rig.publish_keys(&json!([with(&jwk(&key(5)), "kid", json!("k5"))]));
    rig.wait(30);
    let new_key = |r: &mut Request| {
        for jwt in [&mut r.client, &mut r.session] {
            jwt.key = key(5);
            jwt.header["kid"] = json!("k5");
        }
    };
    assert_eq!(rig.try_with(new_key).await.status, 200);
    rig.wait(300);
    refused(
        "old key",
        &rig.send(&rig.request()).await,
        401,
        "invalid_client",
    );
    assert_eq!(rig.try_with(new_key).await.status, 200);
}

// AAP-234
#[tokio::test]
async fn keys_outlive_a_failing_site_by_one_hour() {
    let rig = Rig::new().await;
    assert_eq!(rig.send(&rig.request()).await.status, 200);
    rig.publish_raw("/client.json", 503, "application/json", "{}");
    rig.wait(300 + 3599);
    assert_eq!(rig.send(&rig.request()).await.status, 200);
    rig.wait(1);
    refused(
        "stale",
        &rig.send(&rig.request()).await,
        401,
        "invalid_client",
    );
}

// AAP-234
#[tokio::test]
async fn cache_headers_count_between_a_minute_and_a_day() {
    for (cache_control, fresh_s) in [
        ("max-age=0", 60),
        ("no-store", 60),
        ("public, max-age=120", 120),
        ("max-age=99999999", 86_400),
        ("max-age=nonsense", 60),
    ] {
        let rig = Rig::new().await;
        for document in rig.documents.lock().unwrap().values_mut() {
            document
                .1
                .push(("Cache-Control".to_owned(), cache_control.to_owned()));
        }
        assert_eq!(rig.send(&rig.request()).await.status, 200);
        rig.wait(fresh_s - 1);
        assert_eq!(rig.send(&rig.request()).await.status, 200);
        assert_eq!(rig.fetches("/client.json"), 1, "{cache_control}");
        rig.wait(1);
        assert_eq!(rig.send(&rig.request()).await.status, 200);
        assert_eq!(rig.fetches("/client.json"), 2, "{cache_control}");
    }
}

// AAP-228
#[tokio::test]
async fn keys_are_chosen_by_kid_and_algorithm_and_never_guessed() {
    let rig = Rig::new().await;
    let (first, second) = (jwk(&key(1)), jwk(&key(5)));
    let rsa = json!({"kty": "RSA", "kid": "k1", "n": B64.encode([0xff; 256]), "e": "AQAB"});
    rig.publish_keys(&json!([
        rsa,
        with(&first, "kid", json!("k1")),
        with(&second, "kid", json!("k5")),
        {"kty": "OKP", "crv": "Ed25519", "x": "AAAA"},
    ]));
    assert_eq!(rig.send(&rig.request()).await.status, 200);
    let mismatch = rig.try_with(|r| r.client.key = key(5)).await;
    refused("kid of another key", &mismatch, 401, "invalid_client");
    let ambiguous = rig
        .try_with(|r| {
            r.client.header.as_object_mut().unwrap().remove("kid");
        })
        .await;
    refused("no kid with two keys", &ambiguous, 401, "invalid_client");
}

// AAP-224
#[tokio::test]
async fn a_published_private_key_spoils_the_set() {
    let good = with(&jwk(&key(1)), "kid", json!("k1"));
    for spoilt in [
        with(&jwk(&key(5)), "d", json!("AAAA")),
        json!({"kty": "oct", "k": "AAAA"}),
        json!({"kty": "RSA", "n": "AQAB", "e": "AQAB", "qi": "AAAA"}),
        json!("no object"),
    ] {
        let rig = Rig::new().await;
        rig.publish_keys(&json!([good, spoilt]));
        refused(
            "spoilt",
            &rig.send(&rig.request()).await,
            401,
            "invalid_client",
        );
    }
    let rig = Rig::new().await;
    rig.publish_keys(&Value::Array(vec![good; 33]));
    refused(
        "many",
        &rig.send(&rig.request()).await,
        401,
        "invalid_client",
    );
}

// AAP-228
#[tokio::test]
async fn rs256_identities_of_2048_bits_are_accepted() {
    let pair = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
    let public = aws_lc_rs::signature::RsaPublicKeyComponents::<Vec<u8>>::from(pair.public_key());
    let rig = Rig::new().await;
    rig.publish_keys(&json!([{
        "kty": "RSA",
        "kid": "k1",
        "n": B64.encode(public.n),
        "e": B64.encode(public.e),
    }]));
    let sign = |jwt: &mut Jwt| {
        jwt.header["alg"] = json!("RS256");
        let text = jwt.text();
        let message = text.rsplit_once('.').unwrap().0;
        let mut signature = vec![0; pair.public_modulus_len()];
        pair.sign(
            &RSA_PKCS1_SHA256,
            &SystemRandom::new(),
            message.as_bytes(),
            &mut signature,
        )
        .unwrap();
        jwt.raw = Some(format!("{message}.{}", B64.encode(signature)));
    };
    let reply = rig
        .try_with(|r| {
            sign(&mut r.client);
            sign(&mut r.session);
        })
        .await;
    assert_eq!(reply.status, 200, "{:?}", reply.body);
    let confused = rig
        .try_with(|r| {
            sign(&mut r.client);
            r.client.header["alg"] = json!("ES256");
        })
        .await;
    assert_eq!(
        confused.status, 400,
        "the session assertion is by no RSA key"
    );
}
