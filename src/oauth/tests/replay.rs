//! Races and restarts, over both ledgers.

use std::path::Path;
use std::sync::Arc;

use crate::oauth::Ledger;
use crate::store::Store;
use crate::store::tests::Place;

use super::rig::*;

async fn store(path: &Path) -> Ledger {
    Ledger::Store(Arc::new(Store::open_embedded(path).await.unwrap()))
}

// AAP-240 AAP-241
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_parallel_copies_of_a_request_get_one_token() {
    let folder = tempfile::tempdir().unwrap();
    let redis = Place::redis(&["--appendonly", "yes"]).await;
    for ledger in [
        Ledger::memory(),
        store(&folder.path().join("s.db")).await,
        Ledger::Store(Arc::new(redis.open().await)),
    ] {
        let unlimited = |s: &mut crate::oauth::Settings| {
            s.token_requests_per_minute_and_client = 1000;
        };
        let rig = Arc::new(Rig::with_ledger(ledger, unlimited).await);
        let request = rig.request();
        let copies = (0..50).map(|_| {
            let (rig, request) = (Arc::clone(&rig), request.clone());
            tokio::spawn(async move { rig.send(&request).await.status })
        });
        let mut statuses = Vec::new();
        for copy in copies.collect::<Vec<_>>() {
            statuses.push(copy.await.unwrap());
        }
        let granted = statuses.iter().filter(|status| **status == 200).count();
        assert_eq!(granted, 1, "{statuses:?}");
        assert!(
            statuses
                .iter()
                .all(|status| [200, 400, 401].contains(status))
        );
    }
}

// AAP-260
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_parallel_copies_of_a_call_pass_once() {
    let rig = Arc::new(Rig::new().await);
    let token = rig.access_token().await;
    let proof = rig.call_proof(&token);
    let copies = (0..50).map(|_| {
        let (rig, token, proof) = (Arc::clone(&rig), token.clone(), proof.clone());
        tokio::spawn(async move { rig.call(&token, &proof).await.is_ok() })
    });
    let mut passed = 0;
    for copy in copies.collect::<Vec<_>>() {
        passed += usize::from(copy.await.unwrap());
    }
    assert_eq!(passed, 1);
}

// AAP-240 AAP-241 AAP-252 AAP-260
#[tokio::test]
async fn nothing_used_or_ended_comes_back_with_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let rig = Rig::with_ledger(store(&path).await, |_| {}).await;
    let used = rig.request();
    let granted = rig.send(&used).await;
    let token = granted.body["access_token"].as_str().unwrap().to_owned();
    let mut ahead = rig.call_proof(&token);
    ahead.claim("iat", rig.now() + 50);
    assert!(rig.call(&token, &ahead).await.is_ok());
    let ended = rig.try_with(|r| r.of_session(3)).await;
    let ended = ended.body["access_token"].as_str().unwrap().to_owned();
    assert_eq!(rig.revoke(&ended).await.status, 200);
    rig.wait(2);

    let settings = rig.issuer.settings().clone();
    let ledger = store(&path).await;
    let (site, network, keys) = (&rig.site, &rig.network, &rig.keys);
    let issuer = open_with(ledger, settings, site, network, keys, &rig.clock).await;
    let rig = Rig {
        issuer: Arc::new(issuer),
        ..rig
    };
    let again = rig.send(&used).await;
    refused("the request", &again, 401, "invalid_client");
    let session = rig.try_with(|r| r.session = used.session.clone()).await;
    refused("the session assertion", &session, 400, "invalid_grant");
    let proof = rig.try_with(|r| r.proof = used.proof.clone()).await;
    refused("the proof", &proof, 400, "invalid_dpop_proof");
    let owner = rig
        .try_with(|r| r.session.claim("sub", "someone-else"))
        .await;
    refused("another owner", &owner, 400, "invalid_grant");
    let ahead = rig.call(&token, &ahead).await.unwrap_err();
    assert_eq!(ahead.at_api().body["error"], "invalid_dpop_proof");
    let mut proof = rig.call_proof(&ended);
    proof.key = key(3);
    proof.header["jwk"] = jwk(&key(3));
    let gone = rig.call(&ended, &proof).await.unwrap_err();
    assert_eq!(gone.at_api().body["error"], "invalid_token");
    let renewed = rig.try_with(|r| r.of_session(3)).await;
    refused("the ended key", &renewed, 400, "invalid_grant");
    assert!(rig.call(&token, &rig.call_proof(&token)).await.is_ok());
}

// AAP-240 AAP-241 AAP-252 AAP-260
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_one_replica_has_seen_no_other_takes() {
    let redis = Place::redis(&["--appendonly", "yes"]).await;
    let ledger = Ledger::Store(Arc::new(redis.open().await));
    let rig = Arc::new(Rig::with_ledger(ledger, |_| {}).await);
    let ledger = Ledger::Store(Arc::new(redis.open().await));
    let settings = rig.issuer.settings().clone();
    let (site, network, keys) = (&rig.site, &rig.network, &rig.keys);
    let other = open_with(ledger, settings, site, network, keys, &rig.clock).await;
    let other = Arc::new(other);

    let used = rig.request();
    let (headers, body) = used.message();
    let granted = rig.send(&used).await;
    assert_eq!(granted.status, 200);
    let again = other.token(&headers, None, body.as_bytes(), peer()).await;
    refused(
        "at the other",
        &again.unwrap_err().at_issuer(),
        401,
        "invalid_client",
    );

    let token = granted.body["access_token"].as_str().unwrap().to_owned();
    let proof = rig.call_proof(&token);
    let headers = call_headers(&format!("DPoP {token}"), &proof.text());
    let calls = (0..50).map(|index| {
        let issuer = Arc::clone(if index % 2 == 0 { &rig.issuer } else { &other });
        let headers = headers.clone();
        tokio::spawn(async move {
            let called = issuer.authenticate("POST", SKILL, None, &headers).await;
            called.is_ok()
        })
    });
    let mut passed = 0;
    for call in calls.collect::<Vec<_>>() {
        passed += usize::from(call.await.unwrap());
    }
    assert_eq!(passed, 1);

    // a token that was given back at one is refused at the other
    assert_eq!(rig.revoke(&token).await.status, 200);
    let headers = call_headers(&format!("DPoP {token}"), &rig.call_proof(&token).text());
    let ended = other.authenticate("POST", SKILL, None, &headers).await;
    assert_eq!(ended.unwrap_err().at_api().body["error"], "invalid_token");
}
