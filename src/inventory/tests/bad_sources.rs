//! Every bad state that a source can come to after a good reading: the finding names what is wrong, where, and
//! what to do, and the last good inventory goes on answering with its age. A row that is bad is left out,
//! counted and named.

use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use jiff::SignedDuration;
use serde_json::json;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

use super::fixture::{World, search};
use crate::inventory::{Inventory, Reader, Status};
use crate::mapping::Mapping;
use crate::net::testing::{Script, Site, answer};
use crate::sources::http::Auth;
use crate::sources::tests::servers::{Server, patiently};
use crate::sources::{Settings, Source, feed, rest, sql};

/// How old the last good inventory is when it is looked at again.
const LATER_S: i64 = 600;

fn mapping(source: &str, updated: &str) -> Arc<Mapping> {
    let text = format!(
        "name = 'v'\n[source]\n{source}\n[fields]\nvehicle_id = 'id'\nmodel = 'model'\n\
         status = {{ value = 'available' }}\n{updated}\n"
    );
    Arc::new(Mapping::parse(&text).unwrap_or_else(|findings| panic!("{findings:?}\n{text}")))
}

const AS_OF: &str = "[updated_at]\nprovenance = 'as_of'";
const CHANGED: &str = "[updated_at]\nprovenance = 'source_column'\nfrom = 'changed'\n\
                       steps = [{ datetime = { format = 'rfc3339' } }]";

fn models(inventory: &Inventory) -> Vec<String> {
    let page = search(inventory, json!({ "pagination": { "limit": 100 } }));
    let model = |listing: serde_json::Value| listing["model"].as_str().unwrap().to_owned();
    let vehicles = page.vehicles.found().into_iter();
    let mut models: Vec<String> = vehicles.map(|v| model(v.listing.to_value())).collect();
    models.sort();
    models
}

/// Reads the good state, then the bad one: a finding with these words, and nothing else changes.
async fn stays(
    what: &str,
    settings: Settings,
    mapping: Arc<Mapping>,
    spoil: impl AsyncFnOnce(),
    words: &[&str],
) {
    let world = World::new(Vec::new());
    let source = Source::open(settings, mapping.plan()).await.unwrap();
    let inventory = world.start_reading(Reader::mapped(source, mapping)).await;
    assert_eq!(models(&inventory), ["One", "Two"], "{what}: the good state");
    spoil().await;
    world.clock.advance(SignedDuration::from_secs(LATER_S));
    let Err(error) = inventory.refresh().await else {
        panic!("{what}: it was published: {:?}", models(&inventory))
    };
    let finding = error.to_string();
    for word in words {
        assert!(finding.contains(word), "{what}: {word:?} in {finding:?}");
    }
    assert_eq!(models(&inventory), ["One", "Two"], "{what}: {finding}");
    let status = inventory.status();
    assert_eq!(
        (status.generation, status.failures, status.age_s),
        (1, 1, Some(LATER_S)),
        "{what}"
    );
    assert_eq!(status.last_failure, Some(finding), "{what}");
    assert!(inventory.answers(), "{what}");
}

// --- files ---

const GOOD: &str = "id,model\n1,One\n2,Two\n";

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(content).unwrap();
    packer.finish().unwrap()
}

fn halved(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() / 2);
    bytes
}

/// Replaces the file, later than it was.
fn rewrite(path: &Path, content: &[u8]) {
    std::fs::write(path, content).unwrap();
    let file = std::fs::File::options().append(true).open(path).unwrap();
    let now = file.metadata().unwrap().modified().unwrap();
    file.set_modified(now + std::time::Duration::from_secs(5))
        .unwrap();
}

