//! What a million rows need: the peak memory of the program that serves, and the time until it is ready, over
//! sources of which almost nothing is published and one of which everything is. `cargo bench --bench memory`;
//! words after `--` choose scenarios by name.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a bench may stop and prints what it measured"
)]

use std::fmt::Write as _;
use std::fs;
use std::io::{BufWriter, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sqlx::{ConnectOptions as _, Connection as _};

const PRESET: &str = include_str!("../mappings/homenet-csv/mapping.toml");
/// One row in so many is published, where the others are not.
const SHOWN: usize = 100;
/// Bytes of each row that no field uses.
const TEXT: usize = 900;

const MAPPING: &str = r#"
name = "Large"
filter = { keep = "row.state != 'SOLD'", reason = "sold" }
[source]
SOURCE
[fields]
vehicle_id = "id"
stock = "stock"
model = "model"
status = { value = "available" }
[updated_at]
provenance = "source_column"
from = "changed"
steps = [{ datetime = { format = "%Y-%m-%d", zone = "UTC" } }]
"#;

/// What becomes of the rows that are not published.
#[derive(Clone, Copy, PartialEq)]
enum Rest {
    Hidden,
    Rejected,
}

fn plain_csv(path: &Path, rows: usize, rest: Rest) {
    let mut file = BufWriter::new(fs::File::create(path).expect("a file"));
    let text = "x".repeat(TEXT);
    writeln!(file, "id,stock,model,state,changed,notes").expect("room");
    for row in 0..rows {
        let (state, changed) = match (row % SHOWN, rest) {
            (0, _) => ("LOT", "2026-11-29"),
            (_, Rest::Hidden) => ("SOLD", "2026-11-29"),
            (_, Rest::Rejected) => ("LOT", "20261345"),
        };
        writeln!(
            file,
            "D4471:{row},S{row:07},M{row},{state},{changed},{text}"
        )
        .expect("room");
    }
}

async fn database(path: &Path, rows: usize) {
    let options = sqlx::sqlite::SqliteConnectOptions::new();
    let options = options.filename(path).create_if_missing(true);
    let mut session = options.connect().await.expect("a database");
    let sql = format!(
        "CREATE TABLE v (id TEXT, stock TEXT, model TEXT, state TEXT, changed TEXT, notes TEXT);\
         WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {rows} - 1)\
         INSERT INTO v SELECT 'D4471:' || i, printf('S%07d', i), 'M' || i,\
         CASE WHEN i % {SHOWN} = 0 THEN 'LOT' ELSE 'SOLD' END, '2026-11-29', hex(zeroblob({TEXT} / 2)) FROM n;"
    );
    let sql = sqlx::AssertSqlSafe(sql);
    sqlx::raw_sql(sql)
        .execute(&mut session)
        .await
        .expect("rows");
    session.close().await.expect("the end");
}

/// A feed like the preset's, every row of it a vehicle.
fn vehicles(path: &Path, rows: usize) {
    const MAKES: [&str; 5] = ["Honda", "Ford", "VW", "Toyota", "Kia"];
    const BODIES: [&str; 4] = ["Sedan", "SUV", "Pickup", "Touring"];
    const OPTIONS: [&str; 4] = [
        "Apple CarPlay",
        "Heated Front Seats,Leather Seats",
        "Roof Rack,Backup Camera,Power Liftgate",
        "",
    ];
    let of = |list: &[&'static str], row: usize| list.get(row % list.len()).copied();
    let mut file = BufWriter::new(fs::File::create(path).expect("a file"));
    let header = "DealerName,Type,Stock,VIN,Year,Make,Model,ModelNumber,Body,Trim,Doors,ExteriorColor,InteriorColor,\
        EngineCylinders,EngineDisplacement,Transmission,Miles,SellingPrice,MSRP,BookValue,Invoice,Certified,DateInStock,\
        Description,Options,Drivetrain,Fuel_Type,CityMPG,HighwayMPG,Internet_Price,Misc_Price1,ImageList";
    writeln!(file, "{header}").expect("room");
    let mut photos = String::new();
    for row in 0..rows {
        photos.clear();
        for at in 0..8 {
            write!(photos, "https://img.dealer.example/{row}/{at}.jpg|").expect("room");
        }
        let price = 9_000 + row % 60_000;
        writeln!(
            file,
            "Harbor Point Motors,{},S{row:07},1hgcv1f3{row:09},{},{},Model {},M-1,{},Trim {},4,Lunar Rock,Ash,4,1.5L,\
             Automatic,{},{price},{},0,0,{},{}/{}/2026,\"<p>One owner &amp; clean, number {row}.</p> Call us!\",\"{}\",AWD,\
             Gasoline Fuel,28,35,{price},{},{photos}",
            if row.is_multiple_of(3) { "New" } else { "Used" },
            2010 + row % 16,
            of(&MAKES, row).unwrap_or_default(),
            row % 40,
            of(&BODIES, row / 7).unwrap_or_default(),
            row % 9,
            row % 150_000,
            price + 2_000,
            if row.is_multiple_of(5) { "True" } else { "False" },
            1 + row % 11,
            1 + row % 28,
            of(&OPTIONS, row / 3).unwrap_or_default(),
            price + 499,
        )
        .expect("room");
    }
}

fn free() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its address")
}

fn ready(admin: SocketAddr) -> bool {
    let Ok(mut stream) = TcpStream::connect(admin) else {
        return false;
    };
    let asked = stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    let mut answer = String::new();
    asked.is_ok() && stream.read_to_string(&mut answer).is_ok() && answer.contains(" 200 ")
}

/// A line of `/proc/PID/status`, in megabytes.
fn megabytes(pid: u32, name: &str) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.trim_start_matches(':').split_whitespace().next());
    number
        .and_then(|number| number.parse::<f64>().ok())
        .unwrap_or(0.0)
        / 1024.0
}

