//! Sessions: named by their key, owned by one client, User and agent, ended for good.

use std::sync::Arc;

use super::rig::*;

// AAP-251 AAP-552
#[tokio::test]
async fn the_same_key_renews_and_another_key_is_another_session() {
    let rig = Rig::new().await;
    let first = rig.access_token().await;
    let renewed = rig.access_token().await;
    assert_ne!(first, renewed);
    // a token that was renewed away lives on to its end
    assert!(rig.call(&first, &rig.call_proof(&first)).await.is_ok());
    let other = rig.try_with(|r| r.of_session(3)).await;
    assert_eq!(other.status, 200);
    let revoked = rig.revoke(&first).await;
    assert_eq!(revoked.status, 200);
    let token = other.body["access_token"].as_str().unwrap();
    let mut proof = rig.call_proof(token);
    proof.key = key(3);
    proof.header["jwk"] = jwk(&key(3));
    assert!(rig.call(token, &proof).await.is_ok());
}

// AAP-251 AAP-254 AAP-285
#[tokio::test]
async fn a_session_does_not_change_its_client_user_or_agent() {
    let rig = Rig::new().await;
    let token = rig.access_token().await;
    let user = rig
        .try_with(|r| r.session.claim("sub", "someone-else"))
        .await;
    refused("another User", &user, 400, "invalid_grant");
    let agent = rig.try_with(|r| r.session.claim("agent_id", "a-1")).await;
    refused("an agent added", &agent, 400, "invalid_grant");
    rig.publish("/client.json", &metadata(OTHER_CLIENT));
    let client = rig.try_with(|r| r.of_client(OTHER_CLIENT)).await;
    refused("another client", &client, 400, "invalid_grant");
    assert!(rig.call(&token, &rig.call_proof(&token)).await.is_ok());
    assert_eq!(rig.send(&rig.request()).await.status, 200);

    let with_agent = |agent: &'static str| {
        rig.try_with(move |r| {
            r.of_session(4);
            r.session.claim("agent_id", agent);
        })
    };
    assert_eq!(with_agent("a-1").await.status, 200);
    assert_eq!(with_agent("a-1").await.status, 200);
    refused(
        "another agent",
        &with_agent("a-2").await,
        400,
        "invalid_grant",
    );
    let dropped = rig.try_with(|r| r.of_session(4)).await;
    refused("the agent dropped", &dropped, 400, "invalid_grant");
}

// AAP-285
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_users_racing_for_a_new_key_do_not_both_get_it() {
    for _ in 0..10 {
        let rig = Arc::new(Rig::new().await);
        let attempts = ["user-a", "user-b"].map(|user| {
            let mut request = rig.request();
            request.session.claim("sub", user);
            let rig = Arc::clone(&rig);
            tokio::spawn(async move { rig.send(&request).await.status })
        });
        let mut statuses = Vec::new();
        for attempt in attempts {
            statuses.push(attempt.await.unwrap());
        }
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 400]);
    }
}

// AAP-252 AAP-285
#[tokio::test]
async fn an_ended_key_is_refused_until_it_is_forgotten() {
    let rig = Rig::with(|s| s.tombstone_s = 86_400).await;
    let token = rig.access_token().await;
    assert_eq!(rig.revoke(&token).await.status, 200);
    let refusal = rig.call(&token, &rig.call_proof(&token)).await.unwrap_err();
    assert_eq!(refusal.at_api().body["error"], "invalid_token");
    let ended = rig.send(&rig.request()).await;
    refused("ended", &ended, 400, "invalid_grant");
    rig.wait(86_401);
    assert_eq!(rig.send(&rig.request()).await.status, 200);
}

// AAP-251
#[tokio::test]
async fn an_idle_session_is_forgotten() {
    let rig = Rig::with(|s| s.session_idle_s = 7200).await;
    rig.access_token().await;
    rig.wait(7100);
    rig.access_token().await;
    rig.wait(7100);
    let other = rig
        .try_with(|r| r.session.claim("sub", "someone-else"))
        .await;
    refused("still owned", &other, 400, "invalid_grant");
    rig.wait(101);
    let other = rig
        .try_with(|r| r.session.claim("sub", "someone-else"))
        .await;
    assert_eq!(other.status, 200);
}

