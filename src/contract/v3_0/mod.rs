//! What AAP 3.0 alone fixes: its names, its schema files, its verdicts. Must not be named outside `contract`.

mod files;
mod rules;

use serde_json::{Value, json};

use super::problems::find;
use super::schema::{Schemas, bundle_root_constraints};
use super::{AapError, Problem, Skill, json};

pub(super) const VERSION: &str = "3.0.0";
pub(super) const EXTENSION_URI: &str = "https://autoagentprotocol.org/extensions/aap/v3.0";
pub(super) const SCHEMA_BASE_URL: &str = "https://autoagentprotocol.org/v3.0/schemas/";

/// The embedded schemas, compiled.
pub(super) fn schemas() -> Result<Schemas, String> {
    Schemas::compile(files::FILES)
}

/// Normalises a request's numbers and finds all its problems; the payload is returned ready to be typed.
pub(super) fn check_request(
    schemas: &Schemas,
    skill: Skill,
    mut payload: Value,
) -> Result<Value, AapError> {
    json::normalise_numbers(&mut payload);
    let name = format!("{}-request", skill.stem());
    let schema = schemas
        .compiled(&name)
        .ok_or_else(|| AapError::internal(format!("no {name}")))?;
    let mut problems = find(schema, &payload);
    rules::further(skill, &payload, &mut problems);
    if problems.is_empty() {
        Ok(payload)
    } else {
        Err(rules::verdict(&payload, &problems))
    }
}

/// Every problem of a finished document against the schema `name`.
pub(super) fn check_document(schemas: &Schemas, name: &str, document: &Value) -> Vec<Problem> {
    match schemas.compiled(name) {
        Some(schema) => find(schema, document),
        None => vec![Problem::new(
            "",
            "schema",
            format!("There is no schema named {name}."),
        )],
    }
}

/// The input schema of the skill's MCP tool: the request's bundle with its root constraints under
/// `dependentSchemas.type` (AAP-108).
pub(super) fn input_schema(schemas: &Schemas, skill: Skill) -> Result<Value, String> {
    let name = format!("{}-request", skill.stem());
    let compiled = schemas
        .compiled(&name)
        .ok_or_else(|| format!("no {name}"))?;
    bundle_root_constraints(&compiled.bundle)
}

/// The output schema of the skill's MCP tool: its response or `aap.error` (AAP-082).
pub(super) fn output_schema(schemas: &Schemas, skill: Skill) -> Result<Value, String> {
    let union = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "description": format!("The answer of {}, or a typed error.", skill.id()),
        "oneOf": [
            {"$ref": format!("{}-response.schema.json", skill.stem())},
            {"$ref": "error.schema.json"},
        ],
    });
    schemas.bundle_of(&union)
}
