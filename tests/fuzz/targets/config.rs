//! Configuration files, compiled as `check` compiles them; nothing is opened.

use std::fs;

use forecourt::config::{Config, Sources};

use super::shop::MAPPING;

/// A text as a configuration file: a configuration, or findings that each say what to do; every time the same.
pub fn config(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mapping.toml"), MAPPING).unwrap();
    let file = folder.path().join("forecourt.toml");
    fs::write(&file, bytes).unwrap();
    let sources = Sources {
        files: vec![file],
        ..Sources::default()
    };
    let (first, second) = (Config::load(&sources), Config::load(&sources));
    match (first, second) {
        (Ok(first), Ok(second)) => {
            assert!(!first.deployments.is_empty(), "serves nothing");
            assert_eq!(first.files(), second.files());
        }
        (Err(first), Err(second)) => {
            assert!(!first.0.is_empty() && first.0.len() <= 100 + bytes.len());
            for finding in &first.0 {
                assert!(
                    !finding.reason.is_empty() && !finding.remedy.is_empty(),
                    "{finding}"
                );
            }
            assert_eq!(first, second, "two verdicts");
        }
        _ => panic!("one file, two verdicts"),
    }
}
