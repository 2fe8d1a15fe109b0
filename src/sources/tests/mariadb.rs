//! A website's tables in MariaDB.

use serde_json::{Value, json};
use sqlx::{ConnectOptions, Connection};

use super::MEMBERS;
use super::servers::{Server, patiently};
use crate::mapping::tests::presets::{check_expected, differences, expect, mapping, read, root};
use crate::mapping::{Row, Tables};
use crate::sources::{Settings, Source, sql};

async fn filled() -> Server {
    let server = Server::mariadb();
    let address = server.mariadb_url();
    let options: sqlx::mysql::MySqlConnectOptions = address.replace("/dms?", "/?").parse().unwrap();
    let mut session = patiently(|| options.connect()).await;
    let sample = root().join("mappings/mysql-website/sample.sql");
    let sample = std::fs::read_to_string(sample).unwrap();
    for text in ["CREATE DATABASE dms", "USE dms"] {
        sqlx::raw_sql(text).execute(&mut session).await.unwrap();
    }
    sqlx::raw_sql(sqlx::AssertSqlSafe(sample))
        .execute(&mut session)
        .await
        .unwrap();
    session.close().await.unwrap();
    server
}

#[tokio::test]
async fn a_website_in_mariadb_becomes_the_canonical_vehicles() {
    let server = filled().await;
    let mapping = mapping("mysql-website");
    let settings = Settings::Sql(sql::Settings::new(server.mariadb_url()));
    let mapped = read(&mapping, settings.clone()).await;
    let mut members = MEMBERS.to_vec();
    members.extend(["fuel", "list_price", "features", "updated_at", "fees"]);
    members.extend(["electric_range_mi", "battery_kwh", "charge_port"]);
    members.extend(["dc_fast_charge", "displacement_cc"]);
    let found = differences(&mapped.resolved.kept, &members);
    expect(
        &found,
        &[
            (
                "C10123.fees",
                "[{\"name\":\"Documentation fee\",\"amount\":499}] for -",
                "these tables have no row that takes the fee off this car",
            ),
            (
                "E10110.mileage",
                "24109 for 24110",
                "the odometer is in kilometres, rounded when it was entered",
            ),
            (
                "U10101.list_price",
                "- for 23995",
                "the only amount of this row has the fees inside: it is the price",
            ),
            (
                "U10129.fees",
                "- for [{\"name\":\"Documentation fee\",\"amount\":499}]",
                "no amount, no fees",
            ),
            ("U10129.list_price", "- for 28888", "1.00 is a placeholder"),
        ],
    );
    let prices = mapped
        .resolved
        .kept
        .iter()
        .filter(|listing| listing.contains_key("price"));
    assert_eq!(
        prices.count(),
        1,
        "only the row that says its fees are inside has a price"
    );
    check_expected("mysql-website", &mapped.resolved.kept);

    let source = Source::open(settings, mapping.plan()).await.unwrap();
    let (rows, _) = source.look_up(&["12".to_owned()]).await.unwrap();
    assert_eq!(rows[0].children["fees"][0]["amount"], "650.00");
    the_recorded_rows_are_the_databases_own(&source).await;
}

/// `mappings test` runs the case beside the mapping on rows that were recorded here. To record them anew,
/// delete the file, run the test, and look at what it wrote.
async fn the_recorded_rows_are_the_databases_own(source: &Source) {
    let mut rows = Vec::new();
    let read = source
        .read(|row: Row, _: &Tables| {
            rows.push(json!({ "fields": row.fields, "children": row.children }));
        })
        .await
        .unwrap();
    let tables = json!({ "dealer_fees": read.tables.rows("dealer_fees") });
    let given = json!({ "rows": rows, "tables": tables });
    let path = root().join("mappings/mysql-website/rows.json");
    if !path.exists() {
        let text = serde_json::to_string_pretty(&given).unwrap();
        std::fs::write(&path, text + "\n").unwrap();
        panic!(
            "{} was missing and has been written: look at it",
            path.display()
        );
    }
    let recorded: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(recorded, given);
}
