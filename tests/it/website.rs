//! A dealer's existing site behind us, served by nginx: what is not ours is its own.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Method;

use crate::collector::Collector;
use crate::http2;
use crate::process::{PATIENCE, Process, dealer, exchange, free, total};

/// A running nginx; ended with the value.
struct Nginx {
    address: SocketAddr,
    child: Child,
}

impl Nginx {
    /// Serves `/page`, echoes how it was asked at `/asked`, takes uploads at `/upload/`, and passes `/socket`
    /// to the WebSocket server at `socket`.
    fn start(folder: &Path, socket: SocketAddr) -> Self {
        let address = free();
        let root = folder.join("site");
        fs::create_dir_all(root.join("upload")).unwrap();
        fs::create_dir_all(folder.join("tmp")).unwrap();
        fs::write(root.join("page"), "the dealer's page").unwrap();
        let (root, tmp) = (root.display(), folder.join("tmp"));
        let tmp = tmp.display();
        let text = format!(
            "daemon off; worker_processes 1; pid {tmp}/pid; error_log {tmp}/error; user root;\n\
             events {{ worker_connections 64; }}\n\
             http {{ access_log off; client_body_temp_path {tmp}/body; proxy_temp_path {tmp}/proxy;\n\
             fastcgi_temp_path {tmp}/f; uwsgi_temp_path {tmp}/u; scgi_temp_path {tmp}/s;\n\
             server {{ listen {address}; root {root}; client_max_body_size 1g; keepalive_timeout 5;\n\
             location = /asked {{ default_type text/plain;\n\
               return 200 \"host=$host for=$http_x_forwarded_for proto=$http_x_forwarded_proto connection=$http_connection keep=$http_keep_alive secret=$http_x_hop te=$http_te real=$http_x_real_ip trace=$http_traceparent\"; }}\n\
             location /upload/ {{ dav_methods PUT; client_body_buffer_size 16k; }}\n\
             location = /socket {{ proxy_pass http://{socket}; proxy_http_version 1.1;\n\
               proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade; }}\n\
             }} }}\n"
        );
        let config = folder.join("nginx.conf");
        fs::write(&config, text).unwrap();
        let child = Command::new("nginx")
            .arg("-c")
            .arg(&config)
            .arg("-p")
            .arg(folder)
            .arg("-e")
            .arg(folder.join("tmp/start"))
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let mut nginx = Self { address, child };
        while TcpStream::connect(address).is_err() {
            assert!(nginx.child.try_wait().unwrap().is_none(), "nginx ended");
            std::thread::sleep(Duration::from_millis(10));
        }
        nginx
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let pid = self.child.id().to_string();
        // The master ends its workers.
        drop(Command::new("kill").args(["-QUIT", &pid]).status());
        drop(self.child.wait());
    }
}

/// A WebSocket server for one client at a time (RFC 6455) that echoes every frame, unmasked.
fn echo_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { return };
            std::thread::spawn(move || drop(echo(stream)));
        }
    });
    address
}

fn echo(mut stream: TcpStream) -> std::io::Result<()> {
    let head = read_head(&mut stream)?;
    let key = head
        .lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(name, _)| name.eq_ignore_ascii_case("sec-websocket-key"))
        .map_or("", |(_, key)| key);
    let accept = accept_of(key);
    write!(
        stream,
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
    )?;
    loop {
        let mut start = [0; 6];
        stream.read_exact(&mut start)?;
        let length = usize::from(start[1] & 0x7f);
        let mut payload = vec![0; length];
        stream.read_exact(&mut payload)?;
        for (index, byte) in payload.iter_mut().enumerate() {
            *byte ^= start[2 + index % 4];
        }
        stream.write_all(&[start[0], start[1] & 0x7f])?;
        stream.write_all(&payload)?;
    }
}

fn accept_of(key: &str) -> String {
    let text = format!("{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    let hash = aws_lc_rs::digest::digest(
        &aws_lc_rs::digest::SHA1_FOR_LEGACY_USE_ONLY,
        text.as_bytes(),
    );
    STANDARD.encode(hash)
}

fn read_head(stream: &mut TcpStream) -> std::io::Result<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

struct Rig {
    process: Process,
    _nginx: Nginx,
    _folder: tempfile::TempDir,
}

