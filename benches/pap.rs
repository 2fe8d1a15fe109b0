//! What a call over PAP costs the server, in verifications of one ES256 signature: processor time of a whole
//! `forecourt demo` over keep-alive HTTP, with proofs signed beforehand. `cargo bench --bench pap`.
//! Prints the ratio of a search for a server that has one request at a time, and sleeps between them, and for one
//! that has some, and there of the other skills, too; fails when a search is above 2.5. A lead's time holds its
//! delivery to the demo's own mail receiver.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench may stop and prints what it measured"
)]

#[path = "stock/lead.rs"]
mod lead;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use forecourt::clock::Clock;
use jsonwebtoken::{Algorithm, DecodingKey, crypto};
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject as _;
use serde_json::{Value, json};

/// Reading calls of one measurement, and leads; their proofs are signed before it begins.
const READS: usize = 12_000;
const LEADS: usize = 2_000;
const WARM_UP: usize = 1_000;
const SEARCH: &str = "inventory.search";
/// Connections of a server that has something to do.
const CONNECTIONS: usize = 8;
const MOST: f64 = 2.5;

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let identity = SigningKey::from_slice(&[1; 32]).expect("a key");
    let session = SigningKey::from_slice(&[2; 32]).expect("a key");
    let client_id = publish(folder.path(), &identity);
    let mut demo = Demo::start(folder.path());
    let base = demo.base.clone();
    let token = sign_in(&base, &client_id, &identity, &session);

    let verification_us = verification(&session);
    let signed = |skill: &str, body: &Value| signed(&base, skill, body, &token, &session);
    let find = signed(SEARCH, &search());
    let (_, answer) = Connection::open(&base).send(&find);
    let answer: Value = serde_json::from_slice(&answer).expect("JSON");
    let vehicle_id = answer["data"]["vehicles"][0]["vehicle_id"].clone();
    let vehicle = json!({"type": "inventory.vehicle.request", "vehicle_id": vehicle_id});
    let facets = json!({"type": "inventory.facets.request", "filters": {"condition": ["used"]}});

    let warm_up: Vec<Vec<u8>> = (0..WARM_UP).map(|_| signed(SEARCH, &search())).collect();
    let bytes = Connection::open(&base).send_all(&warm_up);
    println!("a search's answer has {bytes} bytes");
    println!("one ES256 verification: {verification_us:.1} µs of processor time");
    let measure = |skill: &str, connections: usize, count: usize, body: &dyn Fn() -> Value| {
        let shares: Vec<Vec<Vec<u8>>> = (0..connections)
            .map(|_| {
                let share = 0..count / connections;
                share.map(|_| signed(skill, &body())).collect()
            })
            .collect();
        let before = cpu_us(&demo.pid());
        std::thread::scope(|scope| {
            for share in &shares {
                scope.spawn(|| Connection::open(&base).send_all(share));
            }
        });
        let sent = count / connections * connections;
        let call_us = (cpu_us(&demo.pid()) - before) / as_f64(sent);
        let ratio = call_us / verification_us;
        println!(
            "one PAP {skill}, {connections} at a time: {call_us:.1} µs of processor time at the server, ratio {ratio:.2}"
        );
        ratio
    };
    measure(SEARCH, 1, READS, &search);
    let ratio = measure(SEARCH, CONNECTIONS, READS, &search);
    measure("inventory.facets", CONNECTIONS, READS, &|| facets.clone());
    measure("inventory.vehicle", CONNECTIONS, READS, &|| vehicle.clone());
    measure("lead.submit", CONNECTIONS, LEADS, &|| lead::request(&jti()));
    demo.end();
    println!("a search at most {MOST}");
    assert!(ratio <= MOST, "a PAP search costs too much");
}

fn as_f64(count: usize) -> f64 {
    f64::from(u32::try_from(count).expect("a small count"))
}

/// Processor time that a process has used so far, user and system.
fn cpu_us(process: &str) -> f64 {
    // 100 ticks a second on every Linux
    const TICK_US: f64 = 10_000.0;
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).expect("a process");
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .expect("fields")
        .split(' ')
        .collect();
    let ticks = |n: usize| fields[n].parse::<f64>().expect("a number");
    (ticks(12) + ticks(13)) * TICK_US
}

