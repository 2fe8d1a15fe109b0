//! Whatever an operator chooses, every document and every endpoint tells the same.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use super::site::{Dealer, Ground, HOST, Plan, contract};
use crate::bindings::discovery::Documents;
use crate::contract::{Capabilities, Skill};
use crate::deployment::{Deployment, DeploymentError};
use crate::server::{Site, SiteError};

/// Every choice that shapes the documents.
fn plans() -> impl Strategy<Value = Plan> {
    let fields: Vec<String> = Capabilities::fields().into_iter().collect();
    let count = fields.len();
    (
        proptest::sample::subsequence(Skill::ALL.to_vec(), 1..=5),
        proptest::sample::subsequence(fields, 0..=count),
        any::<[bool; 3]>(),
    )
        .prop_map(|(skills, supplied, [has_geo, has_pap, offset])| {
            let mut supplied: BTreeSet<String> = supplied.into_iter().collect();
            // What the default order needs.
            supplied.insert("updated_at".to_owned());
            Plan {
                skills,
                supplied,
                has_geo,
                has_pap,
                offset,
                ..Plan::default()
            }
        })
}

fn ids(list: &Value, pointer: &str) -> BTreeSet<String> {
    let entries = list.as_array().unwrap();
    let id = |entry: &Value| entry.pointer(pointer).unwrap().as_str().unwrap().to_owned();
    entries.iter().map(id).collect()
}

fn keys(object: &Value) -> BTreeSet<String> {
    object.as_object().unwrap().keys().cloned().collect()
}

/// The skills, place by place, read here without the code that judges agreement.
fn places(documents: &Documents) -> Vec<(&'static str, BTreeSet<String>)> {
    let card = &documents.agent_card;
    let params = &card["capabilities"]["extensions"][0]["params"];
    let line = documents.llms_txt.split("Implemented skills: ").nth(1);
    let line = line.unwrap().split(".\n").next().unwrap();
    let mut places = vec![
        ("card", ids(&card["skills"], "/id")),
        ("params", keys(&params["skills"])),
        (
            "tools",
            ids(
                &documents.tools,
                "/_meta/autoagentprotocol.org~1aap/skill_id",
            ),
        ),
        ("llms.txt", line.split(", ").map(str::to_owned).collect()),
    ];
    if let Some(openapi) = &documents.openapi {
        let paths = keys(&openapi["paths"]).into_iter();
        let ids = paths.map(|path| path.replace("/skills/", ""));
        places.push(("OpenAPI", ids.collect()));
    }
    places
}

async fn one_truth(ground: &Ground, plan: Plan) {
    let (skills, has_pap) = (plan.skills.clone(), plan.has_pap);
    let wanted: BTreeSet<String> = skills.iter().map(|skill| skill.id().to_owned()).collect();
    let dealer = match ground.dealer(plan).await {
        Ok(dealer) => dealer,
        Err(errors) => panic!("{errors:?}"),
    };
    let documents = Documents::write(&dealer.deployment);
    assert_eq!(documents.disagreements(&dealer.deployment), []);
    for (name, document) in [
        ("agent-card", &documents.agent_card),
        ("poppy", &documents.poppy),
    ] {
        assert_eq!(contract().check_document(name, document), Ok(()), "{name}");
    }
    for (place, named) in places(&documents) {
        assert_eq!(named, wanted, "{place}");
    }
    let native = [
        documents.openapi.is_some(),
        documents.oauth.is_some(),
        documents.poppy.get("auth").is_some(),
    ];
    assert_eq!(native, [has_pap; 3]);
    let path = "/capabilities/extensions/0/params/skills/inventory.search/capabilities";
    let searches = skills.contains(&Skill::InventorySearch);
    assert_eq!(documents.agent_card.pointer(path).is_some(), searches);
    others_are_refused(ground, &dealer, &skills).await;
}

/// The skills that are not offered.
async fn others_are_refused(ground: &Ground, dealer: &Dealer, skills: &[Skill]) {
    let has_pap = dealer.deployment.pap.is_some();
    for skill in Skill::ALL
        .into_iter()
        .filter(|skill| !skills.contains(skill))
    {
        let payload = json!({"type": skill.request_type()});
        let error = dealer.over_a2a(skill, &payload).await;
        assert_eq!(error["code"], "UNSUPPORTED_SKILL", "{error}");
        if has_pap {
            let error = dealer.over_pap(&ground.rig, skill, &payload).await;
            assert_eq!(error["code"], "UNSUPPORTED_SKILL", "{error}");
        }
        let error = dealer.over_mcp(skill, &payload).await;
        assert_eq!(error["code"], -32602, "an unknown tool: {error}");
    }
}

