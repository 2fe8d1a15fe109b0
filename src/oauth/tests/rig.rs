//! An issuer over a fake network, and an agent that signs whatever a test wants, with p256 instead of the
//! library that verifies.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use http::{HeaderMap, HeaderValue};
use jiff::SignedDuration;
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};
use serde_json::{Value, json};

use crate::clock::Clock;
use crate::net::testing::{Site, answer};
use crate::net::{self, FakeNetwork, Network, Policy};
use crate::oauth::{Access, Issuer, Refusal, Reply, Settings};
use crate::seal::KeyRing;
use crate::store::Store;

pub(crate) const ISSUER: &str = "https://demo-toyota.example.com/poppy";
pub(crate) const TOKEN_ENDPOINT: &str = "https://demo-toyota.example.com/poppy/oauth/token";
pub(crate) const SKILL: &str = "https://demo-toyota.example.com/poppy/skills/inventory.search";
pub(crate) const CLIENT: &str = "https://buyer-agent.example/client.json";
pub(crate) const OTHER_CLIENT: &str = "https://other-agent.example/client.json";
pub(crate) const USER: &str = "user-7f3a9c";

pub(crate) fn key(seed: u8) -> SigningKey {
    SigningKey::from_slice(&[seed; 32]).unwrap()
}

pub(crate) fn jwk(key: &SigningKey) -> Value {
    let point = key.verifying_key().to_sec1_point(false);
    json!({
        "kty": "EC",
        "crv": "P-256",
        "x": B64.encode(point.x().unwrap()),
        "y": B64.encode(point.y().unwrap()),
    })
}

/// Documents that the agents' site answers: status, headers, body.
pub(crate) type Documents = Arc<Mutex<BTreeMap<String, (u16, Vec<(String, String)>, String)>>>;

pub(crate) struct Rig {
    pub(crate) issuer: Arc<Issuer>,
    pub(crate) clock: Clock,
    pub(crate) site: Site,
    pub(crate) network: Arc<FakeNetwork>,
    pub(crate) documents: Documents,
    pub(crate) keys: Arc<KeyRing>,
    pub(crate) store: Arc<Store>,
    pub(crate) serial: Mutex<u64>,
    /// Where the store is that the rig made itself.
    pub(crate) _folder: Option<tempfile::TempDir>,
}

