//! Mapping files, and rows through those that are shipped.

use forecourt::mapping::{Mapping, Outcome, Row, Tables};
use serde_json::{Map, Value};

use super::contract::json;
use super::halves;

/// The mappings that come with the program.
const SHIPPED: [&str; 4] = [
    include_str!("../../../mappings/homenet-csv/mapping.toml"),
    include_str!("../../../mappings/dms-sqlserver/mapping.toml"),
    include_str!("../../../mappings/mysql-website/mapping.toml"),
    include_str!("../../../mappings/marketcheck-rest/mapping.toml"),
];

fn tables() -> Tables {
    Tables::new().with_as_of("2026-11-29T06:00:00Z".parse().unwrap())
}

/// The cells of a row, and the lists in it as its child rows.
fn row(fields: Map<String, Value>) -> Row {
    let rows = |list: &Value| -> Option<Vec<Map<String, Value>>> {
        let list = list.as_array()?.iter();
        Some(list.filter_map(|item| item.as_object().cloned()).collect())
    };
    let children = fields
        .iter()
        .filter_map(|(name, list)| Some((name.clone(), rows(list)?)));
    Row {
        children: children.collect(),
        fields,
    }
}

/// A text as a mapping file, and rows through it: every finding says what to change; a row has one outcome,
/// explained or not.
pub fn mapping(bytes: &[u8]) {
    let (file, rest) = halves(bytes);
    let Ok(file) = std::str::from_utf8(file) else {
        return;
    };
    match Mapping::parse(file) {
        Err(findings) => {
            assert!(!findings.is_empty() && findings.len() <= 10 + file.len());
            assert!(findings.iter().all(|finding| !finding.reason.is_empty()));
            assert_eq!(Mapping::parse(file).unwrap_err(), findings, "two verdicts");
        }
        Ok(mapping) => {
            if let Some(Ok(Value::Object(fields))) = rest.map(json::read) {
                pass(&mapping, &row(fields));
            }
        }
    }
}

/// A row through a shipped mapping, the first byte says which.
pub fn rows(bytes: &[u8]) {
    let [which, rest @ ..] = bytes else {
        return;
    };
    let Ok(Value::Object(fields)) = json::read(rest) else {
        return;
    };
    let text = SHIPPED[usize::from(*which) % SHIPPED.len()];
    let mapping = Mapping::parse(text).unwrap();
    let row = row(fields);
    let Some(listing) = pass(&mapping, &row) else {
        return;
    };
    let text = |name: &str| listing.get(name).and_then(Value::as_str);
    assert!(text("vehicle_id").is_some_and(|id| !id.trim().is_empty()));
    assert!(text("condition").is_none_or(|c| ["new", "used", "cpo"].contains(&c)));
    assert!(text("vin").is_none_or(|vin| vin.len() == 17));
    let some = |amount: &Value| amount.as_u64().is_some_and(|dollars| dollars > 0);
    for money in ["price", "list_price", "msrp"] {
        assert!(listing.get(money).is_none_or(some), "{money}");
    }
}

/// The listing, where one is published: dated, and of an offered status.
fn pass(mapping: &Mapping, row: &Row) -> Option<Map<String, Value>> {
    let tables = tables();
    let outcome = mapping.apply(row, &tables);
    assert_eq!(
        outcome,
        mapping.apply(row, &tables),
        "two outcomes of one row"
    );
    assert_eq!(outcome, mapping.explain(row, &tables).outcome);
    let Outcome::Published(listing, _) = outcome else {
        return None;
    };
    let text = |name: &str| listing.get(name).and_then(Value::as_str);
    let dated = text("updated_at").is_some_and(|at| at.parse::<jiff::Timestamp>().is_ok());
    assert!(dated, "{listing:?}");
    let offered = ["available", "intransit", "pending"];
    assert!(
        text("status").is_none_or(|status| offered.contains(&status)),
        "{listing:?}"
    );
    Some(listing)
}
