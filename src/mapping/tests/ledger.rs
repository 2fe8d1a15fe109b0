//! The ledger of dirty cells (`tests/data/inventory/dirty-ledger.csv`): what each must become. For formats
//! with a preset the preset's expected file is looked at, which its own test holds equal to what comes out.

#![expect(
    clippy::needless_pass_by_value,
    reason = "tables of cases read better so"
)]

use serde_json::{Map, Value, json};

use super::super::{Mapping, Outcome, Row, Tables};
use super::presets::root;
use crate::sources::{Settings, Source, feed};

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

fn gone(preset: &str, stock: &str) {
    assert_eq!(by_stock(preset, stock), None, "{preset} {stock}");
}

fn there(preset: &str, stock: &str) -> Listing {
    by_stock(preset, stock).unwrap_or_else(|| panic!("{preset} {stock}"))
}

fn photos(preset: &str, stock: &str) -> usize {
    there(preset, stock)["photos"].as_array().unwrap().len()
}

/// A row of the ledger (file, stock, field) and what holds it.
type Held = (&'static str, &'static str, &'static str, fn());

const HOMENET: &[Held] = &[
    (
        "homenet.csv",
        "U10102",
        "Miles/SellingPrice/Description",
        || {
            let description = "Bedliner & tonneau cover included. Call us!";
            let wanted =
                json!({ "mileage": 41210, "list_price": 34750, "description": description });
            holds("homenet-csv", "U10102", wanted);
        },
    ),
    ("homenet.csv", "U10105", "VIN", || {
        holds(
            "homenet-csv",
            "U10105",
            json!({ "vin": "1GNSKBKD4PR900105" }),
        );
    }),
    ("homenet.csv", "N24111", "Internet_Price", || {
        holds(
            "homenet-csv",
            "N24111",
            json!({ "price": null, "list_price": null }),
        );
    }),
    ("homenet.csv", "M10114", "prices", || {
        holds(
            "homenet-csv",
            "M10114",
            json!({ "price": null, "list_price": null }),
        );
    }),
    ("homenet.csv", "C10123", "VIN", || {
        let other = json!({ "serial_number": "7F01C900123" });
        holds(
            "homenet-csv",
            "C10123",
            json!({ "vin": null, "other_attributes": other }),
        );
    }),
    ("homenet.csv", "U10124", "Miles/Make", || {
        holds(
            "homenet-csv",
            "U10124",
            json!({ "mileage": null, "make": "Volkswagen" }),
        );
    }),
    ("homenet.csv", "U10125", "Miles", || {
        holds("homenet-csv", "U10125", json!({ "mileage": null }));
    }),
    ("homenet.csv", "N24126", "Internet_Price", || {
        holds("homenet-csv", "N24126", json!({ "price": 85494 }));
    }),
    ("homenet.csv", "N24128", "ImageList", || {
        assert_eq!(photos("homenet-csv", "N24128"), 1);
    }),
    ("homenet.csv", "U10129", "prices", || {
        holds(
            "homenet-csv",
            "U10129",
            json!({ "price": null, "list_price": null }),
        );
    }),
    ("homenet.csv", "U10131", "Year/ExteriorColor", || {
        let wanted = json!({ "year": 2021, "exterior_color": "Soul Red Crystal" });
        holds("homenet-csv", "U10131", wanted);
    }),
    ("homenet.csv", "U10106", "row", || {
        let of_it = |listing: &Listing| listing.get("stock").is_some_and(|s| s == "U10106");
        let count = expected("homenet-csv").into_iter().filter(of_it).count();
        assert_eq!(count, 1, "the exact duplicate is one listing");
    }),
];

const VAUTO: &[Held] = &[
    ("vauto.csv", "U10102", "Photo Url List", || {
        assert_eq!(photos("vauto-csv", "U10102"), 3);
    }),
    ("vauto.csv", "N24111", "Price", || {
        holds("vauto-csv", "N24111", json!({ "list_price": null }));
    }),
    // One file alone cannot know it: the sale is in another source.
    ("vauto.csv", "U10115", "(no status column)", || {
        holds("vauto-csv", "U10115", json!({ "status": "available" }));
    }),
    ("vauto.csv", "U10117", "Disposition", || {
        gone("vauto-csv", "U10117");
    }),
    ("vauto.csv", "N26118", "Disposition", || {
        gone("vauto-csv", "N26118");
    }),
    ("vauto.csv", "U10124", "Description", || {
        let description = there("vauto-csv", "U10124")["description"].to_string();
        assert!(description.contains("\\n") && description.contains(','));
        assert!(description.contains("\\\""), "{description}");
    }),
    ("vauto.csv", "U10101/U10127/E10110", "Certified", || {
        for certified in ["U10101", "U10127", "E10110"] {
            holds("vauto-csv", certified, json!({ "condition": "cpo" }));
        }
    }),
    ("vauto.csv", "U10129", "Price", || {
        holds("vauto-csv", "U10129", json!({ "list_price": null }));
    }),
    ("vauto.csv", "U10131", "Inventory Date", || {
        holds(
            "vauto-csv",
            "U10131",
            json!({ "inventory_date": null, "year": 2021 }),
        );
    }),
    ("vauto.csv", "S99999", "row", || gone("vauto-csv", "S99999")),
    ("vauto.csv", "(file)", "encoding", || {
        let text = std::fs::read_to_string(root().join("mappings/vauto-csv/sample.csv")).unwrap();
        assert!(
            text.starts_with("\u{feff}DealerId,"),
            "the sample has its mark"
        );
        let read = read_feed("format = 'csv'", text.as_bytes());
        assert!(read.iter().all(|row| row.contains_key("DealerId")));
    }),
];

const GOOGLE: &[Held] = &[
    ("google-vehicle-listing.csv", "N25104", "condition", || {
        let wanted = json!({ "condition": "new", "status": "available" });
        holds("google-vehicle-listings", "N25104", wanted);
    }),
    ("google-vehicle-listing.csv", "U10106", "price", || {
        holds(
            "google-vehicle-listings",
            "U10106",
            json!({ "price": 27949 }),
        );
    }),
    (
        "google-vehicle-listing.csv",
        "E10110",
        "certified_pre_owned/condition",
        || {
            holds(
                "google-vehicle-listings",
                "E10110",
                json!({ "condition": "cpo" }),
            );
        },
    ),
    (
        "google-vehicle-listing.csv",
        "U10115",
        "(no status column)",
        || {
            holds(
                "google-vehicle-listings",
                "U10115",
                json!({ "status": "available" }),
            );
        },
    ),
    ("google-vehicle-listing.csv", "U10129", "price", || {
        holds(
            "google-vehicle-listings",
            "U10129",
            json!({ "price": 29387 }),
        );
    }),
    ("google-vehicle-listing.csv", "U10131", "mileage", || {
        holds(
            "google-vehicle-listings",
            "U10131",
            json!({ "mileage": 37120 }),
        );
    }),
];

const APIS: &[Held] = &[
    ("cdk-fortellis/*.json", "U10105", "vin", || {
        holds(
            "fortellis-rest",
            "U10105",
            json!({ "vin": "1GNSKBKD4PR900105" }),
        );
    }),
    ("cdk-fortellis/*.json", "E10107", "odometer", || {
        holds("fortellis-rest", "E10107", json!({ "mileage": 29875 }));
    }),
    ("cdk-fortellis/*.json", "U10124", "odometer.value", || {
        holds("fortellis-rest", "U10124", json!({ "mileage": null }));
    }),
    (
        "cdk-fortellis/*.json",
        "N24126",
        "financials.prices[SELLING]",
        || {
            holds("fortellis-rest", "N24126", json!({ "price": 85494 }));
        },
    ),
    ("cdk-fortellis/*.json", "U10131", "color", || {
        let wanted = json!({ "exterior_color": null, "interior_color": null });
        holds("fortellis-rest", "U10131", wanted);
        for removed in ["U10115", "U10116"] {
            gone("fortellis-rest", removed);
        }
    }),
    (
        "cdk-extract-multivalue.json",
        "(all)",
        "every field",
        multi_valued_extract,
    ),
    ("tekion/*.json", "(all)", "pricing.*.amount", cents),
    ("tekion/*.json", "(all)", "modifiedTime", milliseconds),
    ("tekion/*.json", "N26118", "stockType DEMO", demonstrators),
    // Collected pages lag; `max_age` and the update time that is shown are the limits.
    ("marketcheck/*.json", "U10115", "last_seen_at", || {
        let listing = there("marketcheck-rest", "U10115");
        let seen: jiff::Timestamp = listing["updated_at"].as_str().unwrap().parse().unwrap();
        assert!(
            seen < "2026-11-29T00:00:00Z".parse().unwrap(),
            "as old as it is"
        );
    }),
    ("marketcheck/*.json", "(all)", "price", || {
        let all = expected("marketcheck-rest");
        assert!(all.iter().all(|listing| !listing.contains_key("price")));
        holds("marketcheck-rest", "N24103", json!({ "list_price": 36389 }));
    }),
    (
        "marketcheck/*.json",
        "N24103/N24111/N25132",
        "fuel_type",
        || {
            for (stock, fuel) in [
                ("N24103", "hybrid"),
                ("N24111", "plug-in hybrid"),
                ("N25132", "hybrid"),
            ] {
                holds("marketcheck-rest", stock, json!({ "fuel": fuel }));
            }
        },
    ),
    (
        "facebook-automotive.csv",
        "(all)",
        "mileage.value 0 / address JSON / image[n].url",
        flattened_headers_and_json_in_a_cell,
    ),
];

const FILES: &[Held] = &[
    ("legacy-pipe-cp1252.txt", "U10124", "description", || {
        let rows = read_feed(PIPE, b"U1|\x93Clean\x94 \x96 caf\xe9|003475000\n");
        let wanted = "\u{201c}Clean\u{201d} \u{2013} caf\u{e9}";
        assert_eq!(rows[0]["description"], wanted);
    }),
    ("legacy-pipe-cp1252.txt", "(file)", "end", || {
        let rows = read_feed(PIPE, b"U1|a|003475000\nU2|b|001000000\n\x1a");
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[1]["stock"], "U2");
    }),
    ("legacy-pipe-cp1252.txt", "(all)", "price", implied_decimals),
    ("vehinv.dbf", "U10117", "delete flag '*'", soft_deleted),
    ("vehinv.dbf", "U10129", "SOLD '?'", uncertain_flags),
];

