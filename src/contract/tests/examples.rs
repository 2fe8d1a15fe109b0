//! Every example of the specification's text: valid against what it is an example of, or known to be none of
//! the contract's documents.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::*;

fn text(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fixtures");
    fs::read_to_string(folder.join(name)).unwrap()
}

/// The schema of a document, and the place of it in its file.
fn schema_of(name: &str) -> Option<(&'static str, &'static str)> {
    Some(match name {
        "a2a.datapart.search-request.json" => ("inventory-search-request", "/data"),
        "a2a.error.rate-limited.json" => ("error", "/error/data/1/value"),
        "a2a.error.validation.json" => ("error", "/error/data/2/value"),
        "a2a.send-message.search.request.json" => {
            ("inventory-search-request", "/params/message/parts/0/data")
        }
        "a2a.send-message.search.response.json" => {
            ("inventory-search-response", "/result/message/parts/0/data")
        }
        "mcp.tools-call.search.request.json" => ("inventory-search-request", "/params/arguments"),
        "listing.pricing-included-fees.json" => ("inventory-listing", ""),
        "pap.client-metadata.json" => ("client-metadata", ""),
        "pap.oauth-metadata.response.json" => ("oauth-metadata", ""),
        "pap.token.response.guest.json" => ("token-response", ""),
        "poppy.document.json" => ("poppy", ""),
        _ => {
            let kinds = [
                ("dealer.information.request.", "dealer-information-request"),
                (
                    "dealer.information.response.",
                    "dealer-information-response",
                ),
                ("error.", "error"),
                ("facets.request.", "inventory-facets-request"),
                ("facets.response.", "inventory-facets-response"),
                ("lead.request.", "lead-submit-request"),
                ("lead.response.", "lead-submit-response"),
                ("search.request.", "inventory-search-request"),
                ("search.response.", "inventory-search-response"),
                ("vehicle.request.", "vehicle-detail-request"),
                ("vehicle.response.", "vehicle-detail-response"),
            ];
            let kind = kinds.iter().find(|(start, _)| name.starts_with(start))?;
            (kind.1, "")
        }
    })
}

/// Examples of envelopes, heads and other forms, which other tests use.
const OTHERS: &[&str] = &[
    "a2a.error.extension-required.json",
    "a2a.send-message.request-headers.http",
    "adf.mapping-table.md",
    "adf.worked-example.xml",
    "contract-uri.txt",
    "llms-txt.dealer.example.md",
    "mcp.server-discover.request-headers.http",
    "mcp.server-discover.request.json",
    "pap.auth-object.account-scopes.json",
    "pap.oauth-metadata.request.http",
    "pap.skill-call.search.features.request.http",
    "pap.skill-call.search.request.http",
    "pap.token.request.guest.form.txt",
];

// AAP-081 AAP-082 AAP-116 AAP-447 AAP-527: each example is valid, requests as requests too.
#[test]
fn every_example_of_the_text_is_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fixtures");
    let mut checked = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some((schema, pointer)) = schema_of(&name) else {
            assert!(
                OTHERS.contains(&name.as_str()),
                "{name} is checked against nothing"
            );
            continue;
        };
        let document = fixture(&name).pointer(pointer).unwrap().clone();
        assert_eq!(
            contract().check_document(schema, &document),
            Ok(()),
            "{name}"
        );
        let skill = Skill::ALL
            .into_iter()
            .find(|s| document["type"] == s.request_type());
        if let Some(skill) = skill {
            assert!(contract().validate(skill, document).is_ok(), "{name}");
        }
        checked += 1;
    }
    assert_eq!(checked, 32);
}

