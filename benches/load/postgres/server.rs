//! A private PostgreSQL on a loopback port: made, filled with the dealer's vehicles, its processor time read.
//! It ends with its value. Must not know who asks it.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sqlx::Connection as _;
use sqlx::postgres::PgConnection;

use crate::dealer;
use crate::process::{TICK, free_port};

/// What a database of this size on such a machine is given: all of it fits in memory, and nothing of it is ever
/// read from a disk. Statements as short as these gain nothing from a compiler or from further processes.
const SETTINGS: [&str; 8] = [
    "listen_addresses=127.0.0.1",
    "shared_buffers=1GB",
    "effective_cache_size=4GB",
    "work_mem=16MB",
    "random_page_cost=1.1",
    "max_connections=200",
    "jit=off",
    "max_parallel_workers_per_gather=0",
];

/// The columns that searches name, each with an index of its own.
const COLUMNS: [&str; 7] = [
    "make",
    "model",
    "condition",
    "body",
    "price",
    "mileage",
    "year",
];

/// For each of the searches an index that holds all that it asks, in the order of its page.
const MADE_FOR_THEM: [&str; 3] = [
    "(make, model, condition, price, id) INCLUDE (mileage)",
    "(make, body, price, id) INCLUDE (mileage)",
    "(condition, price, id) INCLUDE (mileage)",
];

pub(super) struct Server {
    child: Child,
    _folder: tempfile::TempDir,
    pub(super) address: SocketAddr,
}

impl Server {
    /// Its table `vehicle` has an index on each column that is searched; `tuned` has more.
    pub(super) async fn start(vehicles: usize) -> Self {
        let folder = tempfile::tempdir_in("/tmp").expect("a folder");
        let account = unprivileged();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).expect("a folder");
        if let Some(account) = account {
            chown(folder.path(), Some(account), Some(account)).expect("a folder");
        }
        let data = folder.path().join("data");
        let made = command("initdb", account)
            .args(["--no-sync", "--auth=trust", "--username=dms"])
            .args(["--encoding=UTF8", "--locale=C", "-D"])
            .arg(&data)
            .status();
        assert!(made.expect("initdb starts").success(), "initdb failed");
        let port = free_port();
        let mut postgres = command("postgres", account);
        postgres.arg("-D").arg(&data).arg("-k").arg(folder.path());
        postgres.args(["-p", &port.to_string(), "-c", "fsync=off"]);
        for setting in SETTINGS {
            postgres.args(["-c", setting]);
        }
        let server = Self {
            child: postgres.spawn().expect("PostgreSQL starts"),
            _folder: folder,
            address: SocketAddr::from(([127, 0, 0, 1], port)),
        };
        server.fill(vehicles).await.expect("a filled table");
        server
    }

    async fn fill(&self, vehicles: usize) -> Result<(), sqlx::Error> {
        let url = format!("postgres://dms@{}/postgres?sslmode=disable", self.address);
        let mut database = patiently(&url).await?;
        let mut statements = vec![format!("CREATE TABLE vehicle {}", dealer::TABLE)];
        statements.extend(dealer::inserts(vehicles));
        statements.push("CREATE TABLE tuned (LIKE vehicle INCLUDING ALL)".to_owned());
        statements.push("INSERT INTO tuned SELECT * FROM vehicle".to_owned());
        for table in ["vehicle", "tuned"] {
            let index = |column| format!("CREATE INDEX ON {table} ({column})");
            statements.extend(COLUMNS.map(index));
        }
        statements.extend(MADE_FOR_THEM.map(|index| format!("CREATE INDEX ON tuned {index}")));
        // So that counting need not look into the table itself.
        statements.push("VACUUM ANALYZE".to_owned());
        for statement in statements {
            let statement = sqlx::raw_sql(sqlx::AssertSqlSafe(statement));
            statement.execute(&mut database).await?;
        }
        database.close().await
    }

    /// Processor time of all its processes so far, those that have ended included.
    pub(super) fn cpu(&self) -> Duration {
        let own = self.child.id().to_string();
        let processes = fs::read_dir("/proc").expect("Linux").flatten();
        let ticks = processes.filter_map(|process| {
            let name = process.file_name();
            let stat = fs::read_to_string(process.path().join("stat")).ok()?;
            // What follows the program's name: state, parent, and from the twelfth on its own time and that
            // of the children that it has seen end.
            let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
            let of_it = name.to_str() == Some(&own);
            let times = match (of_it, fields.get(1) == Some(&own.as_str())) {
                (true, _) => fields.get(11..15)?,
                (false, true) => fields.get(11..13)?,
                (false, false) => return None,
            };
            Some(
                times
                    .iter()
                    .filter_map(|t| t.parse::<u32>().ok())
                    .sum::<u32>(),
            )
        });
        TICK * ticks.sum::<u32>()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A connection, as soon as it starts to let anybody in.
async fn patiently(url: &str) -> Result<PgConnection, sqlx::Error> {
    let began = Instant::now();
    loop {
        match PgConnection::connect(url).await {
            Err(_) if began.elapsed() < Duration::from_secs(30) => {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            decided => return decided,
        }
    }
}

/// PostgreSQL refuses to run as root, so root steps down to an account without rights.
fn unprivileged() -> Option<u32> {
    let own = fs::metadata("/proc/self").expect("Linux");
    (own.uid() == 0).then_some(65_534)
}

fn command(name: &str, account: Option<u32>) -> Command {
    let mut command = Command::new(program(name));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(account) = account {
        command.uid(account).gid(account);
    }
    command
}

/// Debian keeps PostgreSQL's programs off the path.
fn program(name: &str) -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql");
    let versions = versions.into_iter().flatten().flatten();
    let mut places: Vec<PathBuf> = versions.map(|entry| entry.path().join("bin")).collect();
    places.sort();
    places.push(Path::new("/usr/bin").to_owned());
    let found = places
        .iter()
        .map(|place| place.join(name))
        .find(|p| p.exists());
    found.unwrap_or_else(|| panic!("`{name}` is missing: install Debian's postgresql"))
}
