//! Reading only what changed, in each kind of database that runs here.

use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

use super::servers::{Server, patiently};
use crate::mapping::tests::presets::sqlite;
use crate::mapping::{Mapping, Row};
use crate::sources::{Extent, Fault, Mark, Read, Settings, Since, Source, SourceError, sql};

const TABLES: &str = "CREATE TABLE v (id INTEGER PRIMARY KEY, name VARCHAR(20), changed TIMESTAMP NULL);\
    CREATE TABLE f (vid INTEGER, amount INTEGER);\
    INSERT INTO v VALUES (1, 'a', '2026-11-30 10:00:00'), (2, 'b', '2026-11-29 10:00:00'), (3, 'c', NULL);\
    INSERT INTO f VALUES (1, 10), (2, 20), (2, 21), (3, 30);";

fn mapping(changes: &str) -> Mapping {
    Mapping::parse(&format!(
        "name = 'v'\n[source]\nkind = 'sql'\nquery = 'SELECT id, name, changed FROM v'\nkey = 'id'\n\
         children = {{ f = {{ query = 'SELECT vid, amount FROM f', key = 'vid' }} }}\n{changes}\n\
         [fields]\nvehicle_id = 'id'\nstatus = {{ value = 'available' }}\n[updated_at]\nprovenance = 'as_of'\n"
    ))
    .unwrap()
}

const CHANGES: &str = "changes = { query = 'SELECT id, name, changed FROM v WHERE changed >= :since', watermark = 'changed' }";

async fn open(url: String, mapping: &Mapping) -> Result<Source, SourceError> {
    Source::open(Settings::Sql(sql::Settings::new(url)), mapping.plan()).await
}

/// The names of the rows, each with its number of children.
async fn read(
    source: &Source,
    mark: Option<&Mark>,
    changes: bool,
) -> Result<(Vec<String>, Read), SourceError> {
    let mut found = Vec::new();
    let read = source.read_since(Since { mark, changes }, |row: Row, _| {
        let name = row.fields["name"].as_str().unwrap();
        found.push(format!("{name}{}", row.children["f"].len()));
    });
    let read = read.await?;
    found.sort();
    Ok((found, read))
}

