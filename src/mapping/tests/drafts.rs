//! First mappings: what a draft makes of rows that the sample did not have.

use serde_json::{Value, json};

use super::super::init::Sample;
use super::super::{Mapping, Outcome, Row, Tables};

fn row(fields: &Value) -> Row {
    Row {
        fields: fields.as_object().unwrap().clone(),
        ..Row::default()
    }
}

/// The draft for these rows, with its questions answered.
fn draft(rows: &[Value]) -> Mapping {
    let mut sample = Sample::new();
    for fields in rows {
        sample.add(&row(fields));
    }
    let text = sample
        .draft("t", "[source]\nkind = 'feed'\nformat = 'csv'\n", None)
        .text;
    let text = text.replace("basis = \"?\"", "basis = \"all_mandatory_included\"");
    let text = text.replace("provenance = \"?\"", "provenance = \"as_of\"");
    Mapping::parse(&text).unwrap_or_else(|findings| panic!("{findings:?}\n{text}"))
}

fn outcome(mapping: &Mapping, fields: &Value) -> Outcome {
    let tables = Tables::new().with_as_of("2026-11-29T06:00:00Z".parse().unwrap());
    mapping.apply(&row(fields), &tables)
}

// AAP-356
#[test]
fn a_deleted_row_is_hidden_whatever_its_flag_says_later() {
    let flagged = draft(&[
        json!({ "Stock": "1", "Deleted": "N" }),
        json!({ "Stock": "2", "Deleted": "Y" }),
    ]);
    for (flag, shown) in [
        ("N", true),
        ("", true),
        ("0", true),
        ("Y", false),
        ("D", false),
        ("*", false),
        ("X", false),
    ] {
        let found = outcome(&flagged, &json!({ "Stock": "3", "Deleted": flag }));
        assert_eq!(
            matches!(found, Outcome::Published(..)),
            shown,
            "{flag}: {found:?}"
        );
    }
    let dated = draft(&[
        json!({ "Stock": "1", "DeletedAt": "" }),
        json!({ "Stock": "2", "DeletedAt": "2026-11-20 10:00:00" }),
    ]);
    for (cell, shown) in [
        (json!(""), true),
        (json!(null), true),
        (json!("0000-00-00 00:00:00"), true),
        (json!("2026-11-21"), false),
    ] {
        let found = outcome(&dated, &json!({ "Stock": "3", "DeletedAt": cell }));
        assert_eq!(
            matches!(found, Outcome::Published(..)),
            shown,
            "{cell}: {found:?}"
        );
    }
}

#[test]
fn placeholders_that_the_sample_did_not_have_are_no_prices() {
    let mapping = draft(&[json!({ "Stock": "1", "Price": "24995" })]);
    for (cell, price) in [
        ("19995", Some(19995)),
        ("0", None),
        ("1", None),
        ("0.00", None),
    ] {
        let Outcome::Published(listing, _) =
            outcome(&mapping, &json!({ "Stock": "2", "Price": cell }))
        else {
            panic!("not published")
        };
        for member in ["list_price", "price"] {
            assert_eq!(
                listing.get(member).and_then(Value::as_i64),
                price,
                "{cell} {member}"
            );
        }
    }
}

#[test]
fn kilometres_are_no_miles() {
    for cell in [
        json!(59739),
        json!("59739"),
        json!("59,739"),
        json!("59739 km"),
    ] {
        let fields = json!({ "Stock": "1", "KMs": cell });
        let mapping = draft(std::slice::from_ref(&fields));
        let Outcome::Published(listing, warnings) = outcome(&mapping, &fields) else {
            panic!("not published")
        };
        assert_eq!(
            listing.get("mileage"),
            Some(&json!(37120)),
            "{cell} {warnings:?}"
        );
    }
}
