//! Every shipped mapping against its own expected vehicles, and against the canonical facts with each
//! difference named.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::super::{Mapping, Outcome, Resolved, Row, Tables};
use crate::sources::{Settings, Source, sql};

type Listing = Map<String, Value>;

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn mapping(name: &str) -> Mapping {
    let path = root().join("mappings").join(name).join("mapping.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    Mapping::parse(&text).unwrap_or_else(|findings| {
        let all: Vec<String> = findings.iter().map(ToString::to_string).collect();
        panic!("{}:\n{}", path.display(), all.join("\n"))
    })
}

/// A SQLite file filled with the sample of a mapping.
pub(crate) async fn sqlite(directory: &Path, sample: &str) -> String {
    use sqlx::{ConnectOptions, Connection};
    let path = directory.join("dms.sqlite");
    let mut session = sqlx::sqlite::SqliteConnectOptions::new()
        .filename(&path)
        .create_if_missing(true)
        .connect()
        .await
        .unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(sample.to_owned()))
        .execute(&mut session)
        .await
        .unwrap();
    session.close().await.unwrap();
    format!("sqlite://{}", path.display())
}

#[derive(Debug)]
pub(crate) struct Mapped {
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) resolved: Resolved,
}

pub(crate) async fn read(mapping: &Mapping, settings: Settings) -> Mapped {
    let source = Source::open(settings, mapping.plan()).await.unwrap();
    let mut outcomes = Vec::new();
    let read = source
        .read(|row: Row, tables: &Tables| outcomes.push(mapping.apply(&row, tables)))
        .await
        .unwrap();
    if read.columns_are_fixed {
        assert_eq!(mapping.missing_columns(&read.columns), []);
    }
    let resolved = mapping.resolve_duplicates(outcomes.clone());
    Mapped { outcomes, resolved }
}

pub(crate) async fn dms() -> Mapped {
    let directory = tempfile::tempdir().unwrap();
    let sample = root().join("mappings/dms-sqlserver/sample.sql");
    let url = sqlite(directory.path(), &std::fs::read_to_string(sample).unwrap()).await;
    read(
        &mapping("dms-sqlserver"),
        Settings::Sql(sql::Settings::new(url)),
    )
    .await
}

/// Compares with the expected file beside the mapping. To renew the file, delete it, run the test,
/// and look at what it wrote.
pub(crate) fn check_expected(name: &str, listings: &[Listing]) {
    let path = root().join("mappings").join(name).join("expected.json");
    if !path.exists() {
        let text = serde_json::to_string_pretty(listings).unwrap();
        std::fs::write(&path, text + "\n").unwrap();
        panic!(
            "{} was missing and has been written: look at it",
            path.display()
        );
    }
    let expected: Vec<Listing> =
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    for (is, wanted) in listings.iter().zip(&expected) {
        assert_eq!(is, wanted);
    }
    assert_eq!(listings.len(), expected.len());
}

