//! Every member of every type, made wrong in every way: the schemas against the specification's tables.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::members::{Kind, Place, documents, places, types, wrongs};
use super::*;

/// One broken document: what it is, where the problem must be told, and by which keyword.
struct Broken {
    document: Value,
    place: String,
    keywords: &'static [&'static str],
}

fn set(document: &Value, pointer: &str, value: Value) -> Value {
    let mut changed = document.clone();
    *changed.pointer_mut(pointer).unwrap() = value;
    changed
}

fn without(document: &Value, pointer: &str) -> Value {
    let mut changed = document.clone();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let owner = changed
        .pointer_mut(parent)
        .unwrap()
        .as_object_mut()
        .unwrap();
    owner
        .shift_remove(&name.replace("~1", "/").replace("~0", "~"))
        .unwrap();
    changed
}

fn with_unknown(document: &Value, pointer: &str) -> Value {
    let mut changed = document.clone();
    let owner = changed
        .pointer_mut(pointer)
        .unwrap()
        .as_object_mut()
        .unwrap();
    owner.insert("zz_unknown".into(), json!(1));
    changed
}

/// The objects of a document, with the type of each.
fn objects(name: &str, found: &[Place]) -> BTreeSet<(String, String)> {
    let mut all: BTreeSet<_> = found
        .iter()
        .map(|place| {
            (
                place.owner.clone(),
                place.pointer.rsplit_once('/').unwrap().0.to_owned(),
            )
        })
        .collect();
    all.insert((name.to_owned(), String::new()));
    all
}

/// Every way to break `document`, which is of the type `name`.
fn broken(name: &str, document: &Value, found: &[Place]) -> Vec<Broken> {
    let mut all = Vec::new();
    for Place {
        pointer, member, ..
    } in found
    {
        if member.required {
            let document = without(document, pointer);
            all.push(Broken {
                document,
                place: pointer.clone(),
                keywords: &["required"],
            });
        }
        let value = document.pointer(pointer).unwrap();
        for (wrong, inside, keywords) in wrongs(&member.kind, value) {
            let place = format!("{pointer}{inside}");
            all.push(Broken {
                document: set(document, pointer, wrong),
                place,
                keywords,
            });
        }
    }
    for (owner, pointer) in objects(name, found) {
        if types()[&owner].closed {
            let document = with_unknown(document, &pointer);
            let place = format!("{pointer}/zz_unknown");
            all.push(Broken {
                document,
                place,
                keywords: &["additionalProperties"],
            });
        }
    }
    all
}

/// Every broken form of `document`, which is of the type `name`.
pub(super) fn all_broken(name: &str, document: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    places(name, document, "", &mut found);
    let broken = broken(name, document, &found).into_iter();
    broken.map(|broken| broken.document).collect()
}

/// The code that the error chapter gives for one problem of a request.
fn expected(skill: Skill, place: &str, keyword: &str) -> ErrorCode {
    match (skill, place, keyword) {
        (Skill::LeadSubmit, "/consent", "required") => ErrorCode::ContactConsentRequired,
        (Skill::LeadSubmit, "/consent", _) => ErrorCode::InvalidConsent,
        (Skill::LeadSubmit, place, _) if place.starts_with("/consent/") => {
            ErrorCode::InvalidConsent
        }
        (_, _, "required") => ErrorCode::MissingRequiredField,
        _ => ErrorCode::SchemaValidationFailed,
    }
}

/// Whether a problem at `other` follows from the break at `place`: a bound that moved past its partner.
fn follows(place: &str, other: &str) -> bool {
    place.strip_suffix("_max") == other.strip_suffix("_min")
}

// AAP-081 AAP-109 AAP-344 AAP-378 AAP-379 AAP-388 AAP-432 AAP-496 AAP-502 AAP-529: every member of every
// request, broken in every way, is refused by the right code, at its place and nowhere else.
#[test]
fn every_member_of_every_request_is_held() {
    let mut tried = 0;
    for skill in Skill::ALL {
        let name = format!("{}-request", skill.stem());
        for document in documents(&name) {
            assert!(
                contract().validate(skill, document.clone()).is_ok(),
                "{document}"
            );
            let mut found = Vec::new();
            places(&name, &document, "", &mut found);
            for Broken {
                document,
                place,
                keywords,
            } in broken(&name, &document, &found)
            {
                let (code, problems) = refused(skill, document.clone());
                let here = problems
                    .iter()
                    .find(|p| p.0 == place && keywords.contains(&p.1.as_str()));
                let Some(here) = here else {
                    panic!("{name} {place} {keywords:?}: {problems:?} {document}")
                };
                let others = problems
                    .iter()
                    .filter(|p| p.0 != place && !follows(&place, &p.0));
                let others: Vec<_> = others.collect();
                assert!(others.is_empty(), "{name} {place}: also {others:?}");
                assert_eq!(code, expected(skill, &place, &here.1), "{name} {place}");
                tried += 1;
            }
        }
    }
    assert!(tried > 1_500, "{tried}");
}