#[tokio::test]
async fn a_file_that_went_bad_changes_nothing() {
    let many: String = (0..20_000).fold(GOOD.to_owned(), |all, n| all + &format!("{n},M\n"));
    let cells = ",x".repeat(1_000_000);
    let cases: [(&str, Vec<u8>, &[&str]); 11] = [
        (
            "a login page",
            b"<!DOCTYPE html><title>Sign in</title>".to_vec(),
            &[
                "begins like a web page",
                "login",
                "check where it comes from",
            ],
        ),
        (
            "a truncated gzip",
            halved(gzip(many.as_bytes())),
            &["ends early or is damaged", "sent again, whole"],
        ),
        (
            "a header of a million columns",
            format!("id,model{cells}\n1,One\n").into_bytes(),
            &["max_row_bytes", "raise that limit"],
        ),
        (
            "a header of a thousand columns",
            format!("id,model{}\n1,One\n", ",x".repeat(1_000)).into_bytes(),
            &["max_columns", "raise that limit"],
        ),
        (
            "a row of a million columns",
            format!("id,model\n1,One{cells}\n2,Two\n").into_bytes(),
            &["max_row_bytes", "raise that limit"],
        ),
        (
            "another encoding",
            b"id,model\n1,Caf\xe9\n2,Two\n".to_vec(),
            &["not valid in its encoding", "encoding = \"windows-1252\""],
        ),
        (
            "a renamed column",
            b"id,model_name\n1,One\n2,Two\n".to_vec(),
            &[
                "fields.model",
                "no column `model`",
                "did you mean `model_name`",
            ],
        ),
        (
            "a quote that never closes",
            format!("id,model\n1,\"{}", "x\n".repeat(2_000_000)).into_bytes(),
            &["max_row_bytes", "raise that limit"],
        ),
        ("an empty file", Vec::new(), &["the file is empty"]),
        (
            "all rows gone",
            b"id,model\n".to_vec(),
            &["has 0 units, the last good one 2", "shrink guard"],
        ),
        (
            "noughts",
            vec![0; 3_000_000],
            &["max_row_bytes", "raise that limit"],
        ),
    ];
    for (what, content, words) in cases {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("stock.csv");
        std::fs::write(&path, GOOD).unwrap();
        let source = "kind = 'feed'\nformat = 'csv'\nas_of = 'file_time'";
        let spoil = async || rewrite(&path, &content);
        let settings = Settings::Feed(feed::Settings::new(&path));
        stays(what, settings, mapping(source, AS_OF), spoil, words).await;
    }
}

#[tokio::test]
async fn a_file_of_ten_gigabytes_or_none_changes_nothing() {
    for (what, large, words) in [
        (
            "10 GiB",
            true,
            &["stock.csv", "max_bytes", "raise that limit"],
        ),
        (
            "no file",
            false,
            &["stock.csv", "No such file", "check that it is there"],
        ),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("stock.csv");
        std::fs::write(&path, GOOD).unwrap();
        let spoil = async || {
            if large {
                // Sparse: it takes no room.
                let file = std::fs::File::options().write(true).open(&path).unwrap();
                file.set_len(10 << 30).unwrap();
            } else {
                std::fs::remove_file(&path).unwrap();
            }
        };
        let source = "kind = 'feed'\nformat = 'csv'\nas_of = 'file_time'";
        let settings = Settings::Feed(feed::Settings::new(&path));
        stays(what, settings, mapping(source, AS_OF), spoil, words).await;
    }
}

// --- an API, and a file that a server gives out ---

/// A site whose answer a test changes, by the request's path.
async fn changing(good: Script) -> (Site, Arc<Mutex<Script>>) {
    let script = Arc::new(Mutex::new(good));
    let current = Arc::clone(&script);
    let answers: Script = Arc::new(move |path: &str| {
        let script = Arc::clone(&current.lock().unwrap());
        script(path)
    });
    (Site::start(&["localhost"], answers).await, script)
}

fn always(bytes: Vec<u8>) -> Script {
    Arc::new(move |_: &str| Some(bytes.clone()))
}

fn stock(ids: &[(&str, &str)]) -> String {
    let vehicle = |(id, model): &(&str, &str)| json!({ "id": id, "model": model, "changed": "2026-11-29T10:00:00Z" });
    json!({ "data": ids.iter().map(vehicle).collect::<Vec<_>>(), "next": null }).to_string()
}

const BOTH: [(&str, &str); 2] = [("1", "One"), ("2", "Two")];

