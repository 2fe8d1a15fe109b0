//! The reference and the schema lie beside the program, and say what the types say.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::reference::{markdown, schema};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

#[test]
fn the_reference_is_what_the_types_say() {
    let path = root().join("docs/configuration.md");
    let text = fs::read_to_string(&path).unwrap();
    let (prose, written) = text.split_once("look. -->\n").unwrap();
    let made = markdown();
    if written.is_empty() {
        fs::write(&path, format!("{prose}look. -->\n{made}")).unwrap();
        panic!("the reference was cut and has been written anew: look at it");
    }
    assert_eq!(written, made);
}

#[test]
fn the_schema_is_what_the_types_say() {
    let path = root().join("deploy/forecourt.schema.json");
    let made = format!("{:#}\n", schema());
    if !path.exists() {
        fs::write(&path, made).unwrap();
        panic!("the schema was missing and has been written anew: look at it");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), made);
}

#[test]
fn the_schema_takes_what_the_program_takes_and_finds_a_slip() {
    let schema = jsonschema::draft7::new(&schema()).unwrap();
    let read = |text: &str| -> serde_json::Value { toml::from_str(text).unwrap() };
    let whole = read(
        r#"
        [server]
        listen = "127.0.0.1:8080"
        [defaults.inventory]
        refresh_interval_s = 600
        [deployments.main]
        domain = "dealer.example"
        scope = "aggregate"
        [deployments.main.inventory]
        mapping = "mapping.toml"
        source = { kind = "sql", url_file = "/run/secrets/url" }
        [deployments.main.leads.deliveries.crm]
        kind = "smtp"
        host = "smtp.dealer.example"
        tls = "danger_plaintext"
        to = ["leads@crm.example"]
        copy = true
        [telemetry.otlp.headers]
        x-key = "k"
        "#,
    );
    assert!(schema.is_valid(&whole));
    for (place, slip) in [
        ("/server/listne", "\"x\""),
        ("/server/max_connections", "-1"),
        ("/deployments/main/scope", "\"both\""),
        ("/deployments/main/inventory/source/kind", "\"odbc\""),
        ("/deployments/main/leads/deliveries/crm/path", "\"crm\""),
    ] {
        let (table, key) = place.rsplit_once('/').unwrap();
        let mut wrong = whole.clone();
        wrong.pointer_mut(table).unwrap()[key] = serde_json::from_str(slip).unwrap();
        assert!(!schema.is_valid(&wrong), "{place}");
    }
}
