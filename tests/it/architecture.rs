//! Holds the structure: who may import whom, and that every file says what it is for.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Room → the rooms it may import. What is not listed is forbidden; a room may always import itself.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("contract", &["recent"]),
    ("profile", &["contract"]),
    ("seal", &[]),
    ("clock", &[]),
    ("recent", &[]),
    ("net", &[]),
    ("failpoint", &[]),
    ("store", &["clock", "seal", "failpoint"]),
    ("delivery", &["net"]),
    ("mapping", &[]),
    ("sources", &["mapping", "net"]),
    (
        "inventory",
        &[
            "mapping",
            "sources",
            "contract",
            "seal",
            "profile",
            "clock",
            "recent",
            "telemetry",
        ],
    ),
    (
        "leads",
        &[
            "delivery",
            "store",
            "contract",
            "seal",
            "clock",
            "profile",
            "failpoint",
            "telemetry",
        ],
    ),
    ("oauth", &["store", "net", "seal", "clock", "contract"]),
    (
        "deployment",
        &[
            "contract",
            "seal",
            "inventory",
            "leads",
            "oauth",
            "profile",
            "seal",
            "clock",
        ],
    ),
    (
        "skills",
        &["contract", "deployment", "inventory", "leads", "profile"],
    ),
    (
        "dispatch",
        &["contract", "skills", "deployment", "telemetry"],
    ),
    (
        "bindings",
        &["dispatch", "contract", "deployment", "oauth", "telemetry"],
    ),
    ("telemetry", &[]),
    (
        "server",
        &["app", "bindings", "deployment", "net", "telemetry"],
    ),
];

/// Rooms that compose everything below them.
const COMPOSE: &[&str] = &["app", "cli", "config", "main", "lib"];

/// Lines a file may have before its tests.
const MAX_LINES: usize = 300;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

fn all_sources() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    sources(&root, &mut found);
    found
        .into_iter()
        .map(|path| {
            let name = path
                .strip_prefix(&root)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect()
}

fn room(file: &str) -> &str {
    file.split('/').next().unwrap().trim_end_matches(".rs")
}

fn is_test(file: &str) -> bool {
    file.ends_with("tests.rs") || file.contains("/tests/")
}

/// The rooms that `text` names as `crate::room`.
fn imports(text: &str) -> BTreeSet<String> {
    let ends = |c: char| !(c.is_ascii_lowercase() || c == '_');
    text.match_indices("crate::")
        .filter_map(|(at, found)| text[at + found.len()..].split(ends).next())
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Every import of `files` that the table does not allow.
fn forbidden(files: &BTreeMap<String, String>) -> Vec<String> {
    let allowed: BTreeMap<_, _> = MAY_IMPORT.iter().copied().collect();
    let mut faults = Vec::new();
    for (file, text) in files.iter().filter(|(file, _)| !is_test(file)) {
        let room = room(file);
        if COMPOSE.contains(&room) {
            continue;
        }
        let Some(may) = allowed.get(room) else {
            faults.push(format!("{file}: the table does not name the room {room}"));
            continue;
        };
        for import in imports(text)
            .iter()
            .filter(|i| *i != room && !may.contains(&i.as_str()))
        {
            faults.push(format!("{file}: {room} must not import {import}"));
        }
    }
    faults
}

#[test]
fn imports_go_downward_only() {
    assert_eq!(forbidden(&all_sources()), Vec::<String>::new());
}

#[test]
fn a_planted_import_is_found() {
    let mut files = all_sources();
    files.insert(
        "seal/planted.rs".into(),
        "use crate::contract::Skill;".into(),
    );
    files.insert("unnamed/mod.rs".into(), String::new());
    assert_eq!(
        forbidden(&files),
        [
            "seal/planted.rs: seal must not import contract",
            "unnamed/mod.rs: the table does not name the room unnamed",
        ]
    );
}

#[test]
fn every_file_says_what_it_is_for_and_stays_small() {
    for (file, text) in &all_sources() {
        assert!(
            text.starts_with("//!") || file == "lib.rs",
            "{file} does not open with what it is for"
        );
        let lines = text
            .lines()
            .take_while(|line| *line != "#[cfg(test)]")
            .count();
        assert!(
            is_test(file) || lines <= MAX_LINES,
            "{file} has {lines} lines"
        );
    }
}