/// All, then what changed after `change` ran, then all again.
async fn check(url: String, change: impl AsyncFn(&'static str)) {
    let source = open(url, &mapping(CHANGES)).await.unwrap();
    let (found, first) = read(&source, None, true).await.unwrap();
    assert_eq!(
        (found, first.extent),
        (vec!["a1".into(), "b2".into(), "c1".into()], Extent::Whole)
    );
    change("UPDATE v SET name = 'B', changed = '2026-11-30 12:00:00' WHERE id = 2").await;
    change("DELETE FROM v WHERE id = 3").await;
    let (found, second) = read(&source, Some(&first.mark), true).await.unwrap();
    // The row of the watermark's own instant comes again: another may have been written in it.
    assert_eq!(
        (found, second.extent),
        (vec!["B2".into(), "a1".into()], Extent::Changes)
    );
    let (found, _) = read(&source, Some(&second.mark), true).await.unwrap();
    assert_eq!(found, ["B2"]);
    let (found, third) = read(&source, Some(&second.mark), false).await.unwrap();
    assert_eq!(
        (found, third.extent),
        (vec!["B2".into(), "a1".into()], Extent::Whole)
    );
    assert_eq!(third.mark, second.mark);
}

#[tokio::test]
async fn sqlite_gives_what_changed() {
    let directory = tempfile::tempdir().unwrap();
    let url = sqlite(directory.path(), TABLES).await;
    let options: sqlx::sqlite::SqliteConnectOptions = url.parse().unwrap();
    check(url, async |text| {
        let mut session = options.connect().await.unwrap();
        sqlx::raw_sql(text).execute(&mut session).await.unwrap();
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn postgres_gives_what_changed() {
    let server = Server::postgres();
    let options: sqlx::postgres::PgConnectOptions = server.postgres_url().parse().unwrap();
    let mut session = patiently(|| options.connect()).await;
    sqlx::raw_sql(TABLES).execute(&mut session).await.unwrap();
    check(server.postgres_url(), async |text| {
        let mut session = options.connect().await.unwrap();
        sqlx::raw_sql(text).execute(&mut session).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn mariadb_gives_what_changed_and_names_its_refusals() {
    let server = Server::mariadb();
    let address = server.mariadb_url();
    let options: sqlx::mysql::MySqlConnectOptions = address.replace("/dms?", "/?").parse().unwrap();
    let mut session = patiently(|| options.connect()).await;
    let tables = format!("CREATE DATABASE dms; USE dms; {TABLES}");
    sqlx::raw_sql(AssertSqlSafe(tables))
        .execute(&mut session)
        .await
        .unwrap();
    // A function that writes, which no look at the query's text can see.
    sqlx::raw_sql(
        "CREATE FUNCTION dms.w() RETURNS INT MODIFIES SQL DATA BEGIN DELETE FROM dms.v; RETURN 1; END",
    )
    .execute(&mut session)
    .await
    .unwrap();
    check(address.clone(), async |text| {
        let mut session = options.connect().await.unwrap();
        sqlx::raw_sql("USE dms")
            .execute(&mut session)
            .await
            .unwrap();
        sqlx::raw_sql(text).execute(&mut session).await.unwrap();
    })
    .await;

    let failing = async |url: String, from: &str, to: &str| {
        let text = format!(
            "name = 'v'\n[source]\nkind = 'sql'\nquery = '{}'\nkey = 'id'\n[fields]\nvehicle_id = 'id'\n\
             status = {{ value = 'available' }}\n[updated_at]\nprovenance = 'as_of'\n",
            "SELECT id, name FROM v".replace(from, to)
        );
        let source = open(url, &Mapping::parse(&text).unwrap()).await.unwrap();
        source.read(|_, _| {}).await.unwrap_err()
    };
    let error = failing(address.replace("root@", "root:wrong@"), "", "").await;
    assert_eq!(
        (error.fault, error.step.as_str()),
        (Fault::Refused, "connect")
    );
    assert!(!error.to_string().contains("wrong"), "{error}");
    let error = failing(address.clone(), "FROM v", "FROM vehicles").await;
    assert_eq!((error.fault, error.step.as_str()), (Fault::Query, "query"));
    assert!(error.words.contains("vehicles"), "{error}");
    let error = failing(address.clone(), "name", "nam").await;
    assert!(error.words.contains("nam"), "{error}");
    let error = failing(address, "name", "w()").await;
    assert_eq!(error.fault, Fault::Query);
    assert!(error.words.to_lowercase().contains("read only"), "{error}");
}

#[tokio::test]
async fn what_no_watermark_can_be_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let url = sqlite(directory.path(), TABLES).await;
    let open = |changes: String| {
        let url = url.clone();
        async move { open(url, &mapping(&changes)).await }
    };
    let error = open(CHANGES.replace(" WHERE changed >= :since", ""))
        .await
        .unwrap_err();
    assert_eq!(
        (error.fault, error.step.as_str()),
        (Fault::Settings, "changes")
    );
    let error = open(CHANGES.replace("SELECT id", "DELETE id"))
        .await
        .unwrap_err();
    assert_eq!(
        (error.fault, error.step.as_str()),
        (Fault::Settings, "changes")
    );

    let absent = open(CHANGES.replace("watermark = 'changed'", "watermark = 'updated'")).await;
    let error = read(&absent.unwrap(), None, true).await.unwrap_err();
    assert!(error.words.contains("`updated`"), "{error}");

    // What a database could hold that is no time.
    let named = CHANGES
        .replace("'changed'", "'note'")
        .replace(", changed FROM", ", note, changed FROM");
    let text = "ALTER TABLE v ADD COLUMN note TEXT; UPDATE v SET note = 'x'' OR 1=1'";
    let options: sqlx::sqlite::SqliteConnectOptions = url.parse().unwrap();
    let mut session = options.connect().await.unwrap();
    sqlx::raw_sql(text).execute(&mut session).await.unwrap();
    let plan = "query = 'SELECT id, name, note FROM v'";
    let with_note = Mapping::parse(&format!(
        "name = 'v'\n[source]\nkind = 'sql'\n{plan}\nkey = 'id'\n{named}\n[fields]\nvehicle_id = 'id'\n\
         status = {{ value = 'available' }}\n[updated_at]\nprovenance = 'as_of'\n"
    ))
    .unwrap();
    let source = Source::open(
        Settings::Sql(sql::Settings::new(url.clone())),
        with_note.plan(),
    );
    let source = source.await.unwrap();
    let first = source.read(|_, _| {}).await.unwrap();
    let since = Since {
        mark: Some(&first.mark),
        changes: true,
    };
    let error = source.read_since(since, |_, _| {}).await.unwrap_err();
    assert!(
        error.words.contains("neither a number nor a time"),
        "{error}"
    );
}

#[tokio::test]
async fn more_changes_than_are_held_are_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let url = sqlite(directory.path(), TABLES).await;
    let mut settings = sql::Settings::new(url);
    settings.max_changed_rows = 1;
    let all = CHANGES.replace(">= :since", "<= :since");
    let source = Source::open(Settings::Sql(settings), mapping(&all).plan())
        .await
        .unwrap();
    let (_, first) = read(&source, None, true).await.unwrap();
    let error = read(&source, Some(&first.mark), true).await.unwrap_err();
    assert_eq!(
        (error.fault, error.step.as_str()),
        (Fault::Limit, "changes")
    );
}