#[tokio::test]
async fn an_api_that_went_bad_changes_nothing() {
    let web: &[(&str, &str)] = &[("Content-Type", "text/html")];
    let said = |status, body: &str| always(answer(status, &[], body));
    let endless = Arc::new(Mutex::new(0));
    let goes_on: Script = Arc::new(move |_: &str| {
        let mut page = endless.lock().unwrap();
        *page += 1;
        let id = page.to_string();
        let all = json!({ "data": [{ "id": id, "model": "M" }], "next": id });
        Some(answer(200, &[], &all.to_string()))
    });
    let same = json!({ "data": [{ "id": "1", "model": "One" }], "next": "a" }).to_string();
    let cases: [(&str, Script, &[&str]); 10] = [
        (
            "a wrong password",
            said(401, "{}"),
            &["page 1", "401: the credentials are refused", "check the user, the password"],
        ),
        (
            "a login page",
            always(answer(200, web, "<!DOCTYPE html><title>Sign in</title>")),
            &["page 1", "a web page came instead of JSON", "check the address"],
        ),
        (
            "a page that repeats for ever",
            always(answer(200, &[], &same)),
            &["page 2", "the same page came twice", "check `paging`"],
        ),
        ("pages without an end", goes_on, &["page 21", "max_pages", "raise that limit"]),
        (
            "a renamed list",
            said(200, "{\"vehicles\":[]}"),
            &["page 1", "no list at `data`", "check `items`"],
        ),
        (
            "10 GB",
            always(b"HTTP/1.1 200 x\r\nContent-Length: 10737418240\r\n\r\n{".to_vec()),
            &["page 1", "max_page_bytes", "raise that limit"],
        ),
        (
            "half an answer",
            said(200, "{\"data\":[{\"id\":\"1\""),
            &["page 1", "is no JSON"],
        ),
        (
            "bytes in no encoding",
            always(b"HTTP/1.1 200 x\r\nContent-Length: 33\r\n\r\n{\"data\":[{\"id\":\"1\",\"model\":\"\xe9\"}]}".to_vec()),
            &["page 1", "is no JSON"],
        ),
        ("a server that fails", said(503, ""), &["page 1", "503: the server fails"]),
        (
            "another place",
            said(404, ""),
            &["page 1", "404: the request is not accepted", "compare what is asked for"],
        ),
    ];
    for (what, bad, words) in cases {
        let (site, script) = changing(always(answer(200, &[], &stock(&BOTH)))).await;
        let mut settings =
            rest::Settings::new(format!("https://localhost:{}", site.address.port()));
        settings.access.ca_file = Some(site.ca_file.clone());
        settings.access.min_interval_ms = 0;
        settings.access.retry_base_ms = 1;
        settings.max_pages = 20;
        let source = "kind = 'rest'\npath = '/v'\nitems = 'data'\n\
                      paging = { by = 'next_key', parameter = 'p', from = 'next' }";
        let spoil = async || *script.lock().unwrap() = bad;
        stays(
            what,
            Settings::Rest(settings),
            mapping(source, CHANGED),
            spoil,
            words,
        )
        .await;
    }
}

