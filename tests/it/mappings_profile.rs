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
