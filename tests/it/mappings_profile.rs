//! A dealer's rooftops out of its own tables, and what `mappings check` says where vehicles and rooftops do not
//! fit together.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use forecourt::app::App;
use forecourt::clock::Clock;
use forecourt::config::{Config, Sources};
use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, Connection as _};

use crate::process::{Process, exchange, tool_request};

const CONFIG: &str = r#"
[data]
directory = "data"
[deployments.d]
domain = "127.0.0.1"
skills = ["dealer.information", "inventory.search", "inventory.vehicle", "inventory.facets"]
[deployments.d.profile]
name = "Harbor Point Motors"
ROOFTOPS
[deployments.d.inventory]
mapping = "mapping.toml"
source = { kind = "sql", url = "sqlite://dms.sqlite" }
"#;

/// The dealer's database, after `change`, with a configuration and the shipped mapping.
async fn folder(rooftops: &str, change: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("forecourt.toml"), CONFIG.replace("ROOFTOPS", rooftops)).unwrap();
    let preset = Path::new("mappings/dms-sqlserver");
    fs::copy(preset.join("mapping.toml"), at("mapping.toml")).unwrap();
    let sample = fs::read_to_string(preset.join("sample.sql")).unwrap();
    let options = sqlx::sqlite::SqliteConnectOptions::new();
    let options = options.filename(at("dms.sqlite")).create_if_missing(true);
    let mut session = options.connect().await.unwrap();
    for sql in [sample.as_str(), change] {
        let sql = sqlx::AssertSqlSafe(sql.to_owned());
        sqlx::raw_sql(sql).execute(&mut session).await.unwrap();
    }
    session.close().await.unwrap();
    folder
}

fn check(folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_forecourt"))
        .args(["mappings", "check", "--output", "json", "--config"])
        .arg(folder.join("forecourt.toml"))
        .env_clear()
        .output()
        .unwrap()
}

fn findings(output: &Output) -> Vec<String> {
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = value["mappings"][0]["findings"].as_array().unwrap();
    let text = |finding: &Value| finding.as_str().unwrap().to_owned();
    findings.iter().map(text).collect()
}

// AAP-354 AAP-355
#[tokio::test]
async fn rooftops_come_from_the_dealers_own_tables() {
    let folder = folder("", "").await;
    let sources = Sources {
        files: vec![folder.path().join("forecourt.toml")],
        ..Sources::default()
    };
    let config = Config::load(&sources).unwrap_or_else(|findings| panic!("{findings:?}"));
    let app = App::build(&config, 1, Clock::system()).await.unwrap();
    let profile = &app.deployments[0].profiles[0];
    let value = profile.to_value();
    assert_eq!(
        value["rooftops"],
        json!([
            {
                "name": "Harbor Point Cycles", "timezone": "America/Los_Angeles",
                "geo": { "latitude": 45.498, "longitude": -122.65 },
                "fees": [{ "name": "Documentation fee", "amount": 299 }],
            },
            {
                "name": "Harbor Point Motors", "timezone": "America/Los_Angeles",
                "geo": { "latitude": 45.512, "longitude": -122.679 },
                "fees": [{ "name": "Documentation fee", "amount": 499 }],
            },
        ])
    );
    let inventory = app.deployments[0].inventory.clone().unwrap();
    assert_eq!(inventory.status().unknown_rooftops, 0);
    let near = json!({ "near": { "latitude": 45.498, "longitude": -122.65, "radius_mi": 0.1 } });
    let request = json!({ "type": "inventory.search.request", "filters": near });
    let request = serde_json::from_value(request).unwrap();
    let found = inventory.search(&request, "anonymous").unwrap();
    assert_eq!(
        found.total, 3,
        "the motorcycles stand at the second rooftop"
    );

    let output = check(folder.path());
    assert_eq!(findings(&output), Vec::<String>::new());
    assert_eq!(output.status.code(), Some(0));
}