// AAP-017 AAP-043 AAP-044 AAP-045 AAP-066 AAP-079 AAP-149 AAP-198 AAP-365
#[test]
fn any_choice_of_skills_and_abilities_is_told_alike_everywhere() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let ground = runtime.block_on(Ground::new());
    let mut runner = TestRunner::new(Config {
        cases: 48,
        failure_persistence: None,
        ..Config::default()
    });
    runner
        .run(&plans(), |plan| {
            runtime.block_on(one_truth(&ground, plan));
            Ok(())
        })
        .unwrap();
}

// AAP-364
#[tokio::test]
async fn facets_without_search_take_no_filter() {
    let ground = Ground::new().await;
    let plan = Plan {
        skills: vec![Skill::InventoryFacets],
        ..Plan::default()
    };
    let dealer = ground.dealer(plan).await.ok().unwrap();
    let facets = |filters: Value| json!({"type": "inventory.facets.request", "filters": filters});
    let skill = Skill::InventoryFacets;
    let refused = dealer
        .over_mcp(skill, &facets(json!({"condition": ["used"]})))
        .await;
    assert_eq!(refused["code"], "UNSUPPORTED_FILTER");
    let all = dealer.over_mcp(skill, &facets(json!({}))).await;
    assert_eq!(all["type"], "inventory.facets.response");
}

// AAP-004 AAP-026
#[tokio::test]
async fn feature_filters_need_facets() {
    let ground = Ground::new().await;
    let compiled = Plan::default();
    let with_facets = ground.dealer(compiled.clone()).await.ok().unwrap();
    let filters = |dealer: &Dealer| {
        let inventory = dealer.deployment.inventory.as_ref().unwrap();
        inventory.capabilities().filters.clone()
    };
    assert!(filters(&with_facets).contains(&"features_all".to_owned()));
    let without = Plan {
        skills: vec![Skill::InventorySearch],
        ..compiled
    };
    let without = ground.dealer(without).await.ok().unwrap();
    assert!(!filters(&without).contains(&"features_all".to_owned()));
    // Nor can an inventory that offers them be put behind search alone.
    let inventory = with_facets.deployment.inventory.clone();
    let parts = crate::deployment::Parts {
        id: "demo".to_owned(),
        domain: "demo-toyota.example.com".to_owned(),
        contract: contract(),
        skills: vec![Skill::InventorySearch],
        scope: crate::contract::capabilities::Scope::Dealer,
        profiles: with_facets.deployment.profiles.clone(),
        inventory,
        leads: None,
        urls: with_facets.deployment.urls.clone(),
        mcp: crate::deployment::McpSettings::default(),
        gates: crate::deployment::Gates::default(),
        pap: None,
        quota: crate::deployment::Quota::default(),
        clock: with_facets.deployment.clock.clone(),
    };
    let refused = crate::deployment::Deployment::compile(parts).err().unwrap();
    assert_eq!(refused, [DeploymentError::FeaturesWithoutFacets]);
}

/// Which document a change is made to.
#[derive(Clone, Copy, Debug)]
enum At {
    Card,
    Poppy,
    OpenApi,
    OAuth,
    Catalogue,
    Tools,
}

const ELSEWHERE: &str = "\"https://elsewhere.example/x\"";

/// The topic that must find it, and a change of one value by JSON Pointer.
const CHANGES: &[(&str, At, &str, &str)] = &[
    (
        "identity",
        At::Poppy,
        "/organization/domain",
        "\"www.demo-toyota.example.com\"",
    ),
    (
        "mcp-address",
        At::Poppy,
        "/extensions/autoagentprotocol.org~1aap/mcp",
        ELSEWHERE,
    ),
    (
        "release",
        At::Poppy,
        "/extensions/autoagentprotocol.org~1aap/aap_version",
        "\"2.1.0\"",
    ),
    ("release", At::OpenApi, "/x-aap-extension", ELSEWHERE),
    (
        "release",
        At::Tools,
        "/0/_meta/autoagentprotocol.org~1aap/request_schema",
        ELSEWHERE,
    ),
    ("skills", At::Card, "/skills/0/id", "\"inventory.trade\""),
    ("skills", At::Card, "/skills/0/id", "\"lead.submit\""),
    (
        "skills",
        At::Tools,
        "/4/_meta/autoagentprotocol.org~1aap/skill_id",
        "\"x.y\"",
    ),
    ("skills", At::OpenApi, "/paths", "{}"),
    (
        "capabilities",
        At::Card,
        "/capabilities/extensions/0/params/skills/inventory.search/capabilities/max_limit",
        "99",
    ),
    (
        "issuer",
        At::OAuth,
        "/issuer",
        "\"https://demo-toyota.example.com/poppy/\"",
    ),
    (
        "issuer",
        At::OAuth,
        "/protected_resources",
        "[\"https://demo-toyota.example.com/\"]",
    ),
    ("native-api", At::OpenApi, "/servers/0/url", ELSEWHERE),
    ("native-api", At::OpenApi, "/security", "[]"),
    (
        "links",
        At::Card,
        "/capabilities/extensions/0/params/poppy",
        ELSEWHERE,
    ),
    (
        "links",
        At::Poppy,
        "/extensions/autoagentprotocol.org~1aap/llms_txt",
        ELSEWHERE,
    ),
    (
        "addresses",
        At::Card,
        "/supportedInterfaces/0/url",
        "\"http://demo-toyota.example.com/a2a\"",
    ),
    (
        "addresses",
        At::Poppy,
        "/auth/issuer",
        "\"https://me:secret@demo-toyota.example.com/poppy\"",
    ),
    ("catalogue", At::Catalogue, "/linkset/0/anchor", ELSEWHERE),
];

