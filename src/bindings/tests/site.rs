//! One dealer behind MCP, A2A and PAP, asked in this process.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use http::request::Parts;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::bindings::{a2a, mcp, pap};
use crate::contract::capabilities::{Capabilities, Scope, SearchOptions};
use crate::contract::{Contract, Rope, Skill};
use crate::delivery::{self, HttpAuth, HttpForm, HttpSettings, Rules};
use crate::deployment::{
    Deployment, DeploymentError, Gates, McpSettings, Parts as All, Quota, Urls,
};
use crate::inventory::{Frame, Identifiers, Inventory, Reader, Settings, Unit};
use crate::leads::{
    AdfProfile, Leads, Scheduling, SchedulingAnswer, Settings as LeadSettings, TargetSettings,
};
use crate::net::Policy;
use crate::oauth::tests::rig::{ISSUER, Rig};
use crate::profile::{Profile, Rooftop};
use crate::store::Store;

pub(super) const HOST: &str = "https://demo-toyota.example.com";

pub(super) fn contract() -> Arc<Contract> {
    static CONTRACT: LazyLock<Arc<Contract>> = LazyLock::new(|| Contract::v3_0().unwrap());
    Arc::clone(&CONTRACT)
}

/// What a test chooses.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) skills: Vec<Skill>,
    /// The listing fields that the mapping fills.
    pub(super) supplied: BTreeSet<String>,
    pub(super) has_geo: bool,
    pub(super) has_pap: bool,
    pub(super) offset: bool,
    pub(super) max_age_s: Option<i64>,
    pub(super) quota: Quota,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            skills: Skill::ALL.to_vec(),
            supplied: Capabilities::fields(),
            has_geo: true,
            has_pap: true,
            offset: false,
            max_age_s: None,
            quota: Quota::default(),
        }
    }
}

/// What every dealer of a test shares: an issuer with its agents, and a lead desk.
pub(super) struct Ground {
    pub(super) rig: Rig,
    leads: Arc<Leads>,
    _folder: tempfile::TempDir,
}

impl Ground {
    pub(super) async fn new() -> Self {
        let rig = Rig::new().await;
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_embedded(&folder.path().join("s.db")).await;
        let target = delivery::Settings::Directory {
            path: folder.path().join("leads"),
        };
        let adf = AdfProfile::named("standard").unwrap();
        let mut settings = LeadSettings::new("demo", vec![TargetSettings::new("crm", target, adf)]);
        settings.scheduling = Some(scheduling().await);
        let leads = Leads::new(
            settings,
            Arc::new(store.unwrap()),
            Arc::clone(&rig.keys),
            rig.clock.clone(),
        );
        Self {
            rig,
            leads: Arc::new(leads.unwrap()),
            _folder: folder,
        }
    }

    pub(super) async fn dealer(&self, plan: Plan) -> Result<Dealer, Vec<DeploymentError>> {
        let deployment = self.deployment(plan).await?;
        Ok(Dealer {
            mcp: mcp::Endpoint::new(Arc::clone(&deployment)),
            a2a: a2a::Endpoint::new(Arc::clone(&deployment)),
            pap: pap::Endpoint::new(Arc::clone(&deployment)),
            deployment,
        })
    }

    async fn deployment(&self, plan: Plan) -> Result<Arc<Deployment>, Vec<DeploymentError>> {
        let profile = Arc::new(profile(plan.has_geo));
        let inventory = self.inventory(&plan, &profile).await;
        let deployment = Deployment::compile(All {
            id: "demo".to_owned(),
            domain: "demo-toyota.example.com".to_owned(),
            contract: contract(),
            skills: plan.skills,
            scope: Scope::Dealer,
            profiles: vec![profile],
            inventory: Some(inventory),
            leads: Some(Arc::clone(&self.leads)),
            urls: urls(plan.has_pap),
            mcp: McpSettings::default(),
            gates: Gates::default(),
            pap: plan.has_pap.then(|| Arc::clone(&self.rig.issuer)),
            quota: plan.quota,
            clock: self.rig.clock.clone(),
        });
        deployment.map(Arc::new)
    }

