//! `forecourt mappings test`: the case beside a mapping, i.e. sample rows and what they must become.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::super::demo::fill_database;
use super::player::Player;
use super::{Exit, Failure, Output, read_mapping};
use crate::app;
use crate::mapping::{Plan, Row, Tables};
use crate::sources::{self, Source};

/// How cases are run.
pub(super) struct How {
    /// Whether a missing expected.json is made.
    pub(super) write: bool,
    /// A database that is read instead of the sample.
    pub(super) url: Option<String>,
}

pub(super) async fn test(folders: &[PathBuf], how: &How, output: Output) -> Result<Exit, Failure> {
    let (mut lines, mut results, mut exit) = (Vec::new(), Vec::new(), Exit::Fine);
    for folder in folders {
        let differences = run_case(folder, how).await?;
        let mark = if differences.is_empty() { '√' } else { '×' };
        if !differences.is_empty() {
            exit = Exit::Findings;
        }
        lines.push(format!("{mark} {}", folder.display()));
        lines.extend(differences.iter().map(|line| format!("    {line}")));
        results.push(json!({ "folder": folder, "differences": differences }));
    }
    let value = json!({ "schema_version": 1, "cases": results });
    output.print(&lines.join("\n"), &value)?;
    Ok(exit)
}

/// How what the sample became differs from what was expected.
async fn run_case(folder: &Path, how: &How) -> Result<Vec<String>, Failure> {
    let mapping = read_mapping(&folder.join("mapping.toml"))?;
    let mut outcomes = Vec::new();
    let take = |row: Row, tables: &Tables| outcomes.push(mapping.apply(&row, tables));
    if let Some(url) = &how.url {
        let settings = sources::Settings::Sql(sources::sql::Settings::new(url));
        let source = Source::open(settings, mapping.plan()).await?;
        source.read(take).await?;
    } else if folder.join("rows.json").exists() {
        recorded(folder, take)?;
    } else {
        play(folder, mapping.plan(), take).await?;
    }
    let mut found = mapping.resolve_duplicates(outcomes).kept;
    let file = folder.join("expected.json");
    if how.write && !file.exists() {
        let text = serde_json::to_string_pretty(&found)
            .map_err(|error| Failure::new(Exit::Internal, error.to_string()))?;
        fs::write(&file, text + "\n")
            .map_err(|error| Failure::new(Exit::Usage, format!("{}: {error}", file.display())))?;
    }
    let mut expected: Vec<Map<String, Value>> = decode(&file)?;
    if mapping.dates_by_source() {
        // A file's own time is not part of what is expected.
        for listing in found.iter_mut().chain(&mut expected) {
            listing.remove("updated_at");
        }
    }
    Ok(differences(&found, &expected))
}

/// Rows as a source gave them once, with its side tables: for a database that this machine cannot play.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    rows: Vec<RecordedRow>,
    #[serde(default)]
    tables: BTreeMap<String, Vec<Map<String, Value>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedRow {
    fields: Map<String, Value>,
    #[serde(default)]
    children: BTreeMap<String, Vec<Map<String, Value>>>,
}

fn recorded(folder: &Path, mut sink: impl FnMut(Row, &Tables)) -> Result<(), Failure> {
    let recorded: Recorded = decode(&folder.join("rows.json"))?;
    let mut tables = Tables::new();
    for (name, rows) in recorded.tables {
        tables.insert(name, rows);
    }
    for row in recorded.rows {
        let (fields, children) = (row.fields, row.children);
        sink(Row { fields, children }, &tables);
    }
    Ok(())
}

/// Reads the sample with the source that reads the real thing.
async fn play(
    folder: &Path,
    plan: &Plan,
    sink: impl FnMut(Row, &Tables) + Send,
) -> Result<(), Failure> {
    let scratch = Scratch::new()?;
    let mut player = None;
    let settings = match plan {
        Plan::Sql(_) => {
            let database = scratch.0.join("sample.sqlite");
            let sample = folder.join("sample.sql");
            fill_database(&database, &read(&sample)?)
                .await
                .map_err(|failure| {
                    failure.hint(
                        "a sample of another database's SQL needs rows.json beside it: its rows, recorded",
                    )
                })?;
            let url = format!("sqlite://{}", database.display());
            sources::Settings::Sql(sources::sql::Settings::new(url))
        }
        Plan::Rest(_) => {
            let address = player.insert(Player::start(folder).await?).address;
            let mut settings = sources::rest::Settings::new(format!("http://{address}"));
            settings.access.danger_allow_http = true;
            settings.access.min_interval_ms = 0;
            sources::Settings::Rest(settings)
        }
        Plan::Feed(_) => sources::Settings::Feed(sources::feed::Settings::new(sample(folder)?)),
    };
    Source::open(settings, plan).await?.read(sink).await?;
    Ok(())
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path)
        .map_err(|error| Failure::new(Exit::Usage, format!("{}: {error}", path.display())))
}

fn decode<T: DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    serde_json::from_str(&read(path)?)
        .map_err(|error| Failure::new(Exit::Usage, format!("{}: {error}", path.display())))
}

/// The folder's one file that is called `sample`, whatever its kind.
fn sample(folder: &Path) -> Result<PathBuf, Failure> {
    let failure =
        |words: String| Failure::new(Exit::Usage, format!("{}: {words}", folder.display()));
    let entries = fs::read_dir(folder).map_err(|error| failure(error.to_string()))?;
    let mut paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let found = paths.find(|path| path.file_stem().is_some_and(|stem| stem == "sample"));
    found.ok_or_else(|| failure("there is no sample file".to_owned()))
}

fn differences(found: &[Map<String, Value>], expected: &[Map<String, Value>]) -> Vec<String> {
    let mut lines = Vec::new();
    if found.len() != expected.len() {
        lines.push(format!(
            "{} vehicles, expected {}",
            found.len(),
            expected.len()
        ));
    }
    for wanted in expected {
        let id = wanted
            .get("vehicle_id")
            .and_then(Value::as_str)
            .unwrap_or("?");
        let Some(is) = found
            .iter()
            .find(|is| is.get("vehicle_id") == wanted.get("vehicle_id"))
        else {
            lines.push(format!("{id}: is not there"));
            continue;
        };
        let mut keys: Vec<&String> = is.keys().chain(wanted.keys()).collect();
        keys.sort();
        keys.dedup();
        for key in keys
            .into_iter()
            .filter(|key| is.get(*key) != wanted.get(*key))
        {
            let show = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
            lines.push(format!(
                "{id}: {key}: {}, expected {}",
                show(is.get(key)),
                show(wanted.get(key))
            ));
        }
    }
    lines
}

/// A folder that goes away with this value.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("forecourt-{}", uuid::Uuid::new_v4()));
        app::make_private_folder(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is left to the system's own cleaning.
        drop(fs::remove_dir_all(&self.0));
    }
}
