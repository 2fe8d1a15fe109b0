//! Races and restarts, over both stores.

use std::sync::Arc;

use crate::store::Store;
use crate::store::tests::Place;

use super::super::ledger::{Claim, Ledger};
use super::rig::*;

// AAP-240 AAP-241
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_parallel_copies_of_a_request_get_one_token() {
    let folder = tempfile::tempdir().unwrap();
    let redis = Place::redis(&["--appendonly", "yes"]).await;
    for store in [
        embedded(&folder.path().join("s.db")).await,
        Arc::new(redis.open().await),
    ] {
        let unlimited = |s: &mut crate::oauth::Settings| {
            s.token_requests_per_minute_and_client = 1000;
        };
        let rig = Arc::new(Rig::with_store(store, unlimited).await);
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
    let folder = tempfile::tempdir().unwrap();
    let redis = Place::redis(&["--appendonly", "yes"]).await;
    for store in [
        embedded(&folder.path().join("s.db")).await,
        Arc::new(redis.open().await),
    ] {
        let rig = Arc::new(Rig::with_store(store, |_| {}).await);
        let token = rig.access_token().await;
        // a proof dated ahead is asked of the ledger, too
        for ahead in [0, 30] {
            let mut proof = rig.call_proof(&token);
            proof.claim("iat", rig.now() + ahead);
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
    }
}

// AAP-240 AAP-241 AAP-252 AAP-260
#[tokio::test]
async fn nothing_used_or_ended_comes_back_with_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let rig = Rig::with_store(embedded(&path).await, |_| {}).await;
    let used = rig.request();
    let granted = rig.send(&used).await;
    let token = granted.body["access_token"].as_str().unwrap().to_owned();
    let mut ahead = rig.call_proof(&token);
    ahead.claim("iat", rig.now() + 50);
    assert!(rig.call(&token, &ahead).await.is_ok());
    let mut soon = rig.call_proof(&token);
    soon.claim("iat", rig.now() + 10);
    assert!(rig.call(&token, &soon).await.is_ok());
    let ended = rig.try_with(|r| r.of_session(3)).await;
    let ended = ended.body["access_token"].as_str().unwrap().to_owned();
    assert_eq!(rig.revoke(&ended).await.status, 200);
    rig.wait(2);

    let settings = rig.issuer.settings().clone();
    let issuer = rig.open_over(embedded(&path).await, settings).await;
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
    // its time has come meanwhile, so it looks like one that was made after the start
    rig.wait(20);
    let soon = rig.call(&token, &soon).await.unwrap_err();
    assert_eq!(soon.at_api().body["error"], "invalid_dpop_proof");
    assert!(rig.call(&token, &rig.call_proof(&token)).await.is_ok());
}

// AAP-252 AAP-260
#[tokio::test]
async fn nothing_used_or_ended_comes_back_with_a_reload() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let rig = Rig::with_store(embedded(&path).await, |_| {}).await;
    let token = rig.access_token().await;
    let ended = rig.try_with(|r| r.of_session(3)).await;
    let ended = ended.body["access_token"].as_str().unwrap().to_owned();
    // the next issuer is open while the one before still answers
    let settings = rig.issuer.settings().clone();
    let next = rig.open(settings).await.after(Some(&rig.issuer));
    let used = rig.call_proof(&token);
    assert!(rig.call(&token, &used).await.is_ok());
    assert_eq!(rig.revoke(&ended).await.status, 200);

    let mut of_ended = rig.call_proof(&ended);
    of_ended.key = key(3);
    of_ended.header["jwk"] = jwk(&key(3));
    for (token, proof, error) in [
        (&token, &used, "invalid_dpop_proof"),
        (&ended, &of_ended, "invalid_token"),
    ] {
        let headers = call_headers(&format!("DPoP {token}"), &proof.text());
        let called = next.authenticate("POST", SKILL, None, &headers).await;
        assert_eq!(called.unwrap_err().at_api().body["error"], error);
    }
    let proof = rig.call_proof(&token).text();
    let headers = call_headers(&format!("DPoP {token}"), &proof);
    let fresh = next.authenticate("POST", SKILL, None, &headers).await;
    assert!(fresh.is_ok());
}

