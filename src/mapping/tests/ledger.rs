//! The ledger of dirty cells (`tests/data/inventory/dirty-ledger.csv`): what each must become. For formats
//! with a preset the preset's expected file is looked at, which its own test holds equal to what comes out.

#![expect(
    clippy::needless_pass_by_value,
    reason = "tables of cases read better so"
)]

use serde_json::{Map, Value, json};

use super::super::{Mapping, Outcome, Row, Tables};
use super::presets::root;

type Listing = Map<String, Value>;

fn expected(preset: &str) -> Vec<Listing> {
    let path = root().join("mappings").join(preset).join("expected.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn by_stock(preset: &str, stock: &str) -> Option<Listing> {
    let mut found = expected(preset)
        .into_iter()
        .filter(|listing| listing.get("stock").is_some_and(|s| s == stock));
    let one = found.next();
    assert!(
        found.next().is_none() || stock == "U10121",
        "{preset} {stock} twice"
    );
    one
}

/// Null stands for a member that must be absent.
fn holds(preset: &str, stock: &str, wanted: Value) {
    let listing = by_stock(preset, stock).unwrap_or_else(|| panic!("{preset} {stock}"));
    for (member, value) in wanted.as_object().unwrap() {
        let found = listing.get(member).unwrap_or(&Value::Null);
        assert_eq!(found, value, "{preset} {stock} {member}");
    }
}

#[test]
fn homenet() {
    let preset = "homenet-csv";
    holds(
        preset,
        "U10102",
        json!({ "mileage": 41210, "list_price": 34750, "description": "Bedliner & tonneau cover included. Call us!" }),
    );
    holds(preset, "U10105", json!({ "vin": "1GNSKBKD4PR900105" }));
    holds(
        preset,
        "N24111",
        json!({ "price": null, "list_price": null }),
    );
    holds(
        preset,
        "M10114",
        json!({ "price": null, "list_price": null }),
    );
    holds(
        preset,
        "C10123",
        json!({ "vin": null, "other_attributes": { "serial_number": "7F01C900123" } }),
    );
    holds(
        preset,
        "U10124",
        json!({ "mileage": null, "make": "Volkswagen" }),
    );
    holds(preset, "U10125", json!({ "mileage": null }));
    holds(preset, "N24126", json!({ "price": 85494 }));
    let photos = by_stock(preset, "N24128").unwrap()["photos"].clone();
    assert_eq!(photos.as_array().unwrap().len(), 1, "{photos}");
    holds(
        preset,
        "U10129",
        json!({ "price": null, "list_price": null }),
    );
    holds(
        preset,
        "U10131",
        json!({ "year": 2021, "exterior_color": "Soul Red Crystal" }),
    );
    assert!(
        by_stock(preset, "U10106").is_some(),
        "the exact duplicate is one listing"
    );
}

#[test]
fn vauto() {
    let preset = "vauto-csv";
    assert_eq!(
        by_stock(preset, "U10102").unwrap()["photos"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    holds(preset, "N24111", json!({ "list_price": null }));
    for excluded in ["U10117", "N26118", "S99999"] {
        assert_eq!(by_stock(preset, excluded), None, "{excluded}");
    }
    let description = by_stock(preset, "U10124").unwrap()["description"].clone();
    let description = description.as_str().unwrap().to_owned();
    assert!(description.contains('\n') && description.contains(',') && description.contains('"'));
    for certified in ["U10101", "U10127", "E10110"] {
        holds(preset, certified, json!({ "condition": "cpo" }));
    }
    holds(preset, "U10129", json!({ "list_price": null }));
    holds(
        preset,
        "U10131",
        json!({ "inventory_date": null, "year": 2021 }),
    );
}

#[test]
fn google() {
    let preset = "google-vehicle-listings";
    holds(preset, "N25104", json!({ "condition": "new" }));
    holds(preset, "U10106", json!({ "price": 27949 }));
    holds(preset, "E10110", json!({ "condition": "cpo" }));
    holds(preset, "U10129", json!({ "price": 29387 }));
    holds(preset, "U10131", json!({ "mileage": 37120 }));
}

#[test]
fn fortellis() {
    let preset = "fortellis-rest";
    holds(preset, "U10105", json!({ "vin": "1GNSKBKD4PR900105" }));
    holds(preset, "E10107", json!({ "mileage": 29875 }));
    holds(preset, "U10124", json!({ "mileage": null }));
    holds(preset, "N24126", json!({ "price": 85494 }));
    holds(
        preset,
        "U10131",
        json!({ "exterior_color": null, "interior_color": null }),
    );
    for removed in ["U10115", "U10116"] {
        assert_eq!(by_stock(preset, removed), None);
    }
}

#[test]
fn marketcheck() {
    let preset = "marketcheck-rest";
    assert!(
        expected(preset)
            .iter()
            .all(|listing| !listing.contains_key("price"))
    );
    holds(
        preset,
        "N24103",
        json!({ "fuel": "hybrid", "list_price": 36389 }),
    );
    holds(preset, "N24111", json!({ "fuel": "plug-in hybrid" }));
    holds(preset, "N25132", json!({ "fuel": "hybrid" }));
}

/// Maps one row of a format without a preset.
fn mapped(fields: &str, row: Value) -> Outcome {
    let text =
        format!("name = 't'\n[source]\nkind = 'feed'\nformat = 'json'\n[updated_at]\n{fields}");
    let mapping = Mapping::parse(&text).unwrap_or_else(|findings| panic!("{findings:?}"));
    let Value::Object(fields) = row else {
        panic!("a row is an object")
    };
    let row = Row {
        fields,
        ..Row::default()
    };
    let tables = Tables::new().with_as_of("2026-11-29T06:00:00Z".parse().unwrap());
    mapping.apply(&row, &tables)
}

fn listing(outcome: Outcome) -> Listing {
    match outcome {
        Outcome::Published(listing, warnings) => {
            assert_eq!(warnings, []);
            listing
        }
        Outcome::Hidden { reason, .. } | Outcome::Rejected { reason, .. } => panic!("{reason}"),
    }
}

#[test]
fn multi_valued_extract() {
    let fields = "provenance = 'as_of'\n[fields]\nvehicle_id = { from = 'Stock', steps = ['first', 'trim'] }\n\
        status = { value = 'available' }\nyear = { from = 'Year', steps = ['first', 'number'] }\n\
        list_price = { from = 'Price', steps = ['first', 'number', 'whole_dollars'] }\n\
        [fees]\nzip = ['FeeDesc', 'FeeAmt']\ncode = 'FeeDesc'\nname = 'FeeDesc'\n\
        amount = { from = 'FeeAmt', steps = ['number', 'whole_dollars'] }\n";
    let row = |amounts: Value| {
        json!({ "Stock": ["U1 "], "Year": ["2020"], "Price": ["9000.00"],
                "FeeDesc": ["Documentation fee", "Paint"], "FeeAmt": amounts })
    };
    let found = listing(mapped(fields, row(json!(["499.00", "895.00"]))));
    assert_eq!(found["year"], 2020);
    assert_eq!(
        found["fees"],
        json!([{ "name": "Documentation fee", "amount": 499 }, { "name": "Paint", "amount": 895 }])
    );
    let Outcome::Published(found, warnings) = mapped(fields, row(json!(["499.00"]))) else {
        panic!("not published")
    };
    assert!(
        !found.contains_key("fees") && warnings.len() == 1,
        "half a breakdown is none"
    );
}

#[test]
fn cents_milliseconds_and_demonstrators() {
    let fields = "provenance = 'source_column'\nfrom = 'modifiedTime'\nsteps = [{ datetime = 'epoch_ms' }]\n\
        [fields]\nvehicle_id = 'id'\nstatus = { value = 'available' }\n\
        condition = { from = 'stockType', steps = [{ table = 'types' }], required = true }\n\
        list_price = { from = 'pricing.asking.amount', steps = [{ number = { implied_decimals = 2 } }, 'whole_dollars'] }\n\
        [tables.types]\nNEW = 'new'\nUSED = 'used'\nDEMO = { hide = 'demonstrator' }\n";
    let row = |kind: &str| {
        json!({ "id": "1", "stockType": kind, "modifiedTime": 1_795_273_200_000_i64,
                "pricing": { "asking": { "amount": 2_399_500 } } })
    };
    let found = listing(mapped(fields, row("USED")));
    assert_eq!(found["list_price"], 23995);
    assert_eq!(found["updated_at"], "2026-11-21T15:00:00Z");
    assert!(matches!(
        mapped(fields, row("DEMO")),
        Outcome::Hidden { .. }
    ));
}

#[test]
fn flattened_headers_and_json_in_a_cell() {
    let fields = "provenance = 'as_of'\n[fields]\nvehicle_id = 'vehicle_id'\nstatus = { value = 'available' }\n\
        mileage = { from = 'mileage.value', steps = [{ sentinel = { values = [0], unless = \"row.condition == 'new'\" } }] }\n\
        photos = { from = 'image[0].url' }\n[other_attributes]\ncity = { from = 'address', steps = ['json', { pick = 'city' }] }\n";
    let row = json!({ "vehicle_id": "1", "condition": "used", "mileage.value": "0",
        "image[0].url": "https://i.example/1.jpg", "address": "{\"city\":\"Portland\"}" });
    let found = listing(mapped(fields, row));
    assert!(!found.contains_key("mileage"));
    assert_eq!(found["photos"], json!(["https://i.example/1.jpg"]));
    assert_eq!(found["other_attributes"]["city"], "Portland");
}

#[test]
fn positional_files_with_implied_decimals_and_uncertain_flags() {
    let fields = "provenance = 'as_of'\n[fields]\nvehicle_id = 'id'\nstatus = { from = 'SOLD', steps = [{ table = 'sold' }] }\n\
        list_price = { from = 'price', steps = [{ number = { implied_decimals = 2 } }, 'whole_dollars'] }\n\
        [tables.sold]\nF = 'available'\nT = { hide = 'sold' }\n";
    let row = |sold: &str| json!({ "id": "1", "SOLD": sold, "price": "003475000" });
    assert_eq!(listing(mapped(fields, row("F")))["list_price"], 34750);
    assert!(matches!(mapped(fields, row("T")), Outcome::Hidden { .. }));
    // An uninitialised flag is not "not sold".
    assert!(matches!(mapped(fields, row("?")), Outcome::Rejected { .. }));
}
