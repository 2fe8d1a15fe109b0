//! What a reading holds in memory: the index, and not the text of the rows. Measured as the peak of the program
//! over sources whose text is many times what may be used.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use sqlx::{ConnectOptions as _, Connection as _};

use crate::fleet::profile;
use crate::process::{Process, total};

/// Rows of a small and of a large source, and bytes of text in each row that no field uses.
const FEW: usize = 10_000;
const MANY: usize = 50_000;
const TEXT: usize = 4_000;
/// One row in so many is published; the others are hidden or cannot be read.
const SHOWN: usize = 40;

const MAPPING: &str = r#"
name = "Large"
filter = { keep = "row.state != 'SOLD'", reason = "sold" }
[source]
SOURCE
[fields]
vehicle_id = "id"
model = "model"
status = { value = "available" }
year = { from = "year", steps = ["number"] }
[updated_at]
provenance = "source_column"
from = "changed"
steps = [{ datetime = { format = "%Y-%m-%d", zone = "UTC" } }]
"#;

fn dealer(id: &str, source: &str) -> String {
    format!(
        "[deployments.{id}]\ndomain = \"{id}.example\"\n{}\
         [deployments.{id}.inventory]\nmapping = \"../{id}.toml\"\nsource = {{ {source} }}\n\
         [deployments.{id}.leads.deliveries.crm]\nkind = \"directory\"\npath = \"../crm\"\n",
        profile(&format!("deployments.{id}.profile"), "The Dealer")
    )
}

/// State and time of a row: shown, hidden, or not to be read.
fn state(row: usize) -> (&'static str, &'static str) {
    match row % SHOWN {
        0 => ("LOT", "2026-11-29"),
        odd if odd % 2 == 1 => ("SOLD", "2026-11-29"),
        _ => ("LOT", "20261345"),
    }
}

fn csv(path: &Path, rows: usize) {
    let mut file = std::io::BufWriter::new(fs::File::create(path).unwrap());
    writeln!(file, "id,model,state,year,changed,notes").unwrap();
    let text = "x".repeat(TEXT);
    for row in 0..rows {
        let (state, changed) = state(row);
        writeln!(file, "{row},M{row},{state},2020,{changed},{text}").unwrap();
    }
}

async fn database(path: &Path, rows: usize) {
    let options = sqlx::sqlite::SqliteConnectOptions::new();
    let options = options.filename(path).create_if_missing(true);
    let mut session = options.connect().await.unwrap();
    let sql = format!(
        "CREATE TABLE v (id TEXT, model TEXT, state TEXT, year INTEGER, changed TEXT, notes TEXT);\
         WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {rows} - 1)\
         INSERT INTO v SELECT i, 'M' || i,\
         CASE WHEN i % {SHOWN} % 2 = 1 THEN 'SOLD' ELSE 'LOT' END, 2020,\
         CASE WHEN i % {SHOWN} = 0 OR i % {SHOWN} % 2 = 1 THEN '2026-11-29' ELSE '20261345' END,\
         hex(zeroblob({TEXT} / 2)) FROM n;"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql))
        .execute(&mut session)
        .await
        .unwrap();
    session.close().await.unwrap();
}

/// The most memory that a process has had.
fn peak(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next());
    kibibytes.unwrap().parse::<u64>().unwrap() * 1024
}

#[test]
fn the_text_of_the_rows_is_not_kept() {
    type Prepare = fn(&Path, usize);
    let kinds: [(&str, &str, &str, Prepare); 2] = [
        (
            "csv",
            "kind = \"feed\"\nformat = \"csv\"",
            "kind = \"feed\", path = \"../large.csv\"",
            |folder, rows| csv(&folder.join("large.csv"), rows),
        ),
        (
            "sql",
            "kind = \"sql\"\nquery = \"SELECT * FROM v\"\nkey = \"id\"",
            "kind = \"sql\", url = \"sqlite://../large.sqlite\"",
            |folder, rows| {
                let runtime = tokio::runtime::Runtime::new().unwrap();
                runtime.block_on(database(&folder.join("large.sqlite"), rows));
            },
        ),
    ];
    for (kind, source, place, prepare) in kinds {
        let peak_of = |rows: usize| {
            let files = [
                ("large.toml", MAPPING.replace("SOURCE", source)),
                ("conf/large.toml", dealer("large", place)),
            ];
            let process = Process::start_with("", &files, |folder| prepare(folder, rows));
            let shown = total(&process.search("large.example"));
            assert_eq!(shown, u64::try_from(rows / SHOWN).unwrap(), "{kind}");
            peak(process.pid())
        };
        let (few, many) = (peak_of(FEW), peak_of(MANY));
        let text = u64::try_from((MANY - FEW) * TEXT).unwrap();
        let more = many.saturating_sub(few);
        assert!(
            more < text / 10,
            "{kind}: {more} bytes more for {text} bytes of text more ({few}, {many})"
        );
    }
}
