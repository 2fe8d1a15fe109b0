//! What a hostile peer tries: slow and large heads, many idle connections, streams reset as fast as they are
//! opened. The others go on being served, in bounded memory.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Instant;

use crate::process::{PATIENCE, Process, total};

fn resident(process: &Process) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", process.pid())).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS"))
        .unwrap();
    let kib: String = line.chars().filter(char::is_ascii_digit).collect();
    kib.parse::<usize>().unwrap() * 1024
}

fn connect(process: &Process) -> TcpStream {
    let stream = TcpStream::connect(process.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn sample(process: &Process, series: &str) -> f64 {
    let text = process.admin("/metrics").text;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{series}: {text}"))
        .parse()
        .unwrap()
}

#[test]
fn slow_heads_are_let_go_and_others_are_served_meanwhile() {
    let mut process = Process::start("header_timeout_s = 1", &[]);
    let mut slow: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut stream = connect(&process);
            stream
                .write_all(b"POST /mcp HTTP/1.1\r\nHost: a.ex")
                .unwrap();
            stream
        })
        .collect();
    assert_eq!(total(&process.search("a.example")), 30);
    // A byte now and then does not buy time.
    let began = Instant::now();
    for stream in &mut slow {
        let mut rest = Vec::new();
        drop(stream.write_all(b"a"));
        // A reset is as good an end as a close.
        drop(stream.read_to_end(&mut rest));
    }
    assert!(began.elapsed() < PATIENCE);
    process.wait_until("all are gone", |process| {
        sample(process, "forecourt_connections") < 2.0
    });
}

#[test]
fn many_idle_connections_cost_little_and_end() {
    const MANY: u16 = 2000;
    let mut process = Process::start("header_timeout_s = 20\nmax_connections = 4000", &[]);
    let before = resident(&process);
    let idle: Vec<TcpStream> = (0..MANY).map(|_| connect(&process)).collect();
    process.wait_until("all are taken", |process| {
        sample(process, "forecourt_connections") >= f64::from(MANY)
    });
    let each = resident(&process).saturating_sub(before) / usize::from(MANY);
    assert!(each < 32 * 1024, "{each} bytes for each");
    assert_eq!(total(&process.search("a.example")), 30);
    drop(idle);
    process.wait_until("all are gone", |process| {
        sample(process, "forecourt_connections") < 2.0
    });
}

#[test]
fn a_head_of_any_size_is_refused_early() {
    let process = Process::start("", &[]);
    for head in [
        format!(
            "GET / HTTP/1.1\r\nHost: a.example\r\nX: {}\r\n\r\n",
            "x".repeat(1 << 20)
        ),
        format!(
            "GET /{} HTTP/1.1\r\nHost: a.example\r\n\r\n",
            "x".repeat(1 << 20)
        ),
        format!(
            "GET / HTTP/1.1\r\nHost: a.example\r\n{}\r\n",
            "X: y\r\n".repeat(10_000)
        ),
    ] {
        let mut stream = connect(&process);
        // It may be refused before all is sent.
        drop(stream.write_all(head.as_bytes()));
        let mut answer = [0; 12];
        match stream.read_exact(&mut answer) {
            Ok(()) => {
                let answer = String::from_utf8_lossy(&answer).into_owned();
                let refused = ["HTTP/1.1 431", "HTTP/1.1 414", "HTTP/1.1 400"];
                assert!(refused.contains(&answer.as_str()), "{answer}");
            }
            // What it had not read yet resets the connection.
            Err(error) => assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock),
        }
    }
    assert_eq!(total(&process.search("a.example")), 30);
}

/// An HTTP/2 frame.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut bytes = length[1..].to_vec();
    bytes.extend_from_slice(&[kind, flags]);
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// Opens HTTP/2 with empty settings.
fn h2(process: &Process) -> TcpStream {
    let mut stream = connect(process);
    stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        .unwrap();
    stream.write_all(&frame(4, 0, 0, &[])).unwrap();
    stream
}

/// `GET /llms.txt` for a.example, in HPACK without the table.
fn headers() -> Vec<u8> {
    let mut block = vec![0x82, 0x86];
    for (index, value) in [(4_u8, "/llms.txt"), (1, "a.example")] {
        block.push(index);
        block.push(u8::try_from(value.len()).unwrap());
        block.extend_from_slice(value.as_bytes());
    }
    block
}

/// Whether the peer said goodbye (GOAWAY) or simply closed, within the patience.
fn is_cut_off(stream: &mut TcpStream) -> bool {
    let began = Instant::now();
    loop {
        let mut head = [0; 9];
        if stream.read_exact(&mut head).is_err() {
            return true;
        }
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        if stream.read_exact(&mut payload).is_err() || head[3] == 7 {
            return true;
        }
        assert!(began.elapsed() < PATIENCE);
    }
}

#[test]
fn streams_reset_as_fast_as_they_are_opened_end_the_connection() {
    let process = Process::start("", &[]);
    let before = resident(&process);
    let mut stream = h2(&process);
    let mut sent = 0;
    for id in (1..200_000_u32).step_by(2) {
        let mut bytes = frame(1, 5, id, &headers());
        bytes.extend(frame(3, 0, id, &8_u32.to_be_bytes()));
        if stream.write_all(&bytes).is_err() {
            break;
        }
        sent += 1;
    }
    assert!(is_cut_off(&mut stream), "after {sent}");
    assert!(sent < 99_999, "it was never cut off");
    let grown = resident(&process).saturating_sub(before);
    assert!(grown < 64 * 1024 * 1024, "{grown} bytes");
    assert_eq!(total(&process.search("a.example")), 30);
}

#[test]
fn a_head_that_never_ends_over_h2_ends_the_connection() {
    let process = Process::start("", &[]);
    let before = resident(&process);
    let mut stream = h2(&process);
    // HEADERS without END_HEADERS, then CONTINUATION for ever (CVE-2024-27316 and its kin).
    stream.write_all(&frame(1, 1, 1, &headers())).unwrap();
    let mut junk = vec![0x00, 0x03, b'x', b'-', b'y', 0x7f, 0x80, 0x7f];
    junk.extend(std::iter::repeat_n(b'z', 16_000));
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        if stream.write_all(&frame(9, 0, 1, &junk[..16_000])).is_err() {
            break;
        }
    }
    assert!(began.elapsed() < PATIENCE, "it was never cut off");
    let grown = resident(&process).saturating_sub(before);
    assert!(grown < 64 * 1024 * 1024, "{grown} bytes");
    assert_eq!(total(&process.search("a.example")), 30);
}

#[test]
fn a_body_that_unpacks_to_more_is_not_unpacked() {
    let process = Process::start("", &[]);
    let head = "POST /mcp HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\nContent-Type: application/json\r\n\
                Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\u{1f}\u{8}\0\0";
    let answer = crate::process::exchange(process.address, head.as_bytes());
    assert!((400..500).contains(&answer.status), "{answer:?}");
}
