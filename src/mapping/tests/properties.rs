//! Whatever a source holds: no panic, the same answer twice, and nothing published that AAP forbids.

use proptest::prelude::*;
use serde_json::{Map, Value};

use super::super::{Mapping, Outcome, Row, Tables};
use super::presets::mapping;

fn cell() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(|float: f64| Value::from(float)),
        "[ -~]{0,20}".prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        "[0-9]{1,9}(\\.[0-9]{2})?".prop_map(Value::from),
        "(19|20)[0-9]{2}-[01][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:00".prop_map(Value::from),
        prop::sample::select(vec![
            "10",
            "20",
            "90",
            "Y",
            "N",
            "U",
            "C",
            "America/Los_Angeles",
            "00000000",
            "N/A",
            "HOND",
            "[1,2]",
            "{not json",
            "https://x.example/1.jpg|javascript:x",
            "R",
            "New",
            "active",
        ])
        .prop_map(Value::from),
        prop::collection::vec("[a-z]{0,4}".prop_map(Value::from), 0..4).prop_map(Value::from),
    ]
}

/// A row over the columns that a mapping reads, some of them missing.
fn row(columns: Vec<String>) -> impl Strategy<Value = Row> {
    let count = columns.len();
    let fields = prop::collection::vec(prop::option::weighted(0.9, cell()), count);
    let children = prop::collection::vec(prop::collection::vec(cell(), 5), 0..4);
    (fields, children).prop_map(move |(cells, children)| {
        let fields: Map<String, Value> = columns
            .iter()
            .cloned()
            .zip(cells)
            .filter_map(|(name, cell)| Some((name, cell?)))
            .collect();
        let names = ["OPTDESC", "SRC", "FEECD", "AMT", "URL"];
        let rows: Vec<Map<String, Value>> = children
            .into_iter()
            .map(|cells| names.map(str::to_owned).into_iter().zip(cells).collect())
            .collect();
        let children = ["options", "photos", "fees"]
            .into_iter()
            .map(|name| (name.to_owned(), rows.clone()))
            .collect();
        Row { fields, children }
    })
}

fn columns(mapping: &Mapping) -> Vec<String> {
    let mut columns: Vec<String> = mapping
        .0
        .columns
        .iter()
        .map(|(_, path)| path.text.clone())
        .collect();
    columns.sort();
    columns.dedup();
    columns
}

/// What must hold of a listing, whatever the mapping and the row.
fn lawful(outcome: &Outcome, row: &Row) {
    let Outcome::Published(listing, _) = outcome else {
        return;
    };
    let text = |name: &str| listing.get(name).and_then(Value::as_str);
    assert!(text("vehicle_id").is_some_and(|id| !id.trim().is_empty()));
    assert!(matches!(
        text("status"),
        Some("available" | "intransit" | "pending")
    ));
    assert!(
        text("updated_at")
            .unwrap()
            .parse::<jiff::Timestamp>()
            .is_ok()
    );
    assert!(text("condition").is_none_or(|c| ["new", "used", "cpo"].contains(&c)));
    assert!(text("vin").is_none_or(|vin| vin.len() == 17));
    for money in ["price", "list_price", "msrp"] {
        assert!(
            listing
                .get(money)
                .is_none_or(|amount| amount.as_u64().is_some()),
            "{money}"
        );
    }
    // A step never invents: a text in the listing that is not from a table stands in the row.
    if let Some(vin) = text("vin") {
        let cells = row.fields.values().filter_map(Value::as_str);
        assert!(
            cells
                .into_iter()
                .any(|cell| cell.trim().eq_ignore_ascii_case(vin))
        );
    }
}

fn check(name: &str) {
    let mapping = mapping(name);
    let tables = Tables::new().with_as_of("2026-11-29T06:00:00Z".parse().unwrap());
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(120));
    runner
        .run(&row(columns(&mapping)), |row| {
            let outcome = mapping.apply(&row, &tables);
            prop_assert_eq!(&outcome, &mapping.apply(&row, &tables));
            prop_assert_eq!(&outcome, &mapping.explain(&row, &tables).outcome);
            lawful(&outcome, &row);
            Ok(())
        })
        .unwrap();
}

#[test]
fn any_row_through_the_dms() {
    check("dms-sqlserver");
}

#[test]
fn any_row_through_homenet() {
    check("homenet-csv");
}

#[test]
fn any_row_through_the_website() {
    check("mysql-website");
}

#[test]
fn any_text_as_a_mapping_file() {
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(60));
    let whole =
        std::fs::read_to_string(super::presets::root().join("mappings/dms-sqlserver/mapping.toml"))
            .unwrap();
    let lines: Vec<String> = whole.lines().map(str::to_owned).collect();
    let edits = (0..lines.len(), prop::option::of("[ -~]{0,30}"));
    runner
        .run(&prop::collection::vec(edits, 1..4), |edits| {
            let mut text = lines.clone();
            for (at, line) in edits {
                text[at] = line.unwrap_or_default();
            }
            if let Err(findings) = Mapping::parse(&text.join("\n")) {
                prop_assert!(!findings.is_empty());
            }
            Ok(())
        })
        .unwrap();
}