// AAP-092 AAP-354 AAP-366 AAP-367 AAP-391 AAP-438 AAP-440 AAP-487 AAP-510 AAP-527 AAP-528: and so is every
// member of every other document.
#[test]
fn every_member_of_every_document_is_held() {
    let mut tried = 0;
    for name in contract().schema_names() {
        for document in documents(name) {
            assert_eq!(
                contract().check_document(name, &document),
                Ok(()),
                "{name} {document}"
            );
            let mut found = Vec::new();
            places(name, &document, "", &mut found);
            for Broken {
                document,
                place,
                keywords,
            } in broken(name, &document, &found)
            {
                let problems = contract()
                    .check_document(name, &document)
                    .err()
                    .unwrap_or_default();
                let here = |p: &&Problem| {
                    p.instance_location == place && keywords.contains(&p.keyword.as_str())
                };
                assert!(
                    problems.iter().any(|p| here(&p)),
                    "{name} {place} {keywords:?}: {problems:?} {document}"
                );
                tried += 1;
            }
        }
    }
    assert!(tried > 5_000, "{tried}");
}

/// Places that are needed although the table does not say so: a rule between members asks for them.
fn is_needed(name: &str, document: &Value, pointer: &str) -> bool {
    let (owner, member) = pointer.rsplit_once('/').unwrap();
    let status = &document.pointer(owner).unwrap()["status"];
    match member {
        // the grant of these documents allows e-mail
        "email" => name == "lead-submit-request",
        "confirmed_at" | "proposed_times" => true,
        "source" | "text" => *status != "unknown",
        // a card's parameters name one skill at least
        "inventory.search" => documents(name)[0] == *document,
        // a page keeps what its applied_filters say
        "query" | "query_terms" | "distance_mi" | "feature_evidence" => {
            name == "inventory-search-response"
        }
        _ => false,
    }
}

// AAP-449 AAP-497: what is optional may be left out, and what is open takes members that are not known.
#[test]
fn what_is_optional_may_be_absent_and_what_is_open_takes_more() {
    for name in contract().schema_names() {
        for document in documents(name) {
            let mut found = Vec::new();
            places(name, &document, "", &mut found);
            for Place {
                pointer, member, ..
            } in &found
            {
                if member.required || is_needed(name, &document, pointer) {
                    continue;
                }
                let less = without(&document, pointer);
                assert_eq!(
                    contract().check_document(name, &less),
                    Ok(()),
                    "{name} {pointer}"
                );
            }
            for (owner, pointer) in objects(name, &found) {
                if !types()[&owner].closed {
                    let more = with_unknown(&document, &pointer);
                    assert_eq!(
                        contract().check_document(name, &more),
                        Ok(()),
                        "{name} {pointer}"
                    );
                }
            }
        }
    }
}

/// The schema that stands at a place of a bundle, its references followed and its parts put together.
fn properties(bundle: &Value, schema: &Value, found: &mut Map<String, Value>) {
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        let target = bundle.pointer(target.strip_prefix('#').unwrap()).unwrap();
        properties(bundle, target, found);
    }
    for part in ["then", "else"] {
        if let Some(part) = schema.get(part) {
            properties(bundle, part, found);
        }
    }
    for part in schema
        .get("allOf")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        properties(bundle, part, found);
    }
    for (name, property) in schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        // a part that only narrows says less than what is there
        let fuller = |known: &Value| known.get("$ref").is_some() || known.get("type").is_some();
        if !found.get(name).is_some_and(fuller) {
            found.insert(name.clone(), property.clone());
        }
    }
}

fn compare(bundle: &Value, schema: &Value, name: &str, place: &str, faults: &mut BTreeSet<String>) {
    let mut known = Map::new();
    properties(bundle, schema, &mut known);
    let this = &types()[name];
    for absent in known
        .keys()
        .filter(|key| this.members.iter().all(|m| m.name != **key))
    {
        faults.insert(format!("the table has no {place}/{absent} of {name}"));
    }
    for member in &this.members {
        let place = format!("{place}/{}", member.name);
        match known.get(&member.name) {
            None => drop(faults.insert(format!("the schema has no {place} of {name}"))),
            Some(schema) => descend(bundle, schema, &member.kind, &place, faults),
        }
    }
}

fn descend(
    bundle: &Value,
    schema: &Value,
    kind: &Kind,
    place: &str,
    faults: &mut BTreeSet<String>,
) {
    match kind {
        Kind::Object(name) => compare(bundle, schema, name, place, faults),
        Kind::OrNull(kind) => descend(bundle, schema, kind, place, faults),
        Kind::List { of, .. } => descend(bundle, &schema["items"], of, place, faults),
        Kind::Map(of) => descend(bundle, &schema["additionalProperties"], of, place, faults),
        Kind::Const(_)
        | Kind::Enum(_)
        | Kind::Text { .. }
        | Kind::Number { .. }
        | Kind::Boolean
        | Kind::Scalar
        | Kind::Form(_)
        | Kind::Attributes => {}
    }
}

// AAP-081 AAP-527: table and schemas name the same members, so that none goes untried.
#[test]
fn the_table_and_the_schemas_name_the_same_members() {
    let mut faults = BTreeSet::new();
    for name in contract().schema_names() {
        assert!(types().contains_key(name), "the table has no {name}");
        let bundle = contract().schemas.compiled(name).unwrap().bundle.clone();
        compare(&bundle, &bundle, name, "", &mut faults);
    }
    assert_eq!(faults, BTreeSet::new());
}