#[tokio::test]
async fn a_fetched_file_that_went_bad_changes_nothing() {
    let csv = |body: &str| {
        answer(
            200,
            &[("Last-Modified", "Mon, 30 Nov 2026 06:00:00 GMT")],
            body,
        )
    };
    let large = "HTTP/1.1 200 x\r\nContent-Length: 10737418240\r\n\r\nid,model\n";
    let cases: [(&str, Vec<u8>, &[&str]); 4] = [
        (
            "a wrong password",
            answer(401, &[], ""),
            &[
                "401: the credentials are refused",
                "check the user, the password",
            ],
        ),
        (
            "a login page",
            csv("<html><form>"),
            &["begins like a web page", "check where it comes from"],
        ),
        (
            "10 GB",
            large.as_bytes().to_vec(),
            &["max_download_bytes", "raise that limit"],
        ),
        (
            "a lost connection",
            b"HTTP/1.1 200 x\r\nContent-Length: 900\r\n\r\nid,model\n1,One\n".to_vec(),
            &["check that it is there"],
        ),
    ];
    for (what, bad, words) in cases {
        let (site, script) = changing(always(csv(GOOD))).await;
        let url = format!("https://localhost:{}/stock.csv", site.address.port());
        let mut settings = feed::Settings::from_url(url);
        let feed::Place::Web(web) = &mut settings.place else {
            panic!("no address")
        };
        web.access.ca_file = Some(site.ca_file.clone());
        web.access.min_interval_ms = 0;
        web.access.retry_base_ms = 1;
        web.access.auth = Some(Auth::Basic {
            user: "dealer".to_owned(),
            password: "hunter2".to_owned(),
        });
        let source = "kind = 'feed'\nformat = 'csv'\nas_of = 'file_time'";
        let spoil = async || *script.lock().unwrap() = always(bad);
        stays(
            what,
            Settings::Feed(settings),
            mapping(source, AS_OF),
            spoil,
            words,
        )
        .await;
    }
}

// --- databases ---

const TABLE: &str = "CREATE TABLE v (id VARCHAR(20), model VARCHAR(20), changed VARCHAR(30));\
    INSERT INTO v VALUES ('1', 'One', '2026-11-29T10:00:00Z'), ('2', 'Two', '2026-11-29T10:00:00Z');";

fn of_table(query: &str) -> Arc<Mapping> {
    mapping(
        &format!("kind = 'sql'\nquery = '{query}'\nkey = 'id'"),
        CHANGED,
    )
}

const QUERY: &str = "SELECT id, model, changed FROM v";

#[tokio::test]
async fn a_sqlite_file_that_went_bad_changes_nothing() {
    let garbage = "this is no database, and it is long enough to be taken for one";
    let cases: [(&str, &str, &str, &[&str]); 7] = [
        (
            "a missing table",
            QUERY,
            "ALTER TABLE v RENAME TO vehicles",
            &["query", "no such table: v", "compare what is asked for"],
        ),
        (
            "a renamed column",
            QUERY,
            "ALTER TABLE v RENAME COLUMN model TO model_name",
            &[
                "query",
                "no such column: model",
                "compare what is asked for",
            ],
        ),
        (
            "a renamed column behind a star",
            "SELECT * FROM v",
            "ALTER TABLE v RENAME COLUMN model TO model_name",
            &[
                "fields.model",
                "no column `model`",
                "did you mean `model_name`",
            ],
        ),
        (
            "a cell of many megabytes",
            QUERY,
            "UPDATE v SET model = printf('%.*c', 5000000, 'x') WHERE id = '2'",
            &["query", "max_row_bytes", "raise that limit"],
        ),
        (
            "bytes in no encoding",
            QUERY,
            "UPDATE v SET model = CAST(x'C3' AS TEXT) WHERE id = '2'",
            &["query", "column `model`", "not valid UTF-8", "convert"],
        ),
        ("no database", QUERY, garbage, &["file is not a database"]),
        (
            "no file",
            QUERY,
            "",
            &["connect", "unable to open", "check that it is there"],
        ),
    ];
    for (what, query, change, words) in cases {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("dms.sqlite");
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&file);
        let run = async |sql: &str| {
            let options = options.clone().create_if_missing(true);
            let mut session = options.connect().await.unwrap();
            let sql = AssertSqlSafe(sql.to_owned());
            sqlx::raw_sql(sql).execute(&mut session).await.unwrap();
            session.close().await.unwrap();
        };
        run(TABLE).await;
        let spoil = async || match change {
            "" => std::fs::remove_file(&file).unwrap(),
            _ if change == garbage => std::fs::write(&file, garbage).unwrap(),
            _ => run(change).await,
        };
        let settings = sql::Settings::new(format!("sqlite://{}", file.display()));
        stays(what, Settings::Sql(settings), of_table(query), spoil, words).await;
    }
}

/// What a server's states are called in its own SQL.
struct Dialect {
    url: String,
    missing: &'static str,
    renamed: &'static str,
    /// A function that first only answers, and then writes.
    harmless: &'static str,
    writing: &'static str,
    refused: &'static str,
    new_password: &'static str,
}

