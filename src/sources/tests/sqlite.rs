//! SQLite files: what can be wrong with them, and that nothing is written.

use crate::mapping::Mapping;
use crate::mapping::tests::presets::{mapping, root, sqlite};
use crate::sources::sql::connection::Connection;
use crate::sources::{Fault, Settings, Source, SourceError, sql};

async fn sample(directory: &std::path::Path) -> sql::Settings {
    let sample = root().join("mappings/dms-sqlserver/sample.sql");
    let sample = std::fs::read_to_string(sample).unwrap();
    sql::Settings::new(sqlite(directory, &sample).await)
}

fn changed(from: &str, to: &str) -> Mapping {
    let path = root().join("mappings/dms-sqlserver/mapping.toml");
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from));
    Mapping::parse(&text.replace(from, to)).unwrap()
}

async fn read(settings: sql::Settings, mapping: &Mapping) -> Result<u64, SourceError> {
    let source = Source::open(Settings::Sql(settings), mapping.plan()).await?;
    source.read(|_, _| {}).await.map(|read| read.rows)
}

#[tokio::test]
async fn a_missing_file_table_or_column_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let settings = sample(directory.path()).await;
    let dms = mapping("dms-sqlserver");
    assert_eq!(read(settings.clone(), &dms).await.unwrap(), 32);

    let nowhere = sql::Settings::new("sqlite:///nowhere/dms.sqlite");
    let error = read(nowhere, &dms).await.unwrap_err();
    assert_eq!(
        (error.fault, error.step.as_str()),
        (Fault::Unreachable, "connect")
    );

    let table = changed("FROM VEHPHOTO", "FROM VEHFOTO");
    let error = read(settings.clone(), &table).await.unwrap_err();
    assert_eq!(
        (error.fault, error.step.as_str()),
        (Fault::Query, "child photos")
    );
    assert!(error.words.contains("no such table: VEHFOTO"), "{error}");

    let column = changed("e.RANGEMI AS", "e.RANGE_MI AS");
    let error = read(settings, &column).await.unwrap_err();
    assert_eq!(error.step, "query");
    assert!(error.words.contains("RANGE_MI"), "{error}");
}

#[tokio::test]
async fn a_renamed_column_is_found_with_a_suggestion() {
    let directory = tempfile::tempdir().unwrap();
    let settings = sample(directory.path()).await;
    let renamed = changed("stock = \"STK\"", "stock = \"STOCK\"");
    let source = Source::open(Settings::Sql(settings), renamed.plan())
        .await
        .unwrap();
    let read = source.read(|_, _| {}).await.unwrap();
    assert!(read.columns_are_fixed);
    let findings = renamed.missing_columns(&read.columns);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].key, "fields.stock");
    assert!(findings[0].remedy.contains("STK"), "{}", findings[0]);
}

#[tokio::test]
async fn queries_that_write_are_refused_before_and_by_the_session() {
    let directory = tempfile::tempdir().unwrap();
    let settings = sample(directory.path()).await;
    for bad in [
        "DELETE FROM VEHMAST",
        "SELECT 1; DROP TABLE VEHMAST",
        "WITH x AS (SELECT 1) INSERT INTO LOC SELECT * FROM x",
        "",
        "SELECT 'open",
        "PRAGMA journal_mode = WAL",
    ] {
        let mapping = changed(
            "SELECT LOCCD, FEECD, DESCR, AMT, MAND, GOVT FROM LOCFEE ORDER BY LOCCD, FEECD",
            bad,
        );
        let error = read(settings.clone(), &mapping).await.unwrap_err();
        assert_eq!(
            (error.fault, error.step.as_str()),
            (Fault::Settings, "table rooftop_fees"),
            "{bad}"
        );
    }
    // Words inside texts, comments and quoted names are no statements.
    let fine = changed(
        "SELECT LOCCD, FEECD, DESCR",
        "SELECT LOCCD, FEECD, 'delete; ''drop' AS TXT, DESCR /* insert; */",
    );
    assert_eq!(read(settings, &fine).await.unwrap(), 32);
}

