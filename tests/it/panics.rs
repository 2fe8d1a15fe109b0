//! A panic is told by its place, not by its words.

use std::process::Command;

use forecourt::telemetry::{Format, Settings, begin};

const CANARY: &str = "kanarienvogel";
const CHILD: &str = "FORECOURT_TEST_PANICS";

/// Only in a process of its own, where nobody else logs.
#[test]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    begin(&Settings {
        format: Format::Json,
        filter: Some("trace".to_owned()),
        colour: false,
    })
    .unwrap();
    let words = format!("called `Result::unwrap()` on an `Err` value: {CANARY}");
    let ended = std::thread::spawn(move || panic!("{words}")).join();
    assert!(ended.is_err());
}

// AAP-146
#[test]
fn a_panic_tells_its_place_and_no_word_of_a_customer() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "panics::child", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "{text}");
    let line = text
        .lines()
        .find(|line| line.contains("panicked"))
        .unwrap_or_else(|| panic!("{text}"));
    assert!(line.contains("tests/it/panics.rs:"), "{line}");
    assert!(!text.contains(CANARY), "{text}");
}