#[tokio::test]
async fn revocation_answers_alike_for_foreign_and_unknown_tokens() {
    let rig = Rig::new().await;
    let token = rig.access_token().await;
    for unknown in ["no-such-token", "AAAA", &token.replace('A', "B")] {
        assert_eq!(rig.revoke(unknown).await.status, 200);
    }
    let missing = rig.revoke("").await;
    refused("no token", &missing, 400, "invalid_request");
    assert!(rig.call(&token, &rig.call_proof(&token)).await.is_ok());
}

// AAP-252
#[tokio::test]
async fn ends_are_noted_as_long_as_a_token_may_say_otherwise() {
    let rig = Rig::with(|s| s.token_requests_per_minute_and_network = 10_000).await;
    for seed in 2..8 {
        let granted = rig.try_with(|r| r.of_session(seed)).await;
        let token = granted.body["access_token"].as_str().unwrap();
        assert_eq!(rig.revoke(token).await.status, 200);
        assert!(rig.issuer.witness.ends_noted() <= 3, "older ends are gone");
        let mut proof = rig.call_proof(token);
        proof.key = key(seed);
        proof.header["jwk"] = jwk(&key(seed));
        let gone = rig.call(token, &proof).await.unwrap_err();
        assert_eq!(gone.at_api().body["error"], "invalid_token");
        rig.wait(18_000);
    }
}

// AAP-252
#[tokio::test]
async fn an_end_outlives_a_token_lifetime_that_is_shortened() {
    let rig = Rig::with(|s| s.token_lifetime_s = 43_200).await;
    let token = rig.access_token().await;
    assert_eq!(rig.revoke(&token).await.status, 200);
    for (seed, reloaded) in [(3, true), (4, false)] {
        let mut settings = rig.issuer.settings().clone();
        settings.token_lifetime_s = 60;
        let issuer = rig.open(settings).await;
        let issuer = issuer.after(reloaded.then_some(&*rig.issuer));
        rig.wait(100);
        // another end clears out what is older
        let other = rig.try_with(|r| r.of_session(seed)).await;
        let other = other.body["access_token"].as_str().unwrap().to_owned();
        let (headers, body) = rig.revocation(&other);
        let ended = issuer.revoke(&headers, None, body.as_bytes(), peer()).await;
        assert_eq!(ended.unwrap().status, 200);
        let proof = rig.call_proof(&token).text();
        let headers = call_headers(&format!("DPoP {token}"), &proof);
        let called = issuer.authenticate("POST", SKILL, None, &headers).await;
        let error = called.unwrap_err().at_api().body["error"].clone();
        assert_eq!(error, "invalid_token", "{reloaded}");
    }
}

// AAP-240
#[tokio::test]
async fn an_assertion_used_at_one_endpoint_is_used_at_the_other() {
    let rig = Rig::new().await;
    let used = rig.request();
    let token = rig.send(&used).await.body["access_token"]
        .as_str()
        .unwrap()
        .to_owned();
    let body = format!(
        "token={token}&client_id={CLIENT}&client_assertion_type=urn:ietf:params:oauth:\
         client-assertion-type:jwt-bearer&client_assertion={}",
        used.client.text()
    );
    let mut headers = http::HeaderMap::new();
    let form = http::HeaderValue::from_static("application/x-www-form-urlencoded");
    headers.insert("content-type", form);
    let again = rig
        .issuer
        .revoke(&headers, None, body.as_bytes(), peer())
        .await;
    refused(
        "again",
        &again.unwrap_err().at_issuer(),
        401,
        "invalid_client",
    );
    assert!(rig.call(&token, &rig.call_proof(&token)).await.is_ok());
}
