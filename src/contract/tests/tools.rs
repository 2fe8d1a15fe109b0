//! The tool schemas, and what holds for every request that can be made up.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::contract::canonical::canonical_json;
use crate::contract::json::read;

/// The validators of the five tool input schemas, compiled once.
fn tool_validator(skill: Skill) -> &'static jsonschema::Validator {
    static TOOLS: LazyLock<BTreeMap<Skill, jsonschema::Validator>> = LazyLock::new(|| {
        let compile = |skill| schema::compile(contract().input_schema(skill)).unwrap();
        Skill::ALL
            .into_iter()
            .map(|skill| (skill, compile(skill)))
            .collect()
    });
    &TOOLS[&skill]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-1_000_000_i64..1_000_000).prop_map(Value::from),
        any::<f64>()
            .prop_filter("finite", |f| f.is_finite())
            .prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::hash_map(".{0,6}", inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A valid request of each skill, and what mutations start from.
fn seeds() -> Vec<(Skill, Value)> {
    vec![
        (
            Skill::DealerInformation,
            json!({"type": "dealer.information.request", "dealer_id": "d"}),
        ),
        (
            Skill::InventoryFacets,
            fixture("facets.request.scoped.json"),
        ),
        (
            Skill::InventorySearch,
            fixture("search.request.features-near.json"),
        ),
        (
            Skill::InventoryVehicle,
            fixture("vehicle.request.by-vehicle-id.json"),
        ),
        (
            Skill::LeadSubmit,
            fixture("lead.request.adf-worked-example.json"),
        ),
    ]
}

/// Every place of a document, as JSON Pointers.
fn every_place(value: &Value, at: &str, out: &mut Vec<String>) {
    out.push(at.to_owned());
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                every_place(member, &problems::member(at, name), out);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                every_place(item, &format!("{at}/{index}"), out);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn mutated(seed: &Value, place: usize, how: u8, with: Value) -> Value {
    let mut all = Vec::new();
    every_place(seed, "", &mut all);
    let pointer = &all[place % all.len()];
    let mut value = seed.clone();
    match how % 3 {
        0 => *value.pointer_mut(pointer).unwrap() = with,
        1 => {
            if let Some(members) = value.pointer_mut(pointer).unwrap().as_object_mut() {
                members.insert("made_up".into(), with);
            }
        }
        _ => {
            if let Some((parent, name)) = pointer.rsplit_once('/')
                && let Some(members) = value.pointer_mut(parent).unwrap().as_object_mut()
            {
                members.remove(name);
            }
        }
    }
    value
}

/// Whether the canonical schema alone accepts the document.
fn accepts(name: &str, document: &Value) -> bool {
    let compiled = contract().schemas.compiled(name).unwrap();
    compiled.validator.is_valid(document)
}

// AAP-108 AAP-109: the tool's input schema accepts each whole request and refuses each broken one, exactly as
// the canonical schema does.
#[test]
fn bundle_and_canonical_schema_agree_on_every_member() {
    let mut tried = 0;
    for skill in Skill::ALL {
        let name = format!("{}-request", skill.stem());
        for document in members::documents(&name) {
            assert!(tool_validator(skill).is_valid(&document), "{document}");
            for broken in mutations::all_broken(&name, &document) {
                let accepted = accepts(&name, &broken);
                assert!(!accepted, "{broken}");
                assert_eq!(
                    tool_validator(skill).is_valid(&broken),
                    accepted,
                    "{broken}"
                );
                tried += 1;
            }
        }
    }
    assert!(tried > 1_500, "{tried}");
}

// AAP-082: the tool's output schema accepts exactly its response and the typed error.
#[test]
fn an_output_is_the_response_or_the_typed_error() {
    for skill in Skill::ALL {
        let output = schema::compile(contract().output_schema(skill)).unwrap();
        let name = format!("{}-response", skill.stem());
        for name in [name.as_str(), "error"] {
            for document in members::documents(name) {
                assert!(output.is_valid(&document), "{document}");
                for broken in mutations::all_broken(name, &document) {
                    assert_eq!(output.is_valid(&broken), accepts(name, &broken), "{broken}");
                }
            }
        }
        for other in Skill::ALL.into_iter().filter(|other| *other != skill) {
            let other = members::documents(&format!("{}-response", other.stem())).remove(0);
            assert!(!output.is_valid(&other), "{other}");
        }
    }
}

proptest! {
    // AAP-108 AAP-109: the tool's input schema accepts exactly what the canonical schema accepts.
    #[test]
    fn bundle_and_canonical_schema_agree(
        which in 0_usize..5, place in any::<usize>(), how in any::<u8>(), with in any_json(),
    ) {
        let (skill, seed) = seeds().swap_remove(which);
        let value = mutated(&seed, place, how, with);
        let name = format!("{}-request", skill.stem());
        prop_assert_eq!(tool_validator(skill).is_valid(&value), accepts(&name, &value));
    }

    // AAP-502: no payload, however strange, makes validation panic, and every refusal names a place.
    #[test]
    fn a_refusal_always_names_its_places(
        which in 0_usize..5, place in any::<usize>(), how in any::<u8>(), with in any_json(),
    ) {
        let (skill, seed) = seeds().swap_remove(which);
        if let Err(error) = contract().validate(skill, mutated(&seed, place, how, with)) {
            prop_assert!(error.code != ErrorCode::InternalError, "{:?}", error);
            prop_assert!(!error.details["errors"].as_array().unwrap().is_empty());
        }
    }

    // AAP-476: canonical text does not depend on order or on how a number was written.
    #[test]
    fn canonical_text_reads_back_as_itself(value in any_json()) {
        let text = canonical_json(&value);
        let again: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(canonical_json(&again), text);
    }

    // AAP-097: arbitrary bytes never make the reader panic.
    #[test]
    fn arbitrary_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let strict = read(&bytes);
        if let Ok(value) = strict {
            prop_assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap(), value);
        }
    }
}

// AAP-083 AAP-108: what hosts are known to stumble over is not in the tool schemas.
#[test]
fn tool_schemas_are_portable() {
    fn walk(schema: &Value, root: &Value) {
        match schema {
            Value::Object(members) => {
                if let Some(target) = members.get("$ref") {
                    let target = target.as_str().unwrap();
                    assert!(target.starts_with("#/$defs/"), "{target}");
                    assert!(
                        root.pointer(target.strip_prefix('#').unwrap()).is_some(),
                        "{target}"
                    );
                }
                if let Some(properties) = members.get("properties") {
                    for (name, property) in properties.as_object().unwrap() {
                        assert!(property.is_object(), "{name}");
                    }
                }
                members.values().for_each(|member| walk(member, root));
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, root)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let contract = contract();
    for skill in Skill::ALL {
        for schema in [contract.input_schema(skill), contract.output_schema(skill)] {
            assert_eq!(schema["type"], "object");
            walk(schema, schema);
            schema::compile(schema).unwrap();
        }
        for keyword in ["oneOf", "anyOf", "allOf", "if", "not", "$ref"] {
            assert!(
                contract.input_schema(skill).get(keyword).is_none(),
                "{keyword}"
            );
        }
    }
}