/// Processor time of one verification, by the library that the server uses.
fn verification(key: &SigningKey) -> f64 {
    let message = "x".repeat(400);
    let signature: Signature = key.sign(message.as_bytes());
    let signature = B64.encode(signature.to_bytes());
    let jwk = jwk(key);
    let text = |name: &str| jwk[name].as_str().expect("a coordinate").to_owned();
    let key = DecodingKey::from_ec_components(&text("x"), &text("y")).expect("a key");
    let before = cpu_us("self");
    for _ in 0..READS {
        let good = crypto::verify(&signature, message.as_bytes(), &key, Algorithm::ES256);
        assert!(good.expect("a verdict"));
    }
    (cpu_us("self") - before) / as_f64(READS)
}

fn jwk(key: &SigningKey) -> Value {
    let point = key.verifying_key().to_sec1_point(false);
    json!({
        "kty": "EC",
        "crv": "P-256",
        "x": B64.encode(point.x().expect("a coordinate")),
        "y": B64.encode(point.y().expect("a coordinate")),
    })
}

fn sign(key: &SigningKey, header: &Value, claims: &Value) -> String {
    let message = format!(
        "{}.{}",
        B64.encode(header.to_string()),
        B64.encode(claims.to_string())
    );
    let signature: Signature = key.sign(message.as_bytes());
    format!("{message}.{}", B64.encode(signature.to_bytes()))
}

fn now() -> i64 {
    Clock::system().now().as_second()
}

fn jti() -> String {
    uuid::Uuid::new_v4().to_string()
}

fn proof(key: &SigningKey, url: &str, token: Option<&str>) -> String {
    let header = json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": jwk(key) });
    let mut claims = json!({ "htm": "POST", "htu": url, "iat": now(), "jti": jti() });
    if let Some(token) = token {
        let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, token.as_bytes());
        claims["ath"] = B64.encode(digest).into();
    }
    sign(key, &header, &claims)
}

fn search() -> Value {
    json!({"type": "inventory.search.request", "filters": {"condition": ["used"]}, "pagination": {"limit": 10}})
}

/// One call with its proof, as a whole HTTP request.
fn signed(base: &str, skill: &str, body: &Value, token: &str, session: &SigningKey) -> Vec<u8> {
    let host = base.trim_start_matches("http://");
    let path = format!("/poppy/skills/{skill}");
    let proof = proof(session, &format!("{base}{path}"), Some(token));
    let body = body.to_string();
    format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: DPoP {token}\r\n\
         DPoP: {proof}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// The guest grant.
fn sign_in(base: &str, client_id: &str, identity: &SigningKey, session: &SigningKey) -> String {
    let issuer = format!("{base}/poppy");
    let url = format!("{issuer}/oauth/token");
    let assertion = |subject: &str| {
        let header = json!({ "alg": "ES256", "typ": "JWT" });
        let claims = json!({
            "iss": client_id, "sub": subject, "aud": issuer,
            "iat": now(), "exp": now() + 120, "jti": jti(),
        });
        sign(identity, &header, &claims)
    };
    let encode = |text: &str| text.replace(':', "%3A").replace('/', "%2F");
    let body = format!(
        "grant_type={}&client_id={}&client_assertion_type={}&client_assertion={}&assertion={}&resource={}",
        encode("urn:ietf:params:oauth:grant-type:jwt-bearer"),
        encode(client_id),
        encode("urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
        assertion(client_id),
        assertion("bench-user"),
        encode(&issuer),
    );
    let host = base.trim_start_matches("http://");
    let request = format!(
        "POST /poppy/oauth/token HTTP/1.1\r\nHost: {host}\r\nDPoP: {}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
        proof(session, &url, None),
        body.len()
    );
    let mut connection = Connection::open(base);
    let (status, body) = connection.send(request.as_bytes());
    let body: Value = serde_json::from_slice(&body).expect("JSON");
    assert_eq!(status, 200, "{body}");
    body["access_token"].as_str().expect("a token").to_owned()
}

/// One kept connection.
struct Connection(BufReader<TcpStream>);

impl Connection {
    fn open(base: &str) -> Self {
        let stream = TcpStream::connect(base.trim_start_matches("http://")).expect("a server");
        stream.set_nodelay(true).expect("a socket");
        Self(BufReader::new(stream))
    }

    fn send_all(&mut self, requests: &[Vec<u8>]) -> usize {
        let mut bytes = 0;
        for request in requests {
            let (status, body) = self.send(request);
            assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
            bytes = body.len();
        }
        bytes
    }

    fn send(&mut self, request: &[u8]) -> (u16, Vec<u8>) {
        self.0.get_mut().write_all(request).expect("written");
        let (mut status, mut length) = (0, 0);
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line).expect("a line");
            let line = line.trim_end().to_ascii_lowercase();
            if let Some(rest) = line.strip_prefix("http/1.1 ") {
                let code = rest.split(' ').next().expect("a status");
                status = code.parse().expect("a number");
            } else if let Some(rest) = line.strip_prefix("content-length:") {
                length = rest.trim().parse().expect("a length");
            } else if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).expect("a body");
        (status, body)
    }
}

