//! The MCP endpoint with Session Tokens: who calls is the client and User of the token, and bad credentials
//! run nothing.

use serde_json::{Value, json};

use super::*;
use crate::bindings::mcp;
use crate::contract::Rope;
use crate::oauth::{McpTokens, NativeMcp};

const MCP: &str = "https://demo-toyota.example.com/mcp";

async fn site(tokens: McpTokens) -> (Site, mcp::Endpoint) {
    let site = Site::with(|settings| {
        settings.mcp = Some(NativeMcp {
            resource: MCP.to_owned(),
            tokens,
        });
    })
    .await;
    let endpoint = mcp::Endpoint::new(Arc::clone(&site.endpoint.deployment));
    (site, endpoint)
}

/// Calls a tool; status, headers, and the whole message.
async fn tool(
    endpoint: &mcp::Endpoint,
    name: &str,
    arguments: &Value,
    headers: &[(&str, &str)],
) -> (Response<Bytes>, Value) {
    let mut request = http::Request::post("/mcp")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2025-11-25");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let head = request.body(()).unwrap().into_parts().0;
    let params = json!({ "name": name, "arguments": arguments });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let answer = match endpoint.admit(&head).await {
        Ok(admission) => {
            let body = message.to_string();
            endpoint.call(&admission, &head, body.as_bytes()).await
        }
        Err(refused) => refused,
    };
    let answer = answer.map(Rope::into_bytes);
    let body = serde_json::from_slice(answer.body()).unwrap();
    (answer, body)
}

async fn dpop_token(site: &Site) -> String {
    let granted = site.rig.try_with(|r| r.set("resource", MCP)).await;
    assert_eq!(granted.status, 200, "{:?}", granted.body);
    granted.body["access_token"].as_str().unwrap().to_owned()
}

fn proof(site: &Site, token: &str) -> String {
    let mut proof = site.rig.call_proof(token);
    proof.claim("htu", MCP);
    proof.text()
}

// AAP-030 AAP-042 AAP-200 AAP-318
#[tokio::test]
async fn it_is_advertised_only_where_it_works() {
    let off = Site::new().await;
    let poppy = crate::bindings::discovery::poppy::write(&off.endpoint.deployment);
    assert_eq!(poppy["apis"].as_array().unwrap().len(), 1, "the API alone");
    for tokens in [McpTokens::Dpop, McpTokens::Bearer] {
        let (site, _) = site(tokens).await;
        let deployment = &site.endpoint.deployment;
        let poppy = crate::bindings::discovery::poppy::write(deployment);
        assert_eq!(deployment.contract.check_document("poppy", &poppy), Ok(()));
        let api = &poppy["apis"][1];
        assert_eq!(api["type"], "mcp");
        assert_eq!((&api["url"], &api["resource"]), (&json!(MCP), &json!(MCP)));
        assert_eq!(
            api["url"],
            poppy["extensions"]["autoagentprotocol.org/aap"]["mcp"]
        );
        let document = site.rig.issuer.settings().mcp_metadata().unwrap();
        let held = deployment
            .contract
            .check_document("protected-resource-metadata", &document);
        assert_eq!(held, Ok(()));
    }
}

// AAP-050 AAP-138 AAP-199 AAP-279 AAP-319
#[tokio::test]
async fn a_lead_over_mcp_and_over_the_api_is_one_lead_of_the_same_user() {
    let (site, endpoint) = site(McpTokens::Dpop).await;
    let information = json!({ "type": "dealer.information.request" });
    let (answer, body) = tool(&endpoint, "aap_dealer_information", &information, &[]).await;
    assert_eq!(answer.status(), 200, "nobody has to sign in: {body}");

    let native = site.rig.access_token().await;
    let lead = lead(&site);
    let (status, first, _) = site.call(&native, "lead.submit", &lead.to_string()).await;
    assert_eq!(status, 200, "{first}");
    let token = dpop_token(&site).await;
    let headers = [
        ("authorization", format!("DPoP {token}")),
        ("dpop", proof(&site, &token)),
    ];
    let headers = headers
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    let (_, body) = tool(&endpoint, "aap_lead_submit", &lead, &headers).await;
    let replayed = &body["result"]["structuredContent"]["data"];
    assert_eq!(replayed["replayed"], true, "{body}");
    assert_eq!(replayed["lead_id"], first["data"]["lead_id"]);
    let (_, body) = tool(&endpoint, "aap_lead_submit", &lead, &[]).await;
    let anonymous = &body["result"]["structuredContent"]["data"];
    assert_eq!(anonymous.get("replayed"), None, "{body}");
}

// AAP-099 AAP-326
#[tokio::test]
async fn credentials_that_do_not_hold_are_challenged_and_nothing_runs() {
    for (tokens, scheme) in [(McpTokens::Dpop, "DPoP "), (McpTokens::Bearer, "Bearer ")] {
        let (site, endpoint) = site(tokens).await;
        let native = site.rig.access_token().await;
        for authorization in [
            "Bearer no-such-token".to_owned(),
            "DPoP no-such-token".to_owned(),
            format!("Bearer {native}"),
            format!("DPoP {native}"),
            "Basic Zm9vOmJhcg==".to_owned(),
        ] {
            let proof = proof(&site, &native);
            let headers = [("authorization", authorization.as_str()), ("dpop", &proof)];
            let lead = lead(&site);
            let (answer, body) = tool(&endpoint, "aap_lead_submit", &lead, &headers).await;
            assert_eq!(answer.status(), 401, "{authorization}");
            assert_eq!(body["jsonrpc"], "2.0");
            assert!(body.get("result").is_none() && !body.to_string().contains(&native));
            let challenge = answer.headers()["www-authenticate"].to_str().unwrap();
            assert!(challenge.starts_with(scheme), "{challenge}");
            let metadata = "resource_metadata=\"https://demo-toyota.example.com/.well-known/oauth-protected-resource/mcp\"";
            assert!(challenge.contains(metadata), "{challenge}");
        }
        // had one of them run, this would be its replay
        let (_, body) = tool(&endpoint, "aap_lead_submit", &lead(&site), &[]).await;
        let first = &body["result"]["structuredContent"]["data"];
        assert!(first["lead_id"].is_string(), "{body}");
        assert_eq!(first.get("replayed"), None, "{body}");
    }
}
