//! The technician's walk in `docs/mapping.md`, word for word: its file, its commands, its edits, what is printed.

use std::fs;
use std::path::Path;
use std::process::Command;

/// A fenced block: what stands behind its fence, and its lines.
type Block = (String, Vec<String>);

fn blocks(section: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for line in section.lines() {
        match line.strip_prefix("```") {
            Some(_) if open => open = false,
            Some(kind) => {
                open = true;
                blocks.push((kind.to_owned(), Vec::new()));
            }
            None if open => blocks.last_mut().unwrap().1.push(line.to_owned()),
            None => {}
        }
    }
    blocks
}

/// Runs one line in the folder; what it printed.
fn run(line: &str, folder: &Path) -> String {
    let mut words = line.split(' ');
    let output = match words.next() {
        Some("forecourt") => Command::new(env!("CARGO_BIN_EXE_forecourt"))
            .args(words)
            .env_clear()
            .current_dir(folder)
            .output()
            .unwrap(),
        Some("cp") => Command::new("cp")
            .args(words)
            .current_dir(folder)
            .output()
            .unwrap(),
        other => panic!("{other:?} is no command of the walk"),
    };
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    text.trim_end().to_owned()
}

/// Takes out the line that begins so, and puts the new one in its place, if there is one.
fn edit(file: &Path, changes: &[String]) {
    let text = fs::read_to_string(file).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut at = 0;
    for change in changes {
        if let Some(begins) = change.strip_prefix('-') {
            at = lines
                .iter()
                .position(|line| line.starts_with(begins))
                .unwrap();
            lines.remove(at);
        } else {
            lines.insert(at, change.trim_start_matches('+').to_owned());
        }
    }
    fs::write(file, lines.join("\n")).unwrap();
}

#[test]
fn every_command_of_the_walk_prints_what_the_document_says() {
    let document = fs::read_to_string("docs/mapping.md").unwrap();
    let (_, after) = document.split_once("## A technician's walk").unwrap();
    let (walk, _) = after.split_once("\n## ").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (mut printed, mut commands) = (String::new(), 0);
    for (kind, lines) in blocks(walk) {
        match kind.split_once(' ') {
            Some(("text", file)) => {
                fs::write(folder.path().join(file), lines.join("\n") + "\n").unwrap();
            }
            Some(("diff", file)) => edit(&folder.path().join(file), &lines),
            None if kind == "sh" => {
                for line in lines {
                    printed = run(&line, folder.path());
                    commands += 1;
                }
            }
            None if kind == "text" => assert_eq!(lines.join("\n"), printed),
            _ => panic!("a block of an unknown kind: {kind}"),
        }
    }
    assert!(commands >= 5, "{commands} commands");
}