impl Rig {
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = embedded(&folder.path().join("s.db")).await;
        Self {
            _folder: Some(folder),
            ..Self::with_store(store, change).await
        }
    }

    pub(crate) async fn with_store(store: Arc<Store>, change: impl FnOnce(&mut Settings)) -> Self {
        let documents: Documents = Arc::default();
        let script = Arc::clone(&documents);
        let site = Site::start(
            &["buyer-agent.example", "other-agent.example"],
            Arc::new(move |path| {
                let documents = script.lock().unwrap();
                let (status, headers, body) = documents.get(path)?;
                let headers: Vec<(&str, &str)> = headers
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.as_str()))
                    .collect();
                Some(answer(*status, &headers, body))
            }),
        )
        .await;
        let network = Arc::new(FakeNetwork::new());
        let public = "93.184.216.34:443".parse().unwrap();
        for name in ["buyer-agent.example", "other-agent.example"] {
            network.name(name, vec![vec![public]]);
        }
        network.route(public, site.address);
        let clock = Clock::fixed("2026-11-30T12:00:00Z".parse().unwrap());
        let keys = Arc::new(KeyRing::generate().unwrap());
        let mut settings = Settings::new(ISSUER, "demo-toyota.example.com");
        change(&mut settings);
        let client = client(&site, &network, PATIENCE);
        let own = (Arc::clone(&keys), Arc::clone(&store), clock.clone());
        let issuer = Issuer::open(settings, client, own.0, own.1, own.2)
            .await
            .unwrap();
        let rig = Self {
            issuer: Arc::new(issuer),
            clock,
            site,
            network,
            documents,
            keys,
            store,
            serial: Mutex::new(0),
            _folder: None,
        };
        rig.publish("/client.json", &metadata(CLIENT));
        rig.publish_keys(&json!([with(&jwk(&key(1)), "kid", json!("k1"))]));
        rig
    }

    /// Another issuer over the same store.
    pub(crate) async fn open(&self, settings: Settings) -> Issuer {
        self.open_over(Arc::clone(&self.store), settings).await
    }

    /// Another issuer over this store.
    pub(crate) async fn open_over(&self, store: Arc<Store>, settings: Settings) -> Issuer {
        let client = client(&self.site, &self.network, PATIENCE);
        let keys = Arc::clone(&self.keys);
        let opened = Issuer::open(settings, client, keys, store, self.clock.clone());
        opened.await.unwrap()
    }

    /// The same issuer, which waits for agents' sites only this long.
    pub(crate) async fn hurried(mut self, timeout: Duration) -> Self {
        let client = client(&self.site, &self.network, timeout);
        let settings = self.issuer.settings().clone();
        let keys = Arc::clone(&self.keys);
        let store = Arc::clone(&self.store);
        let issuer = Issuer::open(settings, client, keys, store, self.clock.clone());
        self.issuer = Arc::new(issuer.await.unwrap());
        self
    }

    /// Publishes a JSON document.
    pub(crate) fn publish(&self, path: &str, document: &Value) {
        self.publish_raw(path, 200, "application/json", &document.to_string());
    }

    pub(crate) fn publish_raw(&self, path: &str, status: u16, media_type: &str, body: &str) {
        let headers = vec![("Content-Type".to_owned(), media_type.to_owned())];
        let mut documents = self.documents.lock().unwrap();
        documents.insert(path.to_owned(), (status, headers, body.to_owned()));
    }

    pub(crate) fn publish_keys(&self, keys: &Value) {
        self.publish("/jwks.json", &json!({ "keys": keys }));
    }

    pub(crate) fn now(&self) -> i64 {
        self.clock.now().as_second()
    }

    pub(crate) fn wait(&self, seconds: i64) {
        self.clock.advance(SignedDuration::from_secs(seconds));
    }

    /// How often the agents' site was asked for a path.
    pub(crate) fn fetches(&self, path: &str) -> usize {
        let line = format!("GET {path} ");
        let requests = self.site.requests();
        requests.iter().filter(|r| r.starts_with(&line)).count()
    }

    pub(crate) fn jti(&self) -> String {
        let mut serial = self.serial.lock().unwrap();
        *serial += 1;
        format!("jti-{:020}", *serial)
    }

    /// A valid token request of [`CLIENT`], [`USER`] and Session key 2.
    pub(crate) fn request(&self) -> Request {
        let assertion = |subject: &str| Jwt {
            header: json!({ "alg": "ES256", "typ": "JWT", "kid": "k1" }),
            claims: json!({
                "iss": CLIENT,
                "sub": subject,
                "aud": ISSUER,
                "iat": self.now(),
                "exp": self.now() + 240,
                "jti": self.jti(),
            }),
            key: key(1),
            raw: None,
        };
        Request {
            client: assertion(CLIENT),
            session: assertion(USER),
            proof: self.proof(TOKEN_ENDPOINT),
            fields: vec![
                ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
                ("client_id", CLIENT),
                (
                    "client_assertion_type",
                    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                ),
                ("client_assertion", "\u{1}"),
                ("assertion", "\u{2}"),
                ("resource", ISSUER),
            ]
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
            more_proofs: Vec::new(),
            media_type: "application/x-www-form-urlencoded",
            query: None,
        }
    }

    /// A proof by Session key 2.
    pub(crate) fn proof(&self, url: &str) -> Jwt {
        Jwt {
            header: json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": jwk(&key(2)) }),
            claims: json!({
                "htm": "POST",
                "htu": url,
                "iat": self.now(),
                "jti": self.jti(),
            }),
            key: key(2),
            raw: None,
        }
    }

    pub(crate) async fn send(&self, request: &Request) -> Reply {
        let (headers, body) = request.message();
        let result = self
            .issuer
            .token(&headers, request.query, body.as_bytes(), peer())
            .await;
        match result {
            Ok(granted) => granted.reply(),
            Err(refusal) => refusal.at_issuer(),
        }
    }

    /// Sends a request with one change.
    pub(crate) async fn try_with(&self, change: impl FnOnce(&mut Request)) -> Reply {
        let mut request = self.request();
        change(&mut request);
        self.send(&request).await
    }

    /// A good token of Session key 2.
    pub(crate) async fn access_token(&self) -> String {
        let reply = self.send(&self.request()).await;
        assert_eq!(reply.status, 200, "{:?}", reply.body);
        reply.body["access_token"].as_str().unwrap().to_owned()
    }

    /// A proof for a skill call with this token.
    pub(crate) fn call_proof(&self, token: &str) -> Jwt {
        let mut proof = self.proof(SKILL);
        proof.claims["ath"] = ath(token).into();
        proof
    }

    pub(crate) async fn call(&self, token: &str, proof: &Jwt) -> Result<Access, Refusal> {
        let headers = call_headers(&format!("DPoP {token}"), &proof.text());
        self.issuer
            .authenticate("POST", SKILL, None, &headers)
            .await
    }

    pub(crate) async fn revoke(&self, token: &str) -> Reply {
        let (headers, body) = self.revocation(token);
        let result = self
            .issuer
            .revoke(&headers, None, body.as_bytes(), peer())
            .await;
        result.unwrap_or_else(|refusal| refusal.at_issuer())
    }

    /// The message that gives a token back.
    pub(crate) fn revocation(&self, token: &str) -> (HeaderMap, String) {
        let request = self.request();
        let fields = request
            .fields
            .iter()
            .filter(|(name, _)| name.starts_with("client"));
        let mut fields: Vec<(String, String)> = fields.cloned().collect();
        fields.push(("token".to_owned(), token.to_owned()));
        let request = Request { fields, ..request };
        let (mut headers, body) = request.message();
        headers.remove("dpop");
        (headers, body)
    }
}