/// The canonical facts by stock and VIN.
pub(crate) fn canonical() -> Vec<Listing> {
    let path = root().join("tests/data/inventory/expected-canonical.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn matching<'a>(fact: &Listing, listings: &'a [Listing]) -> Option<&'a Listing> {
    listings.iter().find(|listing| {
        listing.get("stock") == fact.get("stock")
            && (fact.get("vin").is_none() || listing.get("vin") == fact.get("vin"))
    })
}

/// Members of the canonical facts that are AAP members of a listing.
const COMPARED: &[&str] = &[
    "stock",
    "vin",
    "year",
    "make",
    "model",
    "trim",
    "condition",
    "vehicle_type",
    "body",
    "fuel",
    "transmission",
    "driveline",
    "mileage",
    "msrp",
    "list_price",
    "price",
    "fees",
    "features",
    "status",
    "updated_at",
    "rooftop",
    "electric_range_mi",
    "battery_kwh",
    "charge_port",
    "dc_fast_charge",
    "displacement_cc",
];

/// All differences as `stock.member` with both values.
pub(crate) fn differences(listings: &[Listing], members: &[&str]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let facts = canonical();
    for fact in &facts {
        let stock = fact["stock"].as_str().unwrap();
        let listing = matching(fact, listings);
        let visible = fact["visible"] == Value::Bool(true);
        match (visible, listing) {
            (true, Some(listing)) => {
                for member in members {
                    let (is, wanted) = (listing.get(*member), fact.get(*member));
                    if !same(is, wanted) {
                        let text = |v: Option<&Value>| v.map_or("-".to_owned(), Value::to_string);
                        let key = format!("{stock}.{member}");
                        found.insert(key, format!("{} for {}", text(is), text(wanted)));
                    }
                }
            }
            (false, None) => {}
            (true, None) => {
                found.insert(stock.to_owned(), "not published".to_owned());
            }
            (false, Some(_)) => {
                found.insert(stock.to_owned(), "published".to_owned());
            }
        }
    }
    found
}

fn same(is: Option<&Value>, wanted: Option<&Value>) -> bool {
    match (is.and_then(Value::as_f64), wanted.and_then(Value::as_f64)) {
        (Some(a), Some(b)) => (a - b).abs() < 1e-9,
        _ => is == wanted,
    }
}

pub(crate) fn expect(found: &BTreeMap<String, String>, reasons: &[(&str, &str, &str)]) {
    let wanted: BTreeMap<String, String> = reasons
        .iter()
        .map(|(key, difference, _why)| ((*key).to_owned(), (*difference).to_owned()))
        .collect();
    assert_eq!(found, &wanted);
}

// AAP-356 AAP-374 AAP-398
#[tokio::test]
async fn the_dms_becomes_the_canonical_vehicles() {
    let mapped = dms().await;
    expect(
        &differences(&mapped.resolved.kept, COMPARED),
        &[
            (
                "C10123.fees",
                "[] for -",
                "the vehicle's own row sets the only fee to zero: the source says there are none",
            ),
            (
                "N24126.price",
                "- for 85494",
                "the advertised amount has a conditional rebate taken off, and no other is vouched for",
            ),
            (
                "U10129.updated_at",
                "\"2026-11-01T08:30:00Z\" for \"2026-11-20T12:00:00Z\"",
                "the local time lies in the repeated hour; the mapping takes the earlier instant",
            ),
        ],
    );
    assert_eq!(mapped.resolved.kept.len(), 26);
    assert_eq!(mapped.resolved.shared_stock, ["U10121"]);
    check_expected("dms-sqlserver", &mapped.resolved.kept);
}

#[tokio::test]
async fn the_dms_hides_what_is_not_offered_and_says_why() {
    let mapped = dms().await;
    let hidden: BTreeMap<String, String> = mapped
        .outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            Outcome::Hidden {
                identifiers,
                reason,
                ..
            } => Some((identifiers.stock.clone().unwrap(), reason.clone())),
            Outcome::Published(..) => None,
            Outcome::Rejected { reason, .. } => panic!("{reason}"),
        })
        .collect();
    let wanted = [
        ("N25119", "on order"),
        ("N26118", "loaner"),
        ("U10115", "sold"),
        ("U10116", "sold"),
        ("U10117", "deleted"),
    ];
    let wanted = wanted.map(|(stock, why)| (stock.to_owned(), why.to_owned()));
    assert_eq!(hidden, BTreeMap::from(wanted));
    let dropped: Vec<_> = mapped
        .resolved
        .dropped
        .iter()
        .map(|dropped| dropped.identifiers.stock.clone().unwrap())
        .collect();
    assert_eq!(dropped, ["U10101A"]);
}

#[test]
fn the_template_loads_and_says_what_a_technician_needs() {
    let text = std::fs::read_to_string(root().join("mappings/template.toml")).unwrap();
    let mapping = Mapping::parse(&text).unwrap_or_else(|findings| panic!("{findings:?}"));
    assert!(mapping.supplied_fields().contains("feature_evidence"));
    // The commented alternatives load as well.
    let other = text
        .replace("provenance = \"as_of\"\n", "")
        .replace("# provenance", "provenance")
        .replace("# from = \"Changed\"\n# steps", "from = \"Changed\"\nsteps")
        .replace("# [price]\n# basis", "[price]\nbasis")
        .replace(
            "# from = \"AdvertisedPrice\"\n# steps",
            "from = \"AdvertisedPrice\"\nsteps",
        )
        .replace("# omit_when", "omit_when");
    let mapping = Mapping::parse(&other).unwrap_or_else(|findings| panic!("{findings:?}"));
    assert!(mapping.supplied_fields().contains("price"));
}

/// A mapping's `differences.toml`.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Differences {
    #[serde(default)]
    members: BTreeMap<String, String>,
    vehicles: BTreeMap<String, (String, String)>,
}

/// Each preset's expected vehicles against the facts: every difference stands, with its reason, in
/// `differences.toml` beside it. That the expected vehicles come out is held where the sources are tested, and by
/// `forecourt mappings test`.
#[test]
fn every_difference_to_the_facts_is_listed_with_its_reason() {
    let mut presets = 0;
    for entry in std::fs::read_dir(root().join("mappings")).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        presets += 1;
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let expected: Vec<Listing> = serde_json::from_str(&read("expected.json")).unwrap();
        let listed: Differences = toml::from_str(&read("differences.toml")).unwrap();
        let (whole, single): (Vec<&str>, Vec<&str>) = COMPARED
            .iter()
            .partition(|member| listed.members.contains_key(**member));
        let found = differences(&expected, &single);
        let wanted = listed.vehicles.iter();
        let wanted: BTreeMap<String, String> = wanted
            .map(|(key, (difference, _))| (key.clone(), difference.clone()))
            .collect();
        assert_eq!(found, wanted, "{}", folder.display());
        for member in whole {
            let differs = differences(&expected, &[member])
                .keys()
                .any(|key| key.ends_with(&format!(".{member}")));
            assert!(differs, "{}: {member} does not differ", folder.display());
        }
        let reasons = listed.vehicles.values().map(|(_, reason)| reason);
        assert!(
            reasons
                .chain(listed.members.values())
                .all(|reason| reason.len() > 8)
        );
    }
    assert_eq!(presets, 7);
}
