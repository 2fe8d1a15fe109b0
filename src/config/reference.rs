//! What can be configured, made from the comments of the types in `raw`, so that it cannot fall behind them: as
//! pages for people, and as a JSON Schema for editors. Must not know what any key does.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

const SOURCES: [&str; 10] = [
    include_str!("raw/mod.rs"),
    include_str!("raw/deployment.rs"),
    include_str!("raw/profile.rs"),
    include_str!("raw/source.rs"),
    include_str!("raw/leads.rs"),
    include_str!("raw/delivery.rs"),
    include_str!("raw/store.rs"),
    include_str!("raw/pap.rs"),
    include_str!("raw/oauth.rs"),
    include_str!("raw/telemetry.rs"),
];
/// The table that all others are in.
const ROOT: &str = "Raw";
const ALERT_KINDS: [&str; 2] = ["smtp", "http"];

/// A table, or the words that a key may have.
struct Type {
    name: &'static str,
    about: String,
    /// Keys with their types and meanings.
    keys: Vec<Key>,
    words: Vec<String>,
}

struct Key {
    name: &'static str,
    kind: &'static str,
    about: String,
}

fn types() -> Vec<Type> {
    let mut types: Vec<Type> = Vec::new();
    for source in SOURCES {
        let (mut comment, mut inside) = (String::new(), false);
        for line in source.lines().map(str::trim) {
            if let Some(more) = line.strip_prefix("/// ") {
                comment.push_str(if comment.is_empty() { "" } else { " " });
                comment.push_str(more);
                continue;
            }
            let opened = ["pub struct ", "pub enum "]
                .iter()
                .find_map(|start| line.strip_prefix(start)?.strip_suffix(" {"));
            if let Some(name) = opened {
                inside = true;
                types.push(Type {
                    name,
                    about: std::mem::take(&mut comment),
                    keys: Vec::new(),
                    words: Vec::new(),
                });
            } else if line == "}" {
                inside = false;
            } else if let (true, Some(current)) = (inside, types.last_mut()) {
                current.add(line, &mut comment);
            } else if !line.starts_with("#[") {
                comment.clear();
            }
        }
    }
    types
}

impl Type {
    fn add(&mut self, line: &'static str, comment: &mut String) {
        if line.starts_with("#[") {
            return;
        }
        let about = std::mem::take(comment);
        let line = line.trim_end_matches(',');
        if let Some((name, kind)) = line
            .strip_prefix("pub ")
            .and_then(|key| key.split_once(": "))
        {
            self.keys.push(Key { name, kind, about });
        } else {
            self.words.push(snake(line));
        }
    }
}

/// `DangerPlaintext` as it is written: `danger_plaintext`.
fn snake(word: &str) -> String {
    let mut text = String::new();
    for letter in word.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(letter.to_lowercase());
    }
    text
}

/// What stands between `name<` and the last `>`.
fn inner<'a>(kind: &'a str, name: &str) -> Option<&'a str> {
    kind.strip_prefix(name)?
        .strip_prefix('<')?
        .strip_suffix('>')
}

/// A section for each table, a line for each key, in Markdown.
pub fn markdown() -> String {
    let types = types();
    let mut text = String::new();
    for table in types.iter().filter(|one| !one.keys.is_empty()) {
        // Writing to a string cannot fail.
        let _fine = write!(text, "\n### {}\n\n", table.about.trim_end_matches('.'));
        for Key { name, kind, about } in &table.keys {
            let kind = words(kind, &types);
            let mark = if about.is_empty() { "" } else { ": " };
            let _fine = writeln!(text, "- `{name}` ({kind}){mark}{about}");
        }
    }
    text
}

fn words(kind: &str, types: &[Type]) -> &'static str {
    let kind = inner(kind, "Option").unwrap_or(kind);
    match kind {
        "String" | "Secret" => "text",
        "PathBuf" => "path",
        "bool" => "true or false",
        "u16" | "u32" | "u64" | "usize" => "whole number",
        "f64" => "number",
        "Vec<String>" => "list of texts",
        _ if kind.starts_with("Vec<") => "list of tables",
        _ if types
            .iter()
            .any(|one| one.name == kind && !one.words.is_empty()) =>
        {
            "word"
        }
        _ => "table",
    }
}

/// Names that hold secrets.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    pub keys: BTreeSet<&'static str>,
    /// Everything in them is one.
    pub tables: BTreeSet<&'static str>,
}

