//! The same request through MCP, A2A and PAP is answered by the same payload, whichever way it ends.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::site::{Dealer, Ground, Plan};
use crate::contract::{ErrorCode, Skill};
use crate::deployment::Quota;

/// Every request among the examples of the specification.
fn examples() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fixtures");
    let mut found: Vec<(String, Value)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, serde_json::from_str(&text).unwrap())
        })
        .filter(|(_, value): &(String, Value)| {
            let kind = value["type"].as_str().unwrap_or_default();
            kind.ends_with(".request")
        })
        .collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    assert!(found.len() >= 10, "{found:?}");
    found
}

fn lead(key: &str, change: impl FnOnce(&mut Value)) -> (String, Value) {
    let mut lead = json!({
        "type": "lead.submit.request", "idempotency_key": key,
        "customer": {"first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com"},
        "consent": {
            "granted_at": "2026-11-30T11:59:00Z", "allowed_channels": ["email"],
            "consent_text": "Yes, write to me.", "scope": ["lead_submission"],
        },
        "source_agent": {"name": "probe"},
        "vehicle_of_interest": {"vehicle_id": "car-1"},
    });
    change(&mut lead);
    (key.to_owned(), lead)
}

/// Requests that end in each way that a skill can end.
fn endings() -> Vec<(String, Value)> {
    let search = |name: &str, members: Value| {
        let mut request = json!({"type": "inventory.search.request"});
        for (member, value) in members.as_object().unwrap() {
            request[member] = value.clone();
        }
        (name.to_owned(), request)
    };
    let other = |name: &str, request: Value| (name.to_owned(), request);
    vec![
        search("two of five", json!({"pagination": {"limit": 2}})),
        search("floats", json!({"filters": {"price_max": 20_001.0}})),
        search("nothing found", json!({"filters": {"make": ["Honda"]}})),
        search(
            "unknown filter",
            json!({"filters": {"made_up": 1, "year_min": "x"}}),
        ),
        search(
            "inverted range",
            json!({"filters": {"price_min": 2, "price_max": 1}}),
        ),
        search(
            "unknown feature",
            json!({"filters": {"features_all": ["no_such"]}}),
        ),
        search("not offered", json!({"filters": {"charge_port": ["nacs"]}})),
        search("order", json!({"sort": {"field": "msrp", "order": "asc"}})),
        search("cursor", json!({"pagination": {"cursor": "x"}})),
        search("no offset", json!({"pagination": {"skip": 5}})),
        other("no type", json!({"filters": {}})),
        other("facets", json!({"type": "inventory.facets.request"})),
        other(
            "no dealer",
            json!({"type": "dealer.information.request", "dealer_id": "no"}),
        ),
        other(
            "no vehicle",
            json!({"type": "inventory.vehicle.request", "vehicle_id": "none"}),
        ),
        other(
            "sold",
            json!({"type": "inventory.vehicle.request", "vehicle_id": "sold"}),
        ),
        other(
            "no identifier",
            json!({"type": "inventory.vehicle.request"}),
        ),
        other(
            "quotes",
            json!({"type": "inventory.vehicle.request", "stock": "S3"}),
        ),
        lead("accepted", |_| {}),
        lead("no time", |lead| {
            lead["appointment"] =
                json!({"appointment_type": "service", "appointment_at": "2026-12-01T15:00:00Z"});
        }),
        lead("no consent", |lead| {
            drop(lead.as_object_mut().unwrap().remove("consent"));
        }),
        lead("late", |lead| {
            lead["consent"]["granted_at"] = json!("2026-11-30T10:00:00Z");
            lead["consent"]["expires_at"] = json!("2026-11-30T11:00:00Z");
        }),
        lead("trade-in", |lead| {
            lead["trade_in"] =
                json!({"year": 2015, "make": "Ford", "model": "Focus", "condition": "cpo"});
        }),
        lead("no customer", |lead| {
            drop(lead.as_object_mut().unwrap().remove("customer"));
        }),
        lead("accepted", |lead| lead["message"] = json!("something else")),
    ]
}