fn start() -> Rig {
    start_with("")
}

/// `more` goes into the configuration.
fn start_with(more: &str) -> Rig {
    let folder = tempfile::tempdir().unwrap();
    let nginx = Nginx::start(folder.path(), echo_server());
    let website = format!(
        "{}[deployments.a.website]\nupstream = \"http://{}\"\n{more}",
        dealer("a", "Dealer a"),
        nginx.address
    );
    let process = Process::start("", &[("conf/a.toml", website)]);
    Rig {
        process,
        _nginx: nginx,
        _folder: folder,
    }
}

#[test]
fn what_is_not_ours_is_the_websites_and_what_is_ours_stays_ours() {
    let rig = start();
    let get = |path: &str, more: &str| {
        let head =
            format!("GET {path} HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n{more}\r\n");
        exchange(rig.process.address, head.as_bytes())
    };
    let page = get("/page", "");
    assert_eq!(
        (page.status, page.text.as_str()),
        (200, "the dealer's page")
    );
    assert!(page.headers["server"].starts_with("nginx"));
    assert!(page.headers.contains_key("x-request-id"));
    assert_eq!(get("/nowhere", "").status, 404);
    assert_eq!(total(&rig.process.search("a.example")), 30);
    assert!(get("/llms.txt", "").text.contains("Dealer a"));
    let partial = get("/page", "Range: bytes=4-9\r\n");
    assert_eq!((partial.status, partial.text.as_str()), (206, "dealer"));

    // Nobody is believed, and what belongs to one connection stays there.
    let said = get(
        "/asked",
        "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\nX-Real-IP: 203.0.113.9\r\nKeep-Alive: timeout=5\r\n\
         X-Hop: secret\r\nTE: trailers\r\n",
    );
    let wanted = "host=a.example for=127.0.0.1 proto=http connection=close keep= secret=secret te= real= trace=";
    assert_eq!(said.text, wanted);
    let head = "GET /asked HTTP/1.1\r\nHost: a.example\r\nConnection: close, X-Hop\r\nX-Hop: secret\r\n\r\n";
    let said = exchange(rig.process.address, head.as_bytes());
    assert!(said.text.contains("secret= te"), "{}", said.text);
    // Another host has no website.
    let stranger = "GET /page HTTP/1.1\r\nHost: b.example\r\nConnection: close\r\n\r\n";
    assert_eq!(
        exchange(rig.process.address, stranger.as_bytes()).status,
        421
    );
}

#[test]
fn the_website_is_the_same_over_http_2() {
    let rig = start();
    let host = (rig.process.address, "a.example");
    let ask = |version, method: &Method, asked| http2::ask(host, version, method, asked);
    for (method, asked, status, said) in [
        (Method::GET, ("/page", ""), 200, "the dealer's page"),
        (Method::HEAD, ("/page", ""), 200, ""),
        (Method::PUT, ("/upload/a", "a photograph"), 201, ""),
        (Method::GET, ("/upload/a", ""), 200, "a photograph"),
        (Method::HEAD, ("/nowhere", ""), 404, ""),
    ] {
        // What is there is replaced the second time.
        let statuses = if status == 201 {
            [201, 204]
        } else {
            [status; 2]
        };
        for (version, status) in http2::BOTH.into_iter().zip(statuses) {
            let answer = ask(version, &method, asked);
            assert_eq!(
                (answer.status.as_u16(), &*answer.body),
                (status, said.as_bytes())
            );
            assert!(answer.header("server").unwrap().starts_with("nginx"));
            if asked.0 == "/page" {
                assert_eq!(answer.header("content-length"), Some("17"), "{method}");
            }
        }
    }
}