// AAP-355
#[tokio::test]
async fn a_stranger_and_a_double_are_findings() {
    let named = r#"rooftops = [{ name = "Harbour Point" }, { name = "Harbor Point Cycles" }]"#;
    let misnamed = folder(named, "").await;
    let output = check(misnamed.path());
    let found = findings(&output);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("23 vehicles name the rooftop \"Harbor Point Motors\""),
        "{found:?}"
    );
    assert_eq!(output.status.code(), Some(1));

    let change = "UPDATE LOC SET NAME = 'Harbor Point Motors'; UPDATE LOC SET TZ = 'Mars/Base' WHERE LOCCD = 'MAIN'";
    let doubled = folder("", change).await;
    let output = check(doubled.path());
    let found = findings(&output);
    assert!(
        found
            .iter()
            .any(|f| f.contains("two rooftops are called \"Harbor Point Motors\"")),
        "{found:?}"
    );
    assert!(
        found
            .iter()
            .any(|f| f.contains("profile.timezone: column TZ: is no IANA time zone")),
        "{found:?}"
    );
    assert_eq!(output.status.code(), Some(1));
}

#[tokio::test]
async fn nobody_knows_any_rooftop() {
    let folder = folder("", "").await;
    let file = folder.path().join("mapping.toml");
    let text = fs::read_to_string(&file).unwrap();
    let start = text.find("[profile]").unwrap();
    let end = text[start..].find("# Old cars and trailers").unwrap() + start;
    fs::write(&file, format!("{}{}", &text[..start], &text[end..])).unwrap();
    let output = check(folder.path());
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("in the mapping's [profile]"), "{said}");
    assert_eq!(output.status.code(), Some(78));
}

const PLACES: &str = "CREATE TABLE LOC (LOCCD TEXT, NAME TEXT, LEGAL TEXT, WEB TEXT, ADDR TEXT, ADDR2 TEXT, CITY TEXT,\
    ST TEXT, ZIP TEXT, CTRY TEXT, LAT REAL, LON REAL, TZ TEXT, PHONE TEXT, SVCPHONE TEXT, MAIL TEXT, TAGS TEXT, MEMO TEXT);\
    INSERT INTO LOC VALUES ('A', 'Example North', 'Example Motors LLC', 'https://north.example', '1 Pier Road', '', 'Portland',\
    'OR', '97201', 'US', 45.5, -122.7, 'America/Los_Angeles', '+1-503-555-0100', '+1-503-555-0101', 'sales@north.example',\
    'charging, loaners', 'Gate closes early'),\
    ('B', 'Example South', NULL, NULL, NULL, NULL, 'Salem', 'OR', NULL, 'US', 99.0, -123.0, 'America/Los_Angeles', NULL, '', NULL, '', NULL);\
    CREATE TABLE LOCHOURS (LOCCD TEXT, DEPT TEXT, DOW TEXT, OPENS TEXT, CLOSES TEXT, CLOSED TEXT);\
    INSERT INTO LOCHOURS VALUES ('A', 'sales', '1', '09:00:00', '18:00:00', 'N'), ('A', 'service', '1', '07:30:00', '17:00:00', 'N'),\
    ('A', 'sales', '6', '10:00:00', '16:00:00', 'N'), ('A', 'sales', '7', NULL, NULL, 'Y'), ('A', 'service', '6', '25:00:00', '26:00:00', 'N'),\
    ('A', 'service', '2', '08:00:00', NULL, 'N');\
    CREATE TABLE LOCFEE (LOCCD TEXT, FEECD TEXT, DESCR TEXT, AMT TEXT, MAND TEXT, GOVT TEXT);\
    INSERT INTO LOCFEE VALUES ('A', 'DOC', 'DOCUMENTATION FEE', '499.00', 'Y', 'N'), ('A', 'PREP', 'PREPARATION', '1,095', 'Y', 'N'),\
    ('A', 'REG', 'REGISTRATION', '312.00', 'Y', 'Y'), ('A', 'TINT', 'TINT', '399.00', 'N', 'N'), ('B', 'DOC', 'DOCUMENTATION FEE', 'ask', 'Y', 'N');\
    CREATE TABLE CAR (ID TEXT, LOC TEXT); INSERT INTO CAR VALUES ('1', 'Example North'), ('2', 'Example South');";

const PLACED: &str = r#"
name = "DMS"
[source]
kind = "sql"
query = "SELECT * FROM CAR"
key = "ID"
[fields]
vehicle_id = "ID"
rooftop = "LOC"
status = { value = "available" }
[updated_at]
provenance = "as_of"
[tables]
days = { 1 = "monday", 2 = "tuesday", 3 = "wednesday", 4 = "thursday", 5 = "friday", 6 = "saturday", 7 = "sunday" }
"#;