/// Without what is new in each answer: ids, cursors, and whether an earlier binding's lead was met.
fn settled(mut value: Value) -> Value {
    if let Some(members) = value.as_object_mut() {
        for fresh in ["error_id", "created_at"] {
            members.remove(fresh);
        }
    }
    if let Some(data) = value.pointer_mut("/data").and_then(Value::as_object_mut) {
        for fresh in ["lead_id", "replayed"] {
            data.remove(fresh);
        }
        if let Some(appointment) = data.get_mut("appointment").and_then(Value::as_object_mut) {
            appointment.remove("appointment_id");
        }
        if data.get("next_cursor").is_some_and(Value::is_string) {
            data.insert("next_cursor".to_owned(), json!("sealed"));
        }
    }
    value
}

/// Asks all three and returns the one payload.
async fn same(ground: &Ground, dealer: &Dealer, name: &str, request: &Value) -> Value {
    let kind = request["type"]
        .as_str()
        .unwrap_or("inventory.search.request");
    let skill = Skill::from_id(kind.strip_suffix(".request").unwrap()).unwrap();
    let mcp = settled(dealer.over_mcp(skill, request).await);
    let a2a = settled(dealer.over_a2a(skill, request).await);
    let pap = settled(dealer.over_pap(&ground.rig, skill, request).await);
    assert_eq!(mcp, a2a, "{name}: MCP and A2A");
    assert_eq!(mcp, pap, "{name}: MCP and PAP");
    mcp
}

// AAP-001 AAP-041 AAP-055 AAP-189 AAP-190 AAP-191 AAP-199 AAP-249 AAP-471 AAP-475 AAP-533: the third of them in a
// guest Session.
#[tokio::test]
async fn every_example_and_every_error_is_the_same_over_all_bindings() {
    let ground = Ground::new().await;
    let mut plan = Plan::default();
    for missing in ["msrp", "charge_port"] {
        plan.supplied.remove(missing);
    }
    plan.max_age_s = Some(3600);
    let dealer = ground.dealer(plan.clone()).await.ok().unwrap();
    let mut seen = BTreeSet::new();
    let mut succeeded = 0;
    for (name, request) in examples().into_iter().chain(endings()) {
        let payload = same(&ground, &dealer, &name, &request).await;
        match payload["code"].as_str() {
            Some(code) => drop(seen.insert(code.to_owned())),
            None => succeeded += 1,
        }
    }
    assert!(succeeded >= 10, "{succeeded} succeeded");

    plan.quota = Quota {
        calls_per_minute: Some(1),
        leads_per_minute: None,
        requests_per_minute: None,
    };
    let throttled = ground.dealer(plan).await.ok().unwrap();
    let request = json!({"type": "inventory.search.request"});
    // MCP and A2A callers are one anonymous caller, an agent with a Session is another.
    let skill = Skill::InventorySearch;
    for answer in [
        throttled.over_mcp(skill, &request).await,
        throttled.over_pap(&ground.rig, skill, &request).await,
    ] {
        assert_eq!(answer["data"]["total"], 5);
    }
    let payload = same(&ground, &throttled, "one too many", &request).await;
    seen.insert(payload["code"].as_str().unwrap().to_owned());

    ground.rig.clock.advance(SignedDuration::from_hours(2));
    let payload = same(&ground, &dealer, "too old", &request).await;
    seen.insert(payload["code"].as_str().unwrap().to_owned());

    // UNSUPPORTED_SKILL is no payload of a tool.
    let all = ErrorCode::ALL.into_iter().map(ErrorCode::id);
    let wanted: BTreeSet<String> = all
        .filter(|code| *code != "UNSUPPORTED_SKILL")
        .map(str::to_owned)
        .collect();
    assert_eq!(seen, wanted);
}

// AAP-265: a Session Token opens the native API with its proof, and says nothing of anybody at A2A.
#[tokio::test]
async fn a_session_token_is_nobodys_at_a2a() {
    let ground = Ground::new().await;
    let dealer = ground.dealer(Plan::default()).await.ok().unwrap();
    let token = ground.rig.access_token().await;
    let proof = ground.rig.call_proof(&token).text();
    for scheme in ["Bearer", "DPoP"] {
        let authorization = format!("{scheme} {token}");
        let headers = [("authorization", authorization.as_str()), ("dpop", &proof)];
        assert_eq!(dealer.visitor_over_a2a(&headers).await, None, "{scheme}");
    }
}