/// The bad states of a database server, one after the other, each mended before the next.
async fn server(dialect: Dialect, run: impl AsyncFn(&str)) {
    run(TABLE).await;
    run(dialect.harmless).await;
    let settings = || Settings::Sql(sql::Settings::new(dialect.url.clone()));
    let spoil = async || run("ALTER TABLE v RENAME TO vehicles").await;
    let words: &[&str] = &["query", dialect.missing, "compare what is asked for"];
    stays("a missing table", settings(), of_table(QUERY), spoil, words).await;
    run("ALTER TABLE vehicles RENAME TO v").await;

    let spoil = async || run("ALTER TABLE v RENAME COLUMN model TO model_name").await;
    let words: &[&str] = &["query", dialect.renamed, "compare what is asked for"];
    stays(
        "a renamed column",
        settings(),
        of_table(QUERY),
        spoil,
        words,
    )
    .await;
    run("ALTER TABLE v RENAME COLUMN model_name TO model").await;

    let query = "SELECT id, model, changed, w() AS w FROM v";
    let spoil = async || run(dialect.writing).await;
    let words: &[&str] = &["query", dialect.refused, "compare what is asked for"];
    stays(
        "a query that writes",
        settings(),
        of_table(query),
        spoil,
        words,
    )
    .await;

    // Nothing was deleted, so that the next good reading finds both.
    let spoil = async || run(dialect.new_password).await;
    let words: &[&str] = &["connect", "check the user, the password"];
    stays(
        "a wrong password",
        settings(),
        of_table(QUERY),
        spoil,
        words,
    )
    .await;
}

#[tokio::test]
async fn a_postgres_that_went_bad_changes_nothing() {
    let postgres = Server::postgres();
    let options: sqlx::postgres::PgConnectOptions = postgres.postgres_url().parse().unwrap();
    let session = tokio::sync::Mutex::new(patiently(|| options.connect()).await);
    // From here on a password is asked for.
    postgres.ask_for_passwords();
    let run = async |text: &str| {
        let text = AssertSqlSafe(text.to_owned());
        let session = &mut *session.lock().await;
        sqlx::raw_sql(text).execute(session).await.unwrap();
    };
    run("ALTER ROLE dms PASSWORD 'old'; SELECT pg_reload_conf()").await;
    let dialect = Dialect {
        url: postgres.postgres_url().replace("dms@", "dms:old@"),
        missing: "relation \"v\" does not exist",
        renamed: "column \"model\" does not exist",
        harmless: "CREATE FUNCTION w() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
        writing: "CREATE OR REPLACE FUNCTION w() RETURNS integer LANGUAGE sql \
                  AS 'DELETE FROM v; SELECT 1'",
        refused: "read-only transaction",
        new_password: "ALTER ROLE dms PASSWORD 'new'",
    };
    server(dialect, run).await;
}

#[tokio::test]
async fn a_mariadb_that_went_bad_changes_nothing() {
    let mariadb = Server::mariadb();
    let address = mariadb.mariadb_url();
    let options: sqlx::mysql::MySqlConnectOptions = address.replace("/dms?", "/?").parse().unwrap();
    let session = tokio::sync::Mutex::new(patiently(|| options.connect()).await);
    let run = async |text: &str| {
        let text = AssertSqlSafe(text.to_owned());
        let session = &mut *session.lock().await;
        sqlx::raw_sql(text).execute(session).await.unwrap();
    };
    run("CREATE DATABASE dms; USE dms; ALTER USER root@localhost IDENTIFIED BY 'old'").await;
    let dialect = Dialect {
        url: address.replace("root@", "root:old@"),
        missing: "'dms.v' doesn't exist",
        renamed: "Unknown column 'model'",
        harmless: "CREATE FUNCTION w() RETURNS INT DETERMINISTIC RETURN 1",
        writing: "CREATE OR REPLACE FUNCTION w() RETURNS INT DETERMINISTIC BEGIN DELETE FROM v; RETURN 1; END",
        refused: "READ ONLY transaction",
        new_password: "ALTER USER root@localhost IDENTIFIED BY 'new'",
    };
    server(dialect, run).await;
}

