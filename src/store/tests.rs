//! One suite for both stores.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::*;

pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_900_000_000 + seconds).unwrap()
}

/// A place where a store can be opened, more than once.
pub(crate) struct Place {
    pub(super) directory: tempfile::TempDir,
    pub(super) redis: Option<RedisServer>,
}

impl Place {
    fn embedded() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            redis: None,
        }
    }

    pub(crate) async fn redis(arguments: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let redis = Some(RedisServer::start(directory.path(), arguments).await);
        Self { directory, redis }
    }

    /// Every kind of store passes the same tests.
    async fn each() -> [Self; 2] {
        [
            Self::embedded(),
            Self::redis(&["--appendonly", "yes"]).await,
        ]
    }

    async fn try_open(&self) -> Result<Store, StoreError> {
        match &self.redis {
            Some(server) => Store::open_redis(&server.settings).await,
            None => Store::open_embedded(&self.directory.path().join("store.db")).await,
        }
    }

    /// Where another process reaches the same Redis.
    pub(crate) fn redis_settings(&self) -> RedisSettings {
        self.redis.as_ref().unwrap().settings.clone()
    }

    pub(crate) async fn open(&self) -> Store {
        self.try_open().await.unwrap()
    }
}

/// A Redis server of this test's own, on a socket in its directory.
pub(super) struct RedisServer {
    process: Child,
    pub(super) settings: RedisSettings,
}

