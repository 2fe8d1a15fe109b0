//! `[server]`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use super::super::raw;
use super::{Scope, Server};
use crate::server::Settings;

const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

pub(super) fn compile(scope: &mut Scope<'_>, raw: &raw::Server) -> Option<Server> {
    let default = Settings::default();
    let grace_ms = u64::try_from(default.shutdown_grace.as_millis()).unwrap_or(1_500);
    let grace_ms = scope.bounded(
        "shutdown_grace_ms",
        raw.shutdown_grace_ms,
        grace_ms,
        (0, 600_000),
    );
    let settings = Settings {
        max_connections: scope.bounded(
            "max_connections",
            raw.max_connections,
            default.max_connections,
            (1, 1_000_000),
        ),
        max_header_bytes: scope.bounded(
            "max_header_bytes",
            raw.max_header_bytes,
            default.max_header_bytes,
            (8_192, 1 << 20),
        ),
        max_body_bytes: scope.bounded(
            "max_body_bytes",
            raw.max_body_bytes,
            default.max_body_bytes,
            (16_384, 16 << 20),
        ),
        header_timeout: seconds(
            scope,
            "header_timeout_s",
            raw.header_timeout_s,
            default.header_timeout,
        ),
        body_timeout: seconds(
            scope,
            "body_timeout_s",
            raw.body_timeout_s,
            default.body_timeout,
        ),
        shutdown_grace: Duration::from_millis(grace_ms),
        requests_per_minute_per_address: raw.requests_per_minute_per_address,
    };
    let listen = match &raw.listen {
        None => DEFAULT_LISTEN,
        Some(text) => {
            if let Ok(address) = text.parse() {
                address
            } else {
                scope.fault(
                    "listen",
                    "is not an address and port",
                    "write e.g. 127.0.0.1:8080 or [::]:8080",
                );
                return None;
            }
        }
    };
    Some(Server { listen, settings })
}

fn seconds(scope: &mut Scope<'_>, key: &str, value: Option<u64>, default: Duration) -> Duration {
    Duration::from_secs(scope.bounded(key, value, default.as_secs(), (1, 3_600)))
}
