//! The command line's own shape.

use clap::CommandFactory as _;

use super::*;

#[test]
fn the_command_line_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn set_takes_a_key_and_a_value_with_any_text() {
    assert_eq!(
        assignment("a.b=c=d").unwrap(),
        ("a.b".to_owned(), "c=d".to_owned())
    );
    assert!(assignment("a.b").is_err());
}