const PIPE: &str = "format = 'csv'\nencoding = 'windows-1252'\ndelimiter = '|'\n\
    columns = ['stock', 'description', 'price']";

// AAP-356 AAP-374
#[test]
fn every_row_of_the_ledger_is_held() {
    let path = root().join("tests/data/inventory/dirty-ledger.csv");
    let mut ledger: Vec<[String; 3]> = csv::Reader::from_path(path)
        .unwrap()
        .records()
        .map(|row| {
            let row = row.unwrap();
            [0, 1, 2].map(|at| row[at].to_owned())
        })
        .collect();
    assert_eq!(ledger.len(), 47);
    let mut held = Vec::new();
    for (file, stock, field, check) in [HOMENET, VAUTO, GOOGLE, APIS, FILES].concat() {
        check();
        held.push([file, stock, field].map(str::to_owned));
    }
    ledger.sort();
    held.sort();
    assert_eq!(ledger, held);
}

/// The rows that the feed reader makes of a file.
fn read_feed(source: &str, bytes: &[u8]) -> Vec<Listing> {
    let text = format!("name = 't'\n[source]\nkind = 'feed'\n{source}\n");
    let fields = "[fields]\nvehicle_id = 'stock'\nstatus = { value = 'available' }\n";
    let text = format!("{text}{fields}[updated_at]\nprovenance = 'as_of'\n");
    let mapping = Mapping::parse(&text).unwrap_or_else(|findings| panic!("{findings:?}"));
    let mut file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, bytes).unwrap();
    let settings = Settings::Feed(feed::Settings::new(file.path()));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut rows = Vec::new();
        let source = Source::open(settings, mapping.plan()).await.unwrap();
        source
            .read(|row: Row, _: &Tables| rows.push(row.fields))
            .await
            .unwrap();
        rows
    })
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

