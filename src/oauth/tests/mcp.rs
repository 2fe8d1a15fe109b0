//! The MCP endpoint as a resource of the issuer: normal grants with proofs, or exchanges to Bearer.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::oauth::{Access, McpTokens, NativeMcp, NonceMode, Refusal, Registration};
use crate::store::tests::Place;

use super::rig::*;

const MCP: &str = "https://demo-toyota.example.com/mcp";
const METADATA: &str = "https://demo-toyota.example.com/.well-known/oauth-protected-resource/mcp";
const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";

fn native(tokens: McpTokens) -> impl FnOnce(&mut crate::oauth::Settings) {
    move |settings| {
        settings.mcp = Some(NativeMcp {
            resource: MCP.to_owned(),
            tokens,
        });
    }
}

async fn rig(tokens: McpTokens) -> Rig {
    Rig::with(native(tokens)).await
}

/// An exchange of `subject` for the MCP endpoint, with everything right.
fn exchange(rig: &Rig, subject: &str) -> Request {
    let mut request = rig.request();
    request.set("grant_type", EXCHANGE);
    request.without("assertion");
    request.set("subject_token", subject);
    request.set("subject_token_type", ACCESS_TOKEN);
    request.set("resource", MCP);
    request
}

fn token_of(reply: &crate::oauth::Reply) -> String {
    assert_eq!(reply.status, 200, "{:?}", reply.body);
    reply.body["access_token"].as_str().unwrap().to_owned()
}

async fn at_mcp(rig: &Rig, authorization: &str, proof: Option<&Jwt>) -> Result<Access, Refusal> {
    let mut headers = HeaderMap::new();
    headers.insert(
        "authorization",
        HeaderValue::from_str(authorization).unwrap(),
    );
    if let Some(proof) = proof {
        headers.insert("dpop", HeaderValue::from_str(&proof.text()).unwrap());
    }
    rig.issuer.authenticate_mcp("POST", None, &headers).await
}

fn mcp_proof(rig: &Rig, token: &str) -> Jwt {
    let mut proof = rig.proof(MCP);
    proof.claims["ath"] = ath(token).into();
    proof
}

/// Asserts status, error and challenge of a refusal at the MCP endpoint.
#[track_caller]
fn challenged(what: &str, refusal: &Refusal, tokens: McpTokens, error: &str) {
    let reply = refusal.at_mcp(tokens, METADATA);
    assert_eq!(reply.body["error"], error, "{what}: {refusal}");
    assert_eq!(reply.status, 401, "{what}");
    let expected = match tokens {
        McpTokens::Dpop => {
            format!("DPoP error=\"{error}\", algs=\"ES256\", resource_metadata=\"{METADATA}\"")
        }
        McpTokens::Bearer => format!("Bearer error=\"{error}\", resource_metadata=\"{METADATA}\""),
    };
    assert_eq!(reply.headers["www-authenticate"], expected, "{what}");
}

// AAP-140 AAP-141 AAP-318 AAP-320 AAP-327
#[tokio::test]
async fn the_metadata_of_the_mcp_endpoint_says_how_it_is_reached() {
    for (tokens, dpop) in [(McpTokens::Dpop, true), (McpTokens::Bearer, false)] {
        let rig = rig(tokens).await;
        let settings = rig.issuer.settings();
        let document = settings.mcp_metadata().unwrap();
        assert_eq!(document["resource"], MCP);
        assert_eq!(document["authorization_servers"], json!([ISSUER]));
        let listed = document.get("dpop_signing_alg_values_supported");
        assert_eq!(listed, dpop.then(|| json!(["ES256"])).as_ref());
        assert_eq!(settings.mcp_metadata_url().as_deref(), Some(METADATA));
        let grants = rig.issuer.metadata()["grant_types_supported"].clone();
        let exchange = grants.as_array().unwrap().contains(&json!(EXCHANGE));
        assert_eq!(exchange, !dpop, "{grants}");
    }
    let off = Rig::new().await;
    assert!(off.issuer.settings().mcp_metadata().is_none());
    let reply = off.send(&exchange(&off, "x")).await;
    refused("off", &reply, 400, "unsupported_grant_type");
    let reply = off.try_with(|r| r.set("resource", MCP)).await;
    refused("off", &reply, 400, "invalid_target");
}

