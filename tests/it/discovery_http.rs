//! How the discovery documents are served: validators, lifetimes, forms, links, and to whom.

use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Read as _;

use crate::edge::{Answer, Edge, Plan, Probe};

const PATHS: [&str; 7] = [
    "/.well-known/agent-card.json",
    "/.well-known/poppy.json",
    "/.well-known/api-catalog",
    "/.well-known/oauth-authorization-server/poppy",
    "/poppy/openapi.json",
    "/poppy/openapi.yaml",
    "/llms.txt",
];

fn edge() -> Edge {
    Edge::with(Plan {
        pap: true,
        ..Plan::default()
    })
}

fn get<'a>(edge: &'a Edge, path: &str) -> Probe<'a> {
    edge.search()
        .verb("GET")
        .path(path)
        .text("")
        .without("Accept")
        .without("Content-Type")
}

fn read(edge: &Edge, path: &str) -> Answer {
    let answer = get(edge, path).send();
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    answer
}

// AAP-006 AAP-007 AAP-008 AAP-009 AAP-032 AAP-046 AAP-206
#[test]
fn every_document_is_open_and_cacheable() {
    let edge = edge();
    for path in PATHS {
        let answer = read(&edge, path);
        let header = |name: &str| answer.header(name).unwrap_or_default().to_owned();
        let etag = header("etag");
        assert!(etag.starts_with('"') && etag.len() > 10, "{path}: {etag}");
        assert_eq!(header("last-modified"), "Mon, 30 Nov 2026 12:00:00 GMT");
        assert_eq!(header("cache-control"), "public, max-age=300");
        assert_eq!(header("vary"), "Accept-Encoding");
        assert_eq!(header("access-control-allow-origin"), "*");
        for never in ["set-cookie", "location", "access-control-allow-credentials"] {
            assert_eq!(answer.header(never), None, "{path}: {never}");
        }
        let head = get(&edge, path).verb("HEAD").send();
        assert_eq!((head.status, head.text.as_str()), (200, ""), "{path}");
        assert_eq!(head.header("etag"), Some(etag.as_str()));
        assert_eq!(
            head.header("content-length"),
            Some(answer.text.len().to_string().as_str()),
            "{path}"
        );
        let slash = get(&edge, &format!("{path}?x=1")).send();
        assert_eq!(slash.status, 200, "a query redirects nobody");
        for verb in ["POST", "PUT", "DELETE"] {
            assert_eq!(get(&edge, path).verb(verb).send().status, 405, "{path}");
        }
    }
}

// AAP-046
#[test]
fn a_reader_that_knows_the_document_gets_no_copy() {
    let edge = edge();
    for path in PATHS {
        let etag = read(&edge, path).header("etag").unwrap().to_owned();
        let with = |name: &str, value: &str| get(&edge, path).header(name, value).send();
        for known in [
            etag.clone(),
            format!("W/{etag}"),
            format!("\"other\", {etag}"),
            "*".to_owned(),
        ] {
            let answer = with("If-None-Match", &known);
            assert_eq!((answer.status, answer.text.as_str()), (304, ""), "{known}");
            assert_eq!(answer.header("etag"), Some(etag.as_str()));
            assert!(answer.header("cache-control").is_some());
        }
        assert_eq!(with("If-None-Match", "\"other\"").status, 200);
        let since = "If-Modified-Since";
        assert_eq!(with(since, "Mon, 30 Nov 2026 12:00:00 GMT").status, 304);
        assert_eq!(with(since, "Mon, 30 Nov 2026 11:59:59 GMT").status, 200);
        assert_eq!(with(since, "yesterday").status, 200);
        let both = get(&edge, path)
            .header("If-None-Match", "\"other\"")
            .header(since, "Mon, 30 Nov 2026 12:00:00 GMT");
        assert_eq!(both.send().status, 200, "a date counts only without a tag");
    }
}