/// A demo that lets the bench's identity in.
struct Demo {
    process: Child,
    base: String,
}

impl Demo {
    fn start(folder: &Path) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_forecourt"))
            .args([
                "demo",
                "--listen",
                "127.0.0.1:0",
                "--output",
                "json",
                "--data",
            ])
            .arg(folder.join("demo"))
            .arg("--trust-agent-ca")
            .arg(folder.join("ca.pem"))
            .env("FORECOURT_LOG", "warn")
            .env(
                "FORECOURT_DEPLOYMENTS__DEMO__PAP__CALLS_PER_MINUTE_PER_SESSION",
                "1000000",
            )
            .env("FORECOURT_DEPLOYMENTS__DEMO__PAP__PROOF_WINDOW_S", "300")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program");
        let mut line = String::new();
        let out = process.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut line).expect("a line");
        let ready: Value = serde_json::from_str(&line).expect("JSON");
        let base = ready["base_url"].as_str().expect("an address").to_owned();
        Self { process, base }
    }

    fn pid(&self) -> String {
        self.process.id().to_string()
    }

    fn end(&mut self) {
        self.process.kill().expect("a process");
        self.process.wait().expect("its end");
    }
}

/// Publishes the identity on loopback as long as this process lives.
fn publish(folder: &Path, identity: &SigningKey) -> String {
    let mut authority = CertificateParams::new(Vec::new()).expect("parameters");
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    let key = KeyPair::generate().expect("a key");
    let authority = CertifiedIssuer::self_signed(authority, key).expect("an authority");
    let key = KeyPair::generate().expect("a key");
    let leaf = CertificateParams::new(["127.0.0.1".to_owned()]).expect("parameters");
    let leaf = leaf.signed_by(&key, &authority).expect("a certificate");
    fs::write(folder.join("ca.pem"), authority.pem()).expect("written");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let key = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).expect("a key");
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], key)
        .expect("a certificate");
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let origin = format!("https://{}", listener.local_addr().expect("an address"));
    let client_id = format!("{origin}/client.json");
    let client = json!({
        "client_id": client_id,
        "client_name": "bench",
        "jwks_uri": format!("{origin}/jwks.json"),
        "redirect_uris": [],
        "token_endpoint_auth_method": "private_key_jwt",
    });
    let keys = json!({ "keys": [jwk(identity)] });
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).expect("TLS");
            let mut stream = rustls::StreamOwned::new(connection, stream);
            let mut head = [0; 1024];
            let Ok(read) = stream.read(&mut head) else {
                continue;
            };
            let asks_keys = head[..read].starts_with(b"GET /jwks.json ");
            let body = if asks_keys { &keys } else { &client }.to_string();
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            drop(
                stream
                    .write_all(answer.as_bytes())
                    .and_then(|()| stream.flush()),
            );
        }
    });
    client_id
}