// AAP-005 AAP-090 AAP-246: the forms that are no JSON documents of their own.
#[test]
fn the_texts_other_forms_hold_valid_documents() {
    assert_eq!(text("contract-uri.txt").trim(), contract().extension_uri());
    let mut poppy = fixture("poppy.document.json");
    poppy["auth"] = fixture("pap.auth-object.account-scopes.json");
    assert_eq!(contract().check_document("poppy", &poppy), Ok(()));
    for name in [
        "pap.skill-call.search.request.http",
        "pap.skill-call.search.features.request.http",
    ] {
        let call = text(name).replace("\r\n", "\n");
        let (head, body) = call.split_once("\n\n").unwrap();
        assert!(
            head.starts_with("POST ") && head.contains("/skills/inventory.search"),
            "{head}"
        );
        let body = json::read(body.as_bytes()).unwrap();
        assert!(
            contract().validate(Skill::InventorySearch, body).is_ok(),
            "{name}"
        );
    }
    let form: Map<String, Value> = text("pap.token.request.guest.form.txt")
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), json!(value.trim_end_matches('&'))))
        .collect();
    assert_eq!(
        contract().check_document("token-request", &Value::Object(form)),
        Ok(())
    );
}

/// Facts of the text's tables, one line a row: `#` begins a comment.
fn rows(name: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/contract")
        .join(name);
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.split('\t').map(str::to_owned).collect())
        .collect()
}

// AAP-188 AAP-189 AAP-190 AAP-191 AAP-294 AAP-295 AAP-296 AAP-297 AAP-298 AAP-526 AAP-538: one row of the
// text's tables a code, in their order.
#[test]
fn the_error_table_is_that_of_the_text() {
    let ours: Vec<Vec<String>> = ErrorCode::ALL
        .into_iter()
        .map(|code| {
            vec![
                code.id().to_owned(),
                code.a2a_number().to_string(),
                code.pap_status().to_string(),
                code.retryable().to_string(),
            ]
        })
        .collect();
    let theirs = rows("errors.tsv");
    let of_table: Vec<Vec<String>> = theirs.iter().map(|row| row[..4].to_vec()).collect();
    assert_eq!(ours, of_table);
    // what a code needs in its details, and that nothing else is needed
    for row in &theirs {
        let mut error = json!({"type": "aap.error", "error_id": "e", "code": row[0], "message": "m",
            "retryable": false, "created_at": "2026-10-24T15:00:00Z"});
        let needs = row[4] != "-";
        assert_eq!(
            contract().check_document("error", &error).is_err(),
            needs,
            "{row:?}"
        );
        error["details"] = json!({"errors": [], "retry_after_ms": 1});
        if needs {
            error["details"].as_object_mut().unwrap().remove(&row[4]);
            let problems = contract().check_document("error", &error).unwrap_err();
            let place = format!("/details/{}", row[4]);
            assert_eq!(
                (problems.len(), &problems[0].instance_location),
                (1, &place)
            );
            error["details"] =
                json!({(row[4].as_str()): if row[4] == "errors" { json!([]) } else { json!(1) }});
        }
        assert_eq!(
            contract().check_document("error", &error),
            Ok(()),
            "{row:?}"
        );
    }
}

// AAP-078 AAP-085 AAP-091 AAP-093 AAP-156 AAP-270: the names of each skill are those of the text's tables.
#[test]
fn the_names_of_skills_are_those_of_the_text() {
    let ours: BTreeMap<&str, Vec<String>> = Skill::ALL
        .into_iter()
        .map(|skill| {
            let names = vec![
                skill.tool_name().to_owned(),
                skill.request_type(),
                skill.response_type(),
                contract().request_schema_url(skill),
                contract().response_schema_url(skill),
                skill.request_media_type(),
                skill.response_media_type(),
            ];
            (skill.id(), names)
        })
        .collect();
    let theirs: BTreeMap<String, Vec<String>> = rows("skills.tsv")
        .into_iter()
        .map(|row| (row[0].clone(), row[1..].to_vec()))
        .collect();
    assert_eq!(ours.len(), 5);
    for (id, names) in ours {
        assert_eq!(names, theirs[id]);
    }
}
