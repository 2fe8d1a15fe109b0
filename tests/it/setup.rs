//! The first steps of whoever sets the program up: a first configuration, keys, and files for shells, editors and
//! manuals.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::cli::forecourt;
use crate::fleet::feed;

fn run(args: &[&str]) -> (Option<i32>, String) {
    let output: Output = forecourt(args).output().unwrap();
    let all = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(all).unwrap())
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// `init` with everything that it must be told.
fn init<'a>(folder: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let said = [
        "init",
        folder,
        "--domain",
        "dealer.example",
        "--name",
        "Example \"Best\" Motors",
        "--phone",
        "+1-312-555-0100",
        "--timezone",
        "America/Chicago",
    ];
    [&said[..], more].concat()
}

#[test]
fn init_writes_what_check_takes_and_never_over_anything() {
    let kept = tempfile::tempdir().unwrap();
    let path = kept.path().join("new");
    let folder = path.to_str().unwrap();
    let leads = ["--leads-to", "leads@crm.example", "--relay", "smtp.example"];
    let (code, text) = run(&init(folder, &leads));
    assert_eq!(code, Some(0), "{text}");
    let config = path.join("forecourt.toml");
    let written = fs::read_to_string(&config).unwrap();
    let mode = fs::metadata(&config).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(path.join("forecourt-data/keys").exists());
    let next = text.lines().last().unwrap().strip_prefix("next: ").unwrap();
    let words: Vec<&str> = next.split(' ').skip(1).collect();
    let (code, text) = run(&words);
    assert_eq!(code, Some(0), "{text}");
    let (_, shown) = run(&["config", "show", "--config", config.to_str().unwrap()]);
    assert!(shown.contains("Example \\\"Best\\\" Motors"), "{shown}");

    let (code, text) = run(&init(folder, &[]));
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("is there already"), "{text}");
    assert_eq!(fs::read_to_string(&config).unwrap(), written);
}

#[test]
fn init_drafts_a_mapping_from_a_feed() {
    let kept = tempfile::tempdir().unwrap();
    let source = kept.path().join("stock.csv");
    fs::write(&source, feed("a", 30)).unwrap();
    let path = kept.path().join("new");
    let said = init(
        path.to_str().unwrap(),
        &["--output", "json", "--from", source.to_str().unwrap()],
    );
    let (code, text) = run(&said);
    assert_eq!(code, Some(0), "{text}");
    let value: Value = serde_json::from_str(&text).unwrap();
    assert!(!value["questions"].as_array().unwrap().is_empty());
    assert_eq!(value["files"].as_array().unwrap().len(), 3);
    let mapping = fs::read_to_string(path.join("mapping.toml")).unwrap();
    assert!(mapping.contains("MAKE"), "{mapping}");
    let config = fs::read_to_string(path.join("forecourt.toml")).unwrap();
    assert!(config.contains(source.to_str().unwrap()), "{config}");
}

#[test]
fn init_says_what_it_was_not_told_and_writes_nothing() {
    let kept = tempfile::tempdir().unwrap();
    let folder = kept.path().to_str().unwrap();
    let (code, text) = run(&["init", folder, "--name", "X"]);
    assert_eq!(code, Some(2));
    assert!(
        text.contains("--domain, --phone, --timezone") && !text.contains("--name"),
        "{text}"
    );
    let mut wrong = init(folder, &[]);
    let last = wrong.len() - 1;
    wrong[last] = "Mars/Olympus";
    let (code, text) = run(&wrong);
    assert_eq!(code, Some(2), "{text}");
    assert!(names(kept.path()).is_empty());
}

#[test]
fn keys_are_made_once_and_rotated_in_front() {
    let kept = tempfile::tempdir().unwrap();
    let path = kept.path().join("keys");
    let file = path.to_str().unwrap();
    let keys = || -> Vec<String> {
        let text = fs::read_to_string(&path).unwrap();
        let keys = text.lines().filter(|line| !line.starts_with('#'));
        keys.map(str::to_owned).collect()
    };
    assert_eq!(run(&["keys", "generate", file]).0, Some(0));
    let first = keys();
    assert_eq!(first.len(), 1);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o77, 0);
    assert_ne!(run(&["keys", "generate", file]).0, Some(0));
    assert_eq!(keys(), first);
    assert_eq!(run(&["keys", "rotate", file]).0, Some(0));
    let second = keys();
    assert_eq!((second.len(), &second[1..]), (2, &first[..]));
    assert_eq!(run(&["keys", "rotate", "--keep", "1", file]).0, Some(0));
    let third = keys();
    assert_eq!(third.len(), 1);
    assert!(!second.contains(&third[0]));
}

#[test]
fn shells_take_the_completions() {
    let kept = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (code, text) = run(&["generate", "completions", shell]);
        assert_eq!(code, Some(0), "{shell}");
        assert!(text.contains("healthcheck"), "{shell}");
        fs::write(kept.path().join(shell), text).unwrap();
    }
    let script = "source ./bash && complete -p forecourt && COMP_WORDS=(forecourt hea) && COMP_CWORD=1 && \
                  _forecourt forecourt hea forecourt && echo \"${COMPREPLY[@]}\"";
    let output = Command::new("bash")
        .args(["-c", script])
        .current_dir(kept.path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().any(|line| line == "healthcheck"), "{text}");
    assert_eq!(run(&["generate", "completions", "dos"]).0, Some(2));
}

#[test]
fn every_command_has_a_manual_page() {
    let kept = tempfile::tempdir().unwrap();
    let out = kept.path().join("man1");
    let (code, text) = run(&["generate", "man", "--out", out.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{text}");
    let pages = names(&out);
    for page in [
        "forecourt.1",
        "forecourt-serve.1",
        "forecourt-keys-rotate.1",
        "forecourt-leads-list.1",
        "forecourt-generate-man.1",
    ] {
        assert!(pages.contains(page), "{page}: {pages:?}");
    }
    for page in &pages {
        let text = fs::read_to_string(out.join(page)).unwrap();
        assert!(text.contains(".TH "), "{page}");
        assert!(text.contains("NAME"), "{page}");
    }
    let serve = fs::read_to_string(out.join("forecourt-serve.1")).unwrap();
    assert!(serve.contains("SIGTERM"), "{serve}");
}

#[test]
fn reference_and_schema_are_those_beside_the_program() {
    let (code, text) = run(&["generate", "reference"]);
    assert_eq!(code, Some(0));
    let page = fs::read_to_string("docs/configuration.md").unwrap();
    assert!(text.len() > 10_000 && page.ends_with(&text));
    let (code, text) = run(&["generate", "config-schema"]);
    assert_eq!(code, Some(0));
    let file = fs::read_to_string("deploy/forecourt.schema.json").unwrap();
    assert_eq!(text, file);
}