/// Seconds of processor time.
fn processor(pid: u32) -> f64 {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after = text.rsplit(')').next().unwrap_or_default();
    let ticks = after.split_whitespace().skip(11).take(2);
    let ticks: f64 = ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
    ticks / 100.0
}

/// Serves the source and prints what that took.
fn measure(name: &str, folder: &Path, mapping: &str, source: &str, raw: u64) {
    let (listen, admin) = (free(), free());
    let config = format!(
        "[server]\nlisten = \"{listen}\"\nadmin_listen = \"{admin}\"\n[data]\ndirectory = \"data\"\n\
         [deployments.d]\ndomain = \"d.example\"\nskills = [\"inventory.search\", \"inventory.vehicle\", \"inventory.facets\", \"dealer.information\"]\n\
         [deployments.d.profile]\nname = \"Harbor Point Motors\"\n\
         rooftops = [{{ name = \"Harbor Point Motors\", geo = {{ latitude = 45.5, longitude = -122.7 }} }}]\n\
         [deployments.d.inventory]\nmapping = \"mapping.toml\"\nsource = {{ {source} }}\n"
    );
    fs::write(folder.join("forecourt.toml"), config).expect("a configuration");
    fs::write(folder.join("mapping.toml"), mapping).expect("a mapping");
    let began = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_forecourt"))
        .args(["serve", "--config"])
        .arg(folder.join("forecourt.toml"))
        .env("FORECOURT_LOG", "error")
        .stdout(Stdio::null())
        .spawn()
        .expect("the product starts");
    let pid = child.id();
    while !ready(admin) {
        assert!(child.try_wait().expect("its state").is_none(), "it ended");
        std::thread::sleep(Duration::from_millis(20));
    }
    println!(
        "{name}: {:.0} MB of source, ready in {:.1} s ({:.1} s of processor time), peak {:.0} MB, now {:.0} MB",
        raw as f64 / 1e6,
        began.elapsed().as_secs_f64(),
        processor(pid),
        megabytes(pid, "VmHWM"),
        megabytes(pid, "VmRSS"),
    );
    // Nothing of it is needed any more.
    drop(child.kill());
    drop(child.wait());
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |data| data.len())
}

fn main() {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let is_wanted =
        |name: &str| wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str()));
    let csv = "kind = \"feed\"\nformat = \"csv\"";
    for (name, rows, rest) in [
        ("csv 250000 hidden", 250_000, Rest::Hidden),
        ("csv 1000000 hidden", 1_000_000, Rest::Hidden),
        ("csv 1000000 rejected", 1_000_000, Rest::Rejected),
    ] {
        if is_wanted(name) {
            let folder = tempfile::tempdir().expect("a folder");
            let file = folder.path().join("stock.csv");
            plain_csv(&file, rows, rest);
            let source = "kind = \"feed\", path = \"stock.csv\"";
            measure(
                name,
                folder.path(),
                &MAPPING.replace("SOURCE", csv),
                source,
                size(&file),
            );
        }
    }
    for (name, rows) in [
        ("sqlite 250000 hidden", 250_000),
        ("sqlite 1000000 hidden", 1_000_000),
    ] {
        if is_wanted(name) {
            let folder = tempfile::tempdir().expect("a folder");
            let file = folder.path().join("dms.sqlite");
            let runtime = tokio::runtime::Runtime::new().expect("a runtime");
            runtime.block_on(database(&file, rows));
            let plan = "kind = \"sql\"\nquery = \"SELECT * FROM v\"\nkey = \"id\"";
            let source = "kind = \"sql\", url = \"sqlite://dms.sqlite\"";
            measure(
                name,
                folder.path(),
                &MAPPING.replace("SOURCE", plan),
                source,
                size(&file),
            );
        }
    }
    for (name, rows) in [
        ("vehicles 10000", 10_000),
        ("vehicles 100000", 100_000),
        ("vehicles 1000000", 1_000_000),
    ] {
        if is_wanted(name) {
            let folder = tempfile::tempdir().expect("a folder");
            let file = folder.path().join("stock.csv");
            vehicles(&file, rows);
            let source = "kind = \"feed\", path = \"stock.csv\"";
            measure(name, folder.path(), PRESET, source, size(&file));
        }
    }
}
