//! The same dealer in PostgreSQL: the same vehicles.

use sqlx::{ConnectOptions, Connection};

use super::servers::{Server, patiently};
use crate::mapping::Mapping;
use crate::mapping::tests::presets::{check_expected, read, root};
use crate::sources::{Fault, Settings, Source, sql};

async fn filled() -> Server {
    let server = Server::postgres();
    let options: sqlx::postgres::PgConnectOptions = server.postgres_url().parse().unwrap();
    let mut session = patiently(|| options.connect()).await;
    let sample = root().join("mappings/dms-sqlserver/sample.sql");
    let sample = std::fs::read_to_string(sample)
        .unwrap()
        .replace(" DATETIME", " TIMESTAMP");
    sqlx::raw_sql(sqlx::AssertSqlSafe(sample))
        .execute(&mut session)
        .await
        .unwrap();
    session.close().await.unwrap();
    server
}

fn mapping(change: impl Fn(String) -> String) -> Mapping {
    let path = root().join("mappings/dms-sqlserver/mapping.toml");
    let text = std::fs::read_to_string(path)
        .unwrap()
        .replace("kind = \"sql\"", "kind = \"sql\"\ncolumn_case = \"upper\"");
    Mapping::parse(&change(text)).unwrap()
}

#[tokio::test]
async fn the_dms_in_postgres_gives_the_same_vehicles() {
    let server = filled().await;
    let mapping = mapping(|text| text);
    let settings = Settings::Sql(sql::Settings::new(server.postgres_url()));
    let mapped = read(&mapping, settings.clone()).await;
    check_expected("dms-sqlserver", &mapped.resolved.kept);

    let source = Source::open(settings, mapping.plan()).await.unwrap();
    let (rows, _) = source.look_up(&["2".to_owned()]).await.unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].children["fees"].len(), 2);
    assert_eq!(rows[0].children["fees"][0]["AMT"], "895.00");
}

#[tokio::test]
async fn postgres_failures_name_source_step_and_the_drivers_words() {
    let server = filled().await;
    let open = |url: String, text: fn(String) -> String| async move {
        let mapping = mapping(text);
        let source = Source::open(Settings::Sql(sql::Settings::new(url)), mapping.plan());
        source.await.unwrap().read(|_, _| {}).await.unwrap_err()
    };
    let error = open(server.postgres_url(), |t| {
        t.replace("FROM LOCFEE", "FROM LOCFEES")
    })
    .await;
    assert_eq!(
        (error.fault, error.step.as_str()),
        (Fault::Query, "table rooftop_fees")
    );
    assert!(error.words.contains("locfees"), "{error}");
    assert!(!error.to_string().contains("dms@"), "{error}");

    let stranger = server.postgres_url().replace("dms@", "nobody_here:secret@");
    let error = open(stranger, |t| t).await;
    assert_eq!(
        (error.fault, error.step.as_str()),
        (Fault::Refused, "connect")
    );
    assert!(!error.to_string().contains("secret"), "{error}");

    // A function that writes gets past the look at the text and not past the session.
    let error = open(server.postgres_url(), |t| {
        t.replace(
            "SELECT LOCCD, FEECD",
            "SELECT nextval('counter'), LOCCD, FEECD",
        )
    })
    .await;
    assert_eq!(error.fault, Fault::Query);
}