// AAP-046
#[test]
fn gzip_is_for_those_who_ask_and_has_its_own_validator() {
    let edge = edge();
    for path in PATHS {
        let plain = read(&edge, path);
        let with = |coding: &str| get(&edge, path).header("Accept-Encoding", coding);
        for coding in ["gzip", "br, GZIP;q=0.5", "*", "deflate, gzip"] {
            let (answer, body) = with(coding).send_bytes();
            assert_eq!(answer.header("content-encoding"), Some("gzip"), "{path}");
            let mut text = String::new();
            GzDecoder::new(body.as_slice())
                .read_to_string(&mut text)
                .unwrap();
            assert_eq!(text, plain.text);
            assert!(body.len() < plain.text.len());
            let etag = answer.header("etag").unwrap();
            assert_ne!(Some(etag), plain.header("etag"));
            let again = with(coding).header("If-None-Match", etag).send();
            assert_eq!(again.status, 304);
        }
        for coding in ["identity", "gzip;q=0", "gzip;q=0, *", "br", ""] {
            let answer = with(coding).send();
            assert_eq!(answer.header("content-encoding"), None, "{coding}");
            assert_eq!(answer.text, plain.text);
        }
    }
}

#[test]
fn a_page_of_any_site_may_read() {
    let edge = edge();
    for path in PATHS {
        let asked = get(&edge, path)
            .verb("OPTIONS")
            .header("Origin", "https://anywhere.example")
            .header("Access-Control-Request-Method", "GET")
            .header("Access-Control-Request-Headers", "if-none-match")
            .send();
        assert_eq!(asked.status, 204);
        assert_eq!(asked.header("access-control-allow-origin"), Some("*"));
        assert_eq!(asked.header("access-control-allow-headers"), Some("*"));
        assert_eq!(asked.header("access-control-allow-credentials"), None);
    }
}

/// The targets of a `Link` header, by relation.
fn targets(header: &str) -> Vec<(String, String)> {
    let link = |link: &str| {
        let (target, parameters) = link.split_once(">; rel=\"").unwrap();
        let relation = parameters.split('"').next().unwrap();
        (
            relation.to_owned(),
            target.trim_start_matches('<').to_owned(),
        )
    };
    header.split(", ").map(link).collect()
}

/// What one context of the catalogue links to, each found to be of the type that it is said to be.
fn described(edge: &Edge, context: &serde_json::Map<String, Value>) -> Vec<String> {
    let base = format!("http://{}", edge.address);
    let anchor = context["anchor"].as_str().unwrap().replace(&base, "");
    assert!(
        ["/a2a", "/mcp", "/poppy"].contains(&anchor.as_str()),
        "{anchor}"
    );
    let mut found = Vec::new();
    for (relation, targets) in context.iter().filter(|(name, _)| *name != "anchor") {
        assert!(REGISTERED.contains(&relation.as_str()), "{relation}");
        for target in targets.as_array().unwrap() {
            let url = target["href"].as_str().unwrap();
            let answer = read(edge, &url.replace(&base, ""));
            let kind = answer.header("content-type").unwrap();
            assert!(kind.starts_with(target["type"].as_str().unwrap()), "{url}");
            found.push(url.to_owned());
        }
    }
    found
}

const REGISTERED: [&str; 4] = ["api-catalog", "service-doc", "service-meta", "service-desc"];

// AAP-011 AAP-039 AAP-040 AAP-047 AAP-065
#[test]
fn links_and_catalogue_lead_to_what_answers() {
    let edge = edge();
    let base = format!("http://{}", edge.address);
    let mut named = BTreeSet::new();
    for path in PATHS.into_iter().chain(["/inventory"]) {
        let answer = read(&edge, path);
        for (relation, target) in targets(answer.header("link").unwrap()) {
            assert!(REGISTERED.contains(&relation.as_str()), "{relation}");
            named.insert(target);
        }
    }
    let catalogue = read(&edge, "/.well-known/api-catalog");
    assert_eq!(
        catalogue.header("content-type"),
        Some("application/linkset+json; profile=\"https://www.rfc-editor.org/info/rfc9727\"")
    );
    for context in catalogue.json()["linkset"].as_array().unwrap() {
        named.extend(described(&edge, context.as_object().unwrap()));
    }
    for target in &named {
        let path = target
            .strip_prefix(&base)
            .unwrap_or_else(|| panic!("{target}"));
        read(&edge, path);
    }
    assert_eq!(named.len(), 7, "{named:?}");
}

// AAP-011 AAP-065
#[test]
fn no_place_for_mcp_is_made_up() {
    let edge = edge();
    for guess in ["/.well-known/mcp", "/.well-known/mcp.json", "/mcp.json"] {
        assert_eq!(
            get(&edge, guess).send().status,
            404,
            "no MCP place is made up"
        );
    }
}

