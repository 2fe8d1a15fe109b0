//! What belongs to one deployment is worth nothing at another, though both share process, keys and store.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::fleet::{Fleet, feed, lead, profile};

const HOSTS: [&str; 3] = ["a.example", "b.example", "c.example"];

/// Three dealers in three files, over shared defaults; c has two domains and limits of its own.
fn three() -> Fleet {
    let mut files = vec![(
        "conf/00-common.toml",
        "[data]\ndirectory = \"../data\"\n[defaults.inventory]\nmapping = \"../mapping.toml\"\n\
         [defaults.mcp]\nlegacy_sessions = true\n[defaults.pap]\nenabled = true\n\
         [defaults.leads.deliveries.crm]\nkind = \"directory\"\n"
            .to_owned(),
    )];
    let names = ["conf/a.toml", "conf/b.toml", "conf/c.toml"];
    let feeds = ["a.csv", "b.csv", "c.csv"];
    for (index, id) in ["a", "b", "c"].into_iter().enumerate() {
        let more = if id == "c" {
            "aliases = [\"www.c.example\"]\n[deployments.c.limits]\nleads_per_minute = 1\n"
        } else {
            ""
        };
        let text = format!(
            "[deployments.{id}]\ndomain = \"{id}.example\"\n{more}{}\
             [deployments.{id}.inventory]\nsource = {{ kind = \"feed\", path = \"../{id}.csv\" }}\n\
             [deployments.{id}.leads.deliveries.crm]\npath = \"../crm-{id}\"\n",
            profile(
                &format!("deployments.{id}.profile"),
                &format!("Dealer {id}")
            )
        );
        files.push((names[index], text));
        // b's cars have the stock numbers of a's.
        files.push((feeds[index], feed(id, 30)));
    }
    Fleet::start(&files)
}

fn search(cursor: Option<&Value>) -> Value {
    let mut request = json!({ "type": "inventory.search.request", "pagination": { "limit": 10 } });
    if let Some(cursor) = cursor {
        request["pagination"]["cursor"] = cursor.clone();
    }
    request
}

/// Every ordered pair of different hosts.
fn pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
    HOSTS
        .into_iter()
        .flat_map(|own| HOSTS.into_iter().map(move |other| (own, other)))
        .filter(|(own, other)| own != other)
}

// AAP-147 AAP-423 AAP-553
#[test]
fn cursors_vehicles_and_sessions_of_one_are_unknown_to_every_other() {
    let fleet = three();
    for (own, other) in pairs() {
        let page = fleet.call(own, "aap_inventory_search", &search(None));
        assert_eq!(page["data"]["total"], 30, "{page}");
        let cursor = &page["data"]["next_cursor"];
        let next = fleet.call(own, "aap_inventory_search", &search(Some(cursor)));
        assert_eq!(next["data"]["vehicles"].as_array().unwrap().len(), 10);
        let code = fleet.refused(other, "aap_inventory_search", &search(Some(cursor)));
        assert_eq!(code, "INVALID_CURSOR", "{own} at {other}");

        let id = page["data"]["vehicles"][0]["vehicle_id"].clone();
        let vehicle = json!({ "type": "inventory.vehicle.request", "vehicle_id": id });
        let found = fleet.call(own, "aap_inventory_vehicle", &vehicle);
        assert_eq!(found["data"]["vehicle_id"], id);
        let code = fleet.refused(other, "aap_inventory_vehicle", &vehicle);
        assert_eq!(code, "VEHICLE_NOT_FOUND", "{own} at {other}");

        let session = legacy_session(&fleet, own);
        assert_eq!(legacy_ping(&fleet, own, &session), 200);
        assert_eq!(
            legacy_ping(&fleet, other, &session),
            404,
            "{own} at {other}"
        );
    }
}

fn legacy_session(fleet: &Fleet, host: &str) -> String {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "probe", "version": "1"},
    }});
    let json = ("Content-Type", "application/json");
    let answer = fleet.send(host, "POST /mcp", &[json], &body.to_string());
    answer.headers["mcp-session-id"].clone()
}

fn legacy_ping(fleet: &Fleet, host: &str, session: &str) -> u16 {
    let headers = [
        ("Content-Type", "application/json"),
        ("MCP-Protocol-Version", "2025-11-25"),
        ("MCP-Session-Id", session),
    ];
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    fleet.send(host, "POST /mcp", &headers, body).status
}

// AAP-473 AAP-474 AAP-553
#[test]
fn an_idempotency_key_and_a_quota_count_for_their_own_deployment_only() {
    let fleet = three();
    let mut ids = BTreeSet::new();
    let stock = json!({ "stock": "S1", "condition": "used" });
    let inquiry = lead("one-key", &stock);
    for host in HOSTS {
        let answer = fleet.call(host, "aap_lead_submit", &inquiry);
        assert_eq!(answer["data"]["status"], "received", "{host}: {answer}");
        assert_ne!(answer["data"]["replayed"], true, "{host}: {answer}");
        ids.insert(answer["data"]["lead_id"].as_str().unwrap().to_owned());
    }
    assert_eq!(ids.len(), 3);
    for host in ["a.example", "b.example"] {
        let again = fleet.call(host, "aap_lead_submit", &inquiry);
        assert_eq!(again["data"]["replayed"], true, "{host}: {again}");
    }
    let code = fleet.refused("c.example", "aap_lead_submit", &lead("other", &stock));
    assert_eq!(code, "RATE_LIMITED", "c has spent its quota");
    let free = fleet.call("a.example", "aap_lead_submit", &lead("other", &stock));
    assert_eq!(free["data"]["status"], "received", "{free}");
}

// AAP-211 AAP-212 AAP-213 AAP-214
#[test]
fn each_company_has_its_own_issuer_and_each_of_its_domains_its_own_document() {
    let fleet = three();
    let mut issuers = BTreeSet::new();
    for host in HOSTS {
        let poppy = fleet.get(host, "/.well-known/poppy.json").json();
        assert_eq!(poppy["organization"]["domain"], host);
        issuers.insert(poppy["auth"]["issuer"].as_str().unwrap().to_owned());
        let metadata = fleet.get(host, "/.well-known/oauth-authorization-server/poppy");
        assert_eq!(metadata.json()["issuer"], poppy["auth"]["issuer"]);
    }
    assert_eq!(issuers.len(), 3);
    let own = fleet.get("c.example", "/.well-known/poppy.json").json();
    let alias = fleet.get("www.c.example", "/.well-known/poppy.json").json();
    assert_eq!(alias["organization"]["domain"], "www.c.example");
    assert_eq!(alias["auth"], own["auth"]);
    assert_eq!(alias["extensions"], own["extensions"]);
    let metadata = fleet
        .get("c.example", "/.well-known/oauth-authorization-server/poppy")
        .json();
    assert_eq!(
        metadata["protected_resources"],
        json!(["https://c.example", "https://www.c.example"])
    );
    let unknown = fleet.get("www.a.example", "/.well-known/poppy.json");
    assert_eq!(unknown.status, 421);
}
