//! Keys, watermarks and columns as databases really have them: numbers kept as text, a bit for "sold", two joined
//! tables with a column of one name.

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

use super::servers::{Server, patiently};
use crate::mapping::tests::presets::sqlite;
use crate::mapping::{Mapping, Row};
use crate::sources::{Fault, Settings, Since, Source, SourceError, sql};

/// Stock numbers of digits in a column of texts, one of them with a letter more; numbers in `n`; days in `day`.
const TABLES: &str = "CREATE TABLE v (stk VARCHAR(10), n INTEGER, day VARCHAR(8));\
    INSERT INTO v VALUES ('123', 7, '20261129'), ('123A', 8, '20261130');";

fn mapping(query: &str, key: &str, more: &str) -> Mapping {
    Mapping::parse(&format!(
        "name = 'v'\n[source]\nkind = 'sql'\nquery = \"{query}\"\nkey = '{key}'\n{more}\n\
         [fields]\nvehicle_id = '{key}'\nstatus = {{ value = 'available' }}\n[updated_at]\nprovenance = 'as_of'\n"
    ))
    .unwrap()
}

async fn open(url: &str, mapping: &Mapping) -> Result<Source, SourceError> {
    Source::open(Settings::Sql(sql::Settings::new(url)), mapping.plan()).await
}

async fn found(url: &str, mapping: &Mapping, key: &str) -> Vec<Value> {
    let source = open(url, mapping).await.unwrap();
    let (rows, _) = source.look_up(&[key.to_owned()]).await.unwrap();
    rows.iter().map(|row| row.fields["stk"].clone()).collect()
}

async fn check(url: &str) {
    let all = "SELECT stk, n, day FROM v";
    let own = |key| format!("look_up = 'SELECT stk, n, day FROM v WHERE {key} = :key'");
    for more in ["", &own("stk")] {
        assert_eq!(
            found(url, &mapping(all, "stk", more), "123").await,
            [json!("123")],
            "{more}"
        );
        assert_eq!(
            found(url, &mapping(all, "stk", more), "123A").await,
            [json!("123A")]
        );
    }
    for more in ["", &own("n")] {
        assert_eq!(
            found(url, &mapping(all, "n", more), "7").await,
            [json!("123")],
            "{more}"
        );
    }
    // Digits that are a text in the database are one in the question.
    for (column, count) in [("day", 1), ("n", 1)] {
        let changes = format!(
            "changes = {{ query = '{all} WHERE {column} >= :since', watermark = '{column}' }}"
        );
        let source = open(url, &mapping(all, "stk", &changes)).await.unwrap();
        let first = source.read(|_, _| {}).await.unwrap();
        let since = Since {
            mark: Some(&first.mark),
            changes: true,
        };
        assert_eq!(
            source.read_since(since, |_, _| {}).await.unwrap().rows,
            count,
            "{column}"
        );
    }
}

/// A key that is no column of the table has no kind of its own in SQLite.
#[tokio::test]
async fn keys_of_digits_in_sqlite() {
    let directory = tempfile::tempdir().unwrap();
    let url = sqlite(directory.path(), TABLES).await;
    check(&url).await;
    for (column, key) in [("n + 0", "7"), ("stk || ''", "123")] {
        let query = format!("SELECT stk, {column} AS k FROM v");
        assert_eq!(
            found(&url, &mapping(&query, "k", ""), key).await,
            [json!("123")],
            "{column}"
        );
    }
}

#[tokio::test]
async fn keys_of_digits_in_postgres() {
    let server = Server::postgres();
    let options: sqlx::postgres::PgConnectOptions = server.postgres_url().parse().unwrap();
    let mut session = patiently(|| options.connect()).await;
    sqlx::raw_sql(TABLES).execute(&mut session).await.unwrap();
    check(&server.postgres_url()).await;
}

#[tokio::test]
async fn keys_of_digits_and_bits_in_mariadb() {
    let server = Server::mariadb();
    let address = server.mariadb_url();
    let options: sqlx::mysql::MySqlConnectOptions = address.replace("/dms?", "/?").parse().unwrap();
    let mut session = patiently(|| options.connect()).await;
    let bits = "CREATE TABLE b (stk VARCHAR(10), sold BIT(1), mask BIT(12));\
        INSERT INTO b VALUES ('1', b'0', b'100000000001'), ('2', b'1', NULL);";
    let tables = format!("CREATE DATABASE dms; USE dms; {TABLES}{bits}");
    sqlx::raw_sql(AssertSqlSafe(tables))
        .execute(&mut session)
        .await
        .unwrap();
    session.close().await.unwrap();
    check(&address).await;
    let source = open(
        &address,
        &mapping("SELECT stk, sold, mask FROM b", "stk", ""),
    )
    .await;
    let mut rows = Vec::new();
    source
        .unwrap()
        .read(|row: Row, _| rows.push(Value::Object(row.fields)))
        .await
        .unwrap();
    assert_eq!(
        rows,
        [
            json!({ "stk": "1", "sold": 0, "mask": 2049 }),
            json!({ "stk": "2", "sold": 1, "mask": null })
        ]
    );
}

