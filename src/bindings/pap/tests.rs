//! PAP's endpoints from the outside: statuses, challenges, bodies, and what the log must not hold.

use std::net::IpAddr;

use bytes::Bytes;
use serde_json::json;

use super::*;
use crate::contract::Contract;
use crate::contract::capabilities::Scope;
use crate::delivery;
use crate::deployment::{Gates, McpSettings, Parts as DeploymentParts, Quota, Urls};
use crate::leads::{AdfProfile, Leads, Settings as LeadSettings, TargetSettings};
use crate::oauth::tests::rig::{self, ISSUER, Jwt, Rig};
use crate::profile::{Profile, Rooftop};
use crate::store::Store;

mod native_mcp;

struct Site {
    rig: Rig,
    endpoint: Endpoint,
    _folder: tempfile::TempDir,
}

impl Site {
    async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// A dealer that says who it is and takes leads.
    async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let rig = Rig::with(change).await;
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_embedded(&folder.path().join("s.db")).await;
        let target = delivery::Settings::Directory {
            path: folder.path().join("leads"),
        };
        let profile = AdfProfile::named("standard").unwrap();
        let targets = vec![TargetSettings::new("crm", target, profile)];
        let leads = Leads::new(
            LeadSettings::new("demo", targets),
            Arc::new(store.unwrap()),
            Arc::clone(&rig.keys),
            rig.clock.clone(),
        );
        let public = json!({ "name": "Demo Toyota", "website": "https://demo.example" });
        let rooftop = Rooftop {
            name: "Demo Toyota".to_owned(),
            geo: None,
            timezone: None,
            public: public.as_object().unwrap().clone(),
        };
        let profile = Profile {
            dealer_id: None,
            name: "Demo Toyota".to_owned(),
            welcome_message: None,
            rooftops: vec![rooftop],
        };
        let deployment = Deployment::compile(DeploymentParts {
            id: "demo".to_owned(),
            domain: "demo-toyota.example.com".to_owned(),
            contract: Contract::v3_0().unwrap(),
            skills: vec![Skill::DealerInformation, Skill::LeadSubmit],
            scope: Scope::Dealer,
            profiles: vec![Arc::new(profile)],
            inventory: None,
            leads: Some(Arc::new(leads.unwrap())),
            urls: Urls {
                mcp: "https://demo-toyota.example.com/mcp".to_owned(),
                llms_txt: "https://demo-toyota.example.com/llms.txt".to_owned(),
                agent_card: "https://demo-toyota.example.com/.well-known/agent-card.json"
                    .to_owned(),
                api_catalog: "https://demo-toyota.example.com/.well-known/api-catalog".to_owned(),
                openapi: Some(format!("{ISSUER}/openapi.json")),
                ..Urls::default()
            },
            mcp: McpSettings::default(),
            pap: Some(Arc::clone(&rig.issuer)),
            gates: Gates::default(),
            quota: Quota::default(),
            clock: rig.clock.clone(),
        });
        let endpoint = Endpoint::new(Arc::new(deployment.unwrap())).unwrap();
        Self {
            rig,
            endpoint,
            _folder: folder,
        }
    }

    /// A skill call with a fresh proof of Session key 2.
    async fn call(&self, token: &str, skill: &str, body: &str) -> (u16, Value, Response<Bytes>) {
        let proof = self.proof(token, skill);
        self.send(
            skill,
            &[
                ("authorization", &format!("DPoP {token}")),
                ("dpop", &proof.text()),
            ],
            body,
        )
        .await
    }

    fn proof(&self, token: &str, skill: &str) -> Jwt {
        let mut proof = self.rig.call_proof(token);
        proof.claim("htu", format!("{ISSUER}/skills/{skill}"));
        proof
    }

    async fn send(
        &self,
        skill: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (u16, Value, Response<Bytes>) {
        let mut request = http::Request::post(format!("/poppy/skills/{skill}"))
            .header("content-type", "application/json; charset=utf-8")
            // what a proxy or an attacker says of the host changes nothing
            .header("host", "evil.example")
            .header("x-forwarded-host", "evil.example");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let head = request.body(()).unwrap().into_parts().0;
        self.answer(Part::Skill, &head, body).await
    }

    async fn answer(&self, part: Part, head: &Parts, body: &str) -> (u16, Value, Response<Bytes>) {
        let peer = IpAddr::from([192, 0, 2, 9]);
        let answer = match self.endpoint.admit(part, head).await {
            Ok(admission) => {
                let body = body.as_bytes();
                self.endpoint.answer(admission, head, body, peer).await
            }
            Err(refused) => refused,
        };
        assert_eq!(answer.headers()["content-type"], "application/json");
        assert_eq!(answer.headers()["cache-control"], "no-store");
        assert!(!answer.headers().contains_key("set-cookie"));
        let answer = answer.map(Rope::into_bytes);
        let body: Value = serde_json::from_slice(answer.body()).unwrap();
        held(&body);
        (answer.status().as_u16(), body, answer)
    }
}