    async fn inventory(&self, plan: &Plan, profile: &Arc<Profile>) -> Arc<Inventory> {
        let mut options = SearchOptions::new(Scope::Dealer, &plan.skills);
        options.offset = plan.offset;
        let capabilities = Capabilities::compile(&plan.supplied, plan.has_geo, &options).unwrap();
        let mut settings = Settings::new("demo", capabilities);
        settings.max_age_s = plan.max_age_s;
        let reader = Reader::new(|sink| async move {
            for unit in units() {
                sink.send(unit).await.map_err(|error| error.to_string())?;
            }
            Ok(())
        });
        let frame = Frame::new(
            Scope::Dealer,
            std::slice::from_ref(profile),
            vec![("sunroof".to_owned(), "Sunroof".to_owned())],
        );
        let contract = contract();
        Inventory::with_reader(
            settings,
            reader,
            frame,
            Arc::new(move |listing: &Value| contract.check_listing(listing)),
            Arc::clone(&self.rig.keys),
            self.rig.clock.clone(),
        )
        .await
        .unwrap()
    }
}

/// A system that has no time for services, and leaves all else to people.
async fn scheduling() -> Scheduling {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut text = Vec::new();
            while !text.ends_with(b"}") {
                assert_ne!(stream.read_buf(&mut text).await.unwrap(), 0);
            }
            let text = String::from_utf8(text).unwrap();
            let state = if text.contains("\"appointment_type\":\"service\"") {
                "unavailable"
            } else {
                "requested"
            };
            let body = json!({ "state": state }).to_string();
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
            );
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    Scheduling {
        http: HttpSettings {
            url,
            policy: Policy {
                allow_http: true,
                ..Policy::for_operator()
            },
            form: HttpForm::Plain {
                content_type: "application/json".to_owned(),
            },
            auth: HttpAuth::None,
            headers: Vec::new(),
            signature: None,
            correlation_header: None,
            rules: Rules::default(),
            deduplicates: false,
        },
        request: Vec::new(),
        answer: SchedulingAnswer {
            outcome: "json.state".to_owned(),
            confirmed_at: None,
            proposed_times: None,
            reject_lead: None,
        },
        timeout: Duration::from_secs(10),
    }
}

fn urls(has_pap: bool) -> Urls {
    Urls {
        mcp: format!("{HOST}/mcp"),
        a2a: format!("{HOST}/a2a"),
        llms_txt: format!("{HOST}/llms.txt"),
        inventory_page: format!("{HOST}/inventory"),
        agent_card: format!("{HOST}/.well-known/agent-card.json"),
        poppy: format!("{HOST}/.well-known/poppy.json"),
        api_catalog: format!("{HOST}/.well-known/api-catalog"),
        openapi: has_pap.then(|| format!("{ISSUER}/openapi.json")),
        ..Urls::default()
    }
}

fn profile(has_geo: bool) -> Profile {
    let public = json!({ "name": "Main Street" });
    Profile {
        dealer_id: None,
        name: "Demo Toyota".to_owned(),
        welcome_message: None,
        rooftops: vec![Rooftop {
            name: "Main Street".to_owned(),
            geo: has_geo.then_some((41.9, -87.6)),
            timezone: None,
            public: public.as_object().unwrap().clone(),
        }],
    }
}

fn units() -> Vec<Unit> {
    let sold = Identifiers {
        dealer_id: None,
        vehicle_id: Some("sold".to_owned()),
        vin: None,
        stock: None,
    };
    (0..5)
        .map(|index| {
            let car = json!({
                "vehicle_id": format!("car-{index}"), "stock": format!("S{index}"),
                "status": "available", "updated_at": "2026-11-29T00:00:00Z",
                "year": 2024, "make": "Toyota", "model": "Camry", "price": 20_000 + index,
                "condition": "used", "rooftop": "Main Street", "notes": "\"quoted\" <b>\\ é",
            });
            Unit::Listing(car.as_object().unwrap().clone())
        })
        .chain([Unit::Hidden(sold)])
        .collect()
}

/// One deployment and its endpoints.
pub(super) struct Dealer {
    pub(super) deployment: Arc<Deployment>,
    mcp: mcp::Endpoint,
    a2a: a2a::Endpoint,
    pap: Option<pap::Endpoint>,
}

