//! What reaches the PAP issuer: token requests, revocations, calls with tokens and proofs. Nobody here holds a
//! key, so nobody gets in.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use forecourt::clock::Clock;
use forecourt::net::{Client, FakeNetwork, Network, Policy};
use forecourt::oauth::{Issuer, NonceMode, Refusal, Reply, Settings};
use forecourt::seal::KeyRing;
use forecourt::store::Store;

use super::shop::{message, runtime};

struct Ground {
    runtime: tokio::runtime::Runtime,
    issuers: [Issuer; 2],
}

static GROUND: LazyLock<Mutex<Ground>> = LazyLock::new(|| Mutex::new(Ground::open()));

impl Ground {
    fn open() -> Self {
        let (runtime, folder) = (runtime(), tempfile::tempdir().unwrap());
        let file = folder.path().join("s.db");
        let store = runtime.block_on(Store::open_embedded(&file));
        let store = Arc::new(store.unwrap());
        let issuers = [NonceMode::Off, NonceMode::Required].map(|nonces| {
            let settings = Settings {
                nonces,
                token_requests_per_minute_and_network: u32::MAX,
                token_requests_per_minute_and_client: u32::MAX,
                calls_per_minute_and_session: u32::MAX,
                ..Settings::new("https://d.example/poppy", "d.example")
            };
            // a network on which nothing is found
            let policy = Policy {
                network: Network::Fake(Arc::new(FakeNetwork::new())),
                ..Policy::for_peers()
            };
            let client = Client::new(policy).unwrap();
            let keys = Arc::new(KeyRing::generate().unwrap());
            let clock = Clock::fixed("2026-11-30T00:53:20Z".parse().unwrap());
            let issuer = Issuer::open(settings, client, keys, Arc::clone(&store), clock);
            runtime.block_on(issuer).unwrap()
        });
        // nobody gets as far as the store
        Self { runtime, issuers }
    }
}

/// A request in three ways: every one is refused, by a status and an error of the table, in words of our own;
/// the same request by the same ones.
pub fn pap(bytes: &[u8]) {
    let ground = GROUND.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut head, body) = message("/poppy/oauth/token", bytes);
    head.headers.remove("content-type");
    let form = http::HeaderValue::from_static("application/x-www-form-urlencoded");
    head.headers.insert("content-type", form);
    let peer = IpAddr::from(Ipv4Addr::new(192, 0, 2, 7));
    for issuer in &ground.issuers {
        let ask = || {
            ground.runtime.block_on(async {
                let (headers, query) = (&head.headers, head.uri.query());
                let token = issuer.token(headers, query, body, peer).await.err();
                let revoked = issuer.revoke(headers, query, body, peer).await.err();
                let url = "https://d.example/poppy/skills/inventory.search";
                let call = issuer.authenticate("POST", url, query, headers).await.err();
                let at_issuer = |refusal: Refusal| (refusal.at_issuer(), refusal);
                // a stranger that gets in ends the run here
                let at_api = |refusal: Refusal| (refusal.at_api(), refusal);
                [
                    token.map(at_issuer).unwrap(),
                    revoked.map(at_issuer).unwrap(),
                    call.map(at_api).unwrap(),
                ]
            })
        };
        let (first, second) = (ask(), ask());
        for ((reply, refusal), (_, again)) in first.iter().zip(&second) {
            judge(reply);
            assert_eq!((refusal.code, refusal.stage), (again.code, again.stage));
        }
    }
}

fn judge(reply: &Reply) {
    assert!([400, 401, 503].contains(&reply.status), "{}", reply.status);
    let error = reply.body["error"].as_str().unwrap();
    assert!(
        error.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'),
        "{error}"
    );
    assert_eq!(reply.headers["cache-control"], "no-store");
    assert_eq!(
        reply.headers.contains_key("www-authenticate"),
        reply.status == 401
    );
    assert!(reply.body.len() <= 2, "{:?}", reply.body);
    if let Some(words) = reply.body.get("error_description") {
        let words = words.as_str().unwrap();
        // RFC 6749 section 5.2
        let printable = |b: u8| (0x20..0x7f).contains(&b) && b != b'"' && b != b'\\';
        assert!(words.bytes().all(printable) && words.len() < 200, "{words}");
    }
}
