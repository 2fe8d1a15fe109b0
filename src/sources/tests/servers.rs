//! Starts a private PostgreSQL or MariaDB on a socket in a temporary directory, and ends it on drop.
//! Needs their programs on the machine (`postgresql, mariadb-server-core and mariadb-client-core from Debian`).

use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The kernel has one pool of such requests for all processes, and several servers at once empty it.
const MODEST: &str = "--innodb-use-native-aio=0";

pub(crate) struct Server {
    child: Child,
    directory: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _killed = self.child.kill();
        let _status = self.child.wait();
    }
}

fn program(name: &str) -> PathBuf {
    let mut places: Vec<PathBuf> = ["/usr/local/bin", "/usr/bin", "/usr/sbin", "/usr/local/sbin"]
        .iter()
        .map(PathBuf::from)
        .collect();
    if let Ok(versions) = std::fs::read_dir("/usr/lib/postgresql") {
        places.extend(versions.flatten().map(|entry| entry.path().join("bin")));
    }
    let found = places
        .iter()
        .map(|place| place.join(name))
        .find(|p| p.exists());
    found.unwrap_or_else(|| {
        panic!("`{name}` is missing: install postgresql, mariadb-server-core, mariadb-client-core")
    })
}

/// PostgreSQL refuses to run as root, so root steps down to an account without rights.
fn unprivileged() -> Option<(u32, u32)> {
    use std::os::unix::fs::MetadataExt;
    let own = std::fs::metadata("/proc/self").unwrap();
    (own.uid() == 0).then_some((65_534, 65_534))
}

fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    if let Some((user, group)) = unprivileged() {
        command.uid(user).gid(group);
    }
    command
}

fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    if let Some((user, group)) = unprivileged() {
        chown(directory.path(), Some(user), Some(group)).unwrap();
    }
    directory
}

fn wait_for(path: &Path, child: &mut Child) {
    let start = Instant::now();
    while !path.exists() {
        assert!(child.try_wait().unwrap().is_none(), "the server ended");
        assert!(start.elapsed() < Duration::from_mins(1), "no socket");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// How a server is to be reached over TLS: a port, and where the certificate and its key lie.
pub(crate) struct Tls {
    pub(crate) port: u16,
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Tls {
    /// The files of it in a server's folder.
    fn files(&self, directory: &Path) -> [String; 2] {
        [("cert.pem", &self.certificate), ("key.pem", &self.key)].map(|(name, text)| {
            let path = directory.join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
            if let Some((user, group)) = unprivileged() {
                chown(&path, Some(user), Some(group)).unwrap();
            }
            path.display().to_string()
        })
    }
}

impl Server {
    pub(crate) fn postgres() -> Self {
        Self::postgres_at(None)
    }

    pub(crate) fn postgres_at(tls: Option<&Tls>) -> Self {
        let directory = directory();
        let data = directory.path().join("data");
        let made = command(&program("initdb"))
            .args([
                "--no-sync",
                "--auth=trust",
                "--username=dms",
                "--encoding=UTF8",
                "-D",
            ])
            .arg(&data)
            .status()
            .unwrap();
        assert!(made.success(), "initdb failed");
        let mut postgres = command(&program("postgres"));
        postgres
            .arg("-D")
            .arg(&data)
            .args(["-c", "listen_addresses=", "-c", "fsync=off", "-k"])
            .arg(directory.path());
        if let Some(tls) = tls {
            let [certificate, key] = tls.files(directory.path());
            for setting in [
                "listen_addresses=127.0.0.1".to_owned(),
                format!("port={}", tls.port),
                "ssl=on".to_owned(),
                format!("ssl_cert_file={certificate}"),
                format!("ssl_key_file={key}"),
            ] {
                postgres.args(["-c", &setting]);
            }
        }
        let mut child = postgres.spawn().unwrap();
        let port = tls.map_or(5432, |tls| tls.port);
        let socket = directory.path().join(format!(".s.PGSQL.{port}"));
        wait_for(&socket, &mut child);
        Self { child, directory }
    }

    pub(crate) fn postgres_url(&self) -> String {
        format!(
            "postgres://dms@localhost/postgres?host={}",
            self.directory.path().display()
        )
    }

    /// Lets nobody in any more without a password, once the server has looked at its configuration again.
    pub(crate) fn ask_for_passwords(&self) {
        let rules = self.directory.path().join("data/pg_hba.conf");
        std::fs::write(rules, "local all all scram-sha-256\n").unwrap();
    }

    pub(crate) fn mariadb() -> Self {
        Self::mariadb_at(None)
    }

    pub(crate) fn mariadb_at(tls: Option<&Tls>) -> Self {
        let directory = directory();
        let data = directory.path().join("data");
        // Two that are made at the same moment would take each other's temporary tables away.
        let own = ("TMPDIR", directory.path());
        let made = command(&program("mariadb-install-db"))
            .env(own.0, own.1)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .args([
                "--no-defaults",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                MODEST,
            ])
            .arg(format!("--datadir={}", data.display()))
            .output()
            .unwrap();
        let said = [made.stdout, made.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(made.status.success(), "mariadb-install-db failed: {said}");
        let socket = directory.path().join("socket");
        let mut mariadb = command(&program("mariadbd"));
        mariadb
            .env(own.0, own.1)
            .args([
                "--no-defaults",
                "--skip-networking",
                MODEST,
                "--innodb-flush-log-at-trx-commit=0",
            ])
            .arg(format!("--datadir={}", data.display()))
            .arg(format!("--socket={}", socket.display()))
            .arg(format!(
                "--pid-file={}",
                directory.path().join("pid").display()
            ));
        if let Some(tls) = tls {
            let [certificate, key] = tls.files(directory.path());
            mariadb
                .args(["--skip-networking=0", "--bind-address=127.0.0.1"])
                .arg(format!("--port={}", tls.port))
                .arg(format!("--ssl-cert={certificate}"))
                .arg(format!("--ssl-key={key}"));
        }
        let mut child = mariadb.spawn().unwrap();
        wait_for(&socket, &mut child);
        Self { child, directory }
    }

    pub(crate) fn mariadb_url(&self) -> String {
        format!(
            "mysql://root@localhost/dms?socket={}",
            self.directory.path().join("socket").display()
        )
    }
}

/// Runs until it succeeds: a socket may exist a moment before the server answers.
pub(crate) async fn patiently<T, F>(mut attempt: impl FnMut() -> F) -> T
where
    F: Future<Output = Result<T, sqlx::Error>>,
{
    let start = Instant::now();
    loop {
        match attempt().await {
            Ok(done) => return done,
            Err(error) => assert!(start.elapsed() < Duration::from_secs(30), "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