/// Every member that an own table can fill, as an agent reads it; what cannot be read is left out and named.
// AAP-354 AAP-355
#[test]
fn hours_phones_address_capabilities_and_fees_are_answered() {
    let docs = fs::read_to_string("docs/mapping.md").unwrap();
    let section = docs.find("```toml\n[profile]").unwrap() + "```toml\n".len();
    let section = &docs[section..][..docs[section..].find("```").unwrap()];
    // The section of the documentation, with the members that it leaves out.
    let more = "legal_name = \"LEGAL\"\nwebsite = \"WEB\"\nnotes = \"MEMO\"\n[profile.source]";
    let section = section.replacen("[profile.source]", more, 1);
    let section = section.replacen(
        "address_line_1 = \"ADDR\"",
        "country = \"CTRY\", address_line_1 = \"ADDR\", address_line_2 = \"ADDR2\"",
        1,
    );
    let mapping = format!("{PLACED}{section}");
    let files = [
        ("mapping-d.toml", mapping.clone()),
        (
            "conf/d.toml",
            CONFIG
                .replace("127.0.0.1", "d.example")
                .replace("ROOFTOPS", "")
                .replace("[data]\ndirectory = \"data\"\n", "")
                .replace("\"mapping.toml\"", "\"../mapping-d.toml\"")
                .replace("sqlite://", "sqlite://../"),
        ),
    ];
    let process = Process::start_with("", &files, |folder| {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let options = sqlx::sqlite::SqliteConnectOptions::new();
            let options = options
                .filename(folder.join("dms.sqlite"))
                .create_if_missing(true);
            let mut session = options.connect().await.unwrap();
            sqlx::raw_sql(PLACES).execute(&mut session).await.unwrap();
            session.close().await.unwrap();
        });
    });
    let request = json!({ "type": "dealer.information.request" });
    let answer = exchange(
        process.address,
        &tool_request("d.example", "aap_dealer_information", &request),
    );
    let answer = answer.json()["result"]["structuredContent"].take();
    let north = json!({
        "name": "Example North", "legal_name": "Example Motors LLC", "website": "https://north.example",
        "timezone": "America/Los_Angeles", "notes": "Gate closes early", "capabilities": ["charging", "loaners"],
        "geo": { "latitude": 45.5, "longitude": -122.7 },
        "address": { "country": "US", "state": "OR", "city": "Portland", "address_line_1": "1 Pier Road", "zip": "97201" },
        "phones": [{ "name": "sales", "value": "+1-503-555-0100" }, { "name": "service", "value": "+1-503-555-0101" }],
        "emails": [{ "name": "sales", "value": "sales@north.example" }],
        "schedules": [
            { "name": "sales", "value": {
                "monday": { "open": "09:00", "close": "18:00" }, "saturday": { "open": "10:00", "close": "16:00" }, "sunday": null,
            } },
            { "name": "service", "value": { "monday": { "open": "07:30", "close": "17:00" } } },
        ],
        "fees": [{ "name": "Documentation fee", "amount": 499 }, { "name": "Preparation", "amount": 1095 }],
    });
    // A latitude that is none makes no point; a fee that cannot be read makes the fees unknown.
    let south = json!({
        "name": "Example South", "timezone": "America/Los_Angeles", "address": { "country": "US", "city": "Salem", "state": "OR" },
    });
    assert_eq!(answer["data"]["rooftops"], json!([north, south]));
    let file = process.folder.join("answer.json");
    fs::write(&file, answer.to_string()).unwrap();
    let valid = Command::new(env!("CARGO_BIN_EXE_forecourt"))
        .args(["validate", "--type", "dealer-information-response"])
        .arg(&file)
        .output()
        .unwrap();
    assert_eq!(valid.status.code(), Some(0), "{valid:?}");
    let log = process.log();
    for word in ["profile.latitude", "profile.open", "profile.fees"] {
        assert!(log.contains(word), "{word} in {log}");
    }
}

#[tokio::test]
async fn a_place_that_no_lead_could_be_for_is_found_before_it_is_served() {
    let folder = folder("", "").await;
    let file = folder.path().join("forecourt.toml");
    let text = CONFIG
        .replace("ROOFTOPS", "")
        .replace("skills = [", "skills = [\"lead.submit\", ")
        + "[deployments.d.leads.deliveries.crm]\nkind = \"directory\"\npath = \"crm\"\n";
    fs::write(&file, text).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_forecourt"))
        .args(["check", "--config"])
        .arg(&file)
        .env_clear()
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("has neither phone nor e-mail"), "{said}");
}