// AAP-047
#[test]
fn without_an_issuer_nothing_of_it_is_named_or_served() {
    let edge = Edge::start();
    for path in PATHS {
        let answer = get(&edge, path).send();
        if path.contains("openapi") || path.contains("oauth") {
            assert_eq!(answer.status, 404, "{path}");
            continue;
        }
        assert_eq!(answer.status, 200, "{path}");
        assert!(!answer.text.contains("openapi"), "{path}");
        let links = answer.header("link").unwrap();
        assert!(!links.contains("service-desc"), "{links}");
    }
}

// AAP-045 AAP-266 AAP-272
#[test]
fn the_openapi_document_is_for_this_server() {
    let edge = edge();
    let answer = read(&edge, "/poppy/openapi.json");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let document = answer.json();
    let server = format!("http://{}/poppy", edge.address);
    assert_eq!(document["servers"], json!([{ "url": server }]));
    let scheme = &document["components"]["securitySchemes"]["poppySession"];
    assert_eq!(scheme["scheme"], "DPoP");
    assert_eq!(document["security"], json!([{ "poppySession": [] }]));
    for (path, item) in document["paths"].as_object().unwrap() {
        let operation = &item["post"];
        assert_eq!(operation.get("security"), None, "{path}: nothing is exempt");
        let body = operation.pointer("/requestBody/content/application~1json/schema/$ref");
        let pointer = body
            .and_then(Value::as_str)
            .unwrap()
            .trim_start_matches('#');
        assert!(document.pointer(pointer).is_some(), "{path}");
        let asked = get(&edge, &format!("/poppy{path}")).verb("POST").send();
        assert_eq!(asked.status, 401, "{path} is there and asks for a token");
        assert!(
            asked
                .header("www-authenticate")
                .unwrap()
                .starts_with("DPoP")
        );
    }
    let yaml = read(&edge, "/poppy/openapi.yaml");
    assert_eq!(yaml.header("content-type"), Some("application/yaml"));
    assert!(
        yaml.text.starts_with("\"openapi\": \"3.1.0\"\n"),
        "{}",
        yaml.text
    );
}

// AAP-031 AAP-066
#[test]
fn a_deployment_that_contradicts_itself_is_not_served() {
    let refused = Edge::try_with(Plan {
        domain: "dealer.example".into(),
        ..Plan::default()
    });
    let words = refused.err().unwrap();
    assert!(
        words.contains("deployment example: its documents contradict each other")
            && words.contains("organization.domain is \"dealer.example\""),
        "{words}"
    );
}

// AAP-010
#[test]
fn looking_at_discovery_sends_nothing() {
    let edge = edge();
    for path in PATHS {
        let lead = crate::edge::lead("by-discovery").to_string();
        assert_eq!(
            get(&edge, path)
                .verb("POST")
                .text(lead.clone())
                .send()
                .status,
            405
        );
        let asked = get(&edge, &format!("{path}?email=ada@example.com")).text(lead);
        assert_eq!(asked.send().text, read(&edge, path).text, "{path}");
    }
    let lead = crate::edge::lead("by-discovery");
    let data = edge.call("aap_lead_submit", lead).send().payload()["data"].take();
    assert_eq!(
        (&data["status"], data.get("replayed")),
        (&json!("received"), None)
    );
}

// AAP-002
#[test]
fn who_serves_two_bindings_says_so() {
    let two = Edge::start();
    let text = read(&two, "/llms.txt").text;
    assert!(
        text.contains("MCP endpoint") && text.contains("A2A interface"),
        "{text}"
    );
    for path in [
        "/llms.txt",
        "/.well-known/agent-card.json",
        "/.well-known/poppy.json",
    ] {
        let text = read(&two, path).text;
        for claim in [
            "Personal Agent Protocol",
            "Session Token",
            "issuer",
            "complete",
            "conform",
        ] {
            assert!(!text.contains(claim), "{path}: {claim}");
        }
    }
    let three = edge();
    assert!(read(&three, "/llms.txt").text.contains("Session Token"));
    let poppy = read(&three, "/.well-known/poppy.json").json();
    assert_eq!(poppy["apis"][0]["type"], "openapi");
}