/// The topic that must find it, and words of the index that become others.
const WORDS: &[(&str, &str, &str)] = &[
    ("mcp-address", "/mcp)", "/mpc)"),
    ("release", "3.0.0", "2.1.0"),
    ("skills", ", lead.submit", ""),
    ("links", "agent-card.json", "agent.json"),
];

fn topics(documents: &Documents, deployment: &Deployment) -> BTreeSet<&'static str> {
    let found = documents.disagreements(deployment).into_iter();
    found.map(|one| one.topic.id()).collect()
}

// AAP-020 AAP-021 AAP-024 AAP-029 AAP-031 AAP-033 AAP-048 AAP-049 AAP-066 AAP-219
#[tokio::test]
async fn every_contradiction_is_found() {
    let ground = Ground::new().await;
    let dealer = ground.dealer(Plan::default()).await.ok().unwrap();
    let right = Documents::write(&dealer.deployment);
    for (topic, at, pointer, value) in CHANGES {
        let mut wrong = right.clone();
        let document = match at {
            At::Card => &mut wrong.agent_card,
            At::Poppy => &mut wrong.poppy,
            At::OpenApi => wrong.openapi.as_mut().unwrap(),
            At::OAuth => wrong.oauth.as_mut().unwrap(),
            At::Catalogue => &mut wrong.api_catalog,
            At::Tools => &mut wrong.tools,
        };
        let place = document.pointer_mut(pointer).unwrap();
        *place = serde_json::from_str(value).unwrap();
        let found = topics(&wrong, &dealer.deployment);
        assert!(found.contains(topic), "{at:?}{pointer}: {found:?}");
    }
    for (topic, words, others) in WORDS {
        let mut wrong = right.clone();
        assert!(wrong.llms_txt.contains(words), "{words}");
        wrong.llms_txt = wrong.llms_txt.replace(words, others);
        let found = topics(&wrong, &dealer.deployment);
        assert!(found.contains(topic), "{words}: {found:?}");
    }
}

// AAP-030 AAP-042
#[tokio::test]
async fn no_native_mcp_is_named_and_another_address_for_one_is_found() {
    let ground = Ground::new().await;
    let dealer = ground.dealer(Plan::default()).await.ok().unwrap();
    let mut documents = Documents::write(&dealer.deployment);
    let apis = documents.poppy["apis"].as_array_mut().unwrap();
    assert!(apis.iter().all(|api| api["type"] == "openapi"));
    let url = format!("{HOST}/mcp");
    let mut native = json!({"type": "mcp", "url": url, "resource": url, "description": "x"});
    apis.push(native.clone());
    assert_eq!(topics(&documents, &dealer.deployment), BTreeSet::new());
    native["resource"] = json!(HOST);
    *documents.poppy["apis"]
        .as_array_mut()
        .unwrap()
        .last_mut()
        .unwrap() = native;
    assert!(topics(&documents, &dealer.deployment).contains("mcp-address"));
}

// AAP-035
#[tokio::test]
async fn two_companies_cannot_share_an_issuer() {
    let ground = Ground::new().await;
    let one = ground.dealer(Plan::default()).await.ok().unwrap();
    let other = ground.dealer(Plan::default()).await.ok().unwrap();
    let alone = Site::new(vec![Arc::clone(&one.deployment)]);
    assert!(alone.is_ok());
    let both = Site::new(vec![one.deployment, other.deployment]);
    let shared = |error: &SiteError| {
        let words = error.to_string();
        words.ends_with("would both answer at demo-toyota.example.com/poppy/oauth/token")
    };
    assert!(both.err().unwrap().iter().any(shared));
}
