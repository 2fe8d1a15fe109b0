//! The configuration changes under load: what is valid is taken, what is not changes nothing, and no request
//! is lost.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::fleet::{Answer, feed};
use crate::process::{PATIENCE, Process, dealer, search_request, total};

/// Clients that search without pause, each over one connection that it keeps, until they are told to end.
struct Load {
    ends: Arc<AtomicBool>,
    good: Arc<AtomicU64>,
    threads: Vec<std::thread::JoinHandle<Vec<String>>>,
}

impl Load {
    fn start(process: &Process) -> Self {
        let (ends, good) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let threads = (0..4)
            .map(|_| {
                let (ends, good) = (Arc::clone(&ends), Arc::clone(&good));
                let address = process.address;
                std::thread::spawn(move || {
                    let mut faults = Vec::new();
                    let mut stream = TcpStream::connect(address).unwrap();
                    stream.set_read_timeout(Some(PATIENCE)).unwrap();
                    while !ends.load(Ordering::Relaxed) {
                        match once(&mut stream) {
                            Ok(()) => drop(good.fetch_add(1, Ordering::Relaxed)),
                            Err(fault) => {
                                faults.push(fault);
                                break;
                            }
                        }
                    }
                    faults
                })
            })
            .collect();
        Self {
            ends,
            good,
            threads,
        }
    }

    fn good(&self) -> u64 {
        self.good.load(Ordering::Relaxed)
    }

    /// Every fault that a client met.
    fn end(self) -> Vec<String> {
        self.ends.store(true, Ordering::Relaxed);
        let threads = self.threads.into_iter();
        threads.flat_map(|thread| thread.join().unwrap()).collect()
    }
}

/// One request over a connection that stays.
fn once(stream: &mut TcpStream) -> Result<(), String> {
    let request = String::from_utf8(search_request("a.example")).unwrap();
    let request = request.replace("Connection: close\r\n", "");
    let failed = |error: std::io::Error| error.to_string();
    stream.write_all(request.as_bytes()).map_err(failed)?;
    let mut bytes = Vec::new();
    let mut chunk = [0; 16 * 1024];
    loop {
        let read = stream.read(&mut chunk).map_err(failed)?;
        if read == 0 {
            return Err("the connection was closed".to_owned());
        }
        bytes.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let answer = Answer::parse(&text);
        let length = answer.headers.get("content-length");
        let Some(length) = length.and_then(|length| length.parse::<usize>().ok()) else {
            continue;
        };
        if answer.text.len() >= length {
            let fine = answer.status == 200 && answer.text.contains("\"total\":30");
            return if fine { Ok(()) } else { Err(text) };
        }
    }
}

fn reloads(process: &Process, result: &str) -> u64 {
    let text = process.admin("/metrics").text;
    let name = format!("forecourt_reloads_total{{result=\"{result}\"}} ");
    let line = text.lines().find_map(|line| line.strip_prefix(&name));
    line.unwrap().parse().unwrap()
}

/// How often a deployment's inventory was read.
fn readings(process: &Process, deployment: &str) -> usize {
    let published = process.log();
    published
        .lines()
        .filter(|line| line.contains("inventory published"))
        .filter(|line| line.contains(&format!("\"deployment\":\"{deployment}\"")))
        .count()
}

#[test]
fn a_reload_under_load_loses_no_request_and_keeps_what_has_not_changed() {
    let mut process = Process::start("", &[]);
    let load = Load::start(&process);
    process.wait_until("requests are answered", |_| load.good() > 20);

    // Another deployment comes, by signal.
    let b = dealer("b", "Dealer b");
    fs::write(process.folder.join("b.csv"), feed("b", 7)).unwrap();
    fs::write(process.folder.join("conf/b.toml"), &b).unwrap();
    process.signal("-HUP");
    process.wait_until("b is served", |process| {
        process.search("b.example").status == 200
    });
    assert_eq!(total(&process.search("b.example")), 7);

    // What is wrong is not taken.
    let done = reloads(&process, "done");
    fs::write(
        process.folder.join("conf/b.toml"),
        "[deployments.b]\ndomian = 1",
    )
    .unwrap();
    process.signal("-HUP");
    process.wait_until("it is refused", |process| reloads(process, "refused") > 0);
    assert_eq!(total(&process.search("b.example")), 7);
    assert!(process.log().contains("did you mean `domain`?"));
    assert_eq!(reloads(&process, "done"), done);

    // A change of b's profile alone keeps its snapshot out of nothing else's way, and a's deployment whole.
    let limited = format!("{b}[deployments.b.limits]\nrequests_per_minute = 1\n");
    fs::write(process.folder.join("conf/b.toml"), limited).unwrap();
    process.wait_until("b is limited", |process| {
        process.search("b.example").status == 429
    });
    assert_eq!(readings(&process, "a"), 1, "a was never read again");
    assert_eq!(readings(&process, "b"), 1, "b's snapshot survived");

    // It goes again.
    fs::remove_file(process.folder.join("conf/b.toml")).unwrap();
    process.wait_until("b is gone", |process| {
        process.search("b.example").status == 421
    });
    let before = load.good();
    process.wait_until("requests go on", |_| load.good() > before + 20);
    assert_eq!(load.end(), Vec::<String>::new());
}