/// What is typed as a secret.
pub fn secrets() -> Secrets {
    let named = |kinds: &[&str]| {
        let types = types();
        let keys = types.iter().flat_map(|one| &one.keys);
        let secret = keys.filter(|key| kinds.contains(&key.kind));
        secret.map(|key| key.name).collect()
    };
    Secrets {
        keys: named(&["Secret", "Option<Secret>"]),
        tables: named(&["BTreeMap<String, Secret>"]),
    }
}

/// A JSON Schema of the configuration, for editors that know TOML by one.
pub fn schema() -> Value {
    let types = types();
    let mut definitions = Map::new();
    for one in types.iter().filter(|one| one.name != ROOT) {
        definitions.insert(one.name.to_owned(), of_type(one));
    }
    let named = |name: &str| types.iter().find(|one| one.name == name);
    let joined = |base: Option<&str>, kinds: &[(&str, &str)]| -> Value {
        let kinds = kinds.iter().filter_map(|(kind, name)| {
            let bases = base.and_then(named).into_iter();
            Some(of_kind(kind, bases.chain([named(name)?])))
        });
        json!({ "oneOf": kinds.collect::<Vec<_>>() })
    };
    let sources = [("sql", "Sql"), ("feed", "Feed"), ("rest", "Rest")];
    let deliveries = [
        ("smtp", "Smtp"),
        ("http", "Http"),
        ("directory", "Directory"),
    ];
    definitions.insert("Source".to_owned(), joined(None, &sources));
    definitions.insert(
        "AnyDelivery".to_owned(),
        joined(Some("Delivery"), &deliveries),
    );
    let alert = json!({ "type": "object", "properties": { "kind": { "enum": ALERT_KINDS } }, "required": ["kind"] });
    definitions.insert("Alert".to_owned(), alert);
    let mut schema = named(ROOT).map(of_type).unwrap_or_default();
    if let Some(object) = schema.as_object_mut() {
        let draft = "http://json-schema.org/draft-07/schema#";
        object.insert("$schema".to_owned(), draft.into());
        object.insert("title".to_owned(), "Forecourt's configuration".into());
        object.insert("definitions".to_owned(), definitions.into());
    }
    schema
}

fn of_type(one: &Type) -> Value {
    if one.keys.is_empty() {
        return json!({ "description": one.about, "enum": one.words });
    }
    let keys = one
        .keys
        .iter()
        .map(|key| (key.name.to_owned(), of_key(key)));
    json!({
        "description": one.about,
        "type": "object",
        "properties": keys.collect::<Map<_, _>>(),
        "additionalProperties": false,
    })
}

/// A table whose `kind` decides which keys it has.
fn of_kind<'a>(kind: &str, parts: impl Iterator<Item = &'a Type>) -> Value {
    let mut keys = Map::new();
    for part in parts {
        keys.extend(
            part.keys
                .iter()
                .map(|key| (key.name.to_owned(), of_key(key))),
        );
    }
    keys.insert("kind".to_owned(), json!({ "const": kind }));
    json!({ "type": "object", "properties": keys, "required": ["kind"], "additionalProperties": false })
}

fn of_key(key: &Key) -> Value {
    let mut schema = match (key.name, inner(key.kind, "Option").unwrap_or(key.kind)) {
        ("source", "Value") => reference("Source"),
        ("deliveries", _) => map_of(&reference("AnyDelivery")),
        ("alerts", _) => map_of(&reference("Alert")),
        (_, kind) => of_words(kind),
    };
    if let (Some(object), false) = (schema.as_object_mut(), key.about.is_empty()) {
        object.insert("description".to_owned(), key.about.clone().into());
    }
    schema
}

fn of_words(kind: &str) -> Value {
    if let Some(kind) = inner(kind, "Vec") {
        return json!({ "type": "array", "items": of_words(kind) });
    }
    if let Some(kind) = inner(kind, "BTreeMap").and_then(|kinds| kinds.strip_prefix("String, ")) {
        return map_of(&of_words(kind));
    }
    match kind {
        "String" | "Secret" | "PathBuf" => json!({ "type": "string" }),
        "bool" => json!({ "type": "boolean" }),
        "u16" | "u32" | "u64" | "usize" => json!({ "type": "integer", "minimum": 0 }),
        "f64" => json!({ "type": "number" }),
        "Value" => json!({}),
        name => reference(name),
    }
}

/// Beside a `$ref` draft 7 reads nothing else.
fn reference(name: &str) -> Value {
    json!({ "allOf": [{ "$ref": format!("#/definitions/{name}") }] })
}

fn map_of(schema: &Value) -> Value {
    json!({ "type": "object", "additionalProperties": schema })
}