/// Holds every AAP payload that a test sees against the contract (AAP-092, AAP-502).
fn held(body: &Value) {
    let Some(kind) = body["type"].as_str() else {
        return;
    };
    let contract = Contract::v3_0().unwrap();
    let skill = kind.strip_suffix(".response").and_then(Skill::from_id);
    let outcome = match skill {
        Some(skill) => contract.check_answer(skill, body),
        None => contract.check_document("error", body),
    };
    assert_eq!(outcome, Ok(()), "{body}");
}

const INFORMATION: &str = r#"{"type":"dealer.information.request"}"#;

fn lead(site: &Site) -> Value {
    json!({
        "type": "lead.submit.request",
        "customer": {
            "first_name": "Ada",
            "last_name": "Lovelace",
            "email": "ada@example.com",
            "preferred_contact": "email",
        },
        "consent": {
            "granted_at": site.rig.clock.now().to_string(),
            "allowed_channels": ["email"],
            "scope": ["lead_submission"],
            "consent_text": "Please send my inquiry to Demo Toyota so they can reply by email.",
        },
        "source_agent": { "name": "example-buyer", "url": "https://buyer.example" },
        "message": "Which hybrids do you have?",
        "idempotency_key": "82ac790c-1926-4e64-944d-5cc0eaebf27f",
    })
}

// AAP-268 AAP-269 AAP-273
#[tokio::test]
async fn a_call_answers_the_unchanged_typed_response() {
    let site = Site::new().await;
    let token = site.rig.access_token().await;
    let (status, body, _) = site.call(&token, "dealer.information", INFORMATION).await;
    assert_eq!(status, 200);
    assert_eq!(body["type"], "dealer.information.response");
    assert_eq!(body["data"]["name"], "Demo Toyota");
}

// AAP-270 AAP-293 AAP-294 AAP-295
#[tokio::test]
async fn skill_errors_are_plain_aap_errors_with_their_status() {
    let site = Site::new().await;
    let token = site.rig.access_token().await;
    for (skill, body, status, code) in [
        ("inventory.search", "{}", 404, "UNSUPPORTED_SKILL"),
        ("vehicle.purchase", "{}", 404, "UNSUPPORTED_SKILL"),
        (
            "dealer.information",
            r#"{"type":"inventory.search.request"}"#,
            422,
            "SCHEMA_VALIDATION_FAILED",
        ),
        ("dealer.information", "{", 422, "SCHEMA_VALIDATION_FAILED"),
        (
            "dealer.information",
            r#"{"type":"dealer.information.request","type":"x"}"#,
            422,
            "SCHEMA_VALIDATION_FAILED",
        ),
        (
            "dealer.information",
            r#"{"type":"dealer.information.request","dealer_id":"d-9"}"#,
            404,
            "DEALER_NOT_FOUND",
        ),
        (
            "lead.submit",
            r#"{"type":"lead.submit.request"}"#,
            422,
            "MISSING_REQUIRED_FIELD",
        ),
    ] {
        let (got, error, _) = site.call(&token, skill, body).await;
        assert_eq!(error["code"], code, "{skill} {body}: {error}");
        assert_eq!(got, status, "{skill} {body}");
        assert_eq!(error["type"], "aap.error");
        assert!(error["error_id"].as_str().unwrap().starts_with("err_"));
        assert!(error.get("@type").is_none() && error.get("jsonrpc").is_none());
        let document = site
            .endpoint
            .deployment
            .contract
            .check_document("error", &error);
        assert_eq!(document, Ok(()));
    }
}