#[test]
fn what_only_a_restart_takes_is_named_and_the_rest_is_taken() {
    let mut process = Process::start("max_body_bytes = 300000", &[]);
    let more =
        "[server]\nmax_body_bytes = 400000\nhsts_s = 5\n[telemetry.otlp]\ntrace_share = 0.5\n";
    fs::write(process.folder.join("conf/more.toml"), more).unwrap();
    process.signal("-HUP");
    process.wait_until("it is taken", |process| reloads(process, "done") >= 1);
    let log = process.log();
    let keys = "\"keys\":\"server.hsts_s, server.max_body_bytes, telemetry.otlp.trace_share\"";
    assert!(log.contains(keys), "{log}");
}

// AAP-492
#[test]
fn a_reload_takes_no_inventory_from_a_source_that_is_broken_just_then() {
    let files = [("b.csv", feed("b", 5))];
    let mut process = Process::start_with("", &files, |folder| {
        fs::write(folder.join("conf/b.toml"), dealer("b", "Dealer b")).unwrap();
    });
    assert_eq!(total(&process.search("b.example")), 5);
    for (broken, n) in [
        ("ID,STOCK,VIN,YEAR,MAKE,MODEL,PLACE,CHANGED,PRICE\n", 1),
        ("Please log in\n", 2),
        ("", 3),
    ] {
        fs::write(process.folder.join("b.csv"), broken).unwrap();
        // the profile is part of what an inventory is made of
        let text = dealer("b", &format!("Renamed {n}"));
        fs::write(process.folder.join("conf/b.toml"), text).unwrap();
        process.signal("-HUP");
        process.wait_until("it is refused", |process| reloads(process, "refused") >= n);
        assert_eq!(total(&process.search("b.example")), 5, "{broken:?}");
    }
    fs::write(process.folder.join("b.csv"), feed("b", 4)).unwrap();
    process.signal("-HUP");
    process.wait_until("it is taken", |process| {
        total(&process.search("b.example")) == 4
    });
}

// AAP-357
#[test]
fn a_config_map_that_swaps_its_link_is_noticed() {
    let text = |name: &str| dealer("b", name);
    let mut process = Process::start_with("", &[("b.csv", feed("b", 3))], |folder| {
        // As Kubernetes lays a ConfigMap out: the file is a link into ..data, and ..data is swapped.
        for (version, name) in [("..one", "First name"), ("..two", "Second name")] {
            fs::create_dir_all(folder.join("conf").join(version)).unwrap();
            fs::write(folder.join("conf").join(version).join("b.toml"), text(name)).unwrap();
        }
        symlink("..one", folder.join("conf/..data")).unwrap();
        symlink("..data/b.toml", folder.join("conf/b.toml")).unwrap();
    });
    let page = |process: &Process| {
        let head = b"GET /llms.txt HTTP/1.1\r\nHost: b.example\r\nConnection: close\r\n\r\n";
        crate::process::exchange(process.address, head).text
    };
    assert!(page(&process).contains("First name"));
    symlink("..two", process.folder.join("conf/..new")).unwrap();
    fs::rename(
        process.folder.join("conf/..new"),
        process.folder.join("conf/..data"),
    )
    .unwrap();
    process.wait_until("the second name is told", |process| {
        page(process).contains("Second name")
    });
    let told = crate::process::call(&process, "b.example", "aap_dealer_information");
    assert_eq!(
        told["data"]["name"], "Second name",
        "the profile is as new as the page"
    );
    assert_eq!(total(&process.search("b.example")), 3);
}