/// Letters and digits of a value, in order.
fn marks(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => other.to_string(),
    };
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// Whether `part` comes about from `whole` by leaving marks out.
fn within(part: &str, whole: &str) -> bool {
    let mut rest = whole.chars();
    part.chars().all(|mark| rest.any(|other| other == mark))
}

/// A step alone on a cell; nothing where the cell is dirty.
fn one_step(step: &str, cell: &Value) -> Option<Value> {
    let text = format!(
        "name = 't'\n[source]\nkind = 'feed'\nformat = 'json'\n[fields]\nvehicle_id = {{ value = '1' }}\n\
         status = {{ value = 'available' }}\n[updated_at]\nprovenance = 'as_of'\n\
         [other_attributes]\nx = {{ from = 'c', steps = [{step}] }}\n"
    );
    let mapping = Mapping::parse(&text).unwrap_or_else(|findings| panic!("{step}: {findings:?}"));
    let row = Row {
        fields: Map::from_iter([("c".to_owned(), cell.clone())]),
        ..Row::default()
    };
    let tables = Tables::new().with_as_of("2026-11-29T06:00:00Z".parse().unwrap());
    let outcome = mapping.apply(&row, &tables);
    assert_eq!(outcome, mapping.apply(&row, &tables), "{step} of {cell}");
    let Outcome::Published(listing, warnings) = outcome else {
        panic!("{step} of {cell} ended the row")
    };
    let value = listing
        .get("other_attributes")
        .map_or(Value::Null, |attributes| attributes["x"].clone());
    assert!(warnings.is_empty() || value.is_null());
    warnings.is_empty().then_some(value)
}

/// Steps that take away, reorder nothing and add nothing: every letter and digit of what comes out stood in the
/// cell, in that order.
#[test]
fn no_step_invents_a_letter_or_a_digit() {
    let takes_away = [
        "'trim'",
        "'collapse'",
        "'upper'",
        "'lower'",
        "'title'",
        "'sentence'",
        "{ sentinel = [0, 'N/A'] }",
        "{ extract = '[0-9]+' }",
        "{ replace = { pattern = '[aeiou]', with = '' } }",
        "{ split = [',', '|'] }",
        "'first'",
        "'dedupe'",
        "{ limit = 2 }",
        "'urls'",
    ];
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(60));
    let ascii = prop_oneof![
        "[ -~]{0,24}".prop_map(Value::from),
        prop::collection::vec("[ -~]{1,8}".prop_map(Value::from), 0..4).prop_map(Value::from),
    ];
    runner
        .run(&ascii, |cell| {
            for step in takes_away {
                if let Some(value) = one_step(step, &cell).filter(|value| !value.is_null()) {
                    prop_assert!(
                        within(&marks(&value), &marks(&cell)),
                        "{step}: {cell} gave {value}"
                    );
                }
            }
            Ok(())
        })
        .unwrap();
}

/// Steps that read a value in another notation: digits of the result stood in the cell.
#[test]
fn what_is_read_stands_in_the_cell() {
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(150));
    let written = prop_oneof![
        "[$]?[0-9]{1,3}(,[0-9]{3}){0,2}([.][0-9]{1,2})?",
        "[0-9]{4}-[01][0-9]-[0-3][0-9]",
        "[ -~]{0,12}",
    ];
    runner
        .run(&written, |cell| {
            let cell = Value::from(cell);
            if let Some(number) = one_step("'number'", &cell).filter(Value::is_number) {
                let digits = number.to_string().replace(['.', '-'], "");
                let digits = digits.trim_start_matches('0');
                prop_assert!(within(digits, &marks(&cell)), "{cell} gave {number}");
            }
            if let Some(date) = one_step("{ date = '%Y-%m-%d' }", &cell).filter(Value::is_string) {
                prop_assert_eq!(marks(&date), marks(&cell));
            }
            Ok(())
        })
        .unwrap();
}

/// Every step, whatever the cell: no panic, the same twice, and nothing in is nothing out.
#[test]
fn nothing_in_is_nothing_out_of_any_step() {
    for step in super::reference::steps() {
        if step.contains("table") || step.contains("default") {
            continue;
        }
        let out = one_step(step, &Value::Null);
        assert_eq!(out, Some(Value::Null), "{step}");
    }
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(40));
    let steps: Vec<&str> = super::reference::steps()
        .into_iter()
        .filter(|step| !step.contains("table"))
        .collect();
    runner
        .run(&(cell(), prop::sample::select(steps)), |(cell, step)| {
            drop(one_step(step, &cell));
            Ok(())
        })
        .unwrap();
}