// AAP-053 AAP-256 AAP-265 AAP-281 AAP-288 AAP-430 AAP-586
#[tokio::test]
async fn strangers_are_challenged_before_anything_is_read() {
    let site = Site::new().await;
    let token = site.rig.access_token().await;
    let proof = site.proof(&token, "dealer.information").text();
    let bearer = format!("Bearer {token}");
    let anonymous = r#"{"type":"inventory.search.request","privacy":{"anonymous":true}}"#;
    for headers in [
        vec![],
        vec![("authorization", bearer.as_str()), ("dpop", proof.as_str())],
    ] {
        for (skill, body) in [
            ("dealer.information", "{ no JSON"),
            ("no.such.skill", "{}"),
            ("inventory.search", anonymous),
        ] {
            let (status, body, answer) = site.send(skill, &headers, body).await;
            assert_eq!((status, &body["error"]), (401, &json!("invalid_token")));
            let challenge = answer.headers()["www-authenticate"].to_str().unwrap();
            assert!(challenge.starts_with("DPoP error=\"invalid_token\""));
        }
    }
}

// AAP-257
#[tokio::test]
async fn a_proof_for_one_skill_opens_no_other_and_no_other_spelling() {
    let site = Site::new().await;
    let token = site.rig.access_token().await;
    let proof = site.proof(&token, "dealer.information").text();
    let authorization = format!("DPoP {token}");
    let headers = [
        ("authorization", authorization.as_str()),
        ("dpop", proof.as_str()),
    ];
    let (status, body, _) = site.send("lead.submit", &headers, "{}").await;
    assert_eq!(
        (status, &body["error"]),
        (401, &json!("invalid_dpop_proof"))
    );
    let (status, ..) = site
        .send("dealer.information/", &headers, INFORMATION)
        .await;
    assert_eq!(status, 404);
    let (status, ..) = site.send("dealer.information", &headers, INFORMATION).await;
    assert_eq!(status, 200);
}

// AAP-282 AAP-283 AAP-287
#[tokio::test]
async fn the_issuers_endpoints_take_only_posted_forms() {
    let site = Site::new().await;
    for (part, path) in [
        (Part::Token, "/poppy/oauth/token"),
        (Part::Revocation, "/poppy/oauth/revoke"),
    ] {
        let head = http::Request::get(path).body(()).unwrap().into_parts().0;
        let (status, _, answer) = site.answer(part, &head, "").await;
        assert_eq!(status, 405);
        assert_eq!(answer.headers()["allow"], "POST");
        let head = http::Request::post(path).body(()).unwrap().into_parts().0;
        let (status, body, _) = site.answer(part, &head, "{}").await;
        assert_eq!((status, &body["error"]), (400, &json!("invalid_request")));
        let head = http::Request::post(format!("{path}/"))
            .body(())
            .unwrap()
            .into_parts()
            .0;
        let (status, ..) = site.answer(part, &head, "").await;
        assert_eq!(status, 404);
    }
}

// AAP-243 AAP-287
#[tokio::test]
async fn a_proxy_or_forger_says_nothing_of_the_url() {
    let site = Site::new().await;
    let forged = [
        ("host", "evil.example"),
        ("x-forwarded-host", "evil.example"),
        ("x-forwarded-proto", "http"),
        ("forwarded", "host=evil.example;proto=http"),
    ];
    for (htu, expected) in [
        // TLS ends at a proxy, and inside it is another host over plain HTTP
        ("https://demo-toyota.example.com/poppy/oauth/token", 200),
        ("https://evil.example/poppy/oauth/token", 400),
        ("http://demo-toyota.example.com/poppy/oauth/token", 400),
    ] {
        let mut request = site.rig.request();
        request.proof.claim("htu", htu);
        let (mut headers, body) = request.message();
        for (name, value) in forged {
            headers.insert(name, HeaderValue::from_static(value));
        }
        let head = http::Request::post("/poppy/oauth/token").body(());
        let mut head = head.unwrap().into_parts().0;
        head.headers = headers;
        let (status, body, _) = site.answer(Part::Token, &head, &body).await;
        assert_eq!(status, expected, "{htu}: {body}");
        if expected == 400 {
            assert_eq!(body["error"], "invalid_dpop_proof");
        }
        assert!(!body.to_string().contains("evil"));
    }
}

