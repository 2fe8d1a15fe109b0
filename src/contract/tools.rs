//! The self-contained schemas of MCP tools, made from a release's canonical ones. Must accept exactly what those
//! accept.

use serde_json::{Map, Value, json};

use super::Skill;
use super::schema::Schemas;

/// The input schema of the skill's tool: the request's bundle with its root constraints under
/// `dependentSchemas.type` (AAP-108).
pub(super) fn input(schemas: &Schemas, skill: Skill) -> Result<Value, String> {
    let name = super::request_schema(skill);
    let compiled = schemas
        .compiled(&name)
        .ok_or_else(|| format!("no {name}"))?;
    root_constraints_moved(&compiled.bundle)
}

/// The output schema of the skill's tool: its response or `aap.error` (AAP-082).
pub(super) fn output(schemas: &Schemas, skill: Skill) -> Result<Value, String> {
    let union = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "description": format!("The answer of {}, or a typed error.", skill.id()),
        "oneOf": [
            {"$ref": format!("{}.schema.json", super::response_schema(skill))},
            {"$ref": "error.schema.json"},
        ],
    });
    schemas.bundle_of(&union)
}

/// Moves the root's `allOf`, `anyOf`, … under `dependentSchemas.type`: hosts drop tools whose input root
/// has them, and `type` is always required, so the accepted set stays the same (AAP-108).
fn root_constraints_moved(bundle: &Value) -> Result<Value, String> {
    const MOVED: &[&str] = &["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];
    let Value::Object(mut root) = bundle.clone() else {
        return Err("not an object".into());
    };
    let required = root.get("required").and_then(Value::as_array);
    if !required.is_some_and(|names| names.iter().any(|name| name == "type")) {
        return Err("the discriminator `type` is not required".into());
    }
    let mut moved = Map::new();
    for key in MOVED {
        if let Some(constraint) = root.shift_remove(*key) {
            moved.insert((*key).to_owned(), constraint);
        }
    }
    if !moved.is_empty() {
        root.insert("dependentSchemas".into(), json!({ "type": moved }));
    }
    Ok(Value::Object(root))
}
