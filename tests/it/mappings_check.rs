//! `forecourt mappings check`: what it counts, what it calls a finding, in both output forms.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

const MAPPING: &str = r#"
name = "t"
updated_at = { provenance = "as_of" }
filter = { keep = "text(row.State) != 'SOLD'", reason = "sold" }
[source]
kind = "feed"
format = "FORMAT"
as_of = "file_time"
[fields]
vehicle_id = "Stock"
stock = "Stock"
vin = "VIN"
status = { from = "State", steps = [{ table = { of = "status", miss = "hide" } }] }
year = { from = "Year", steps = ["number"] }
mileage = { from = "Miles", steps = ["number"] }
charge_port = "Port"
[tables]
status = { LOT = "available" }
"#;

fn check(mapping: &str, name: &str, rows: &str, output: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("mapping.toml"), mapping).unwrap();
    std::fs::write(at(name), rows).unwrap();
    run(&at("mapping.toml"), &at(name), output)
}

fn run(mapping: &Path, input: &Path, output: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_forecourt"))
        .args(["mappings", "check", "--output", output, "--mapping"])
        .arg(mapping)
        .arg("--input")
        .arg(input)
        .env_clear()
        .output()
        .unwrap()
}

const DIRTY: &str = "Stock,VIN,State,Year,Miles,Port\n\
    U1,1HGCV1F32MA900101,LOT,2021,28450,\n\
    U2,1HGCV1F32MA900101,LOT,2021,many,\n\
    U3,3MW5R1J04M8C90106,SOLD,2021,1,\n\
    U4,3MW5R1J04M8C90106,AWAY,2021,1,\n\
    ,1FTFW1E83NFA90102,LOT,2022,1,\n\
    U6,1FTFW1E83NFA90102,LOT,2022,1,,,surplus\n";

#[test]
fn a_dirty_file_is_counted_by_reason() {
    let mapping = MAPPING.replace("FORMAT", "csv");
    let output = check(&mapping, "rows.csv", DIRTY, "json");
    assert_eq!(output.status.code(), Some(1));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let report = &value["mappings"][0];
    assert_eq!(report["rows"], 6);
    assert_eq!(
        (&report["published"], &report["mapped"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(
        report["hidden"],
        json!({ "sold": 1, "a code that the table lacks": 1 })
    );
    let rejected = &report["rejected"][0];
    assert_eq!(rejected["reason"], "vehicle_id is required and missing");
    assert_eq!(rejected["rows"], 1);
    let dirty = &report["dirty"][0];
    assert_eq!(
        (&dirty["field"], &dirty["column"]),
        (&json!("mileage"), &json!("Miles"))
    );
    assert_eq!(dirty["value_class"], "text of 4 characters");
    assert_eq!(report["filled"]["mileage"], 1);
    assert_eq!(report["filled_percent"]["mileage"], 50);
    assert_eq!(report["filled_percent"]["year"], 100);
    assert_eq!(report["never_filled"], json!(["charge_port"]));
}

#[test]
fn doubles_and_garbled_rows_are_counted() {
    let mapping = MAPPING.replace("FORMAT", "csv");
    let output = check(&mapping, "rows.csv", DIRTY, "json");
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let report = &value["mappings"][0];
    let duplicates = report["duplicates"].as_object().unwrap();
    assert_eq!(duplicates.values().collect::<Vec<_>>(), [&json!(1)]);
    let unusable = report["unusable"].as_object().unwrap();
    assert!(
        unusable
            .keys()
            .all(|reason| reason.starts_with("garbled row"))
    );
    assert_eq!(unusable.values().collect::<Vec<_>>(), [&json!(1)]);
    let whole = String::from_utf8(output.stdout).unwrap();
    assert!(!whole.contains("many"), "no cell is shown: {whole}");
}

#[test]
fn people_read_the_same_counts() {
    let mapping = MAPPING.replace("FORMAT", "csv");
    let output = check(&mapping, "rows.csv", DIRTY, "human");
    let text = String::from_utf8(output.stdout).unwrap();
    for line in [
        "rows read 6, published 1",
        "filled, of 2 mapped:",
        "hidden         1  sold",
        "rejected       1  vehicle_id is required and missing (column Stock: nothing)",
        "mapped, and filled by no row: charge_port",
        "year                      2  100 %",
    ] {
        assert!(text.contains(line), "{line:?} is not in {text}");
    }
}

#[test]
fn a_clean_file_is_no_finding() {
    let mapping = MAPPING.replace("FORMAT", "csv");
    let rows = "Stock,VIN,State,Year,Miles,Port\nU1,1HGCV1F32MA900101,LOT,2021,28450,NACS\n";
    let output = check(&mapping, "rows.csv", rows, "human");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_renamed_column_is_found_with_a_suggestion() {
    let mapping = MAPPING.replace("FORMAT", "csv");
    let rows = "Stock,VIN,State,Year,Mileage,Port\nU1,1HGCV1F32MA900101,LOT,2021,28450,NACS\n";
    let output = check(&mapping, "rows.csv", rows, "human");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("fields.mileage: the source has no column `Miles`; did you mean `Mileage`?"),
        "{text}"
    );
    assert_eq!(output.status.code(), Some(1));
}

/// JSON leaves empty members out: only what no vehicle has is a finding.
#[test]
fn a_member_that_no_vehicle_has_is_found() {
    let mapping = MAPPING
        .replace("FORMAT", "json")
        .replace("\"number\"", "\"round\"");
    let rows = json!([
        { "Stock": "U1", "State": "LOT", "Year": 2021, "Mileage": 28450, "VIN": "1HGCV1F32MA900101" },
        { "Stock": "U2", "State": "LOT", "Year": 2020, "Port": "NACS" },
    ]);
    let output = check(&mapping, "rows.json", &rows.to_string(), "json");
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = value["mappings"][0]["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{findings:?}");
    let finding = findings[0].as_str().unwrap();
    assert!(
        finding.contains("no column `Miles`; did you mean `Mileage`?"),
        "{finding}"
    );
    assert_eq!(output.status.code(), Some(1));
}