// --- single rows ---

const ROWS: &str = "name = 'v'\n[source]\nkind = 'feed'\nformat = 'csv'\n[fields]\nvehicle_id = 'id'\n\
    model = 'model'\nstatus = { value = 'available' }\n\
    list_price = { from = 'price', steps = ['number', 'whole_dollars'] }\n\
    inventory_date = { from = 'added', steps = [{ date = '%Y%m%d' }] }\n\
    [updated_at]\nprovenance = 'source_column'\nfrom = 'changed'\n\
    steps = [{ datetime = { format = '%Y-%m-%d %H:%M:%S', zone = 'UTC' } }]\n";

/// Reads a good file, then one whose second row has these cells; both files have three rows.
async fn second_row(cells: &str) -> (Vec<String>, Status) {
    let header = "id,model,price,added,changed";
    let good = |id: u8, model: &str| format!("{id},{model},23995,20261102,2026-11-29 10:00:00");
    let rows = |second: &str| [header, &good(1, "One"), second, &good(3, "Three"), ""].join("\n");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("stock.csv");
    std::fs::write(&path, rows(&good(2, "Two"))).unwrap();
    let mapping = Arc::new(Mapping::parse(ROWS).unwrap());
    let settings = Settings::Feed(feed::Settings::new(&path));
    let source = Source::open(settings, mapping.plan()).await.unwrap();
    let world = World::new(Vec::new());
    let inventory = world.start_reading(Reader::mapped(source, mapping)).await;
    assert_eq!(models(&inventory), ["One", "Three", "Two"]);
    let clean = inventory.status();
    assert_eq!((clean.rejected.total(), clean.dirty.total()), (0, 0));
    rewrite(&path, rows(cells).as_bytes());
    inventory.refresh().await.unwrap();
    let status = inventory.status();
    assert_eq!(status.generation, 2);
    (models(&inventory), status)
}

#[tokio::test]
async fn a_bad_row_is_left_out_counted_and_named() {
    for (what, cells, words) in [
        (
            "no such day",
            "2,Two,23995,20261102,20261345",
            &[
                "column changed",
                "updated_at",
                "no time of the given format",
            ][..],
        ),
        (
            "a time of noughts",
            "2,Two,23995,20261102,0000-00-00 00:00:00",
            &[
                "column changed",
                "updated_at",
                "no time of the given format",
            ],
        ),
        (
            "a surplus cell",
            "2,Two,23995,20261102,2026-11-29 10:00:00,x",
            &["a row that cannot be read"],
        ),
        (
            "no id",
            ",Two,23995,20261102,2026-11-29 10:00:00",
            &["column id (nothing)", "vehicle_id is required and missing"],
        ),
    ] {
        let (models, status) = second_row(cells).await;
        assert_eq!(models, ["One", "Three"], "{what}");
        assert_eq!(status.rejected.total(), 1, "{what}");
        let (reason, _) = status.rejected.by_reason.first_key_value().unwrap();
        for word in words {
            assert!(reason.contains(word), "{what}: {word:?} in {reason:?}");
        }
    }
}

#[tokio::test]
async fn a_bad_cell_is_left_out_counted_and_named() {
    let changed = "2026-11-29 10:00:00";
    for (what, cells, words) in [
        (
            "a decimal comma",
            format!("2,Two,\"23.995,00\",20261102,{changed}"),
            [
                "list_price: column price",
                "is not a number written as 1,234.56",
            ],
        ),
        (
            "no such day",
            format!("2,Two,23995,20261345,{changed}"),
            [
                "inventory_date: column added",
                "is no date of the given format",
            ],
        ),
        (
            "a day of noughts",
            format!("2,Two,23995,0000-00-00,{changed}"),
            [
                "inventory_date: column added",
                "is no date of the given format",
            ],
        ),
    ] {
        let (models, status) = second_row(&cells).await;
        assert_eq!(models, ["One", "Three", "Two"], "{what}");
        assert_eq!(
            (status.rejected.total(), status.dirty.total()),
            (0, 1),
            "{what}"
        );
        let (reason, _) = status.dirty.by_reason.first_key_value().unwrap();
        for word in words {
            assert!(reason.contains(word), "{what}: {word:?} in {reason:?}");
        }
        assert!(
            !reason.contains("23.995") && !reason.contains("2026"),
            "{reason}"
        );
    }
}

