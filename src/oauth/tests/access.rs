//! Calls at the API: tokens, proofs, replay, challenges.

use http::HeaderValue;
use serde_json::{Value, json};

use crate::oauth::token::Token;
use crate::oauth::{NonceMode, Refusal, Registration, Settings};

use super::rig::*;

/// A change of a proof that spoils it.
type Spoil = (&'static str, fn(&mut Jwt));

/// The token with one character changed.
fn altered(token: &str) -> String {
    let change = |(at, c)| match (at, c) {
        (20, 'A') => 'B',
        (20, _) => 'A',
        (_, c) => c,
    };
    token.chars().enumerate().map(change).collect()
}

/// Asserts the status, error and challenge of a refusal at the API.
#[track_caller]
fn challenged(what: &str, refusal: &Refusal, status: u16, error: &str) {
    let reply = refusal.at_api();
    assert_eq!(reply.body["error"], error, "{what}: {refusal}");
    assert_eq!(reply.status, status, "{what}");
    assert_eq!(reply.headers["cache-control"], "no-store", "{what}");
    if status == 401 {
        let challenge = format!("DPoP error=\"{error}\", algs=\"ES256\"");
        assert_eq!(reply.headers["www-authenticate"], challenge, "{what}");
    } else {
        assert!(!reply.headers.contains_key("www-authenticate"), "{what}");
    }
}

// AAP-256 AAP-257 AAP-262
#[tokio::test]
async fn a_good_call_names_client_and_user() {
    let rig = Rig::new().await;
    let token = rig.access_token().await;
    let access = rig.call(&token, &rig.call_proof(&token)).await.unwrap();
    assert_eq!(
        (access.client_id.as_str(), access.user_id.as_str()),
        (CLIENT, USER)
    );
    assert_eq!(access.agent_id, None);
    let shown = format!("{access:?} {:?}", rig.issuer);
    assert!(!shown.contains(USER), "{shown}");
    let headers = call_headers(&format!("dpop  {token}"), &rig.call_proof(&token).text());
    let lower_case = rig
        .issuer
        .authenticate("POST", SKILL, Some("page=2"), &headers)
        .await;
    assert!(lower_case.is_ok());
}

// AAP-201 AAP-265 AAP-281 AAP-288
#[tokio::test]
async fn anything_but_our_own_current_dpop_token_is_invalid() {
    let rig = Rig::new().await;
    let token = rig.access_token().await;
    let authorizations = [
        format!("Bearer {token}"),
        "DPoP".to_owned(),
        "DPoP ".to_owned(),
        "DPoP unknown".to_owned(),
        format!("DPoP {token}x"),
        format!("DPoP {}", altered(&token)),
        format!("DPoP {}", "A".repeat(9000)),
        "Basic Zm9vOmJhcg".to_owned(),
    ];
    for authorization in authorizations {
        let headers = call_headers(&authorization, &rig.call_proof(&token).text());
        let refusal = rig.issuer.authenticate("POST", SKILL, None, &headers).await;
        challenged(&authorization, &refusal.unwrap_err(), 401, "invalid_token");
    }
    let none = rig
        .issuer
        .authenticate("POST", SKILL, None, &http::HeaderMap::new())
        .await;
    challenged("no credentials", &none.unwrap_err(), 401, "invalid_token");
    rig.wait(3600);
    let expired = rig.call(&token, &rig.call_proof(&token)).await;
    challenged("expired", &expired.unwrap_err(), 401, "invalid_token");
}

// AAP-211 AAP-257 AAP-288
#[tokio::test]
async fn tokens_of_another_issuer_or_resource_are_invalid() {
    let rig = Rig::new().await;
    let token = rig.access_token().await;
    let settings = Settings::new("https://other-dealer.example/poppy", "other-dealer.example");
    let other = rig.open(settings).await;
    let url = "https://other-dealer.example/poppy/skills/inventory.search";
    let mut proof = rig.call_proof(&token);
    proof.claim("htu", url);
    let headers = call_headers(&format!("DPoP {token}"), &proof.text());
    let crossed = other.authenticate("POST", url, None, &headers).await;
    challenged(
        "another dealer's",
        &crossed.unwrap_err(),
        401,
        "invalid_token",
    );
    let mut settings = rig.issuer.settings().clone();
    settings.resource = "https://demo-toyota.example.com/api".to_owned();
    let moved = rig.open(settings).await;
    let headers = call_headers(&format!("DPoP {token}"), &rig.call_proof(&token).text());
    let resource = moved.authenticate("POST", SKILL, None, &headers).await;
    challenged(
        "another resource's",
        &resource.unwrap_err(),
        401,
        "invalid_token",
    );
}

// AAP-262
#[tokio::test]
async fn credentials_in_the_url_and_twice_are_invalid_requests() {
    let rig = Rig::new().await;
    let token = rig.access_token().await;
    let headers = call_headers(&format!("DPoP {token}"), &rig.call_proof(&token).text());
    let query = format!("access_token={token}");
    let in_url = rig
        .issuer
        .authenticate("POST", SKILL, Some(&query), &headers)
        .await;
    let refusal = in_url.unwrap_err();
    challenged("query", &refusal, 400, "invalid_request");
    assert!(
        !Value::Object(refusal.at_api().body)
            .to_string()
            .contains(&token)
    );
    let mut twice = headers.clone();
    twice.append("authorization", HeaderValue::from_static("DPoP x"));
    let two = rig.issuer.authenticate("POST", SKILL, None, &twice).await;
    challenged("two headers", &two.unwrap_err(), 400, "invalid_request");
}

// AAP-257 AAP-258 AAP-259 AAP-289 AAP-552
#[tokio::test]
async fn every_defect_of_a_proof_is_challenged() {
    let rig = Rig::new().await;
    let token = rig.access_token().await;
    let spoilt: [Spoil; 12] = [
        ("htm", |j| j.claim("htm", "GET")),
        ("htu of another skill", |j| {
            j.claim(
                "htu",
                "https://demo-toyota.example.com/poppy/skills/lead.submit",
            );
        }),
        ("htu the token endpoint", |j| j.claim("htu", TOKEN_ENDPOINT)),
        ("no ath", |j| j.drop_claim("ath")),
        ("another ath", |j| j.claim("ath", ath("other"))),
        ("ath a number", |j| j.claim("ath", 7)),
        ("old", |j| j.claim("iat", 1_700_000_000)),
        ("another key", |j| {
            j.key = key(3);
            j.header["jwk"] = jwk(&key(3));
        }),
        ("another's jwk", |j| j.key = key(3)),
        ("a private jwk", |j| j.header["jwk"]["d"] = json!("AAAA")),
        ("two in one header", |j| {
            j.raw = Some(format!("{0},{0}", j.text()));
        }),
        ("typ", |j| j.header["typ"] = json!("jwt")),
    ];
    for (what, spoil) in spoilt {
        let mut proof = rig.call_proof(&token);
        spoil(&mut proof);
        let refusal = rig.call(&token, &proof).await.unwrap_err();
        challenged(what, &refusal, 401, "invalid_dpop_proof");
    }
    let mut headers = call_headers(&format!("DPoP {token}"), &rig.call_proof(&token).text());
    let second = HeaderValue::from_str(&rig.call_proof(&token).text()).unwrap();
    headers.append("dpop", second);
    let two = rig.issuer.authenticate("POST", SKILL, None, &headers).await;
    challenged("two headers", &two.unwrap_err(), 401, "invalid_dpop_proof");
    headers.remove("dpop");
    let none = rig.issuer.authenticate("POST", SKILL, None, &headers).await;
    challenged("no header", &none.unwrap_err(), 401, "invalid_dpop_proof");
}

// AAP-260
#[tokio::test]
async fn a_proof_works_once_and_a_refused_one_is_not_used_up() {
    let rig = Rig::new().await;
    let token = rig.access_token().await;
    let proof = rig.call_proof(&token);
    let mut wrong = proof.clone();
    wrong.claim("ath", ath("other"));
    assert!(rig.call(&token, &wrong).await.is_err());
    assert!(rig.call(&token, &proof).await.is_ok());
    let again = rig.call(&token, &proof).await.unwrap_err();
    challenged("again", &again, 401, "invalid_dpop_proof");
    let mut ahead = rig.call_proof(&token);
    ahead.claim("iat", rig.now() + 55);
    assert!(rig.call(&token, &ahead).await.is_ok());
    for wait in [60, 55] {
        rig.wait(wait);
        assert!(rig.call(&token, &ahead).await.is_err());
    }
}

// AAP-260
#[tokio::test]
async fn proofs_from_before_the_start_are_refused() {
    let rig = Rig::new().await;
    let token = rig.access_token().await;
    let used = rig.call_proof(&token);
    assert!(rig.call(&token, &used).await.is_ok());
    rig.wait(2);
    let settings = rig.issuer.settings().clone();
    let restarted = rig.open(settings).await;
    let headers = call_headers(&format!("DPoP {token}"), &used.text());
    let replayed = restarted.authenticate("POST", SKILL, None, &headers).await;
    challenged(
        "replayed",
        &replayed.unwrap_err(),
        401,
        "invalid_dpop_proof",
    );
    let headers = call_headers(&format!("DPoP {token}"), &rig.call_proof(&token).text());
    assert!(
        restarted
            .authenticate("POST", SKILL, None, &headers)
            .await
            .is_ok()
    );
}

// AAP-261 AAP-289
#[tokio::test]
async fn the_api_has_nonces_of_its_own() {
    let rig = Rig::with(|s| s.nonces = NonceMode::Required).await;
    let mut request = rig.request();
    let nonce = rig.send(&request).await.headers["dpop-nonce"]
        .to_str()
        .unwrap()
        .to_owned();
    request.proof = rig.proof(TOKEN_ENDPOINT);
    request.proof.claim("nonce", nonce.as_str());
    let granted = rig.send(&request).await;
    let token = granted.body["access_token"].as_str().unwrap();
    let issuers = granted.headers["dpop-nonce"].to_str().unwrap();
    let mut proof = rig.call_proof(token);
    proof.claim("nonce", issuers);
    let crossed = rig.call(token, &proof).await.unwrap_err();
    challenged("the issuer's nonce", &crossed, 401, "use_dpop_nonce");
    let reply = crossed.at_api();
    assert_eq!(reply.headers.get_all("dpop-nonce").iter().count(), 1);
    let own = reply.headers["dpop-nonce"].to_str().unwrap();
    let mut proof = rig.call_proof(token);
    proof.claim("nonce", own);
    let access = rig.call(token, &proof).await.unwrap();
    assert!(access.next_nonce.is_some());
    let mut request = rig.request();
    request.proof.claim("nonce", own);
    refused(
        "the API's nonce",
        &rig.send(&request).await,
        400,
        "use_dpop_nonce",
    );
}

// AAP-235
#[tokio::test]
async fn a_client_that_was_blocked_is_refused_at_once() {
    let rig = Rig::new().await;
    let token = rig.access_token().await;
    let mut settings = rig.issuer.settings().clone();
    settings.registration = Registration::AllBut([CLIENT.to_owned()].into());
    let blocking = rig.open(settings).await;
    let headers = call_headers(&format!("DPoP {token}"), &rig.call_proof(&token).text());
    let blocked = blocking.authenticate("POST", SKILL, None, &headers).await;
    challenged("blocked", &blocked.unwrap_err(), 401, "invalid_token");
}

// AAP-292
#[tokio::test]
async fn calls_of_one_session_are_limited() {
    let rig = Rig::with(|s| s.calls_per_minute_and_session = 3).await;
    let token = rig.access_token().await;
    for _ in 0..3 {
        assert!(rig.call(&token, &rig.call_proof(&token)).await.is_ok());
    }
    let limited = rig.call(&token, &rig.call_proof(&token)).await.unwrap_err();
    challenged("limited", &limited, 429, "rate_limited");
    assert_eq!(limited.at_api().headers["retry-after"], "21");
    rig.wait(21);
    assert!(rig.call(&token, &rig.call_proof(&token)).await.is_ok());
}

#[tokio::test]
async fn rotating_the_key_ring_logs_nobody_out() {
    let keys = crate::seal::KeyRing::generate().unwrap();
    let token = Token {
        jkt: "j".into(),
        client_id: CLIENT.into(),
        user_id: USER.into(),
        agent_id: None,
        resource: ISSUER.into(),
        expires_at: 7,
        bearer: false,
    };
    let sealed = token.seal(&keys, ISSUER).unwrap();
    let rotated = keys.rotated().unwrap();
    assert_eq!(Token::open(&sealed, &rotated, ISSUER), Some(token));
    assert_eq!(
        Token::open(&sealed, &rotated, "https://other.example"),
        None
    );
}
