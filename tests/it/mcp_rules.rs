//! What the specification asks of the MCP endpoint besides its wire: that discovery agrees, that reading
//! needs nothing, that each step of a call is taken.

use serde_json::{Value, json};

use crate::edge::{Edge, Plan, lead};

fn get(edge: &Edge, path: &str) -> String {
    let answer = edge.search().verb("GET").path(path).text("").send();
    assert_eq!(answer.status, 200, "{path}");
    answer.text
}

fn document(edge: &Edge, path: &str) -> Value {
    serde_json::from_str(&get(edge, path)).unwrap()
}

// AAP-064 AAP-065 AAP-066
#[test]
fn discovery_names_the_one_endpoint_and_agrees_on_everything() {
    let path = "/aap/3.0.0/tenant/mcp";
    let edge = Edge::with(Plan {
        mcp_path: path,
        skills: vec![
            forecourt::contract::Skill::DealerInformation,
            forecourt::contract::Skill::LeadSubmit,
        ],
        ..Plan::default()
    });
    let url = format!("http://{}{path}", edge.address);
    let card = document(&edge, "/.well-known/agent-card.json");
    let poppy = document(&edge, "/.well-known/poppy.json");
    let llms = get(&edge, "/llms.txt");
    let params = &card["capabilities"]["extensions"][0]["params"];
    let bridge = &poppy["extensions"]["autoagentprotocol.org/aap"];
    assert_eq!(params["mcp"]["url"], url);
    assert_eq!(bridge["mcp"], url);
    assert!(llms.contains(&format!("]({url})")), "{llms}");
    // no other path is one
    assert_eq!(edge.search().send().status, 404);
    let listed = edge.probe("tools/list", json!({})).path(path).send().json();
    let about = |tool: &Value| tool["_meta"]["autoagentprotocol.org/aap"].clone();
    let tools = listed["result"]["tools"].as_array().unwrap();
    let skills: Vec<Value> = tools
        .iter()
        .map(|tool| about(tool)["skill_id"].clone())
        .collect();
    assert_eq!(skills, [json!("dealer.information"), json!("lead.submit")]);
    let on_card: Vec<Value> = card["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["id"].clone())
        .collect();
    assert_eq!(on_card, skills);
    let in_params: Vec<&String> = params["skills"].as_object().unwrap().keys().collect();
    assert_eq!(in_params, ["dealer.information", "lead.submit"]);
    assert!(
        llms.contains("Implemented skills: dealer.information, lead.submit."),
        "{llms}"
    );
    for version in [
        &params["version"],
        &bridge["aap_version"],
        &about(&tools[0])["version"],
    ] {
        assert_eq!(version, "3.0.0");
    }
    let name = card["name"].as_str().unwrap();
    assert_eq!(poppy["organization"]["name"], name);
    assert!(llms.starts_with(&format!("# {name}\n")), "{llms}");
    let discover = edge
        .probe("server/discover", json!({}))
        .path(path)
        .send()
        .json();
    let server = &discover["result"]["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(server["title"], name);
    assert_eq!(
        discover["result"]["supportedVersions"],
        params["mcp"]["protocol_versions"]
    );
}

// AAP-076
#[test]
fn what_is_stale_at_once_says_so() {
    let mut plan = Plan::default();
    plan.mcp.cache_ttl_ms = 0;
    let edge = Edge::with(plan);
    for method in ["server/discover", "tools/list"] {
        let answer = edge.probe(method, json!({})).send().json();
        assert_eq!(answer["result"]["ttlMs"], 0, "{method}");
    }
}

// AAP-050 AAP-121 AAP-136 AAP-138
#[test]
fn reading_needs_nothing_but_the_request() {
    let edge = Edge::start();
    for tool in ["dealer_information", "inventory_facets", "inventory_search"] {
        let kind = format!("{}.request", tool.replace('_', "."));
        let mut probe = edge.call(&format!("aap_{tool}"), json!({ "type": kind }));
        for name in ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Accept"] {
            probe = probe.without(name);
        }
        let answer = probe.send();
        assert_eq!(answer.status, 200, "{tool}");
        assert_ne!(answer.payload()["type"], "aap.error", "{tool}");
        assert_eq!(answer.header("www-authenticate"), None);
    }
}

// AAP-092 AAP-143
#[test]
fn arguments_are_judged_before_anything_happens_and_nothing_stands_in_for_consent() {
    let edge = Edge::start();
    let refused = |member: &str, code: &str| {
        let mut payload = lead("one-key");
        payload.as_object_mut().unwrap().remove(member);
        let error = edge.call("aap_lead_submit", payload).send().payload();
        assert_eq!(error["code"], code, "{member}");
    };
    refused("consent", "CONTACT_CONSENT_REQUIRED");
    refused("idempotency_key", "MISSING_REQUIRED_FIELD");
    // the tool and what is called through it agree
    let other = json!({"type": "lead.submit.request"});
    let error = edge.call("aap_dealer_information", other).send().payload();
    assert_eq!(error["code"], "SCHEMA_VALIDATION_FAILED");
    // neither used the key up
    let sent = edge
        .call("aap_lead_submit", lead("one-key"))
        .send()
        .payload();
    assert_eq!(sent["data"]["status"], "received");
    assert_eq!(sent["data"].get("replayed"), None);
    // an agent's label is no other caller
    let mut labelled = lead("one-key");
    labelled["source_agent"]["name"] = json!("Another");
    let error = edge.call("aap_lead_submit", labelled).send().payload();
    assert_eq!(error["code"], "IDEMPOTENCY_CONFLICT");
}