// AAP-140 AAP-142 AAP-319 AAP-323 AAP-325 AAP-326
#[tokio::test]
async fn with_dpop_a_normal_grant_opens_the_mcp_endpoint_and_nothing_else() {
    let rig = rig(McpTokens::Dpop).await;
    let token = token_of(&rig.try_with(|r| r.set("resource", MCP)).await);
    let proof = mcp_proof(&rig, &token);
    let access = at_mcp(&rig, &format!("DPoP {token}"), Some(&proof))
        .await
        .unwrap();
    assert_eq!(
        (access.client_id.as_str(), access.user_id.as_str()),
        (CLIENT, USER)
    );

    let tokens = McpTokens::Dpop;
    let again = at_mcp(&rig, &format!("DPoP {token}"), Some(&proof)).await;
    challenged("replay", &again.unwrap_err(), tokens, "invalid_dpop_proof");
    let bare = at_mcp(&rig, &format!("DPoP {token}"), None).await;
    challenged("no proof", &bare.unwrap_err(), tokens, "invalid_dpop_proof");
    let bearer = at_mcp(
        &rig,
        &format!("Bearer {token}"),
        Some(&mcp_proof(&rig, &token)),
    )
    .await;
    challenged("as Bearer", &bearer.unwrap_err(), tokens, "invalid_token");
    let mut stolen = mcp_proof(&rig, &token);
    stolen.key = key(3);
    stolen.header["jwk"] = jwk(&key(3));
    let stolen = at_mcp(&rig, &format!("DPoP {token}"), Some(&stolen)).await;
    challenged("another key", &stolen.unwrap_err(), tokens, "invalid_token");
    let elsewhere = rig.call(&token, &rig.call_proof(&token)).await.unwrap_err();
    assert_eq!(elsewhere.at_api().body["error"], "invalid_token");
    let native = rig.access_token().await;
    let native = at_mcp(
        &rig,
        &format!("DPoP {native}"),
        Some(&mcp_proof(&rig, &native)),
    )
    .await;
    challenged(
        "the API's token",
        &native.unwrap_err(),
        tokens,
        "invalid_token",
    );

    let subject = rig.access_token().await;
    let reply = rig.send(&exchange(&rig, &subject)).await;
    refused("an exchange", &reply, 400, "invalid_target");
}

// AAP-320 AAP-322 AAP-323 AAP-325 AAP-326
#[tokio::test]
async fn without_dpop_an_exchange_buys_a_bearer_token_for_the_mcp_endpoint_alone() {
    let rig = rig(McpTokens::Bearer).await;
    let normal = rig.try_with(|r| r.set("resource", MCP)).await;
    refused("a normal grant", &normal, 400, "invalid_target");

    let subject = rig.access_token().await;
    rig.wait(600);
    let reply = rig.send(&exchange(&rig, &subject)).await;
    let members: Vec<&str> = reply.body.keys().map(String::as_str).collect();
    let expected = [
        "access_token",
        "token_type",
        "expires_in",
        "issued_token_type",
    ];
    assert_eq!(members, expected);
    assert_eq!(reply.body["token_type"], "Bearer");
    assert_eq!(reply.body["issued_token_type"], ACCESS_TOKEN);
    assert_eq!(reply.body["expires_in"], 3000, "no longer than its subject");
    assert_eq!(reply.headers["cache-control"], "no-store");
    let bearer = token_of(&reply);
    let access = at_mcp(&rig, &format!("bearer {bearer}"), None)
        .await
        .unwrap();
    assert_eq!(
        (access.client_id.as_str(), access.user_id.as_str()),
        (CLIENT, USER)
    );

    let tokens = McpTokens::Bearer;
    let bound = at_mcp(&rig, &format!("Bearer {subject}"), None).await;
    challenged(
        "a bound token",
        &bound.unwrap_err(),
        tokens,
        "invalid_token",
    );
    let proof = mcp_proof(&rig, &subject);
    let bound = at_mcp(&rig, &format!("DPoP {subject}"), Some(&proof)).await;
    challenged(
        "the API's token",
        &bound.unwrap_err(),
        tokens,
        "invalid_token",
    );
    for authorization in [format!("Bearer {bearer}"), format!("DPoP {bearer}")] {
        let headers = call_headers(&authorization, &rig.call_proof(&bearer).text());
        let elsewhere = rig.issuer.authenticate("POST", SKILL, None, &headers).await;
        assert_eq!(
            elsewhere.unwrap_err().at_api().body["error"],
            "invalid_token"
        );
    }
    let again = rig.send(&exchange(&rig, &bearer)).await;
    refused("a bearer token as subject", &again, 400, "invalid_grant");
    rig.wait(3000);
    let late = at_mcp(&rig, &format!("Bearer {bearer}"), None).await;
    challenged("expired", &late.unwrap_err(), tokens, "invalid_token");
    let late = rig.send(&exchange(&rig, &subject)).await;
    refused("an expired subject", &late, 400, "invalid_grant");
}