// AAP-276 AAP-277 AAP-278
#[tokio::test]
async fn a_lead_is_replayed_after_renewal_and_expiry_but_not_for_another_user() {
    let site = Site::new().await;
    let request = lead(&site).to_string();
    let token = site.rig.access_token().await;
    let (status, first, _) = site.call(&token, "lead.submit", &request).await;
    assert_eq!(status, 200, "{first}");
    site.rig.wait(3600);
    let (status, body, _) = site.call(&token, "lead.submit", &request).await;
    assert_eq!((status, &body["error"]), (401, &json!("invalid_token")));
    let renewed = site.rig.access_token().await;
    let (status, again, _) = site.call(&renewed, "lead.submit", &request).await;
    assert_eq!((status, &again["data"]["replayed"]), (200, &json!(true)));
    let changed = request.replace("Which hybrids", "Which trucks");
    let (status, conflict, _) = site.call(&renewed, "lead.submit", &changed).await;
    assert_eq!(
        (status, &conflict["code"]),
        (409, &json!("IDEMPOTENCY_CONFLICT"))
    );

    let other = site
        .rig
        .try_with(|r| {
            r.of_session(3);
            r.session.claim("sub", "someone-else");
        })
        .await;
    let other = other.body["access_token"].as_str().unwrap();
    let mut proof = site.proof(other, "lead.submit");
    proof.key = rig::key(3);
    proof.header["jwk"] = rig::jwk(&rig::key(3));
    let authorization = format!("DPoP {other}");
    let headers = [
        ("authorization", authorization.as_str()),
        ("dpop", &proof.text()),
    ];
    // its own consent, at its own time
    let (status, separate, _) = site
        .send("lead.submit", &headers, &lead(&site).to_string())
        .await;
    assert_eq!(status, 200, "{separate}");
    assert_ne!(separate["data"]["replayed"], true);
}

// AAP-250 AAP-274 AAP-275 AAP-280 AAP-296
#[tokio::test]
async fn a_session_is_no_consent_and_attribution_is_no_identity() {
    let site = Site::new().await;
    let token = site.rig.access_token().await;
    let mut request = lead(&site);
    request.as_object_mut().unwrap().remove("consent");
    let (status, error, _) = site.call(&token, "lead.submit", &request.to_string()).await;
    assert_eq!(
        (status, &error["code"]),
        (403, &json!("CONTACT_CONSENT_REQUIRED"))
    );
    let mut request = lead(&site);
    request["consent"]["granted_at"] = json!("2027-11-30T12:00:00Z");
    let (status, error, _) = site.call(&token, "lead.submit", &request.to_string()).await;
    assert_eq!((status, &error["code"]), (403, &json!("INVALID_CONSENT")));
    let mut request = lead(&site);
    request["source_agent"]["url"] = json!("https://other-agent.example");
    let first = site
        .call(&token, "lead.submit", &lead(&site).to_string())
        .await;
    assert_eq!(first.0, 200);
    let (status, spoofed, _) = site.call(&token, "lead.submit", &request.to_string()).await;
    assert_eq!(
        (status, &spoofed["code"]),
        (409, &json!("IDEMPOTENCY_CONFLICT"))
    );
}

// AAP-292 AAP-298 AAP-504
#[tokio::test]
async fn limits_answer_429_with_retry_after_everywhere() {
    let site = Site::with(|s| s.calls_per_minute_and_session = 1).await;
    let token = site.rig.access_token().await;
    let (status, ..) = site.call(&token, "dealer.information", INFORMATION).await;
    assert_eq!(status, 200);
    let (status, body, answer) = site.call(&token, "dealer.information", INFORMATION).await;
    assert_eq!((status, &body["code"]), (429, &json!("RATE_LIMITED")));
    let seconds: u64 = answer.headers()["retry-after"]
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!((1..=61).contains(&seconds));
    assert_eq!(body["details"]["retry_after_ms"], seconds * 1000);
}