#[test]
fn the_website_stands_in_the_callers_trace_behind_us() {
    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    let head = format!(
        "GET /asked HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\
         traceparent: 00-{TRACE}-b7ad6b7169203331-01\r\n\r\n"
    );
    let traced = |rig: &Rig| {
        let said = exchange(rig.process.address, head.as_bytes());
        said.text.split_once("trace=").unwrap().1.to_owned()
    };
    // Without a collector what comes is passed on as it is.
    assert_eq!(traced(&start()), format!("00-{TRACE}-b7ad6b7169203331-01"));
    let collector = Collector::start(200);
    let mut rig = start_with(&collector.config());
    let passed_on = traced(&rig);
    let (trace, span) = passed_on
        .rsplit_once('-')
        .unwrap()
        .0
        .rsplit_once('-')
        .unwrap();
    assert_eq!(trace, format!("00-{TRACE}"));
    let ours = |collector: &Collector| {
        let spans = collector.spans();
        spans.into_iter().find(|span| span.text(5) == "website")
    };
    rig.process
        .wait_until("the call is told", |_| ours(&collector).is_some());
    let told = ours(&collector).unwrap();
    assert_eq!(told.hex(2), span, "the website's parent is our span");
    assert_eq!(told.number(6), Some(3), "a client's span");
}

#[test]
fn a_large_upload_streams_through_and_is_not_held_in_memory() {
    const BYTES: usize = 192 * 1024 * 1024;
    let rig = start();
    let resident = || {
        let status = fs::read_to_string(format!("/proc/{}/status", rig.process.pid())).unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("VmHWM"))
            .unwrap();
        let kib: String = line.chars().filter(char::is_ascii_digit).collect();
        kib.parse::<usize>().unwrap() * 1024
    };
    let before = resident();
    let mut stream = TcpStream::connect(rig.process.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "PUT /upload/large HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\nContent-Length: {BYTES}\r\n\r\n"
    )
    .unwrap();
    let chunk = vec![b'x'; 1024 * 1024];
    for _ in 0..BYTES / chunk.len() {
        stream.write_all(&chunk).unwrap();
    }
    let head = read_head(&mut stream).unwrap();
    assert!(head.starts_with("HTTP/1.1 201"), "{head}");
    let grown = resident().saturating_sub(before);
    assert!(grown < BYTES / 4, "{grown} bytes");

    // And back again.
    let get = "GET /upload/large HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n";
    let mut stream = TcpStream::connect(rig.process.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(get.as_bytes()).unwrap();
    let head = read_head(&mut stream).unwrap();
    assert!(head.contains(&format!("{BYTES}")), "{head}");
    let mut read = 0;
    let mut chunk = vec![0; 1024 * 1024];
    loop {
        match stream.read(&mut chunk).unwrap() {
            0 => break,
            count => read += count,
        }
    }
    assert_eq!(read, BYTES);
    let grown = resident().saturating_sub(before);
    assert!(grown < BYTES / 4, "{grown} bytes");
}

#[test]
fn a_websocket_goes_through() {
    let rig = start();
    let mut stream = TcpStream::connect(rig.process.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let key = "dGhlIHNhbXBsZSBub25jZQ==";
    write!(
        stream,
        "GET /socket HTTP/1.1\r\nHost: a.example\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"
    )
    .unwrap();
    let head = read_head(&mut stream).unwrap().to_lowercase();
    assert!(head.starts_with("http/1.1 101"), "{head}");
    assert!(head.contains("upgrade: websocket"), "{head}");
    assert!(head.contains(&accept_of(key).to_lowercase()), "{head}");
    for word in ["hello", "and", "again"] {
        let mask = [7, 11, 13, 17];
        let mut frame = vec![0x81, 0x80 | u8::try_from(word.len()).unwrap()];
        frame.extend_from_slice(&mask);
        let masked = word.bytes().zip(mask.iter().cycle());
        frame.extend(masked.map(|(byte, mask)| byte ^ mask));
        stream.write_all(&frame).unwrap();
        let mut answer = vec![0; 2 + word.len()];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer[2..], word.as_bytes());
    }
}

#[test]
fn a_website_that_is_away_or_silent_is_said_so() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    for (upstream, status) in [(free(), 502), (silent.local_addr().unwrap(), 504)] {
        let text = format!(
            "{}[deployments.a.website]\nupstream = \"http://{upstream}\"\ntimeout_s = 1\n",
            dealer("a", "Dealer a")
        );
        let process = Process::start("", &[("conf/a.toml", text)]);
        let head = b"GET /page HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n";
        let answer = exchange(process.address, head);
        assert_eq!(answer.status, status, "{answer:?}");
        assert_eq!(total(&process.search("a.example")), 30);
    }
}