type Change = (&'static str, u16, &'static str, fn(&mut Request));

/// What spoils an exchange, and what is answered.
const EXCHANGES: &[Change] = &[
    ("no proof", 400, "invalid_dpop_proof", |r| {
        r.proof.raw = Some(String::new());
    }),
    ("ath", 400, "invalid_dpop_proof", |r| {
        r.proof.claim("ath", "x");
    }),
    ("another key's proof", 400, "invalid_grant", |r| {
        r.of_session(3);
    }),
    ("a published key's proof", 400, "invalid_dpop_proof", |r| {
        r.of_session(1);
    }),
    ("no subject", 400, "invalid_request", |r| {
        r.without("subject_token");
    }),
    ("no type", 400, "invalid_request", |r| {
        r.without("subject_token_type");
    }),
    ("another type", 400, "invalid_request", |r| {
        r.set("subject_token_type", "urn:ietf:params:oauth:token-type:jwt");
    }),
    ("another wish", 400, "invalid_request", |r| {
        r.set(
            "requested_token_type",
            "urn:ietf:params:oauth:token-type:refresh_token",
        );
    }),
    ("an actor", 400, "invalid_request", |r| {
        r.set("actor_token", "x");
    }),
    ("an actor's type", 400, "invalid_request", |r| {
        r.set("actor_token_type", ACCESS_TOKEN);
    }),
    ("no resource", 400, "invalid_request", |r| {
        r.without("resource");
    }),
    ("the API", 400, "invalid_target", |r| {
        r.set("resource", ISSUER);
    }),
    ("a slash", 400, "invalid_target", |r| {
        r.set("resource", &format!("{MCP}/"));
    }),
    ("two resources", 400, "invalid_target", |r| {
        r.add("resource", ISSUER);
    }),
    ("an audience", 400, "invalid_target", |r| {
        r.set("audience", "x");
    }),
    ("a scope", 400, "invalid_scope", |r| {
        r.set("scope", "saved:read");
    }),
    ("unknown subject", 400, "invalid_grant", |r| {
        r.set("subject_token", "x");
    }),
    ("an assertion as subject", 400, "invalid_grant", |r| {
        let text = r.session.text();
        r.set("subject_token", &text);
    }),
    ("bad client", 401, "invalid_client", |r| {
        r.client.key = key(9);
    }),
    ("no client assertion", 400, "invalid_request", |r| {
        r.without("client_assertion");
    }),
];

// AAP-321 AAP-322 AAP-323 AAP-324
#[tokio::test]
async fn an_exchange_is_refused_for_every_defect_by_its_own_code() {
    let rig = rig(McpTokens::Bearer).await;
    let subject = rig.access_token().await;
    for (what, status, error, change) in EXCHANGES {
        let mut request = exchange(&rig, &subject);
        change(&mut request);
        refused(what, &rig.send(&request).await, *status, error);
    }
    rig.publish("/client.json", &metadata(OTHER_CLIENT));
    let mut other = exchange(&rig, &subject);
    other.of_client(OTHER_CLIENT);
    refused(
        "another client's",
        &rig.send(&other).await,
        400,
        "invalid_grant",
    );

    let good = exchange(&rig, &subject);
    assert_eq!(rig.send(&good).await.status, 200, "nothing was burnt");
    refused("replay", &rig.send(&good).await, 401, "invalid_client");
    let mut proof = exchange(&rig, &subject);
    proof.proof = good.proof.clone();
    refused(
        "the proof again",
        &rig.send(&proof).await,
        400,
        "invalid_dpop_proof",
    );
    let mut grants = exchange(&rig, &subject);
    grants.client.claims["jti"] = good.client.claims["jti"].clone();
    refused(
        "the jti again",
        &rig.send(&grants).await,
        401,
        "invalid_client",
    );
    let ended = rig.revoke(&subject).await;
    assert_eq!(ended.status, 200);
    let gone = rig.send(&exchange(&rig, &subject)).await;
    refused("an ended Session's", &gone, 400, "invalid_grant");
}