impl RedisServer {
    pub(super) async fn start(directory: &Path, arguments: &[&str]) -> Self {
        let socket = directory.join("redis.sock");
        #[expect(clippy::zombie_processes, reason = "dropping the server waits for it")]
        let process = Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--unixsocket"])
            .arg(&socket)
            .arg("--dir")
            .arg(directory)
            .args(arguments)
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server (package redis-server) must be installed");
        let settings = RedisSettings {
            urls: vec![format!("unix://{}", socket.display())],
            prefix: "test".to_owned(),
            ..RedisSettings::default()
        };
        for _ in 0..1000 {
            if std::os::unix::net::UnixStream::connect(&socket).is_ok() {
                return Self { process, settings };
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("redis-server does not come up");
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

pub(super) fn acceptance(key: &str, lead_id: &str) -> Acceptance {
    Acceptance {
        key: key.to_owned(),
        key_expires_at: at(86_400),
        fingerprint: "content".to_owned(),
        lead_id: lead_id.to_owned(),
        deployment: "demo".to_owned(),
        dealer: String::new(),
        accepted_at: at(0),
        record: "{}".to_owned(),
        answer: format!("answer of {lead_id}"),
        deliveries: vec![NewDelivery {
            target: "crm".to_owned(),
            due_at: at(0),
        }],
    }
}

pub(super) fn ending(state: DeliveryState, due_at: Option<Timestamp>) -> Ending {
    Ending {
        state,
        due_at,
        detail: "because".to_owned(),
    }
}

/// The next due delivery, taken.
async fn taken(store: &Store, now: Timestamp, lease_until: Timestamp) -> Job {
    let job = store.take_job("demo", "crm", now, lease_until).await;
    job.unwrap().unwrap()
}

pub(super) async fn state(store: &Store, lead_id: &str) -> DeliveryState {
    let filter = LeadFilter {
        lead_id: Some(lead_id.to_owned()),
        ..LeadFilter::default()
    };
    store.leads(&filter).await.unwrap()[0].deliveries[0].state
}

// AAP-484 AAP-499
#[tokio::test]
async fn a_key_is_claimed_once_until_it_expires() {
    for place in Place::each().await {
        let store = place.open().await;
        let first = store
            .accept(acceptance("k", "lead_1"), at(0))
            .await
            .unwrap();
        assert!(matches!(first, Accepted::New));
        let second = store
            .accept(acceptance("k", "lead_2"), at(86_399))
            .await
            .unwrap();
        let Accepted::Existing(entry) = second else {
            panic!("the key was claimed twice")
        };
        assert_eq!(entry.lead_id, "lead_1");
        assert_eq!(entry.answer.as_deref(), Some("answer of lead_1"));
        let later = store
            .accept(acceptance("k", "lead_3"), at(86_400))
            .await
            .unwrap();
        assert!(matches!(later, Accepted::New));
        assert_eq!(store.leads(&LeadFilter::default()).await.unwrap().len(), 2);
    }
}

// AAP-481
#[tokio::test]
async fn what_was_accepted_is_there_after_a_restart() {
    for place in Place::each().await {
        let store = place.open().await;
        store
            .accept(acceptance("k", "lead_1"), at(0))
            .await
            .unwrap();
        store.close().await;
        let store = place.open().await;
        let entry = store.key("k", at(1)).await.unwrap().unwrap();
        assert_eq!(entry.lead_id, "lead_1");
        assert_eq!(state(&store, "lead_1").await, DeliveryState::Queued);
    }
}

// AAP-484
#[tokio::test(flavor = "multi_thread")]
async fn of_many_claims_at_once_exactly_one_wins() {
    for place in Place::each().await {
        let store = Arc::new(place.open().await);
        let mut claims = tokio::task::JoinSet::new();
        for number in 0..200 {
            let store = Arc::clone(&store);
            claims.spawn(async move {
                let lead_id = format!("lead_{number}");
                let accepted = store
                    .accept(acceptance("k", &lead_id), at(0))
                    .await
                    .unwrap();
                match accepted {
                    Accepted::New => (true, lead_id),
                    Accepted::Existing(entry) => (false, entry.lead_id),
                }
            });
        }
        let outcomes = claims.join_all().await;
        let winners: Vec<_> = outcomes.iter().filter(|(new, _)| *new).collect();
        assert_eq!(winners.len(), 1);
        assert!(outcomes.iter().all(|(_, lead_id)| *lead_id == winners[0].1));
        assert_eq!(store.leads(&LeadFilter::default()).await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_job_is_taken_by_one_and_finished_by_its_holder_only() {
    for place in Place::each().await {
        let store = place.open().await;
        store
            .accept(acceptance("k", "lead_1"), at(0))
            .await
            .unwrap();
        assert!(
            store
                .take_job("other", "crm", at(0), at(60))
                .await
                .unwrap()
                .is_none()
        );
        let job = taken(&store, at(0), at(60)).await;
        assert_eq!((job.lead_id.as_str(), job.attempt), ("lead_1", 1));
        assert!(
            store
                .take_job("demo", "crm", at(0), at(60))
                .await
                .unwrap()
                .is_none()
        );
        let waiting = ending(DeliveryState::Waiting, Some(at(30)));
        assert!(store.finish(&job, waiting, at(1)).await.unwrap());
        assert!(
            !store
                .finish(&job, ending(DeliveryState::Delivered, None), at(1))
                .await
                .unwrap()
        );
        assert_eq!(store.next_due("demo", "crm").await.unwrap(), Some(at(30)));
        assert!(
            store
                .take_job("demo", "crm", at(29), at(60))
                .await
                .unwrap()
                .is_none()
        );
        let again = taken(&store, at(30), at(90)).await;
        assert_eq!(again.attempt, 2);
        assert!(
            !store.mark_transmitting(&job, at(31)).await.unwrap(),
            "the first attempt is over"
        );
        assert!(store.mark_transmitting(&again, at(31)).await.unwrap());
        assert!(
            store
                .finish(&again, ending(DeliveryState::Delivered, None), at(32))
                .await
                .unwrap()
        );
        assert_eq!(state(&store, "lead_1").await, DeliveryState::Delivered);
        let history: Vec<_> = store.attempts("lead_1").await.unwrap();
        assert_eq!(history.len(), 2);
        assert_eq!(
            (history[1].number, history[1].state),
            (2, DeliveryState::Delivered)
        );
    }
}

// AAP-577
#[tokio::test]
async fn a_lost_lease_forbids_transmission() {
    for place in Place::each().await {
        let store = place.open().await;
        store
            .accept(acceptance("k", "lead_1"), at(0))
            .await
            .unwrap();
        let job = taken(&store, at(0), at(60)).await;
        assert!(!store.mark_transmitting(&job, at(60)).await.unwrap());
        store.recover(at(60)).await.unwrap();
        assert_eq!(state(&store, "lead_1").await, DeliveryState::Queued);
        assert!(
            !store
                .finish(&job, ending(DeliveryState::Delivered, None), at(61))
                .await
                .unwrap()
        );
    }
}

// AAP-577 AAP-485
#[tokio::test]
async fn what_a_dead_process_had_begun_to_send_is_held_and_the_rest_queued_again() {
    for place in Place::each().await {
        let dead = place.open().await;
        for name in ["a", "b"] {
            dead.accept(acceptance(name, name), at(0)).await.unwrap();
        }
        let first = taken(&dead, at(0), at(600)).await;
        taken(&dead, at(0), at(600)).await;
        assert!(dead.mark_transmitting(&first, at(1)).await.unwrap());
        // The process is gone, its leases run on, and nobody else is there.
        if place.redis.is_some() {
            dead.recover(at(1)).await.unwrap();
            dead.close().await;
        }
        let store = place.open().await;
        let recovered = store.recover(at(2)).await.unwrap();
        assert_eq!(recovered, Recovered { queued: 1, held: 1 });
        assert_eq!(state(&store, &first.lead_id).await, DeliveryState::Held);
        assert!(
            !dead
                .finish(&first, ending(DeliveryState::Waiting, None), at(3))
                .await
                .unwrap()
        );
    }
}

#[tokio::test]
async fn jobs_of_a_process_that_lives_are_left_to_it() {
    for place in Place::each().await {
        let one = place.open().await;
        one.recover(at(0)).await.unwrap();
        one.accept(acceptance("k", "lead_1"), at(0)).await.unwrap();
        let job = taken(&one, at(0), at(600)).await;
        let two = place.open().await;
        assert_eq!(two.recover(at(1)).await.unwrap(), Recovered::default());
        assert!(one.mark_transmitting(&job, at(2)).await.unwrap());
        assert_eq!(
            two.recover(at(601)).await.unwrap(),
            Recovered { queued: 0, held: 1 }
        );
    }
}

#[tokio::test]
async fn claims_are_all_or_none() {
    for place in Place::each().await {
        let store = place.open().await;
        let claim = |key: &'static str, until: i64| Claim {
            namespace: "jti",
            key,
            expires_at: at(until),
        };
        assert!(
            store
                .claim_all(&[claim("a", 60), claim("b", 60)], at(0))
                .await
                .unwrap()
        );
        assert!(
            !store
                .claim_all(&[claim("c", 60), claim("b", 60)], at(59))
                .await
                .unwrap()
        );
        assert!(
            !store.is_claimed("jti", "c", at(59)).await.unwrap(),
            "nothing of a refused list stays"
        );
        assert!(
            !store
                .claim_all(&[claim("d", 60), claim("d", 60)], at(0))
                .await
                .unwrap()
        );
        let other = Claim {
            namespace: "proof",
            ..claim("a", 60)
        };
        assert!(
            store.claim_all(&[other], at(0)).await.unwrap(),
            "namespaces are apart"
        );
        assert!(
            store.claim_all(&[claim("b", 120)], at(60)).await.unwrap(),
            "an expired claim is free"
        );
        let swept = if place.redis.is_some() { 0 } else { 3 };
        assert_eq!(store.sweep(at(120)).await.unwrap(), swept);
    }
}

#[tokio::test]
async fn a_person_decides_only_what_stands_as_expected() {
    for place in Place::each().await {
        let store = place.open().await;
        store
            .accept(acceptance("k", "lead_1"), at(0))
            .await
            .unwrap();
        let delivered = || ending(DeliveryState::Delivered, None);
        let held = [DeliveryState::Held];
        assert!(
            !store
                .decide("lead_1", "crm", &held, delivered(), at(1))
                .await
                .unwrap()
        );
        let queued = [DeliveryState::Queued];
        assert!(
            !store
                .decide("lead_1", "none", &queued, delivered(), at(1))
                .await
                .unwrap()
        );
        assert!(
            store
                .decide("lead_1", "crm", &queued, delivered(), at(1))
                .await
                .unwrap()
        );
        let tally = store.tally("demo").await.unwrap();
        assert_eq!(tally.count(DeliveryState::Delivered), 1);
        assert_eq!(tally.oldest_open, None);
    }
}

#[tokio::test]
async fn lists_go_on_where_they_ended() {
    for place in Place::each().await {
        let store = place.open().await;
        for number in 0..5 {
            let mut one = acceptance(&format!("k{number}"), &format!("lead_{number}"));
            one.accepted_at = at(number / 2);
            store.accept(one, at(0)).await.unwrap();
        }
        let mut seen = Vec::new();
        let mut filter = LeadFilter {
            limit: 2,
            ..LeadFilter::default()
        };
        loop {
            let page = store.leads(&filter).await.unwrap();
            let Some(last) = page.last() else { break };
            filter.after = Some((last.accepted_at, last.lead_id.clone()));
            seen.extend(page.iter().map(|lead| lead.lead_id.clone()));
        }
        assert_eq!(seen, ["lead_4", "lead_3", "lead_2", "lead_1", "lead_0"]);
        assert_eq!(store.remove(&["lead_0".to_owned()]).await.unwrap(), 1);
        assert!(store.attempts("lead_0").await.unwrap().is_empty());
        assert!(
            store.key("k0", at(1)).await.unwrap().is_some(),
            "its key still recognises retries"
        );
    }
}

#[tokio::test]
async fn a_store_of_a_newer_release_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    Store::open_embedded(&path).await.unwrap().close().await;
    let pool = sqlx::SqlitePool::connect(&format!("sqlite://{}", path.display()))
        .await
        .unwrap();
    sqlx::query("PRAGMA user_version = 999")
        .execute(&pool)
        .await
        .unwrap();
    pool.close().await;
    let refused = Store::open_embedded(&path).await.unwrap_err();
    assert!(
        matches!(refused, StoreError::TooNew { found: 999, .. }),
        "{refused}"
    );
}

#[tokio::test]
async fn the_file_is_for_its_owner_only_and_durable() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open_embedded(&directory.path().join("store.db"))
        .await
        .unwrap();
    let path = directory.path().join("store.db");
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0);
    let Store::Embedded(embedded) = &store else {
        panic!("another store")
    };
    let settings = embedded.durability().await.unwrap();
    assert_eq!(settings, ("wal".to_owned(), 2));
    let far = at(0).checked_add(SignedDuration::from_hours(1)).unwrap();
    assert!(store.key("none", far).await.unwrap().is_none());
}

#[tokio::test]
async fn a_redis_that_may_forget_is_refused() {
    let nothing_kept = Place::redis(&["--appendonly", "no"]).await;
    let refused = nothing_kept.try_open().await.unwrap_err();
    assert!(refused.to_string().contains("appendonly"), "{refused}");
    let evicting = Place::redis(&[
        "--appendonly",
        "yes",
        "--maxmemory",
        "64mb",
        "--maxmemory-policy",
        "allkeys-lru",
    ])
    .await;
    let refused = evicting.try_open().await.unwrap_err();
    assert!(refused.to_string().contains("noeviction"), "{refused}");
    let mut settings = evicting.redis.as_ref().unwrap().settings.clone();
    settings.danger_allow_eviction = true;
    Store::open_redis(&settings)
        .await
        .unwrap()
        .ping()
        .await
        .unwrap();
    let steady = Place::redis(&[
        "--appendonly",
        "yes",
        "--maxmemory",
        "64mb",
        "--maxmemory-policy",
        "noeviction",
    ])
    .await;
    steady.open().await.ping().await.unwrap();
}

// AAP-482
#[tokio::test]
async fn a_lead_that_no_replica_confirms_is_not_answered_and_not_taken_twice() {
    let place = Place::redis(&["--appendonly", "yes"]).await;
    let mut settings = place.redis_settings();
    settings.wait = Some((1, Duration::from_millis(50)));
    let store = Store::open_redis(&settings).await.unwrap();
    let unconfirmed = store.accept(acceptance("k", "lead_1"), at(0)).await;
    assert!(
        matches!(unconfirmed, Err(StoreError::Unavailable { .. })),
        "{unconfirmed:?}"
    );
    // whoever tries again gets the outcome of the first
    let again = store.accept(acceptance("k", "lead_2"), at(1)).await;
    assert!(
        matches!(&again, Ok(Accepted::Existing(entry)) if entry.lead_id == "lead_1"),
        "{again:?}"
    );
    assert_eq!(store.leads(&LeadFilter::default()).await.unwrap().len(), 1);
}

// AAP-482
#[tokio::test]
async fn an_answer_that_no_replica_confirms_is_not_given() {
    let place = Place::redis(&["--appendonly", "yes"]).await;
    let alone = place.open().await;
    let claimed = acceptance("k", "lead_1");
    let pending = alone.claim_pending(claimed.clone(), at(10), at(0)).await;
    assert!(matches!(pending, Ok(Accepted::New)));
    let mut settings = place.redis_settings();
    settings.wait = Some((1, Duration::from_millis(50)));
    let store = Store::open_redis(&settings).await.unwrap();
    for _ in 0..2 {
        let unconfirmed = store.complete(claimed.clone(), "", at(1)).await;
        assert!(
            matches!(unconfirmed, Err(StoreError::Unavailable { .. })),
            "{unconfirmed:?}"
        );
    }
    // whoever tries again gets it
    let entry = store.key("k", at(2)).await.unwrap().unwrap();
    assert_eq!(entry.answer.as_deref(), Some("answer of lead_1"));
}

#[tokio::test]
async fn an_expired_key_does_not_stand_in_the_way_of_a_restored_one() {
    let store = Place::embedded().open().await;
    store
        .accept(acceptance("k", "lead_1"), at(0))
        .await
        .unwrap();
    let restored = |lead_id: &str, key_expires_at| Restored {
        lead_id: lead_id.to_owned(),
        deployment: "demo".to_owned(),
        dealer: String::new(),
        accepted_at: at(0),
        record: "{}".to_owned(),
        answer: "answer".to_owned(),
        key: Some(KeyRow {
            key: "k".to_owned(),
            fingerprint: "content".to_owned(),
            expires_at: key_expires_at,
        }),
        deliveries: Vec::new(),
        attempts: Vec::new(),
    };
    for (now, lead_id, holder) in [
        (86_399, "lead_2", "lead_1"),
        (86_401, "lead_3", "lead_3"),
        (86_402, "lead_4", "lead_3"),
    ] {
        let taken = store.restore(restored(lead_id, at(200_000)), at(now)).await;
        assert!(taken.unwrap());
        let entry = store.key("k", at(now)).await.unwrap().unwrap();
        assert_eq!(entry.lead_id, holder);
    }
}

#[tokio::test]
async fn a_redis_over_tls_is_known_by_the_operators_authority() {
    use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
    let authority = || {
        let mut ca = CertificateParams::new(Vec::new()).unwrap();
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        CertifiedIssuer::self_signed(ca, KeyPair::generate().unwrap()).unwrap()
    };
    let (ours, others) = (authority(), authority());
    let directory = tempfile::tempdir().unwrap();
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(["localhost".to_owned()]).unwrap();
    let leaf = leaf.signed_by(&key, &ours).unwrap();
    let (certificate, secret) = (directory.path().join("crt"), directory.path().join("key"));
    std::fs::write(&certificate, leaf.pem()).unwrap();
    std::fs::write(&secret, key.serialize_pem()).unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let (certificate, secret) = (certificate.to_str().unwrap(), secret.to_str().unwrap());
    let port_text = port.to_string();
    let arguments = [
        "--appendonly",
        "yes",
        "--tls-port",
        &port_text,
        "--tls-auth-clients",
        "no",
        "--tls-cert-file",
        certificate,
        "--tls-key-file",
        secret,
        "--tls-ca-cert-file",
        certificate,
    ];
    let server = RedisServer::start(directory.path(), &arguments).await;
    let settings =
        |host: &str, authority: Option<&CertifiedIssuer<'static, KeyPair>>| RedisSettings {
            urls: vec![format!("rediss://{host}:{port}")],
            ca_pem: authority.map(|authority| authority.pem().into_bytes()),
            ..server.settings.clone()
        };
    let store = Store::open_redis(&settings("localhost", Some(&ours)))
        .await
        .unwrap();
    let accepted = store
        .accept(acceptance("k", "lead_1"), at(0))
        .await
        .unwrap();
    assert!(matches!(accepted, Accepted::New));
    for (host, authority) in [
        ("localhost", Some(&others)),
        ("localhost", None),
        ("127.0.0.1", Some(&ours)),
    ] {
        let refused = Store::open_redis(&settings(host, authority))
            .await
            .unwrap_err();
        let words = refused.to_string();
        assert!(
            words.contains("rediss://") && words.contains("certificate"),
            "{words}"
        );
        assert!(refused.remedy().contains("store.ca_file"));
    }
    let mut plain = settings("localhost", None);
    plain.urls = vec![format!("redis://localhost:{port}")];
    Store::open_redis(&plain).await.unwrap_err();
}

#[tokio::test]
async fn a_redis_that_goes_away_and_comes_back_has_kept_everything() {
    let mut place = Place::redis(&["--appendonly", "yes", "--appendfsync", "always"]).await;
    let store = place.open().await;
    store
        .accept(acceptance("k", "lead_1"), at(0))
        .await
        .unwrap();
    place.redis.take();
    let gone = store
        .accept(acceptance("k2", "lead_2"), at(0))
        .await
        .unwrap_err();
    assert!(matches!(gone, StoreError::Unavailable { .. }), "{gone}");
    place.redis = Some(RedisServer::start(place.directory.path(), &["--appendonly", "yes"]).await);
    let mut tries = 0;
    while store.ping().await.is_err() {
        tries += 1;
        assert!(tries < 100, "the connection does not come back");
    }
    assert_eq!(state(&store, "lead_1").await, DeliveryState::Queued);
    assert!(
        store.key("k2", at(1)).await.unwrap().is_none(),
        "nothing half done"
    );
}

// AAP-482 AAP-484
#[tokio::test]
async fn a_pending_lead_is_completed_once() {
    for place in Place::each().await {
        let store = place.open().await;
        let first = acceptance("k", "lead_1");
        let claimed = store
            .claim_pending(first.clone(), at(10), at(0))
            .await
            .unwrap();
        assert!(matches!(claimed, Accepted::New));
        let second = store
            .claim_pending(acceptance("k", "lead_2"), at(10), at(1))
            .await
            .unwrap();
        let Accepted::Existing(entry) = second else {
            panic!("claimed twice");
        };
        assert_eq!((entry.lead_id.as_str(), entry.answer), ("lead_1", None));
        let Accepted::Existing(entry) = store
            .accept(acceptance("k", "lead_3"), at(1))
            .await
            .unwrap()
        else {
            panic!("accepted twice");
        };
        assert_eq!(entry.answer, None);
        assert!(
            store
                .leads(&LeadFilter::default())
                .await
                .unwrap()
                .is_empty()
        );
        assert!(store.overdue(at(9)).await.unwrap().is_empty());
        store.close().await;
        let store = place.open().await;
        let overdue = store.overdue(at(10)).await.unwrap();
        assert_eq!(overdue.len(), 1);
        assert_eq!(overdue[0].lead_id, "lead_1");
        let mut answered = first.clone();
        answered.answer = "booked".to_owned();
        assert!(store.complete(answered, "ask them", at(11)).await.unwrap());
        assert!(!store.complete(first, "", at(12)).await.unwrap());
        let entry = store.key("k", at(12)).await.unwrap().unwrap();
        assert_eq!(entry.answer.as_deref(), Some("booked"));
        let lead = store.leads(&LeadFilter::default()).await.unwrap().remove(0);
        let states: Vec<_> = lead
            .deliveries
            .iter()
            .map(|one| (one.target.as_str(), one.state))
            .collect();
        assert_eq!(
            states,
            [
                ("crm", DeliveryState::Queued),
                (PERSON, DeliveryState::Held)
            ]
        );
        assert!(store.overdue(at(100)).await.unwrap().is_empty());
        store.close().await;
    }
}

#[tokio::test]
async fn a_tally_counts_states_and_knows_the_oldest_open_lead() {
    for place in Place::each().await {
        let store = place.open().await;
        store.recover(at(0)).await.unwrap();
        let take = || store.take_job("demo", "crm", at(1_000), at(2_000));
        for (lead, accepted) in [("lead_1", 10), ("lead_2", 20)] {
            let mut acceptance = acceptance(lead, lead);
            acceptance.accepted_at = at(accepted);
            acceptance.deliveries[0].due_at = at(accepted);
            store.accept(acceptance, at(accepted)).await.unwrap();
        }
        let tally = store.tally("demo").await.unwrap();
        assert_eq!(tally.count(DeliveryState::Queued), 2);
        assert_eq!(tally.oldest_open, Some(at(10)));
        // however often it is tried, it has waited since it was accepted
        let job = take().await.unwrap().unwrap();
        let again = ending(DeliveryState::Waiting, Some(at(5_000)));
        assert!(store.finish(&job, again, at(1_500)).await.unwrap());
        assert_eq!(store.tally("demo").await.unwrap().oldest_open, Some(at(10)));
        let job = take().await.unwrap().unwrap();
        let over = ending(DeliveryState::Delivered, None);
        assert!(store.finish(&job, over, at(1_500)).await.unwrap());
        store.remove(&["lead_1".to_owned()]).await.unwrap();
        let tally = store.tally("demo").await.unwrap();
        assert_eq!(tally.by_state, [(DeliveryState::Delivered, 1)]);
        assert_eq!(tally.oldest_open, None);
        let from = [DeliveryState::Delivered];
        let held = ending(DeliveryState::Held, None);
        let decided = store.decide("lead_2", "crm", &from, held, at(1_600));
        assert!(decided.await.unwrap());
        assert_eq!(store.tally("demo").await.unwrap().oldest_open, Some(at(20)));
        assert_eq!(store.tally("other").await.unwrap(), Tally::default());
    }
}

// AAP-577
#[tokio::test]
async fn who_was_taken_for_dead_may_still_say_how_it_ended() {
    for place in Place::each().await {
        let store = place.open().await;
        store.recover(at(0)).await.unwrap();
        for (lead, last) in [
            ("lead_1", DeliveryState::Delivered),
            ("lead_2", DeliveryState::Waiting),
        ] {
            store.accept(acceptance(lead, lead), at(0)).await.unwrap();
            let job = taken(&store, at(0), at(10)).await;
            assert!(store.mark_transmitting(&job, at(1)).await.unwrap());
            // its lease ends while it still transmits
            assert_eq!(
                store.recover(at(11)).await.unwrap(),
                Recovered { queued: 0, held: 1 }
            );
            let known = store
                .finish(&job, ending(last, Some(at(30))), at(12))
                .await
                .unwrap();
            assert_eq!(known, last == DeliveryState::Delivered);
            let after = if known { last } else { DeliveryState::Held };
            assert_eq!(state(&store, lead).await, after);
            assert!(
                !store
                    .finish(&job, ending(last, None), at(13))
                    .await
                    .unwrap()
            );
        }
        store.close().await;
    }
}

// AAP-577
#[tokio::test]
async fn of_two_that_start_at_once_none_takes_the_other_for_dead() {
    let place = Place::redis(&["--appendonly", "yes"]).await;
    for round in 0..20 {
        let lead = format!("lead_{round}");
        let (first, second) = (place.open().await, place.open().await);
        first.accept(acceptance(&lead, &lead), at(0)).await.unwrap();
        let work = async {
            first.recover(at(0)).await.unwrap();
            let job = taken(&first, at(0), at(600)).await;
            first.mark_transmitting(&job, at(1)).await.unwrap();
            job
        };
        let (job, found) = tokio::join!(work, second.recover(at(1)));
        assert_eq!(found.unwrap(), Recovered::default());
        assert_eq!(second.recover(at(2)).await.unwrap(), Recovered::default());
        let delivered = ending(DeliveryState::Delivered, None);
        assert!(first.finish(&job, delivered, at(3)).await.unwrap());
    }
}

// AAP-577
#[tokio::test]
async fn jobs_of_a_process_that_no_longer_lives_are_taken_over_before_their_lease_ends() {
    let place = Place::redis(&["--appendonly", "yes"]).await;
    let dead = place.open().await;
    dead.recover(at(0)).await.unwrap();
    dead.accept(acceptance("k", "lead_1"), at(0)).await.unwrap();
    taken(&dead, at(0), at(600)).await;
    let living = place.open().await;
    assert_eq!(living.recover(at(1)).await.unwrap(), Recovered::default());
    dead.close().await;
    let recovered = living.recover(at(2)).await.unwrap();
    assert_eq!(recovered, Recovered { queued: 1, held: 0 });
}

// AAP-251 AAP-252 AAP-260
#[tokio::test]
async fn session_keys_have_one_owner_and_end_once_across_a_reopening() {
    for place in Place::each().await {
        let store = place.open().await;
        let enter = async |store: &Store, issuer, key, owner, now| {
            let until = at(now + 100);
            store
                .enter_session(issuer, key, owner, at(now), until)
                .await
                .unwrap()
        };
        let (owned, foreign) = (SessionEntry::Owned, SessionEntry::Foreign);
        assert_eq!(enter(&store, "i", "k", "a", 0).await, owned);
        assert_eq!(enter(&store, "i", "k", "a", 50).await, owned);
        assert_eq!(enter(&store, "i", "k", "b", 149).await, foreign);
        assert_eq!(enter(&store, "j", "k", "b", 149).await, owned);
        store.close().await;
        let store = place.open().await;
        assert_eq!(enter(&store, "i", "k", "b", 150).await, owned);
        let call = async |key, name, now| {
            let claim = Claim {
                namespace: "proof",
                key: name,
                expires_at: at(now + 60),
            };
            store.session_call("i", key, &claim, at(now)).await.unwrap()
        };
        assert_eq!(call("k", "p", 150).await, CallEntry::Passed);
        assert_eq!(call("k", "p", 209).await, CallEntry::Used);
        assert_eq!(call("never seen", "q", 150).await, CallEntry::Passed);
        for key in ["k", "unknown"] {
            let ended = store.end_session("i", key, at(200), at(1000)).await;
            ended.unwrap();
        }
        for owner in ["a", "b"] {
            let entry = enter(&store, "i", "k", owner, 999).await;
            assert_eq!(entry, SessionEntry::Ended);
        }
        assert_eq!(call("k", "r", 999).await, CallEntry::Ended);
        for (issuer, key, now, expected) in [
            ("i", "k", 999, true),
            ("i", "k", 1000, false),
            ("j", "k", 999, false),
            ("i", "never seen", 999, false),
        ] {
            let ended = store.session_has_ended(issuer, key, at(now)).await;
            assert_eq!(ended.unwrap(), expected, "{issuer} {key} {now}");
        }
        assert!(!store.is_claimed("proof", "r", at(999)).await.unwrap());
        let ended = store.ended_sessions("i", at(999)).await.unwrap();
        assert_eq!(ended, ["k", "unknown"]);
        assert!(store.ended_sessions("j", at(999)).await.unwrap().is_empty());
        assert!(
            store
                .ended_sessions("i", at(1000))
                .await
                .unwrap()
                .is_empty()
        );
        assert_eq!(call("k", "r", 1000).await, CallEntry::Passed);
        assert_eq!(enter(&store, "i", "k", "a", 1000).await, owned);
        store.close().await;
    }
}