/// A store in a file.
pub(crate) async fn embedded(path: &Path) -> Arc<Store> {
    Arc::new(Store::open_embedded(path).await.unwrap())
}

/// Long enough for a busy machine; who tests silence is in a hurry of its own.
const PATIENCE: Duration = Duration::from_secs(30);

fn client(site: &Site, network: &Arc<FakeNetwork>, timeout: Duration) -> net::Client {
    let policy = Policy {
        extra_ca_file: Some(site.ca_file.clone()),
        network: Network::Fake(Arc::clone(network)),
        timeout,
        connect_timeout: timeout,
        ..Policy::for_peers()
    };
    net::Client::new(policy).unwrap()
}

pub(crate) fn peer() -> IpAddr {
    Ipv4Addr::new(192, 0, 2, 7).into()
}

pub(crate) fn ath(token: &str) -> String {
    B64.encode(sha256(token.as_bytes()))
}

pub(crate) fn sha256(bytes: &[u8]) -> Vec<u8> {
    aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, bytes)
        .as_ref()
        .to_vec()
}

pub(crate) fn call_headers(authorization: &str, proof: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(
        "authorization",
        HeaderValue::from_str(authorization).unwrap(),
    );
    headers.insert("dpop", HeaderValue::from_str(proof).unwrap());
    headers
}

pub(crate) fn metadata(client_id: &str) -> Value {
    let origin = client_id.rsplit_once('/').unwrap().0;
    json!({
        "client_id": client_id,
        "client_name": "Example Buyer Agent",
        "jwks_uri": format!("{origin}/jwks.json"),
        "redirect_uris": [],
        "token_endpoint_auth_method": "private_key_jwt",
    })
}

/// A copy with one member set.
pub(crate) fn with(object: &Value, name: &str, value: Value) -> Value {
    let mut object = object.clone();
    object[name] = value;
    object
}

/// A JWT before it is signed.
#[derive(Clone)]
pub(crate) struct Jwt {
    pub(crate) header: Value,
    pub(crate) claims: Value,
    pub(crate) key: SigningKey,
    /// The whole text instead.
    pub(crate) raw: Option<String>,
}

