//! Configuration: merging, findings, whole files, and the reference made from the types.

mod idle;
mod leads;
mod reference;
mod whole;

use std::fs;
use std::path::Path;

use super::load::{Environment, Flag, Sources};
use super::raw::Raw;
use super::*;

fn read(file: &str, variables: &[(&str, &str)], flags: &[(&str, &str)]) -> (Raw, Vec<Finding>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("forecourt.toml");
    fs::write(&path, file).unwrap();
    let sources = Sources {
        files: vec![path],
        flags: flags
            .iter()
            .map(|(key, value)| Flag {
                name: format!("--{key}"),
                key: (*key).to_owned(),
                value: (*value).to_owned(),
            })
            .collect(),
        environment: variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
    };
    let mut findings = Vec::new();
    let mut tree = sources.merge(&mut findings);
    let raw = tree.read::<Raw>(&[], &mut findings);
    (raw, findings)
}

#[test]
fn later_sources_win_over_earlier_ones() {
    let file = "[server]\nlisten = \"file:1\"\nmax_connections = 1\nmax_body_bytes = 1";
    let (raw, findings) = read(
        file,
        &[
            ("FORECOURT_SERVER__LISTEN", "variable:1"),
            ("FORECOURT_SERVER__MAX_CONNECTIONS", "2"),
        ],
        &[("server.listen", "flag:1")],
    );
    assert_eq!(findings, []);
    assert_eq!(raw.server.listen.as_deref(), Some("flag:1"));
    assert_eq!(raw.server.max_connections, Some(2));
    assert_eq!(raw.server.max_body_bytes, Some(1));
}

#[test]
fn every_mistake_is_found_at_once_with_its_key_and_a_remedy() {
    let file = "[server]\nlitsen = \"x\"\nmax_connections = \"many\"\n[stroe]\nkind = \"embedded\"\n\
        [store]\nkind = \"embeded\"\n[[deployments.main.profile.rooftops]]\nnmae = \"A\"\ngeo = { latitude = \"n\" }";
    let (_, findings) = read(file, &[], &[]);
    let said: Vec<_> = findings
        .iter()
        .map(|f| (f.key.as_str(), f.remedy.as_str()))
        .collect();
    assert_eq!(said.len(), 6, "{said:?}");
    assert!(said.contains(&("server.litsen", "did you mean `listen`?")));
    assert!(said.contains(&("stroe", "did you mean `store`?")));
    assert!(said.contains(&("store.kind", "did you mean \"embedded\"?")));
    assert!(said.contains(&(
        "deployments.main.profile.rooftops.0.nmae",
        "did you mean `name`?"
    )));
    assert!(said.contains(&(
        "deployments.main.profile.rooftops.0.geo.latitude",
        "set it to a number"
    )));
    let all_named = findings.iter().all(|f| {
        f.place
            .as_deref()
            .is_some_and(|p| p.ends_with("forecourt.toml"))
    });
    assert!(all_named, "{findings:?}");
}

#[test]
fn a_finding_never_repeats_a_value() {
    let file = "[server]\nmax_connections = \"hunter2\"\n[data]\ndirectory = 17";
    let (_, findings) = read(
        file,
        &[("FORECOURT_SERVER__MAX_BODY_BYTES", "hunter2")],
        &[],
    );
    assert_eq!(findings.len(), 3);
    assert!(!Findings(findings).to_string().contains("hunter2"));
}

#[test]
fn a_syntax_error_names_its_line_and_hides_its_text() {
    let (_, findings) = read("[server]\npassword = \"hunter2", &[], &[]);
    assert_eq!(findings.len(), 1);
    assert!(
        findings[0].reason.starts_with("line 2: not TOML"),
        "{findings:?}"
    );
    assert!(!findings[0].reason.contains("hunter2"));
}

#[test]
fn variables_that_look_like_numbers_fill_strings_and_texts_fill_numbers() {
    let name = "FORECOURT_DEPLOYMENTS__MAIN__PROFILE__NAME";
    let (raw, findings) = read(
        "",
        &[
            (name, "0123"),
            ("FORECOURT_DEPLOYMENTS__MAIN__SEARCH__OFFSET", "true"),
            (
                "FORECOURT_DEPLOYMENTS__MAIN__SKILLS",
                "[\"inventory.search\"]",
            ),
            ("FORECOURT_DEPLOYMENTS__MAIN__INVENTORY__SHRINK_GUARD", "1"),
        ],
        &[],
    );
    assert_eq!(findings, []);
    let main = &raw.deployments["main"];
    assert_eq!(main.profile.as_ref().unwrap().name.as_deref(), Some("0123"));
    assert_eq!(main.search.offset, Some(true));
    assert_eq!(
        main.skills.as_deref(),
        Some(&["inventory.search".to_owned()][..])
    );
}

#[test]
fn an_unknown_variable_is_found_and_kubernetes_service_links_are_not() {
    let (_, findings) = read(
        "",
        &[
            ("FORECOURT_SERVER__LISTN", "x"),
            ("FORECOURT_SERVICE_HOST", "10.0.0.1"),
            ("FORECOURT_PORT_80_TCP", "tcp://10.0.0.1:80"),
            ("FORECOURT_LOG", "info"),
        ],
        &[],
    );
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(
        findings[0].place.as_deref(),
        Some("environment variable FORECOURT_SERVER__LISTN")
    );
    assert_eq!(findings[0].remedy, "did you mean `listen`?");
}

#[test]
fn a_named_file_that_is_missing_is_a_finding() {
    let sources = Sources {
        files: vec!["/nowhere/forecourt.toml".into()],
        ..Sources::default()
    };
    let mut findings = Vec::new();
    sources.merge(&mut findings);
    assert_eq!(findings.len(), 1);
    assert_eq!(
        findings[0].place.as_deref(),
        Some("/nowhere/forecourt.toml")
    );
}

#[test]
fn a_relative_path_is_meant_from_the_folder_of_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("forecourt.toml");
    fs::write(&path, "[data]\ndirectory = \"here\"").unwrap();
    let key = ["data".to_owned(), "directory".to_owned()];
    let mut sources = Sources {
        files: vec![path],
        ..Sources::default()
    };
    let tree = sources.merge(&mut Vec::new());
    assert_eq!(
        tree.resolve(&key, Path::new("here")),
        folder.path().join("here")
    );
    sources.environment =
        Environment::from_iter([("FORECOURT_DATA__DIRECTORY".to_owned(), "there".to_owned())]);
    let tree = sources.merge(&mut Vec::new());
    assert_eq!(tree.resolve(&key, Path::new("there")), Path::new("there"));
}