// AAP-235 AAP-252 AAP-321
#[tokio::test]
async fn a_bearer_token_stops_with_its_session_and_its_client() {
    let redis = Place::redis(&["--appendonly", "yes"]).await;
    for shared in [false, true] {
        let rig = if shared {
            let store = Arc::new(redis.open().await);
            Rig::with_store(store, native(McpTokens::Bearer)).await
        } else {
            rig(McpTokens::Bearer).await
        };
        let subject = rig.access_token().await;
        let bearer = token_of(&rig.send(&exchange(&rig, &subject)).await);
        let authorization = format!("Bearer {bearer}");
        assert!(at_mcp(&rig, &authorization, None).await.is_ok());

        let mut settings = rig.issuer.settings().clone();
        settings.registration = Registration::AllBut([CLIENT.to_owned()].into());
        let blocking = rig.open(settings).await;
        let mut headers = HeaderMap::new();
        headers.insert(
            "authorization",
            HeaderValue::from_str(&authorization).unwrap(),
        );
        let blocked = blocking.authenticate_mcp("POST", None, &headers).await;
        challenged(
            "blocked",
            &blocked.unwrap_err(),
            McpTokens::Bearer,
            "invalid_token",
        );

        // ended at another replica where there are several, and this one knows
        let first = Arc::clone(&rig.issuer);
        let mut rig = rig;
        if shared {
            let store = Arc::new(redis.open().await);
            let other = rig.open_over(store, first.settings().clone()).await;
            rig.issuer = Arc::new(other);
        }
        assert_eq!(rig.revoke(&subject).await.status, 200);
        rig.issuer = first;
        let gone = at_mcp(&rig, &authorization, None).await;
        challenged(
            "ended",
            &gone.unwrap_err(),
            McpTokens::Bearer,
            "invalid_token",
        );
        let again = rig.send(&exchange(&rig, &subject)).await;
        refused("its subject", &again, 400, "invalid_grant");
    }
}

// AAP-261 AAP-262 AAP-292
#[tokio::test]
async fn the_mcp_endpoint_keeps_the_apis_rules_for_nonces_limits_and_urls() {
    let rig = Rig::with(|s| {
        native(McpTokens::Dpop)(s);
        s.nonces = NonceMode::Optional;
        s.calls_per_minute_and_session = 2;
    })
    .await;
    let token = token_of(&rig.try_with(|r| r.set("resource", MCP)).await);
    let authorization = format!("DPoP {token}");
    let access = at_mcp(&rig, &authorization, Some(&mcp_proof(&rig, &token))).await;
    let nonce = access.unwrap().next_nonce.unwrap();
    let mut proof = mcp_proof(&rig, &token);
    proof.claim("nonce", "guess");
    let guessed = at_mcp(&rig, &authorization, Some(&proof))
        .await
        .unwrap_err();
    challenged("nonce", &guessed, McpTokens::Dpop, "use_dpop_nonce");
    assert!(
        guessed
            .at_mcp(McpTokens::Dpop, METADATA)
            .headers
            .contains_key("dpop-nonce")
    );
    let mut proof = mcp_proof(&rig, &token);
    proof.claim("nonce", nonce.as_str());
    assert!(at_mcp(&rig, &authorization, Some(&proof)).await.is_ok());
    let third = at_mcp(&rig, &authorization, Some(&mcp_proof(&rig, &token))).await;
    let limited = third.unwrap_err().at_mcp(McpTokens::Dpop, METADATA);
    assert_eq!(limited.status, 429);
    assert_eq!(limited.headers["retry-after"], "31");
    let headers = call_headers(&authorization, &mcp_proof(&rig, &token).text());
    let query = format!("access_token={token}");
    let in_url = rig
        .issuer
        .authenticate_mcp("POST", Some(&query), &headers)
        .await;
    let in_url = in_url.unwrap_err().at_mcp(McpTokens::Dpop, METADATA);
    assert_eq!(
        (in_url.status, &in_url.body["error"]),
        (400, &Value::from("invalid_request"))
    );
}
