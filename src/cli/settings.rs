//! `forecourt config`: what the configuration came to, and where each value came from.

use std::collections::BTreeSet;

use figment::value::Value;
use serde_json::json;

use super::examples;
use super::failure::{Exit, Failure};
use super::output::Output;
use crate::config::reference::{self, Secrets};
use crate::config::{Config, Sources, Tree};

/// What to do with the configuration.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Print every value that is set, with the place that set it; secrets are hidden
    #[command(after_help = examples::CONFIG_SHOW)]
    Show,
}

/// Keys and tables that may hold secrets, beside those that are typed as such: the names that go with passwords,
/// Redis' addresses with them, and what a CRM's intake asks for beside the document.
const MAY_BE_SECRET: [&str; 5] = [
    "username",
    "sentinel_username",
    "user",
    "nodes",
    "json_others",
];

pub(super) fn run(command: &Command, sources: &Sources, output: Output) -> Result<Exit, Failure> {
    let Command::Show = command;
    let config = Config::load(sources)?;
    let mut shown = Shown {
        tree: &config.tree,
        secrets: reference::secrets(),
        entries: Vec::new(),
    };
    shown.collect(config.tree.merged(), &mut Vec::new());
    let entries = shown.entries;
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

/// What is shown so far.
struct Shown<'a> {
    tree: &'a Tree,
    secrets: Secrets,
    entries: Vec<Entry>,
}

impl Shown<'_> {
    fn collect(&mut self, value: &Value, key: &mut Vec<String>) {
        let children: Vec<(String, &Value)> = match value {
            Value::Dict(_, dict) => dict
                .iter()
                .map(|(key, value)| (key.clone(), value))
                .collect(),
            Value::Array(_, list) if list.iter().any(|value| matches!(value, Value::Dict(..))) => {
                list.iter()
                    .enumerate()
                    .map(|(index, value)| (index.to_string(), value))
                    .collect()
            }
            Value::Array(..)
            | Value::String(..)
            | Value::Char(..)
            | Value::Bool(..)
            | Value::Num(..)
            | Value::Empty(..) => {
                self.entries.push(Entry {
                    key: key.join("."),
                    value: self.shown(key, value),
                    place: self.tree.place(key).unwrap_or_default(),
                });
                return;
            }
        };
        for (name, child) in children {
            key.push(name);
            self.collect(child, key);
            key.pop();
        }
    }

    /// The value as JSON, or stars: where its key, or a table that it is in, may hold a secret.
    fn shown(&self, key: &[String], value: &Value) -> String {
        let Some((name, tables)) = key.split_last() else {
            return String::new();
        };
        let hidden = |name: &String, names: &BTreeSet<&str>| {
            names.contains(name.as_str()) || MAY_BE_SECRET.contains(&name.as_str())
        };
        let in_table = tables
            .iter()
            .any(|table| hidden(table, &self.secrets.tables));
        if in_table || hidden(name, &self.secrets.keys) {
            return "***".to_owned();
        }
        serde_json::to_string(&plain(value)).unwrap_or_default()
    }
}

/// The value without its place.
fn plain(value: &Value) -> serde_json::Value {
    value.deserialize().unwrap_or(serde_json::Value::Null)
}