const TEKION: &str = "provenance = 'source_column'\nfrom = 'modifiedTime'\nsteps = [{ datetime = 'epoch_ms' }]\n\
    [fields]\nvehicle_id = 'id'\nstatus = { value = 'available' }\n\
    condition = { from = 'stockType', steps = [{ table = 'types' }], required = true }\n\
    list_price = { from = 'pricing.asking.amount', steps = [{ number = { implied_decimals = 2 } }, 'whole_dollars'] }\n\
    [tables.types]\nNEW = 'new'\nUSED = 'used'\nDEMO = { hide = 'demonstrator' }\n";

fn tekion(kind: &str) -> Outcome {
    let row = json!({ "id": "1", "stockType": kind, "modifiedTime": 1_795_273_200_000_i64,
                      "pricing": { "asking": { "amount": 2_399_500 } } });
    mapped(TEKION, row)
}

fn cents() {
    assert_eq!(listing(tekion("USED"))["list_price"], 23995);
}

fn milliseconds() {
    assert_eq!(
        listing(tekion("USED"))["updated_at"],
        "2026-11-21T15:00:00Z"
    );
}

fn demonstrators() {
    assert!(matches!(tekion("DEMO"), Outcome::Hidden { .. }));
}

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

const DBF: &str = "provenance = 'as_of'\n[[filter]]\nkeep = \"row['delete flag'] != '*'\"\nreason = 'deleted'\n\
    [fields]\nvehicle_id = 'id'\nstatus = { from = 'SOLD', steps = [{ table = 'sold' }] }\n\
    list_price = { from = 'price', steps = [{ number = { implied_decimals = 2 } }, 'whole_dollars'] }\n\
    [tables.sold]\nF = 'available'\nT = { hide = 'sold' }\n";

fn dbf(sold: &str, flag: &str) -> Outcome {
    let row = json!({ "id": "1", "SOLD": sold, "price": "003475000", "delete flag": flag });
    mapped(DBF, row)
}

fn implied_decimals() {
    assert_eq!(listing(dbf("F", " "))["list_price"], 34750);
}

fn soft_deleted() {
    assert!(matches!(dbf("F", "*"), Outcome::Hidden { reason, .. } if reason == "deleted"));
}

/// An uninitialised flag is not "not sold".
fn uncertain_flags() {
    assert!(matches!(dbf("T", " "), Outcome::Hidden { .. }));
    assert!(matches!(dbf("?", " "), Outcome::Rejected { .. }));
}
