//! What a part of the configuration comes to, as one short text: equal texts mean that nothing of it has
//! changed, the files that it names included. Holds no value.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use aws_lc_rs::digest::{Context, SHA256};
use figment::value::Value;

use super::super::tree::{Key, Tree, find};

/// A hash in hexadecimal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Print(String);

/// What one deployment's settings come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prints {
    /// Everything of it.
    pub whole: Print,
    /// What its inventory depends on.
    pub inventory: Print,
}

/// What a process takes at its start only, key by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fixed(BTreeMap<String, Print>);

impl Fixed {
    /// The keys that came, went or say something else.
    pub fn differing(&self, other: &Self) -> Vec<String> {
        let all: BTreeSet<&String> = self.0.keys().chain(other.0.keys()).collect();
        let all = all.into_iter();
        all.filter(|key| self.0.get(*key) != other.0.get(*key))
            .cloned()
            .collect()
    }
}

impl Print {
    /// Of one file's content.
    pub fn of_file(path: &Path) -> Self {
        let mut hash = Context::new(&SHA256);
        add_file(&mut hash, path);
        finish(hash)
    }
}

/// A larger file is not part of a configuration.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// The tables on which a deployment's inventory depends.
const OF_INVENTORY: [&str; 6] = [
    "inventory",
    "search",
    "scope",
    "skills",
    "profile",
    "sellers",
];

/// Where that lies which a process cannot leave while it serves.
pub(super) fn of_places(tree: &Tree) -> Print {
    let mut hash = Context::new(&SHA256);
    for table in ["keys", "data", "store"] {
        add_table(&mut hash, tree, &[table.to_owned()], &[]);
    }
    finish(hash)
}

/// `[telemetry.otlp]` and `[server]`, but for the certificates, which are read again.
pub(super) fn of_fixed(tree: &Tree) -> Fixed {
    let files = parts(tree);
    let mut fixed = BTreeMap::new();
    for table in [&["server"][..], &["telemetry", "otlp"]] {
        let table: Vec<String> = table.iter().map(|part| (*part).to_owned()).collect();
        let Some(Value::Dict(_, keys)) = find(tree.merged(), &table) else {
            continue;
        };
        for key in keys.keys().filter(|key| *key != "tls") {
            let at = [table.as_slice(), std::slice::from_ref(key)].concat();
            let named = table.first().and_then(|table| files.get(table));
            let mut hash = Context::new(&SHA256);
            add_table(&mut hash, tree, &at, named.map_or(&[], Vec::as_slice));
            fixed.insert(at.join("."), finish(hash));
        }
    }
    Fixed(fixed)
}

/// What everything stands on beside the deployments, the content of the key file apart: that may be made
/// only after this was read.
pub(super) fn of_ground(tree: &Tree) -> Print {
    let mut hash = Context::new(&SHA256);
    let files = parts(tree).remove("net").unwrap_or_default();
    add_table(&mut hash, tree, &["net".to_owned()], &files);
    finish(hash)
}

/// `files` are those of [`parts`] that this deployment names.
pub(super) fn of_deployment(tree: &Tree, id: &str, files: &[(Key, PathBuf)]) -> Prints {
    let at = |more: Option<&str>| {
        let parts = ["deployments", id].into_iter().chain(more);
        parts.map(str::to_owned).collect::<Vec<_>>()
    };
    let mut whole = Context::new(&SHA256);
    add_table(&mut whole, tree, &at(None), files);
    let mut inventory = Context::new(&SHA256);
    for table in OF_INVENTORY {
        add_table(&mut inventory, tree, &at(Some(table)), files);
    }
    Prints {
        whole: finish(whole),
        inventory: finish(inventory),
    }
}

/// The files that a configuration was made of, those that it names included.
pub(super) fn files(tree: &Tree) -> Vec<PathBuf> {
    let named = tree.named().into_iter().filter(|(key, _)| is_part(key));
    let mut files: Vec<_> = named.map(|(_, path)| path).collect();
    files.extend(tree.files().iter().cloned());
    files.sort();
    files.dedup();
    files
}

/// Whether the file named at `key` is read with the configuration, and not as data later on.
fn is_part(key: &[String]) -> bool {
    let name = key.last().map_or("", String::as_str);
    name == "mapping" || name == "adf_profile" || name.ends_with("_file")
}

/// The files that are part of the configuration, by deployment, or by table where they are of none.
pub(super) fn parts(tree: &Tree) -> BTreeMap<String, Vec<(Key, PathBuf)>> {
    let mut parts: BTreeMap<String, Vec<(Key, PathBuf)>> = BTreeMap::new();
    for (key, path) in tree.named().into_iter().filter(|(key, _)| is_part(key)) {
        let whose = match key.as_slice() {
            [table, id, ..] if table == "deployments" => id.clone(),
            [table, ..] => table.clone(),
            [] => continue,
        };
        parts.entry(whose).or_default().push((key, path));
    }
    parts
}

fn add_table(hash: &mut Context, tree: &Tree, key: &[String], files: &[(Key, PathBuf)]) {
    let value = find(tree.merged(), key);
    let value = value.and_then(|value| value.deserialize::<serde_json::Value>().ok());
    let text = value.map(|value| value.to_string()).unwrap_or_default();
    add(hash, text.as_bytes());
    let named = files.iter().filter(|(at, _)| at.starts_with(key));
    let named: BTreeSet<&Path> = named.map(|(_, path)| path.as_path()).collect();
    for path in named {
        add_file(hash, path);
    }
}

fn add_file(hash: &mut Context, path: &Path) {
    add(hash, path.as_os_str().as_encoded_bytes());
    let small = fs::metadata(path).is_ok_and(|about| about.is_file() && about.len() <= MAX_BYTES);
    let content = small.then(|| fs::read(path).ok()).flatten();
    add(hash, &content.unwrap_or_default());
}

/// Each part with its length, so that no two lists of parts run together.
fn add(hash: &mut Context, part: &[u8]) {
    hash.update(&(part.len() as u64).to_be_bytes());
    hash.update(part);
}

fn finish(hash: Context) -> Print {
    let mut text = String::new();
    for byte in hash.finish().as_ref() {
        // Writing to a string cannot fail.
        let _fine = write!(text, "{byte:02x}");
    }
    Print(text)
}
