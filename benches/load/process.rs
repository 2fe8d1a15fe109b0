//! A server process under load: started, waited for, its processor time and memory read. Must not know
//! what it serves.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Linux counts processor time in hundredths of a second (`getconf CLK_TCK`).
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// A running server; it ends with this value.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
    /// From its start until it was ready.
    pub(crate) start: Duration,
}

impl Process {
    /// Starts `forecourt serve` and waits until it is ready.
    pub(crate) fn forecourt(config: &Path, port: u16) -> Self {
        let began = Instant::now();
        let child = Command::new(env!("CARGO_BIN_EXE_forecourt"))
            .args(["serve", "--config"])
            .arg(config)
            .env("FORECOURT_LOG", "error")
            .stdout(Stdio::null())
            .spawn()
            .expect("the product starts");
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let mut process = Self {
            child,
            address,
            start: Duration::ZERO,
        };
        while !ready(address) {
            if let Ok(Some(status)) = process.child.try_wait() {
                panic!("the product ended: {status}");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        process.start = began.elapsed();
        process
    }

    /// Starts this program again as the floor: a bare server that returns the answers in `folder`.
    pub(crate) fn floor(folder: &Path) -> Self {
        let began = Instant::now();
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .arg("floor")
            .arg(folder)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the floor starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("its output");
        BufReader::new(stdout)
            .read_line(&mut line)
            .expect("its address");
        Self {
            child,
            address: line.trim().parse().expect("an address"),
            start: began.elapsed(),
        }
    }

    /// Starts any other server, its port and the dealer's database in place of `{port}` and `{database}`.
    pub(crate) fn other(command: &str, database: &Path) -> Self {
        let began = Instant::now();
        let port = free_port();
        let words = command.split_whitespace().map(|word| {
            word.replace("{port}", &port.to_string())
                .replace("{database}", &database.display().to_string())
        });
        let words: Vec<String> = words.collect();
        let (program, rest) = words.split_first().expect("a command");
        let child = Command::new(program)
            .args(rest)
            .stdout(Stdio::null())
            .spawn()
            .expect("the other server starts");
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let mut process = Self {
            child,
            address,
            start: Duration::ZERO,
        };
        while std::net::TcpStream::connect(address).is_err() {
            if let Ok(Some(status)) = process.child.try_wait() {
                panic!("{command} ended: {status}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        process.start = began.elapsed();
        process
    }

    /// Processor time that it used so far.
    pub(crate) fn cpu(&self) -> Duration {
        let stat =
            fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        let fields = stat.rsplit(')').next().unwrap_or_default();
        let ticks = fields.split_whitespace().skip(11).take(2);
        let ticks: u32 = ticks.filter_map(|field| field.parse::<u32>().ok()).sum();
        TICK * ticks
    }

    /// Its resident memory in MB, now and at most.
    pub(crate) fn memory_mb(&self) -> (u64, u64) {
        let path = format!("/proc/{}/status", self.child.id());
        let status = fs::read_to_string(path).unwrap_or_default();
        let read = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name));
            let number = line.and_then(|line| line.split_whitespace().nth(1));
            number
                .and_then(|number| number.parse::<u64>().ok())
                .unwrap_or(0)
                / 1024
        };
        (read("VmRSS:"), read("VmHWM:"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A port that is free now.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its address").port()
}

fn ready(address: SocketAddr) -> bool {
    use std::io::{Read as _, Write as _};
    let Ok(mut stream) = std::net::TcpStream::connect(address) else {
        return false;
    };
    let request = format!("GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let mut answer = String::new();
    stream.write_all(request.as_bytes()).is_ok()
        && stream.read_to_string(&mut answer).is_ok()
        && answer.starts_with("HTTP/1.1 200")
}
