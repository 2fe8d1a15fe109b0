//! Schema files made usable: bundled with their definitions, compiled once, with our date-time check.
//! Must not know any skill's meaning.

use std::collections::BTreeMap;

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::{Map, Value, json};

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

/// Moves the root's `allOf`, `anyOf`, … under `dependentSchemas.type`: hosts drop tools whose input root
/// has them, and `type` is always required, so the accepted set stays the same (AAP-108).
pub(super) fn bundle_root_constraints(bundle: &Value) -> Result<Value, String> {
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

/// RFC 3339 §5.6 with its offset; a leap second is allowed, an impossible date is not.
pub(super) fn is_date_time(text: &str) -> bool {
    instant(text).is_some()
}

/// The instant that an RFC 3339 date-time names; the last hours of the year 9999, which instants do not
/// reach, count as the last instant.
pub(super) fn instant(text: &str) -> Option<jiff::Timestamp> {
    let bytes = text.as_bytes();
    let digits = |from: usize, to: usize| {
        bytes
            .get(from..to)
            .is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    let at = |index: usize, allowed: &[u8]| bytes.get(index).is_some_and(|b| allowed.contains(b));
    let shaped = digits(0, 4)
        && at(4, b"-")
        && digits(5, 7)
        && at(7, b"-")
        && digits(8, 10)
        && at(10, b"Tt")
        && digits(11, 13)
        && at(13, b":")
        && digits(14, 16)
        && at(16, b":")
        && digits(17, 19);
    let rest = bytes.get(19..)?;
    let rest = match rest.split_first() {
        Some((b'.', fraction)) => {
            let length = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
            fraction.get(length..).filter(|_| length > 0)?
        }
        _ => rest,
    };
    let offset = match rest {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] => [h1, h2, m1, m2].iter().all(|b| b.is_ascii_digit()),
        _ => false,
    };
    if !shaped || !offset {
        return None;
    }
    text.get(..19)?.parse::<jiff::civil::DateTime>().ok()?;
    Some(text.parse().unwrap_or(jiff::Timestamp::MAX))
}
