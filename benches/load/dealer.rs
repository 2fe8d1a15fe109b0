//! A dealer to be served: a database of invented vehicles, its mapping, and a configuration. Must not know
//! what will be asked.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode};

use crate::stock::{FEATURES, Numbers, PER_DEALER, Row, row};

/// Rows of one INSERT.
const CHUNK: usize = 500;

/// The first vehicle's id: with it the ids' order as numbers is their order as texts.
pub(crate) const FIRST: usize = 1_000_000;

pub(crate) const TABLE: &str = "(id INTEGER PRIMARY KEY, vin TEXT, stock TEXT, condition TEXT,
    year INTEGER, make TEXT, model TEXT, trim TEXT, body TEXT, fuel TEXT, driveline TEXT,
    color TEXT, mileage INTEGER, price INTEGER, rooftop TEXT, photo TEXT, options TEXT,
    updated_at TEXT)";

const MAPPING: &str = r#"
name = "bench"

[source]
kind = "sql"
query = "SELECT * FROM vehicle ORDER BY id"
key = "id"

[fields]
vehicle_id = { template = "v{{ row.id }}" }
vin = "vin"
stock = "stock"
status = { value = "available" }
condition = "condition"
year = "year"
make = "make"
model = "model"
trim = "trim"
body = "body"
fuel = "fuel"
driveline = "driveline"
exterior_color = "color"
mileage = { from = "mileage", steps = ["number"] }
rooftop = "rooftop"
photos = { from = "photo", steps = [{ split = "," }, { urls = "https://dealer.example" }] }

[updated_at]
provenance = "source_column"
from = "updated_at"
steps = [{ datetime = "rfc3339" }]

[price]
basis = "all_mandatory_included"
from = "price"
steps = ["number", "whole_dollars"]

[features]
list = { from = "options", steps = [{ split = "," }] }
source = { value = "dealer's record" }
unmatched = "drop"
"#;

const CONFIG: &str = r#"
[server]
listen = "127.0.0.1:0"

[data]
directory = "data"

[deployments.bench]
domain = "127.0.0.1"

[deployments.bench.search]
default_sort = "price asc"

[deployments.bench.inventory]
mapping = "mapping.toml"
source = { kind = "sql", url = "sqlite://dealer.sqlite" }
refresh_interval_s = 86400

[deployments.bench.leads]
vendor = { phone = "+1-312-555-0100" }

[deployments.bench.leads.deliveries.crm]
kind = "directory"
path = "leads"

[deployments.bench.profile]
name = "Example Motors"
"#;

/// Rooftops of the dealer group.
const ROOFTOPS: usize = 40;

/// The folder's configuration file.
pub(crate) async fn make(folder: &Path, vehicles: usize, port: u16) -> PathBuf {
    fs::create_dir_all(folder.join("data")).expect("a folder");
    let mut mapping = MAPPING.to_owned();
    for feature in 0..FEATURES {
        writeln!(
            mapping,
            "\n[[features.dictionary]]\ncode = \"feature_{feature}\"\nlabel = \"Feature {feature}\""
        )
        .expect("a text");
    }
    fs::write(folder.join("mapping.toml"), mapping).expect("a mapping");
    let mut config = CONFIG.replace("127.0.0.1:0", &format!("127.0.0.1:{port}"));
    for rooftop in 0..ROOFTOPS {
        let (latitude, longitude) = row(rooftop * PER_DEALER, &mut Numbers(0)).place;
        writeln!(
            config,
            "\n[[deployments.bench.profile.rooftops]]\nname = \"Rooftop {rooftop}\"\n\
             geo = {{ latitude = {latitude:?}, longitude = {longitude:?} }}"
        )
        .expect("a text");
    }
    fill(&folder.join("dealer.sqlite"), vehicles)
        .await
        .expect("a database");
    let path = folder.join("forecourt.toml");
    fs::write(&path, config).expect("a configuration");
    path
}

async fn fill(path: &Path, vehicles: usize) -> Result<(), sqlx::Error> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .create_if_missing(true);
    let mut database = SqliteConnection::connect_with(&options).await?;
    let run = |text: String| sqlx::raw_sql(sqlx::AssertSqlSafe(text));
    run(format!("CREATE TABLE vehicle {TABLE}"))
        .execute(&mut database)
        .await?;
    for insert in inserts(vehicles) {
        run(insert).execute(&mut database).await?;
    }
    for column in ["make", "price", "body", "condition"] {
        run(format!("CREATE INDEX by_{column} ON vehicle ({column})"))
            .execute(&mut database)
            .await?;
    }
    run("ANALYZE".to_owned()).execute(&mut database).await?;
    database.close().await
}

/// The statements that fill the table.
pub(crate) fn inserts(vehicles: usize) -> impl Iterator<Item = String> {
    let mut numbers = Numbers(1);
    (0..vehicles).step_by(CHUNK).map(move |first| {
        let rows = first..(first + CHUNK).min(vehicles);
        let rows: Vec<String> = rows.map(|n| values(n, &row(n, &mut numbers))).collect();
        format!("INSERT INTO vehicle VALUES {}", rows.join(","))
    })
}

fn values(n: usize, row: &Row) -> String {
    let price = row
        .price
        .map_or("NULL".to_owned(), |price| price.to_string());
    let options: Vec<String> = row
        .features
        .iter()
        .map(|code| code.replace("feature_", "Feature "))
        .collect();
    format!(
        "({id},'{vin}','{stock}','{condition}',{year},'{make}','{model}','{trim}','{body}','{fuel}',\
         '{driveline}','{color}',{mileage},{price},'Rooftop {rooftop}','/photos/{n}/1.jpg','{options}',\
         '2026-11-{day:02}T{hour:02}:00:00Z')",
        id = FIRST + n,
        vin = row.vin.to_uppercase(),
        stock = row.stock.to_uppercase(),
        condition = row.condition,
        year = row.year,
        make = row.make,
        model = row.model,
        trim = row.trim,
        body = row.body,
        fuel = row.fuel,
        driveline = row.driveline,
        color = row.color,
        mileage = row.mileage,
        rooftop = n % ROOFTOPS,
        options = options.join(","),
        day = 1 + n % 28,
        hour = n % 24,
    )
}