// AAP-240 AAP-241 AAP-252 AAP-260
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_one_replica_has_seen_no_other_takes() {
    let redis = Place::redis(&["--appendonly", "yes"]).await;
    let store = Arc::new(redis.open().await);
    let rig = Arc::new(Rig::with_store(store, |_| {}).await);
    let settings = rig.issuer.settings().clone();
    let store = Arc::new(redis.open().await);
    let other = Arc::new(rig.open_over(store, settings).await);

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

// AAP-240 AAP-241
#[tokio::test]
async fn a_claim_outlives_what_a_replica_whose_clock_is_behind_still_takes() {
    let folder = tempfile::tempdir().unwrap();
    let redis = Place::redis(&["--appendonly", "yes"]).await;
    for store in [
        embedded(&folder.path().join("s.db")).await,
        Arc::new(redis.open().await),
    ] {
        let ledger = Ledger(store);
        let claims = [Claim {
            namespace: "assertion",
            key: "key".to_owned(),
            expires_at: 1_000,
        }];
        assert_eq!(ledger.claim_all(&claims, 990).await, Ok(None));
        // who forgets goes by a clock that is ahead
        assert_eq!(ledger.claim_all(&claims, 1_029).await, Ok(Some(0)));
        assert_eq!(ledger.claim_all(&claims, 1_030).await, Ok(None));
    }
}

/// Stands in the folder where the race below starts its processes.
const RACE: &str = "race.url";
const COPIES: usize = 25;

/// What each process of the race does: it waits for the word, sends its copies at once, and says how many
/// got a token. Outside a race it wins one of its own.
// AAP-240
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_process_sends_copies_of_one_request() {
    let place;
    let racing = std::fs::read_to_string(RACE).ok();
    let settings = if let Some(url) = &racing {
        crate::store::RedisSettings {
            urls: vec![url.clone()],
            prefix: "test".to_owned(),
            ..crate::store::RedisSettings::default()
        }
    } else {
        place = Place::redis(&["--appendonly", "yes"]).await;
        place.redis_settings()
    };
    let store = Store::open_redis(&settings).await.unwrap();
    let rig = Arc::new(Rig::with_store(Arc::new(store), |_| {}).await);
    // its `jti`s are the first of each rig, so every process has the same request
    let request = rig.request();
    if racing.is_some() {
        println!("ready");
        std::io::stdin().read_line(&mut String::new()).unwrap();
    }
    let copies = (0..COPIES).map(|_| {
        let (rig, request) = (Arc::clone(&rig), request.clone());
        tokio::spawn(async move { rig.send(&request).await.status })
    });
    let mut granted = 0;
    for copy in copies.collect::<Vec<_>>() {
        let status = copy.await.unwrap();
        assert!([200, 400, 401].contains(&status), "{status}");
        granted += usize::from(status == 200);
    }
    if racing.is_some() {
        println!("granted {granted}");
    } else {
        assert_eq!(granted, 1);
    }
}

// AAP-240 AAP-241
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_fifty_copies_at_two_processes_one_gets_a_token() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::{Command, Stdio};

    let redis = Place::redis(&["--appendonly", "yes"]).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join(RACE),
        redis.redis_settings().urls.remove(0),
    )
    .unwrap();
    let test = "oauth::tests::replay::a_process_sends_copies_of_one_request";
    let mut processes: Vec<_> = (0..2)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "--nocapture", test])
                .current_dir(folder.path())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut outputs: Vec<_> = processes
        .iter_mut()
        .map(|process| BufReader::new(process.stdout.take().unwrap()).lines())
        .collect();
    for output in &mut outputs {
        assert!(output.any(|line| line.unwrap().ends_with("ready")));
    }
    for process in &mut processes {
        process.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }
    let mut granted = 0;
    for output in &mut outputs {
        let told = output.find_map(|line| {
            let line = line.unwrap();
            line.rsplit_once("granted ")?.1.parse::<usize>().ok()
        });
        granted += told.unwrap();
    }
    for mut process in processes {
        assert!(process.wait().unwrap().success());
    }
    assert_eq!(granted, 1);
}