#[tokio::test]
async fn a_look_up_is_of_one_vehicle() {
    let directory = tempfile::tempdir().unwrap();
    let many = (0..200)
        .map(|n| format!("('9', {n}, '')"))
        .collect::<Vec<_>>()
        .join(", ");
    let url = sqlite(
        directory.path(),
        &format!("{TABLES}INSERT INTO v VALUES {many};"),
    )
    .await;
    let all = "SELECT stk, n, day FROM v";
    let error = open(&url, &mapping(all, "stk", &format!("look_up = '{all}'")))
        .await
        .unwrap_err();
    assert_eq!(
        (error.fault, error.step.as_str()),
        (Fault::Settings, "look_up")
    );
    assert!(error.words.contains(":key"), "{error}");
    let source = open(&url, &mapping(all, "stk", "")).await.unwrap();
    let error = source.look_up(&["9".to_owned()]).await.unwrap_err();
    assert_eq!((error.fault, error.step.as_str()), (Fault::Data, "look_up"));
}

#[tokio::test]
async fn a_column_that_comes_twice_says_one_thing_or_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let tables = "CREATE TABLE v (id INTEGER, loc TEXT, price INTEGER); CREATE TABLE l (loc TEXT, price INTEGER);\
        INSERT INTO v VALUES (1, 'A ', 24995), (2, 'B', 19995); INSERT INTO l VALUES ('A', 499);";
    let url = sqlite(directory.path(), tables).await;
    let read = async |query: &str, more: &str| {
        let source = open(&url, &mapping(query, "id", more)).await.unwrap();
        let mut rows = Vec::new();
        let read = source
            .read(|row: Row, _| rows.push(Value::Object(row.fields)))
            .await;
        read.map(|_| rows)
    };
    let join = "LEFT JOIN l ON trim(v.loc) = l.loc ORDER BY v.id";
    // The column of the join says the same twice, or nothing where there is no such place.
    let rows = read(&format!("SELECT v.id, v.loc, l.loc FROM v {join}"), "")
        .await
        .unwrap();
    assert_eq!(
        rows,
        [
            json!({ "id": 1, "loc": "A " }),
            json!({ "id": 2, "loc": "B" })
        ]
    );
    for (query, more) in [
        (format!("SELECT v.*, l.* FROM v {join}"), ""),
        (
            format!("SELECT v.id, v.price, l.price AS PRICE FROM v {join}"),
            "column_case = 'lower'",
        ),
    ] {
        let error = read(&query, more).await.unwrap_err();
        assert_eq!(error.fault, Fault::Query, "{error}");
        assert!(error.words.contains("`price` comes twice"), "{error}");
    }
}

#[tokio::test]
async fn no_part_of_a_password_is_told() {
    for (url, shown) in [
        (
            "postgres://forecourt:hunter2@dms.example/dms",
            "postgres://dms.example/dms",
        ),
        (
            "postgres://forecourt:hun/ter2@dms.example/dms",
            "postgres://dms.example/dms",
        ),
        (
            "postgres://forecourt:hun@ter2@dms.example/dms",
            "postgres://dms.example/dms",
        ),
        (
            "postgres://dms.example/dms?user=f&password=hunter2",
            "postgres://dms.example/dms",
        ),
        (
            "postgres://forecourt:hun?ter2@dms.example/dms",
            "postgres://",
        ),
        (
            "postgres://forecourt:hun@t?er2@dms.example/dms",
            "postgres://",
        ),
        (
            "postgres://dms.example/dms?user=f@g&password=hunter2",
            "postgres://",
        ),
        (
            "sqlserver://forecourt:hun?ter2@dms.example/dms",
            "sqlserver://",
        ),
    ] {
        let settings = Settings::Sql(sql::Settings::new(url));
        assert!(!format!("{settings:?}").contains("hun"), "{settings:?}");
        let rest = "name = 't'\n[source]\nkind = 'rest'\npath = '/'\nitems = ''\n[fields]\nvehicle_id = 'id'\n\
            status = { value = 'available' }\n[updated_at]\nprovenance = 'as_of'\n";
        let other = Mapping::parse(rest).unwrap();
        for mapping in [&mapping("SELECT 1 AS id", "id", ""), &other] {
            let text = match Source::open(settings.clone(), mapping.plan()).await {
                Ok(source) => source.describe().to_owned(),
                Err(error) => error.to_string(),
            };
            assert!(
                text.contains(shown) && !text.contains("hun") && !text.contains("ter2"),
                "{text}"
            );
        }
    }
}

#[tokio::test]
async fn a_misspelt_parameter_s_value_is_not_logged() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    let log = std::sync::Arc::new(std::fs::File::create(&path).unwrap());
    let subscriber = tracing_subscriber::fmt().with_writer(log).finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let url = "postgres://f@127.0.0.1:1/dms?pasword=hunter2&sslmode=disable";
    let source = open(url, &mapping("SELECT 1 AS id", "id", ""))
        .await
        .unwrap();
    let error = source.read(|_, _| {}).await.unwrap_err();
    assert_eq!(error.fault, Fault::Unreachable, "{error}");
    let log = std::fs::read_to_string(path).unwrap();
    assert!(log.contains("pasword") && !log.contains("hunter2"), "{log}");
}
