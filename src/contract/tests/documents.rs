//! Discovery documents, issuer metadata, identities and tokens against their schemas.

use serde_json::{Value, json};

use super::capabilities::offered;
use super::*;

// AAP-012 AAP-013 AAP-025 AAP-196 AAP-220 AAP-221 AAP-224 AAP-247: documents beside the skills have
// schemas, which take the specification's examples and refuse what it forbids.
#[test]
fn documents_are_held_to_their_schemas() {
    let contract = contract();
    let ok = |name: &str, value: &Value| contract.check_document(name, value).is_ok();
    let poppy = fixture("poppy.document.json");
    let issuer = fixture("pap.oauth-metadata.response.json");
    let client = fixture("pap.client-metadata.json");
    let token = fixture("pap.token.response.guest.json");
    for (name, value) in [
        ("poppy", &poppy),
        ("poppy-document", &poppy),
        ("oauth-metadata", &issuer),
        ("client-metadata", &client),
        ("token-response", &token),
    ] {
        assert_eq!(contract.check_document(name, value), Ok(()), "{name}");
    }
    let with = |value: &Value, pointer: &str, name: &str, new: Value| {
        let mut value = value.clone();
        value
            .pointer_mut(pointer)
            .unwrap()
            .as_object_mut()
            .unwrap()
            .insert(name.to_owned(), new);
        value
    };
    // A removed 0.2 member may be read, never published (AAP-223, AAP-301).
    let direct = with(&poppy, "/auth", "direct", json!({}));
    assert!(!ok("poppy", &direct) && ok("poppy-document", &direct));
    let conversation = with(&poppy, "/apis/0", "type", json!("a2a"));
    assert!(!ok("poppy", &conversation) && ok("poppy-document", &conversation));
    assert!(!ok(
        "poppy",
        &with(&poppy, "/auth", "scopes", json!({"poppy:x": "no"}))
    ));
    assert!(!ok(
        "oauth-metadata",
        &with(
            &issuer,
            "",
            "grant_types_supported",
            json!(["refresh_token"])
        )
    ));
    assert!(!ok(
        "oauth-metadata",
        &with(&issuer, "", "poppy_domains", json!([]))
    ));
    assert!(!ok(
        "client-metadata",
        &with(&client, "", "jwks_uri", json!("http://a.example/k"))
    ));
    assert!(!ok(
        "client-metadata",
        &with(&client, "", "redirect_uris", json!(["http://localhost/"]))
    ));
    assert!(!ok("token-response", &with(&token, "", "scope", json!(""))));
    assert!(!ok(
        "token-response",
        &with(&token, "", "expires_in", json!(0))
    ));
}

fn card() -> Value {
    let schema = |stem: &str, end: &str| {
        format!("https://autoagentprotocol.org/v3.0/schemas/{stem}-{end}.schema.json")
    };
    json!({
        "name": "Example Motors", "description": "A dealer.", "version": "1.2.3",
        "supportedInterfaces": [{"url": "https://dealer.example/a2a", "protocolBinding": "JSONRPC",
                                 "protocolVersion": "1.0"}],
        "capabilities": {"extensions": [{
            "uri": "https://autoagentprotocol.org/extensions/aap/v3.0", "required": true,
            "params": {
                "id": "example", "version": "3.0.0",
                "schema_base_url": "https://autoagentprotocol.org/v3.0/schemas/",
                "skills": {"inventory.search": {
                    "request_schema": schema("inventory-search", "request"),
                    "response_schema": schema("inventory-search", "response"),
                    "capabilities": serde_json::to_value(offered()).unwrap()},
                    "inventory.facets": {
                    "request_schema": schema("inventory-facets", "request"),
                    "response_schema": schema("inventory-facets", "response")}},
                "mcp": {"url": "https://dealer.example/mcp", "transport": "streamable-http",
                        "protocol_versions": ["2026-07-28", "2025-11-25"], "public_read": true},
                "poppy": "https://dealer.example/.well-known/poppy.json",
                "llms_txt": "https://dealer.example/llms.txt"}}]},
        "defaultInputModes": ["application/vnd.autoagent.inventory-search-request+json"],
        "defaultOutputModes": ["application/vnd.autoagent.inventory-search-response+json"],
        "skills": [{"id": "inventory.search", "name": "Search", "description": "Finds cars.",
                    "tags": ["inventory"]},
                   {"id": "inventory.facets", "name": "Facets", "description": "Counts cars.",
                    "tags": ["inventory"]}],
    })
}

// AAP-012 AAP-013 AAP-016 AAP-018 AAP-023 AAP-057 AAP-582: an Agent Card has one complete AAP extension.
#[test]
fn an_agent_card_has_one_complete_extension() {
    let contract = contract();
    let ok = |value: &Value| contract.check_document("agent-card", value).is_ok();
    let card = card();
    assert_eq!(contract.check_document("agent-card", &card), Ok(()));
    let changed = |pointer: &str, new: Value| {
        let mut value = card.clone();
        *value.pointer_mut(pointer).unwrap() = new;
        value
    };
    let entry = card.pointer("/capabilities/extensions/0").unwrap();
    let params = "/capabilities/extensions/0/params";
    assert!(!ok(&changed("/capabilities/extensions", json!([]))));
    assert!(!ok(&changed(
        "/capabilities/extensions",
        json!([entry, entry])
    )));
    assert!(!ok(&changed(
        "/capabilities/extensions/0/required",
        json!(false)
    )));
    assert!(!ok(&changed(
        "/supportedInterfaces/0/protocolBinding",
        json!("MCP")
    )));
    assert!(!ok(&changed(
        "/supportedInterfaces/0/protocolVersion",
        json!("0.3")
    )));
    assert!(!ok(&changed(
        &format!("{params}/mcp/protocol_versions"),
        json!(["2026-07-28"])
    )));
    assert!(!ok(&changed(&format!("{params}/version"), json!("2.1.0"))));
    for member in [
        "id",
        "version",
        "schema_base_url",
        "skills",
        "mcp",
        "poppy",
        "llms_txt",
    ] {
        let mut value = card.clone();
        value
            .pointer_mut(params)
            .unwrap()
            .as_object_mut()
            .unwrap()
            .remove(member);
        assert!(!ok(&value), "{member}");
    }
}
