//! Access tokens of an outside issuer, with the issuer as a real TLS site: what is believed, what is
//! refused and how, what is fetched and how often.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair as RsaKeyPair, KeySize};
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA256};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use http::Request;
use jiff::SignedDuration;
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::tests::rig::{jwk, key};
use super::*;
use crate::clock::Clock;
use crate::net::Policy;
use crate::net::testing::{Site, answer};
use crate::oauth::Algorithm;

const RESOURCE: &str = "https://dealer.example/mcp";

/// An issuer on loopback and the gate that trusts it.
struct Rig {
    gate: Gate,
    clock: Clock,
    site: Site,
    documents: Arc<Mutex<BTreeMap<String, (u16, String)>>>,
    issuer: String,
}

impl Rig {
    async fn new() -> Self {
        Self::with(|_, _| {}).await
    }

    async fn with(change: impl FnOnce(&mut GateSettings, &mut AuthoritySettings)) -> Self {
        let documents: Arc<Mutex<BTreeMap<String, (u16, String)>>> = Arc::default();
        let script = Arc::clone(&documents);
        let site = Site::start(
            &["localhost"],
            Arc::new(move |path| {
                let documents = script.lock().unwrap();
                let (status, body) = documents.get(path)?;
                let headers = [("Content-Type", "application/json")];
                Some(answer(*status, &headers, body))
            }),
        )
        .await;
        let issuer = format!("https://localhost:{}/realm", site.address.port());
        let clock = Clock::fixed("2026-11-30T12:00:00Z".parse().unwrap());
        let mut settings = GateSettings {
            resource: RESOURCE.to_owned(),
            audience: RESOURCE.to_owned(),
            name: "Dealer".to_owned(),
            everything: true,
            scopes: vec!["inventory".to_owned()],
            lead_scopes: vec!["leads".to_owned()],
        };
        let mut authority = AuthoritySettings {
            issuer: issuer.clone(),
            jwks_uri: None,
            algorithms: Algorithm::ALL.to_vec(),
            clock_skew_s: 30,
            policy: Policy {
                extra_ca_file: Some(site.ca_file.clone()),
                ..Policy::for_operator()
            },
        };
        change(&mut settings, &mut authority);
        let authority = Authority::new(authority, clock.clone()).unwrap();
        let rig = Self {
            gate: Gate::new(settings, Arc::new(authority)),
            clock,
            site,
            documents,
            issuer,
        };
        rig.publish(
            "/.well-known/oauth-authorization-server/realm",
            &rig.metadata(),
        );
        rig.publish_keys(&[(&key(1), "k1")]);
        rig
    }

    fn metadata(&self) -> Value {
        let keys = format!("https://localhost:{}/keys", self.site.address.port());
        json!({"issuer": self.issuer, "jwks_uri": keys})
    }

    fn publish(&self, path: &str, document: &Value) {
        self.answer(path, 200, &document.to_string());
    }

    fn answer(&self, path: &str, status: u16, body: &str) {
        let mut documents = self.documents.lock().unwrap();
        documents.insert(path.to_owned(), (status, body.to_owned()));
    }

    fn publish_keys(&self, keys: &[(&SigningKey, &str)]) {
        let keys: Vec<Value> = keys
            .iter()
            .map(|(key, kid)| with(&jwk(key), "kid", json!(kid)))
            .collect();
        self.publish("/keys", &json!({ "keys": keys }));
    }

    fn fetches(&self, path: &str) -> usize {
        let line = format!("GET {path} ");
        let requests = self.site.requests();
        requests.iter().filter(|r| r.starts_with(&line)).count()
    }

    /// The claims of a token that is right.
    fn claims(&self) -> Value {
        let now = self.clock.now().as_second();
        json!({
            "iss": self.issuer, "aud": RESOURCE, "sub": "user-1", "client_id": "agent",
            "iat": now, "exp": now + 300, "scope": "inventory leads",
        })
    }

