//! Schema files made usable: bundled with their definitions, compiled once, with our date-time check.
//! Must not know any skill's meaning.

use std::collections::BTreeMap;

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::{Map, Value, json};

use super::instant::is_date_time;

/// All schemas of one release.
#[derive(Debug)]
pub(super) struct Schemas {
    canonical: BTreeMap<String, Value>,
    compiled: BTreeMap<String, Compiled>,
}

/// One schema with everything it refers to, and its validator.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) bundle: Value,
    pub(super) validator: Validator,
}

impl Schemas {
    /// Parses, bundles and compiles embedded schema files. An error names the file.
    pub(super) fn compile(files: &[(&str, &str)]) -> Result<Self, String> {
        let mut canonical = BTreeMap::new();
        for (name, text) in files {
            let schema = serde_json::from_str(text).map_err(|e| format!("{name}: {e}"))?;
            canonical.insert((*name).to_owned(), schema);
        }
        let mut compiled = BTreeMap::new();
        for (name, schema) in &canonical {
            let bundle = bundle(&canonical, schema)?;
            let validator = compile(&bundle).map_err(|e| format!("{name}: {e}"))?;
            compiled.insert(name.clone(), Compiled { bundle, validator });
        }
        Ok(Self {
            canonical,
            compiled,
        })
    }

    /// The schema file as published.
    pub(super) fn canonical(&self, name: &str) -> Option<&Value> {
        self.canonical.get(name)
    }

    /// The bundle and validator of a schema.
    pub(super) fn compiled(&self, name: &str) -> Option<&Compiled> {
        self.compiled.get(name)
    }

    /// A schema that refers to these files, bundled with them.
    pub(super) fn bundle_of(&self, schema: &Value) -> Result<Value, String> {
        bundle(&self.canonical, schema)
    }

    /// Every name, sorted.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.canonical.keys().map(String::as_str)
    }
}

/// Compiles a self-contained schema: 2020-12, formats asserted, linear-time patterns.
pub(super) fn compile(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .should_validate_formats(true)
        .with_pattern_options(PatternOptions::regex())
        .with_format("date-time", is_date_time)
        .build(schema)
        .map_err(|e| e.to_string())
}

/// `schema` with every file it refers to under `$defs`, refs local (AAP-083).
fn bundle(canonical: &BTreeMap<String, Value>, schema: &Value) -> Result<Value, String> {
    let mut definitions = BTreeMap::new();
    let mut root = localise(canonical, schema, &mut definitions)?;
    if let Value::Object(members) = &mut root {
        members.remove("$id");
        if !definitions.is_empty() {
            let definitions: Map<_, _> = definitions.into_iter().collect();
            members.insert("$defs".into(), Value::Object(definitions));
        }
    }
    Ok(root)
}

fn localise(
    canonical: &BTreeMap<String, Value>,
    schema: &Value,
    definitions: &mut BTreeMap<String, Value>,
) -> Result<Value, String> {
    match schema {
        Value::Object(members) => {
            let mut out = Map::new();
            for (key, member) in members {
                let file = member.as_str().and_then(|m| m.strip_suffix(".schema.json"));
                let member = match file {
                    Some(name) if key == "$ref" => {
                        define(canonical, name, definitions)?;
                        json!(format!("#/$defs/{name}"))
                    }
                    _ => localise(canonical, member, definitions)?,
                };
                out.insert(key.clone(), member);
            }
            Ok(Value::Object(out))
        }
        Value::Array(items) => items
            .iter()
            .map(|item| localise(canonical, item, definitions))
            .collect::<Result<_, _>>()
            .map(Value::Array),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(schema.clone()),
    }
}

fn define(
    canonical: &BTreeMap<String, Value>,
    name: &str,
    definitions: &mut BTreeMap<String, Value>,
) -> Result<(), String> {
    if definitions.contains_key(name) {
        return Ok(());
    }
    let schema = canonical
        .get(name)
        .ok_or_else(|| format!("no schema {name}"))?;
    definitions.insert(name.to_owned(), Value::Null);
    let mut schema = localise(canonical, schema, definitions)?;
    if let Value::Object(members) = &mut schema {
        members.remove("$id");
        members.remove("$schema");
    }
    definitions.insert(name.to_owned(), schema);
    Ok(())
}