impl Jwt {
    pub(crate) fn text(&self) -> String {
        self.raw.clone().unwrap_or_else(|| {
            sign(
                &self.header.to_string(),
                &self.claims.to_string(),
                &self.key,
            )
        })
    }

    pub(crate) fn claim(&mut self, name: &str, value: impl Into<Value>) {
        self.claims[name] = value.into();
    }

    pub(crate) fn drop_claim(&mut self, name: &str) {
        self.claims.as_object_mut().unwrap().remove(name);
    }

    /// Signs other JSON text than `serde_json` would write.
    pub(crate) fn with_claims_text(&mut self, change: impl FnOnce(String) -> String) {
        let claims = change(self.claims.to_string());
        self.raw = Some(sign(&self.header.to_string(), &claims, &self.key));
    }
}

pub(crate) fn sign(header: &str, claims: &str, key: &SigningKey) -> String {
    let message = format!("{}.{}", B64.encode(header), B64.encode(claims));
    let signature: Signature = key.sign(message.as_bytes());
    format!("{message}.{}", B64.encode(signature.to_bytes()))
}

#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) client: Jwt,
    pub(crate) session: Jwt,
    pub(crate) proof: Jwt,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) more_proofs: Vec<String>,
    pub(crate) media_type: &'static str,
    pub(crate) query: Option<&'static str>,
}

impl Request {
    pub(crate) fn without(&mut self, name: &str) {
        self.fields.retain(|(field, _)| field != name);
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.without(name);
        self.add(name, value);
    }

    pub(crate) fn add(&mut self, name: &str, value: &str) {
        self.fields.push((name.to_owned(), value.to_owned()));
    }

    /// Both assertions are another client's.
    pub(crate) fn of_client(&mut self, client_id: &str) {
        self.set("client_id", client_id);
        self.client.claim("iss", client_id);
        self.client.claim("sub", client_id);
        self.session.claim("iss", client_id);
    }

    /// The proof is by another Session key.
    pub(crate) fn of_session(&mut self, seed: u8) {
        self.proof.key = key(seed);
        self.proof.header["jwk"] = jwk(&key(seed));
    }

    pub(crate) fn message(&self) -> (HeaderMap, String) {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static(self.media_type));
        for proof in [self.proof.text()].iter().chain(&self.more_proofs) {
            if !proof.is_empty() {
                headers.append("dpop", HeaderValue::from_str(proof).unwrap());
            }
        }
        let encode = |text: &str| {
            text.bytes()
                .map(|b| match b {
                    b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => {
                        char::from(b).to_string()
                    }
                    _ => format!("%{b:02X}"),
                })
                .collect::<String>()
        };
        let value = |value: &str| match value {
            "\u{1}" => self.client.text(),
            "\u{2}" => self.session.text(),
            _ => value.to_owned(),
        };
        let pairs = self.fields.iter();
        let body: Vec<String> = pairs
            .map(|(name, v)| format!("{}={}", encode(name), encode(&value(v))))
            .collect();
        (headers, body.join("&"))
    }
}

/// Asserts a refusal at the issuer, with its headers.
#[track_caller]
pub(crate) fn refused(what: &str, reply: &Reply, status: u16, error: &str) {
    assert_eq!(reply.body["error"], error, "{what}: {:?}", reply.body);
    assert_eq!(reply.status, status, "{what}");
    assert_eq!(reply.headers["content-type"], "application/json", "{what}");
    assert_eq!(reply.headers["cache-control"], "no-store", "{what}");
    let challenged = reply.headers.contains_key("www-authenticate");
    assert_eq!(challenged, status == 401, "{what}");
    if matches!(error, "invalid_client" | "invalid_grant") {
        assert_eq!(reply.body.len(), 1, "{what}: says more than the code");
    }
    let nonces = reply.headers.get_all("dpop-nonce").iter().count();
    assert_eq!(nonces, usize::from(error == "use_dpop_nonce"), "{what}");
}