    async fn admit(&self, authorization: &[&str], query: &str) -> Result<Visitor, Challenge> {
        let mut request = Request::post(format!("/mcp{query}"));
        for line in authorization {
            request = request.header("authorization", *line);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        self.gate.admit(&head).await
    }

    async fn try_claims(&self, claims: &Value) -> Result<Visitor, Challenge> {
        let token = signed(&key(1), &header("k1"), claims);
        self.admit(&[&format!("Bearer {token}")], "").await
    }
}

/// The object with another member; null takes it away.
fn with(object: &Value, name: &str, value: Value) -> Value {
    let mut object = object.clone();
    if value.is_null() {
        object.as_object_mut().unwrap().remove(name);
    } else {
        object[name] = value;
    }
    object
}

fn header(kid: &str) -> Value {
    json!({"typ": "at+jwt", "alg": "ES256", "kid": kid})
}

fn signed(key: &SigningKey, header: &Value, claims: &Value) -> String {
    let message = message(header, claims);
    let signature: Signature = key.sign(message.as_bytes());
    format!("{message}.{}", B64.encode(signature.to_bytes()))
}

fn message(header: &Value, claims: &Value) -> String {
    let part = |value: &Value| B64.encode(value.to_string());
    format!("{}.{}", part(header), part(claims))
}

/// A refusal, its status and stage, and that its challenge is the one for it.
fn refused(what: &str, outcome: Result<Visitor, Challenge>, stage: &str) {
    let challenge = outcome.map(|_| ()).expect_err(what);
    assert_eq!((challenge.status, challenge.stage), (401, stage), "{what}");
    assert_eq!(
        challenge.header.as_deref(),
        Some(
            "Bearer error=\"invalid_token\", \
             resource_metadata=\"https://dealer.example/.well-known/oauth-protected-resource/mcp\", \
             scope=\"inventory\""
        ),
        "{what}"
    );
}

#[tokio::test]
async fn a_good_token_names_its_caller() {
    let rig = Rig::new().await;
    for change in [
        json!({}),
        json!({"aud": ["https://other.example", RESOURCE]}),
        json!({"scope": null, "scp": ["inventory"]}),
        json!({"scope": null, "scp": "inventory"}),
        json!({"nbf": rig.clock.now().as_second(), "iat": null}),
        json!({"exp": rig.clock.now().as_second() - 29}),
    ] {
        let mut claims = rig.claims();
        for (name, value) in change.as_object().unwrap() {
            claims = with(&claims, name, value.clone());
        }
        let outcome = rig.try_claims(&claims).await;
        let visitor = outcome.unwrap_or_else(|refused| panic!("{change}: {refused:?}"));
        let expected = (rig.issuer.clone(), "user-1".to_owned());
        assert_eq!(visitor.identity, Some(expected), "{change}");
    }
    for typ in [json!("JWT"), json!("application/at+jwt"), Value::Null] {
        let header = with(&header("k1"), "typ", typ);
        let token = signed(&key(1), &header, &rig.claims());
        assert!(rig.admit(&[&format!("bearer {token}")], "").await.is_ok());
    }
    // all of it with one fetch of each document
    assert_eq!(rig.site.requests().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn who_hangs_up_does_not_lock_everybody_out() {
    let rig = Arc::new(Rig::new().await);
    let held = rig.documents.lock().unwrap();
    let (asking, claims) = (Arc::clone(&rig), rig.claims());
    let asked = tokio::spawn(async move { asking.try_claims(&claims).await });
    while rig.site.requests().is_empty() {
        std::thread::yield_now();
    }
    asked.abort();
    drop(held);
    assert!(asked.await.unwrap_err().is_cancelled());
    assert!(rig.try_claims(&rig.claims()).await.is_ok());
    assert_eq!(rig.fetches("/keys"), 1, "what was begun is used");
}

#[tokio::test]
async fn rsa_signatures_are_taken_where_the_operator_takes_them() {
    for (algorithms, good) in [
        (Algorithm::ALL.to_vec(), true),
        (vec![Algorithm::Es256], false),
    ] {
        let rig = Rig::with(|_, authority| authority.algorithms = algorithms).await;
        let pair = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
        let public = pair.public_key();
        let part = |bytes: &[u8]| B64.encode(bytes);
        let jwk = json!({
            "kty": "RSA", "kid": "r", "alg": "RS256", "use": "sig",
            "n": part(public.modulus().big_endian_without_leading_zero()),
            "e": part(public.exponent().big_endian_without_leading_zero()),
        });
        rig.publish("/keys", &json!({"keys": [jwk]}));
        let message = message(&json!({"alg": "RS256", "kid": "r"}), &rig.claims());
        let mut signature = vec![0; pair.public_modulus_len()];
        pair.sign(
            &RSA_PKCS1_SHA256,
            &SystemRandom::new(),
            message.as_bytes(),
            &mut signature,
        )
        .unwrap();
        let token = format!("Bearer {message}.{}", B64.encode(signature));
        let outcome = rig.admit(&[&token], "").await;
        if good {
            assert!(outcome.is_ok());
        } else {
            refused("RS256", outcome, "algorithm");
        }
    }
}

// AAP-099 AAP-142
#[tokio::test]
async fn each_claim_that_is_wrong_is_401_with_the_challenge() {
    let rig = Rig::new().await;
    let now = rig.clock.now().as_second();
    for (name, value, stage) in [
        ("iss", json!("https://other.example"), "iss"),
        ("iss", json!(format!("{}/", rig.issuer)), "iss"),
        ("iss", Value::Null, "iss"),
        ("aud", json!("https://dealer.example/a2a"), "aud"),
        ("aud", json!("https://dealer.example/mcp/"), "aud"),
        ("aud", json!(["https://other.example"]), "aud"),
        ("aud", json!([RESOURCE, 7]), "aud"),
        ("aud", json!({"x": RESOURCE}), "aud"),
        ("aud", Value::Null, "aud"),
        ("exp", json!(now - 30), "expired"),
        ("exp", json!("2030"), "a date is no number"),
        ("exp", json!(-1), "a date is no number"),
        ("exp", Value::Null, "exp is missing"),
        ("nbf", json!(now + 31), "not yet valid"),
        ("iat", json!(now + 31), "not yet valid"),
        ("iat", json!("now"), "a date is no number"),
        ("sub", Value::Null, "sub"),
        ("sub", json!(""), "sub"),
        ("sub", json!(7), "sub"),
        ("sub", json!("x".repeat(257)), "sub"),
        ("cnf", json!({"jkt": "x"}), "cnf"),
        ("scope", json!(7), "scope"),
        ("scope", json!([7]), "scope"),
    ] {
        let claims = with(&rig.claims(), name, value.clone());
        let outcome = rig.try_claims(&claims).await;
        refused(&format!("{name}: {value}"), outcome, stage);
    }
}

// AAP-099
#[tokio::test]
async fn each_header_key_or_signature_that_is_wrong_is_401() {
    let rig = Rig::new().await;
    let good = header("k1");
    let claims = rig.claims();
    for (name, value, stage) in [
        ("alg", json!("none"), "no JWT of a known algorithm"),
        ("alg", json!("HS256"), "no JWT of a known algorithm"),
        ("alg", json!("RS256"), "no such key"),
        ("crit", json!(["exp"]), "no JWT of a known algorithm"),
        ("typ", json!("dpop+jwt"), "typ"),
        ("typ", json!("logout+jwt"), "typ"),
        ("typ", json!(7), "typ"),
        ("kid", json!("k2"), "no such key"),
        ("kid", json!(7), "kid"),
    ] {
        let token = signed(&key(1), &with(&good, name, value.clone()), &claims);
        let outcome = rig.admit(&[&format!("Bearer {token}")], "").await;
        refused(&format!("{name}: {value}"), outcome, stage);
    }
    let token = signed(&key(1), &good, &claims);
    let (body, _) = token.rsplit_once('.').unwrap();
    let other = signed(&key(2), &good, &claims);
    let changed = with(&claims, "sub", json!("user-2"));
    let moved = format!(
        "{}.{}",
        message(&good, &changed),
        token.rsplit('.').next().unwrap()
    );
    for (what, token, stage) in [
        ("another's key", other.as_str(), "signature"),
        ("other claims", &moved, "signature"),
        ("no signature", &format!("{body}."), "signature"),
        ("two parts", body, "no JWT of a known algorithm"),
        ("opaque", "opaque", "no JWT of a known algorithm"),
        (
            "too long",
            &format!("{token}{}", "A".repeat(8192)),
            "no JWT of a known algorithm",
        ),
    ] {
        let outcome = rig.admit(&[&format!("Bearer {token}")], "").await;
        refused(what, outcome, stage);
    }
}

// AAP-099 AAP-133
#[tokio::test]
async fn a_token_is_sent_once_and_in_the_header() {
    let rig = Rig::new().await;
    let token = signed(&key(1), &header("k1"), &rig.claims());
    let bearer = format!("Bearer {token}");
    for lines in [
        &[][..],
        &["Basic dXNlcjpwYXNz"],
        &["Bearer"],
        &["Bearer "],
        &[&token],
    ] {
        let challenge = rig.admit(lines, "").await.unwrap_err();
        assert_eq!(challenge.status, 401);
        // a stranger without a token made no mistake that could be named
        let header = challenge.header.unwrap();
        assert!(header.starts_with("Bearer resource_metadata="), "{header}");
    }
    for (lines, query) in [
        (&[bearer.as_str(), &bearer][..], ""),
        (&[], "?access_token=x"),
        (&[bearer.as_str()], "?access_token=x"),
    ] {
        let challenge = rig.admit(lines, query).await.unwrap_err();
        assert_eq!((challenge.status, challenge.header), (400, None));
    }
    assert!(rig.site.requests().is_empty());
}

// AAP-100
#[tokio::test]
async fn a_scope_that_is_too_small_is_403_and_names_what_is_needed() {
    let rig = Rig::new().await;
    let metadata =
        "resource_metadata=\"https://dealer.example/.well-known/oauth-protected-resource/mcp\"";
    for scope in [json!("leads"), json!("inventory.read"), Value::Null] {
        let claims = with(&rig.claims(), "scope", scope);
        let challenge = rig.try_claims(&claims).await.unwrap_err();
        assert_eq!(challenge.status, 403);
        let expected =
            format!("Bearer error=\"insufficient_scope\", {metadata}, scope=\"inventory\"");
        assert_eq!(challenge.header, Some(expected));
    }
    let claims = with(&rig.claims(), "scope", json!("inventory"));
    let visitor = rig.try_claims(&claims).await.unwrap();
    assert!(rig.gate.permit(&visitor, false).is_ok());
    let challenge = rig.gate.permit(&visitor, true).unwrap_err();
    let expected =
        format!("Bearer error=\"insufficient_scope\", {metadata}, scope=\"inventory leads\"");
    assert_eq!((challenge.status, challenge.header), (403, Some(expected)));
    let visitor = rig.try_claims(&rig.claims()).await.unwrap();
    assert!(rig.gate.permit(&visitor, true).is_ok());
}

// AAP-099
#[tokio::test]
async fn where_only_leads_need_a_token_reading_needs_none_but_a_bad_one_is_refused() {
    let rig = Rig::with(|gate, _| gate.everything = false).await;
    let anyone = rig.admit(&[], "").await.unwrap();
    assert_eq!(anyone.identity, None);
    assert!(rig.gate.permit(&anyone, false).is_ok());
    let challenge = rig.gate.permit(&anyone, true).unwrap_err();
    assert_eq!(challenge.status, 401);
    assert!(
        challenge
            .header
            .unwrap()
            .ends_with("scope=\"inventory leads\"")
    );
    let claims = with(&rig.claims(), "exp", json!(1));
    assert_eq!(rig.try_claims(&claims).await.unwrap_err().status, 401);
    let claims = with(&rig.claims(), "scope", Value::Null);
    let reader = rig.try_claims(&claims).await.unwrap();
    assert!(rig.gate.permit(&reader, false).is_ok());
    assert_eq!(rig.gate.permit(&reader, true).unwrap_err().status, 403);
}

// AAP-139
#[tokio::test]
async fn the_resource_says_what_it_is_and_where_to_go() {
    let rig = Rig::new().await;
    assert_eq!(
        rig.gate.metadata(),
        json!({
            "resource": RESOURCE,
            "authorization_servers": [rig.issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "Dealer",
            "scopes_supported": ["inventory", "leads"],
        })
    );
    assert_eq!(
        rig.gate.root_metadata_url(),
        "https://dealer.example/.well-known/oauth-protected-resource"
    );
}

#[tokio::test]
async fn the_keys_are_found_where_the_issuer_says_and_only_there() {
    let rig = Rig::new().await;
    let own = "/.well-known/oauth-authorization-server/realm";
    for place in [
        "/.well-known/openid-configuration/realm",
        "/realm/.well-known/openid-configuration",
    ] {
        let rig = Rig::new().await;
        rig.answer(own, 404, "{}");
        rig.answer("/.well-known/openid-configuration/realm", 404, "{}");
        rig.publish(place, &rig.metadata());
        assert!(rig.try_claims(&rig.claims()).await.is_ok(), "{place}");
    }
    let keys = format!("https://localhost:{}/own-keys", rig.site.address.port());
    let named = Rig::with(|_, authority| authority.jwks_uri = Some(keys)).await;
    named.answer(own, 500, "");
    // the other site's authority is not trusted here, so its keys are not believed
    assert_eq!(
        named.try_claims(&named.claims()).await.unwrap_err().status,
        503
    );
    let metadata = rig.metadata();
    for (what, document) in [
        (
            "another issuer",
            with(&metadata, "issuer", json!("https://other.example")),
        ),
        ("no keys", with(&metadata, "jwks_uri", Value::Null)),
        ("a list", json!([metadata.clone()])),
        (
            "plain HTTP",
            with(&metadata, "jwks_uri", json!("http://localhost/keys")),
        ),
    ] {
        let rig = Rig::new().await;
        rig.publish(own, &document);
        let challenge = rig.try_claims(&rig.claims()).await.unwrap_err();
        assert_eq!((challenge.status, challenge.header), (503, None), "{what}");
    }
}

#[tokio::test]
async fn an_issuer_that_is_down_is_asked_again_after_a_pause_and_old_keys_last_a_while() {
    let rig = Rig::new().await;
    rig.answer("/keys", 500, "");
    for _ in 0..3 {
        assert_eq!(rig.try_claims(&rig.claims()).await.unwrap_err().status, 503);
    }
    assert_eq!(rig.fetches("/keys"), 1);
    rig.clock.advance(SignedDuration::from_secs(30));
    rig.publish_keys(&[(&key(1), "k1")]);
    assert!(rig.try_claims(&rig.claims()).await.is_ok());
    rig.answer("/keys", 500, "");
    rig.clock.advance(SignedDuration::from_secs(301));
    assert!(rig.try_claims(&rig.claims()).await.is_ok());
    assert_eq!(rig.fetches("/keys"), 3);
    rig.clock.advance(SignedDuration::from_secs(3600));
    assert_eq!(rig.try_claims(&rig.claims()).await.unwrap_err().status, 503);
}

#[tokio::test]
async fn a_new_key_is_fetched_once_and_a_made_up_one_not_again_and_again() {
    let rig = Rig::new().await;
    assert!(rig.try_claims(&rig.claims()).await.is_ok());
    rig.publish_keys(&[(&key(1), "k1"), (&key(2), "k2")]);
    rig.clock.advance(SignedDuration::from_secs(31));
    let fresh = signed(&key(2), &header("k2"), &rig.claims());
    assert!(rig.admit(&[&format!("Bearer {fresh}")], "").await.is_ok());
    assert_eq!(rig.fetches("/keys"), 2);
    for n in 0..5 {
        let token = signed(&key(1), &header(&format!("made-up-{n}")), &rig.claims());
        let outcome = rig.admit(&[&format!("Bearer {token}")], "").await;
        refused("a made-up kid", outcome, "no such key");
    }
    assert_eq!(rig.fetches("/keys"), 2);
    // without a name the key must be the only one of its kind
    let nameless = signed(
        &key(2),
        &with(&header(""), "kid", Value::Null),
        &rig.claims(),
    );
    let outcome = rig.admit(&[&format!("Bearer {nameless}")], "").await;
    refused("no kid", outcome, "ambiguous key");
}

#[tokio::test]
async fn many_first_requests_make_one_fetch() {
    let rig = Arc::new(Rig::new().await);
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let rig = Arc::clone(&rig);
        tasks.spawn(async move { rig.try_claims(&rig.claims()).await.is_ok() });
    }
    while let Some(admitted) = tasks.join_next().await {
        assert!(admitted.unwrap());
    }
    assert_eq!(rig.fetches("/keys"), 1);
}

proptest! {
    // Nothing that stands in a header makes it panic, and nothing but a signed token opens it.
    #[test]
    fn no_text_is_a_token_by_chance(text in "(?s).{0,200}", header in "\\PC{0,40}", claims in "\\PC{0,80}") {
        let made = format!("{}.{}.{}", B64.encode(&header), B64.encode(&claims), B64.encode(&text));
        for text in [text.as_str(), &made] {
            prop_assert!(token::parse(text, &Algorithm::ALL).is_err());
        }
    }

    #[test]
    fn a_resource_is_split_where_its_path_begins(host in "[a-z]{1,8}(:[0-9]{2,4})?", path in "(/[a-z]{1,5}){0,3}") {
        let url = format!("https://{host}{path}");
        let (origin, rest) = split(&url);
        prop_assert_eq!(origin, format!("https://{host}"));
        prop_assert_eq!(rest, path);
    }
}