/// What would get past the look at the text does not get past the session.
#[tokio::test]
async fn the_session_itself_refuses_to_write() {
    let directory = tempfile::tempdir().unwrap();
    let settings = sample(directory.path()).await;
    let other = directory.path().join("other.sqlite");
    let attach = format!(
        "ATTACH DATABASE '{}' AS o; CREATE TABLE o.x (a)",
        other.display()
    );
    let refused = async |write: &str| {
        let mut session = Connection::open(&settings, 1_000).await.unwrap();
        let done = session.each(write, &settings, &mut |_| Ok(())).await;
        done.unwrap_err().1
    };
    for write in [
        "DELETE FROM VEHMAST",
        "CREATE TABLE x (a)",
        "PRAGMA user_version = 7",
        "PRAGMA query_only = OFF; UPDATE VEHMAST SET STK = 'x'",
    ] {
        let words = refused(write).await;
        assert!(words.contains("readonly"), "{write}: {words}");
    }
    let words = refused(&attach).await;
    assert!(!other.exists(), "{words}");
    assert_eq!(read(settings, &mapping("dms-sqlserver")).await.unwrap(), 32);
}

#[tokio::test]
async fn limits_hold() {
    type Set = fn(&mut sql::Settings);
    let directory = tempfile::tempdir().unwrap();
    let settings = sample(directory.path()).await;
    let dms = mapping("dms-sqlserver");
    let cases: [(&str, Set); 4] = [
        ("max_rows", |s| s.max_rows = 5),
        ("max_child_rows", |s| s.max_child_rows = 5),
        ("max_columns", |s| s.max_columns = 3),
        ("max_row_bytes", |s| s.max_row_bytes = 50),
    ];
    for (name, set) in cases {
        let mut limited = settings.clone();
        set(&mut limited);
        let error = read(limited, &dms).await.unwrap_err();
        assert_eq!(error.fault, Fault::Limit, "{name}");
        assert!(error.words.contains(name), "{error}");
    }
    let mut hasty = settings;
    hasty.read_timeout_ms = 0;
    assert_eq!(read(hasty, &dms).await.unwrap_err().fault, Fault::Timeout);
}

#[tokio::test]
async fn one_vehicle_can_be_read_again_by_its_key() {
    let directory = tempfile::tempdir().unwrap();
    let settings = sample(directory.path()).await;
    let dms = mapping("dms-sqlserver");
    let source = Source::open(Settings::Sql(settings), dms.plan())
        .await
        .unwrap();
    let mut all = Vec::new();
    source
        .read(|row, tables| all.push(dms.apply(&row, tables)))
        .await
        .unwrap();
    let crate::mapping::Outcome::Published(listing, _) = &all[1] else {
        panic!("not published")
    };
    let key = dms.look_up_key(listing).unwrap();
    assert_eq!(key, "2");
    let (rows, tables) = source.look_up(&[key]).await.unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(dms.apply(&rows[0], &tables), all[1]);
    assert_eq!(source.look_up(&["99".to_owned()]).await.unwrap().0, []);
    let error = source.look_up(&["1 OR 1=1".to_owned()]).await.unwrap_err();
    assert_eq!(error.fault, Fault::Settings);
}

#[tokio::test]
async fn bytes_that_are_no_text_are_an_error_and_no_guess() {
    let directory = tempfile::tempdir().unwrap();
    let url = sqlite(
        directory.path(),
        "CREATE TABLE v (id INTEGER, name TEXT); INSERT INTO v VALUES (1, CAST(x'C3' AS TEXT));",
    )
    .await;
    let text = "name = 'v'\n[source]\nkind = 'sql'\nquery = 'SELECT id, name FROM v'\nkey = 'id'\n\
        [fields]\nvehicle_id = 'id'\nstatus = { value = 'available' }\n[updated_at]\nprovenance = 'as_of'\n";
    let mapping = Mapping::parse(text).unwrap();
    let error = read(sql::Settings::new(url), &mapping).await.unwrap_err();
    assert_eq!(error.fault, Fault::Data);
    assert!(error.words.contains("`name`"), "{error}");
}
