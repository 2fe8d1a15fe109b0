//! `forecourt config`: what the configuration came to, and where each value came from.

use figment::value::Value;
use serde_json::json;

use super::examples;
use super::failure::{Exit, Failure};
use super::output::Output;
use crate::config::{Config, Sources, Tree};

/// What to do with the configuration.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Print every value that is set, with the place that set it; secrets are hidden
    #[command(after_help = examples::CONFIG_SHOW)]
    Show,
}

/// Keys whose values are secrets, or may hold some.
const SECRET: [&str; 8] = [
    "password",
    "secret",
    "client_secret",
    "token",
    "value",
    "url",
    "base_url",
    "username",
];

pub(super) fn run(command: &Command, sources: &Sources, output: Output) -> Result<Exit, Failure> {
    let Command::Show = command;
    let config = Config::load(sources)?;
    let mut entries = Vec::new();
    collect(
        &config.tree,
        config.tree.merged(),
        &mut Vec::new(),
        &mut entries,
    );
    let lines: Vec<String> = entries
        .iter()
        .map(|entry| format!("{} = {}    [{}]", entry.key, entry.value, entry.place))
        .collect();
    let values: Vec<_> = entries
        .iter()
        .map(|entry| json!({ "key": entry.key, "value": entry.value, "place": entry.place }))
        .collect();
    output.print(
        &lines.join("\n"),
        &json!({ "schema_version": 1, "values": values }),
    )?;
    Ok(Exit::Fine)
}

struct Entry {
    key: String,
    value: String,
    place: String,
}

fn collect(tree: &Tree, value: &Value, key: &mut Vec<String>, entries: &mut Vec<Entry>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Dict(_, dict) => dict
            .iter()
            .map(|(key, value)| (key.clone(), value))
            .collect(),
        Value::Array(_, list) if list.iter().any(|value| matches!(value, Value::Dict(..))) => list
            .iter()
            .enumerate()
            .map(|(index, value)| (index.to_string(), value))
            .collect(),
        Value::Array(..)
        | Value::String(..)
        | Value::Char(..)
        | Value::Bool(..)
        | Value::Num(..)
        | Value::Empty(..) => {
            entries.push(Entry {
                key: key.join("."),
                value: shown(key, value),
                place: tree.place(key).unwrap_or_default(),
            });
            return;
        }
    };
    for (name, child) in children {
        key.push(name);
        collect(tree, child, key, entries);
        key.pop();
    }
}

/// The value as JSON, or stars.
fn shown(key: &[String], value: &Value) -> String {
    let name = key.last().map_or("", String::as_str);
    let in_headers = key
        .iter()
        .rev()
        .nth(1)
        .is_some_and(|table| table == "headers");
    if in_headers || SECRET.contains(&name) {
        return "***".to_owned();
    }
    serde_json::to_string(&plain(value)).unwrap_or_default()
}

/// The value without its place.
fn plain(value: &Value) -> serde_json::Value {
    value.deserialize().unwrap_or(serde_json::Value::Null)
}