// AAP-261 AAP-289
#[tokio::test]
async fn nonces_are_asked_for_and_renewed_in_answers() {
    let site = Site::with(|s| s.nonces = crate::oauth::NonceMode::Required).await;
    let rig = &site.rig;
    let mut request = rig.request();
    let challenge = rig.send(&request).await;
    request.proof = rig.proof(rig::TOKEN_ENDPOINT);
    request
        .proof
        .claim("nonce", challenge.headers["dpop-nonce"].to_str().unwrap());
    let granted = rig.send(&request).await;
    let token = granted.body["access_token"].as_str().unwrap();
    let (status, _, answer) = site.call(token, "dealer.information", INFORMATION).await;
    assert_eq!(status, 401);
    let challenge = answer.headers()["www-authenticate"].to_str().unwrap();
    assert!(
        challenge.contains("error=\"use_dpop_nonce\""),
        "{challenge}"
    );
    let mut proof = site.proof(token, "dealer.information");
    proof.claim("nonce", answer.headers()["dpop-nonce"].to_str().unwrap());
    let authorization = format!("DPoP {token}");
    let headers = [
        ("authorization", authorization.as_str()),
        ("dpop", &proof.text()),
    ];
    let (status, _, answer) = site.send("dealer.information", &headers, INFORMATION).await;
    assert_eq!(status, 200);
    assert_eq!(answer.headers().get_all("dpop-nonce").iter().count(), 1);
}

// AAP-196 AAP-203 AAP-205 AAP-223 AAP-215 AAP-216 AAP-217 AAP-219 AAP-220 AAP-301
#[tokio::test]
async fn discovery_documents_hold_to_the_contract() {
    let site = Site::new().await;
    let deployment = &site.endpoint.deployment;
    let poppy = crate::bindings::discovery::poppy::write(deployment);
    assert_eq!(deployment.contract.check_document("poppy", &poppy), Ok(()));
    assert_eq!(poppy["auth"], json!({ "issuer": ISSUER }));
    assert_eq!(poppy["organization"]["domain"], "demo-toyota.example.com");
    assert_eq!(poppy["apis"][0]["resource"], ISSUER);
    let bridge = &poppy["extensions"]["autoagentprotocol.org/aap"];
    for name in ["agent_card", "mcp", "llms_txt", "api_catalog"] {
        let url: http::Uri = bridge[name].as_str().unwrap().parse().unwrap();
        assert_eq!(url.scheme_str(), Some("https"), "{name}");
        assert_eq!(url.authority().unwrap(), "demo-toyota.example.com");
    }
    let metadata = site.rig.issuer.metadata();
    let metadata = deployment
        .contract
        .check_document("oauth-metadata", &metadata);
    assert_eq!(metadata, Ok(()));
}

// AAP-338: what is optional and not there is named nowhere: no sign-in, scope, account, way into a browser,
// conversation, feedback, and no task that is excluded.
#[tokio::test]
async fn no_optional_surface_is_advertised() {
    let site = Site::new().await;
    let deployment = &site.endpoint.deployment;
    let poppy = crate::bindings::discovery::poppy::write(deployment);
    let members =
        |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let named = [
        "protocol_version",
        "organization",
        "web",
        "extensions",
        "auth",
        "apis",
    ];
    assert_eq!(members(&poppy), named);
    assert_eq!(members(&poppy["web"]), [""; 0]);
    assert_eq!(members(&poppy["auth"]), ["issuer"]);
    assert_eq!(members(&poppy["organization"]), ["name", "domain"]);
    for api in poppy["apis"].as_array().unwrap() {
        assert_eq!(members(api), ["type", "url", "resource", "description"]);
        assert!(["openapi", "mcp"].contains(&api["type"].as_str().unwrap()));
    }
    let metadata = site.rig.issuer.metadata();
    let grants = [
        "urn:ietf:params:oauth:grant-type:jwt-bearer",
        "refresh_token",
    ];
    assert_eq!(metadata["grant_types_supported"], json!(grants));
    for absent in [
        "scopes_supported",
        "authorization_endpoint",
        "device_authorization_endpoint",
        "pushed_authorization_request_endpoint",
        "registration_endpoint",
    ] {
        assert_eq!(metadata.get(absent), None, "{absent}");
    }
    let openapi = crate::bindings::discovery::openapi::write(deployment).unwrap();
    let schemes = members(&openapi["components"]["securitySchemes"]);
    assert_eq!(schemes, ["poppySession"], "no scheme has scopes");
}