#[tokio::test]
async fn a_json_row_of_a_million_members_is_left_out_and_counted() {
    let wide = (0..1_000_000).map(|n| (n.to_string(), json!("x")));
    let wide: serde_json::Map<String, serde_json::Value> = wide
        .chain([
            ("id".to_owned(), json!("2")),
            ("model".to_owned(), json!("Two")),
        ])
        .collect();
    let rows = |second: &serde_json::Value| {
        let first = json!({ "id": "1", "model": "One" });
        format!("{first}\n{second}\n").into_bytes()
    };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("stock.jsonl");
    std::fs::write(&path, rows(&json!({ "id": "2", "model": "Two" }))).unwrap();
    let mapping = mapping(
        "kind = 'feed'\nformat = 'json_lines'\nas_of = 'file_time'",
        AS_OF,
    );
    let mut settings = feed::Settings::new(&path);
    settings.max_row_bytes = 1 << 30;
    let source = Source::open(Settings::Feed(settings), mapping.plan()).await;
    let reader = Reader::mapped(source.unwrap(), mapping);
    let inventory = World::new(Vec::new()).start_reading(reader).await;
    assert_eq!(models(&inventory), ["One", "Two"]);
    rewrite(&path, &rows(&wide.into()));
    inventory.refresh().await.unwrap();
    assert_eq!(models(&inventory), ["One"]);
    let rejected = inventory.status().rejected;
    assert_eq!(
        rejected.by_reason.get("a row that cannot be read"),
        Some(&1)
    );
}

#[tokio::test]
async fn a_column_that_is_written_otherwise_all_at_once_is_held() {
    for (what, price, added, words) in [
        (
            "a decimal comma",
            "\"23.995,00\"",
            "20261102",
            [
                "list_price: 3 of 3 rows",
                "is not a number written as 1,234.56",
            ],
        ),
        (
            "days of noughts",
            "23995",
            "0000-00-00",
            [
                "inventory_date: 3 of 3 rows",
                "is no date of the given format",
            ],
        ),
    ] {
        let rows = |price: &str, added: &str| {
            let row = |id: u8| format!("{id},M{id},{price},{added},2026-11-29 10:00:00\n");
            format!(
                "id,model,price,added,changed\n{}{}{}",
                row(1),
                row(2),
                row(3)
            )
        };
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("stock.csv");
        std::fs::write(&path, rows("23995", "20261102")).unwrap();
        let mapping = Arc::new(Mapping::parse(ROWS).unwrap());
        let settings = Settings::Feed(feed::Settings::new(&path));
        let source = Source::open(settings, mapping.plan()).await.unwrap();
        let reader = Reader::mapped(source, mapping);
        let inventory = World::new(Vec::new()).start_reading(reader).await;
        rewrite(&path, rows(price, added).as_bytes());
        let finding = inventory.refresh().await.unwrap_err().to_string();
        for word in words.iter().chain(&["refresh --accept"]) {
            assert!(finding.contains(word), "{what}: {word:?} in {finding:?}");
        }
        let page = search(&inventory, json!({}));
        let first = page.vehicles.found()[0].listing.to_value();
        assert_eq!(
            (page.total, &first["list_price"]),
            (3, &json!(23_995)),
            "{what}"
        );
        assert_eq!(first["inventory_date"], "2026-11-02", "{what}");
        // A person has looked; from then on it is no news.
        inventory.accept_shrink().await;
        inventory.refresh().await.unwrap();
        rewrite(&path, rows(price, &format!("{added} ")).as_bytes());
        inventory.refresh().await.unwrap();
        assert_eq!(inventory.status().dirty.total(), 3, "{what}");
    }
}
