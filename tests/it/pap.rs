//! PAP's addresses from the network: hosts, methods, sizes, caching, and what the documents say of each
//! other.

use serde_json::{Value, json};

use crate::edge::{Answer, Edge, Plan, Probe};

fn edge() -> Edge {
    Edge::with(Plan {
        pap: true,
        ..Plan::default()
    })
}

fn get<'a>(edge: &'a Edge, path: &str) -> Probe<'a> {
    edge.probe("", json!({})).verb("GET").path(path).text("")
}

fn form<'a>(edge: &'a Edge, path: &str, body: &str) -> Probe<'a> {
    let probe = edge.probe("", json!({})).path(path).text(body);
    probe.header("Content-Type", "application/x-www-form-urlencoded")
}

const DOCUMENTS: [&str; 4] = [
    "/.well-known/poppy.json",
    "/.well-known/oauth-authorization-server/poppy",
    "/.well-known/oauth-protected-resource/mcp",
    "/poppy/openapi.json",
];

// AAP-046 AAP-194 AAP-206 AAP-208
#[test]
fn discovery_is_public_and_cacheable() {
    let edge = edge();
    for path in DOCUMENTS {
        let answer = get(&edge, path).send();
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.header("cache-control"), Some("public, max-age=300"));
        assert_eq!(answer.header("set-cookie"), None);
        let etag = answer.header("etag").unwrap().to_owned();
        let again = get(&edge, path).header("If-None-Match", etag).send();
        assert_eq!((again.status, again.text.as_str()), (304, ""), "{path}");
        let posted = form(&edge, path, "").send();
        assert_eq!(posted.status, 405, "{path}");
    }
}

// AAP-033 AAP-042 AAP-047 AAP-209 AAP-300
#[test]
fn what_the_documents_name_is_there_and_agrees() {
    let edge = edge();
    let document = |path: &str| get(&edge, path).send().json();
    let [poppy, issuer, mcp, openapi] = DOCUMENTS.map(document);
    let base = format!("http://{}", edge.address);
    assert_eq!(poppy["organization"]["domain"], "127.0.0.1");
    assert_eq!(poppy["auth"], json!({ "issuer": format!("{base}/poppy") }));
    assert_eq!(issuer["issuer"], poppy["auth"]["issuer"]);
    assert_eq!(issuer["protected_resources"], json!(["https://127.0.0.1"]));
    assert_eq!(mcp["authorization_servers"], json!([issuer["issuer"]]));
    let apis = poppy["apis"].as_array().unwrap();
    let of = |kind: &str| apis.iter().find(|api| api["type"] == kind).unwrap();
    assert_eq!(of("openapi")["resource"], openapi["servers"][0]["url"]);
    assert_eq!(of("mcp")["resource"], mcp["resource"]);
    assert_eq!(of("mcp")["url"], format!("{base}/mcp"));
    for name in ["token_endpoint", "revocation_endpoint"] {
        // what is named is there
        let path = issuer[name].as_str().unwrap().strip_prefix(&base).unwrap();
        let answer = form(&edge, path, "").send();
        assert_eq!(
            (answer.status, &answer.json()["error"]),
            (400, &json!("invalid_request"))
        );
    }
    for path in openapi["paths"].as_object().unwrap().keys() {
        let answer = edge
            .probe("", json!({}))
            .path(&format!("/poppy{path}"))
            .send();
        assert_eq!(answer.status, 401, "{path}");
    }
}

// AAP-031 AAP-032 AAP-033 AAP-219
#[test]
fn a_foreign_host_gets_no_document_and_no_token() {
    let edge = edge();
    let nothing = |what: &str, answer: Answer| {
        assert_eq!(answer.status, 421, "{what}: {answer:?}");
        assert!(!answer.text.contains("evil"), "{what}: {answer:?}");
        assert_eq!(answer.header("location"), None);
    };
    for path in DOCUMENTS {
        nothing(path, get(&edge, path).header("Host", "evil.example").send());
        let as_known = get(&edge, path).send();
        let forwarded = get(&edge, path)
            .more("X-Forwarded-Host", "evil.example")
            .more("Forwarded", "host=evil.example")
            .send();
        assert_eq!((forwarded.status, forwarded.text), (200, as_known.text));
    }
    for path in [
        "/poppy/oauth/token",
        "/poppy/oauth/revoke",
        "/poppy/skills/lead.submit",
    ] {
        let answer = form(&edge, path, "a=b")
            .header("Host", "evil.example")
            .send();
        nothing(path, answer);
    }
}

// AAP-232 AAP-282
#[test]
fn bodies_are_bounded_and_only_posted() {
    let edge = edge();
    for path in [
        "/poppy/oauth/token",
        "/poppy/oauth/revoke",
        "/poppy/skills/lead.submit",
    ] {
        for verb in ["GET", "PUT", "HEAD"] {
            let answer = form(&edge, path, "").verb(verb).send();
            assert_eq!(answer.status, 405, "{verb} {path}");
            assert_eq!(answer.header("allow"), Some("POST"));
        }
        let slash = form(&edge, &format!("{path}/"), "a=b").send();
        assert_eq!(slash.status, 404, "{path}/");
    }
    for path in ["/poppy/oauth/token", "/poppy/oauth/revoke"] {
        let large = format!("assertion={}", "a".repeat(300_000));
        let answer = form(&edge, path, &large).send();
        assert_eq!(answer.status, 413, "{path}");
        let bytes = form(&edge, path, "")
            .text(b"assertion=\xff\xfe".to_vec())
            .send();
        assert_eq!(
            (answer.header("content-type"), bytes.status),
            (Some("application/json"), 400)
        );
        assert_eq!(bytes.json()["error"], "invalid_request");
    }
    let stranger: Value = form(&edge, "/poppy/skills/lead.submit", "{").send().json();
    assert_eq!(
        stranger["error"], "invalid_token",
        "nothing is read for strangers"
    );
}

// AAP-202 AAP-204 AAP-210 AAP-223 AAP-338
#[test]
fn poppy_and_card_point_to_each_other_and_stay_apart() {
    let edge = edge();
    let base = format!("http://{}", edge.address);
    let poppy = get(&edge, DOCUMENTS[0]).send().json();
    let bridge = &poppy["extensions"]["autoagentprotocol.org/aap"];
    let path = bridge["agent_card"]
        .as_str()
        .unwrap()
        .strip_prefix(&base)
        .unwrap();
    assert_eq!(path, "/.well-known/agent-card.json");
    let card = get(&edge, path).send().json();
    let params = &card["capabilities"]["extensions"][0]["params"];
    assert_eq!(params["poppy"], format!("{base}{}", DOCUMENTS[0]));
    assert_eq!(params["mcp"]["url"], bridge["mcp"]);
    for member in ["protocol_version", "organization", "auth", "apis", "agent"] {
        assert_eq!(card.get(member), None, "{member}");
    }
    let kinds = poppy["apis"]
        .as_array()
        .unwrap()
        .iter()
        .map(|api| &api["type"]);
    assert_eq!(kinds.collect::<Vec<_>>(), ["openapi", "mcp"]);
    assert_eq!(
        poppy.get("agent"),
        None,
        "a skill endpoint is no conversation"
    );
    assert_eq!(poppy["auth"].as_object().unwrap().len(), 1);

    // without an issuer the document promises nothing of PAP
    let without = Edge::start();
    let poppy = get(&without, DOCUMENTS[0]).send().json();
    assert_eq!((poppy.get("auth"), poppy.get("apis")), (None, None));
    for path in &DOCUMENTS[1..] {
        assert_eq!(get(&without, path).send().status, 404, "{path}");
    }
}
