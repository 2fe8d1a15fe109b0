//! `docs/configuration.md` is made from the comments of the types, so it cannot fall behind them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const SOURCES: [&str; 9] = [
    include_str!("../raw/mod.rs"),
    include_str!("../raw/deployment.rs"),
    include_str!("../raw/profile.rs"),
    include_str!("../raw/source.rs"),
    include_str!("../raw/leads.rs"),
    include_str!("../raw/delivery.rs"),
    include_str!("../raw/store.rs"),
    include_str!("../raw/pap.rs"),
    include_str!("../raw/oauth.rs"),
];

/// A section for each table, a line for each key.
fn reference() -> String {
    let mut text = String::new();
    for source in SOURCES {
        let (mut comment, mut in_struct) = (String::new(), false);
        for line in source.lines().map(str::trim) {
            if let Some(more) = line.strip_prefix("/// ") {
                comment.push_str(if comment.is_empty() { "" } else { " " });
                comment.push_str(more);
            } else if line.starts_with("pub struct") {
                in_struct = true;
                write!(text, "\n### {}\n\n", comment.trim_end_matches('.')).unwrap();
                comment.clear();
            } else if let (true, Some(field)) = (in_struct, line.strip_prefix("pub ")) {
                let (name, kind) = field.trim_end_matches(',').split_once(": ").unwrap();
                let kind = kind_words(kind);
                let mark = if comment.is_empty() { "" } else { ": " };
                writeln!(text, "- `{name}` ({kind}){mark}{comment}").unwrap();
                comment.clear();
            } else if line == "}" {
                in_struct = false;
            } else if !line.starts_with("#[") {
                comment.clear();
            }
        }
    }
    text
}

fn kind_words(kind: &str) -> &'static str {
    let inner = kind
        .strip_prefix("Option<")
        .unwrap_or(kind)
        .trim_end_matches('>');
    match inner {
        "String" | "Secret" => "text",
        "PathBuf" => "path",
        "bool" => "true or false",
        "u16" | "u32" | "u64" | "usize" => "whole number",
        "f64" => "number",
        "Scope" | "Access" | "StoreKind" | "SmtpTls" | "HttpForm" | "AuthKind" | "Nonces"
        | "NativeMcp" | "Registration" => "word",
        "Vec<String" => "list of texts",
        "Vec<ContactPoint" | "Vec<Schedule" | "Vec<Fee" | "Vec<Rooftop" | "Vec<Certificate" => {
            "list of tables"
        }
        _ => "table",
    }
}

#[test]
fn the_reference_is_what_the_types_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/configuration.md");
    let text = fs::read_to_string(&path).unwrap();
    let (prose, written) = text.split_once("look. -->\n").unwrap();
    let made = reference();
    if written.is_empty() {
        fs::write(&path, format!("{prose}look. -->\n{made}")).unwrap();
        panic!("the reference was cut and has been written anew: look at it");
    }
    assert_eq!(written, made);
}