// AAP-197 AAP-198 AAP-266 AAP-267 AAP-271 AAP-272
#[tokio::test]
async fn the_openapi_document_describes_these_skills_and_no_others() {
    let site = Site::new().await;
    let deployment = &site.endpoint.deployment;
    let document = crate::bindings::discovery::openapi::write(deployment).unwrap();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["servers"], json!([{ "url": ISSUER }]));
    let extension = "https://autoagentprotocol.org/extensions/aap/v3.0";
    assert_eq!(document["x-aap-extension"], extension);
    let paths: Vec<&String> = document["paths"].as_object().unwrap().keys().collect();
    assert_eq!(paths, ["/skills/dealer.information", "/skills/lead.submit"]);
    let text = document.to_string();
    assert!(!text.contains("#/$defs/"));
    for (at, _) in text.match_indices("\"$ref\":\"") {
        let target = text.get(at + 8..).unwrap().split('"').next().unwrap();
        let pointer = target.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{target}");
    }
    let scheme = &document["components"]["securitySchemes"]["poppySession"];
    assert_eq!(
        (&scheme["type"], &scheme["scheme"]),
        (&json!("http"), &json!("DPoP"))
    );
}

/// Everything logged by all tests of this binary, once somebody asks. One subscriber for all threads:
/// scoped ones lose events of call sites that other threads meet at the same time.
#[derive(Clone, Default)]
struct Log(Arc<std::sync::Mutex<Vec<u8>>>);

impl Log {
    fn start() -> Self {
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_env_filter("forecourt=trace,hyper=trace")
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::set_global_default(subscriber).unwrap();
        log
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

// AAP-264 AAP-340 AAP-341 AAP-501
#[tokio::test]
async fn nothing_secret_reaches_the_log() {
    let log = Log::start();
    let site = Site::new().await;
    let request = site.rig.request();
    let jwts = [&request.client, &request.session, &request.proof].map(Jwt::text);
    let (headers, body) = request.message();
    let head = http::Request::post("/poppy/oauth/token").body(());
    let mut head = head.unwrap().into_parts().0;
    head.headers = headers;
    let (status, granted, _) = site.answer(Part::Token, &head, &body).await;
    assert_eq!(status, 200);
    // the same again is refused, and that is logged
    let (status, ..) = site.answer(Part::Token, &head, &body).await;
    assert_eq!(status, 401);
    let token = granted["access_token"].as_str().unwrap();
    for _ in 0..2 {
        let lead = lead(&site).to_string();
        let (status, ..) = site.call(token, "lead.submit", &lead).await;
        assert_eq!(status, 200);
    }
    let (status, ..) = site
        .call(token, "lead.submit", r#"{"customer":"Lovelace"}"#)
        .await;
    assert_eq!(status, 422);
    let query = format!("/poppy/skills/lead.submit?access_token={token}");
    let head = http::Request::post(query).body(()).unwrap().into_parts().0;
    let (status, ..) = site.answer(Part::Skill, &head, "{}").await;
    assert_eq!(status, 400);
    assert_eq!(site.rig.revoke(token).await.status, 200);

    let log = log.text();
    for told in [
        "client assertion: replay",
        "credentials do not belong",
        "caller=\"pap\"",
    ] {
        assert!(log.contains(told), "{told}");
    }
    let user = [rig::USER, "Lovelace", "ada@example.com", token];
    let halves = jwts.iter().map(|jwt| jwt.rsplit_once('.').unwrap().0);
    for secret in user.into_iter().chain(halves) {
        assert!(!log.contains(secret), "{secret}");
    }
}
