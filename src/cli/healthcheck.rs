//! `forecourt healthcheck`: asks a running process on this machine whether it can serve; for containers
//! that have no other program to ask with.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::failure::{Exit, Failure};
use super::output::Output;
use crate::config::{Config, Sources};

const PATIENCE: Duration = Duration::from_secs(5);
/// The status line is all that counts.
const MAX_ANSWER_BYTES: u64 = 4096;

pub(super) async fn run(
    address: Option<SocketAddr>,
    sources: &Sources,
    output: Output,
) -> Result<Exit, Failure> {
    let address = if let Some(address) = address {
        address
    } else {
        let server = Config::load(sources)?.server;
        if server.tls.is_some() && server.admin_listen.is_none() {
            let words = "this asks over plain HTTP, and server.listen speaks TLS";
            let hint = "set server.admin_listen to an address that strangers cannot reach";
            return Err(Failure::new(Exit::Config, words).hint(hint));
        }
        reachable(server.admin_listen.unwrap_or(server.listen))
    };
    let away = |words: String| Failure::new(Exit::Unavailable, format!("{address}: {words}"));
    let answer = tokio::time::timeout(PATIENCE, ask(address))
        .await
        .map_err(|_| away("no answer in time".to_owned()))?
        .map_err(|error| away(error.to_string()))?;
    let status = answer.lines().next().unwrap_or_default().to_owned();
    if !status.starts_with("HTTP/1.1 200") {
        return Err(away(format!("not ready: {status}")));
    }
    output.print("ready", &json!({ "schema_version": 1, "ready": true }))?;
    Ok(Exit::Fine)
}

/// Where a process that listens on all addresses is found.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip @ (IpAddr::V4(_) | IpAddr::V6(_)) => ip,
    };
    SocketAddr::new(ip, listen.port())
}

async fn ask(address: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream
        .write_all(
            format!("GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
                .as_bytes(),
        )
        .await?;
    let mut answer = Vec::new();
    stream
        .take(MAX_ANSWER_BYTES)
        .read_to_end(&mut answer)
        .await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