impl Dealer {
    /// The payload that an MCP tool answers with, or the JSON-RPC error.
    pub(super) async fn over_mcp(&self, skill: Skill, payload: &Value) -> Value {
        let body = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": skill.tool_name(), "arguments": payload},
        });
        let head = head(
            "/mcp",
            &[
                ("accept", "application/json, text/event-stream"),
                ("mcp-protocol-version", "2025-11-25"),
            ],
        );
        let admission = self.mcp.admit(&head).await.unwrap();
        let body = body.to_string();
        let answer = self.mcp.call(&admission, &head, body.as_bytes()).await;
        let mut answer: Value = serde_json::from_slice(&answer.into_body().into_bytes()).unwrap();
        if answer.get("error").is_some() {
            return answer["error"].take();
        }
        let copy = answer["result"]["content"][0]["text"].as_str().unwrap();
        let copy: Value = serde_json::from_str(copy).unwrap();
        let payload = answer["result"]["structuredContent"].take();
        assert_eq!(copy, payload, "the two copies agree");
        assert_eq!(
            answer["result"]["isError"].as_bool().unwrap_or(false),
            payload["type"] == "aap.error"
        );
        payload
    }

    /// The payload of an A2A message, or the typed error in its details.
    pub(super) async fn over_a2a(&self, skill: Skill, payload: &Value) -> Value {
        let part = json!({"data": payload, "mediaType": skill.request_media_type()});
        let body = json!({
            "jsonrpc": "2.0", "id": 1, "method": "SendMessage",
            "params": {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [part]}},
        });
        let head = head("/a2a", &[]);
        let visitor = self.a2a.admit(&head).await.unwrap();
        let body = body.to_string();
        let answer = self.a2a.call(&visitor, &head, body.as_bytes()).await;
        assert_eq!(answer.status(), 200);
        let mut answer: Value = serde_json::from_slice(&answer.into_body().into_bytes()).unwrap();
        let Some(error) = answer.get("error") else {
            return answer["result"]["message"]["parts"][0]["data"].take();
        };
        let details = error["data"].as_array().unwrap();
        let typed = details
            .iter()
            .find(|detail| detail["@type"] == "type.googleapis.com/google.protobuf.Struct");
        let typed = typed.unwrap()["value"].clone();
        let number = crate::contract::ErrorCode::from_id(typed["code"].as_str().unwrap());
        assert_eq!(error["code"], number.unwrap().a2a_number(), "{error}");
        typed
    }

    /// Who comes to the A2A endpoint with these headers, as far as it is proved.
    pub(super) async fn visitor_over_a2a(
        &self,
        headers: &[(&str, &str)],
    ) -> Option<(String, String)> {
        let visitor = self.a2a.admit(&head("/a2a", headers)).await;
        visitor.unwrap().identity
    }

    /// The payload of a native call in a guest Session.
    pub(super) async fn over_pap(&self, rig: &Rig, skill: Skill, payload: &Value) -> Value {
        let token = rig.access_token().await;
        let mut proof = rig.call_proof(&token);
        proof.claim("htu", format!("{ISSUER}/skills/{}", skill.id()));
        let head = head(
            &format!("/poppy/skills/{}", skill.id()),
            &[
                ("authorization", &format!("DPoP {token}")),
                ("dpop", &proof.text()),
            ],
        );
        let endpoint = self.pap.as_ref().unwrap();
        let admission = endpoint.admit(pap::Part::Skill, &head).await.unwrap();
        let body = payload.to_string();
        let peer = IpAddr::from([192, 0, 2, 9]);
        let answer = endpoint
            .answer(admission, &head, body.as_bytes(), peer)
            .await;
        let answer = answer.map(Rope::into_bytes);
        let value: Value = serde_json::from_slice(answer.body()).unwrap();
        let status = match value["code"].as_str() {
            Some(code) if value["type"] == "aap.error" => {
                let code = crate::contract::ErrorCode::from_id(code).unwrap();
                code.pap_status()
            }
            _ => 200,
        };
        assert_eq!(answer.status().as_u16(), status, "{value}");
        value
    }
}

fn head(path: &str, headers: &[(&str, &str)]) -> Parts {
    let mut request = http::Request::post(path).header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}
