//! URLs as PAP compares them: `client_id` and issuer as plain strings, `htu` after RFC 3986 syntax-based
//! and scheme-based normalisation (RFC 9449 section 4.3). Pure.

use std::net::Ipv6Addr;

/// `htu` without query and fragment, normalised; `None` for anything but an absolute http(s) URL.
pub(super) fn normal_htu(url: &str) -> Option<String> {
    if !url.bytes().all(|b| b.is_ascii_graphic() && b != b'\\') {
        return None;
    }
    let url = url.split(['?', '#']).next()?;
    let (scheme, rest) = url.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let default_port = match scheme.as_str() {
        "https" => "443",
        "http" => "80",
        _ => return None,
    };
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at_checked(at)?,
        None => (rest, ""),
    };
    let authority = authority.to_ascii_lowercase();
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => (host, port),
        _ => (authority.as_str(), ""),
    };
    if !is_host(host) || host.contains('%') {
        return None;
    }
    let port = if port.is_empty() || port == default_port {
        String::new()
    } else {
        format!(":{port}")
    };
    let path = without_dot_segments(&normal_escapes(path)?);
    Some(format!("{scheme}://{host}{port}{path}"))
}

/// Upper-case escapes; those of unreserved characters are decoded.
fn normal_escapes(path: &str) -> Option<String> {
    let mut normal = String::with_capacity(path.len());
    let mut bytes = path.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            normal.push(char::from(byte));
            continue;
        }
        let high = char::from(bytes.next()?).to_digit(16)?;
        let low = char::from(bytes.next()?).to_digit(16)?;
        let byte = u8::try_from(high * 16 + low).ok()?;
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            normal.push(char::from(byte));
        } else {
            normal.push('%');
            normal.extend([high, low].map(hex_digit));
        }
    }
    Some(normal)
}

fn hex_digit(digit: u32) -> char {
    char::from_digit(digit, 16).map_or('0', |digit| digit.to_ascii_uppercase())
}

/// RFC 3986 section 5.2.4; an empty path is `/`.
fn without_dot_segments(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." if last => kept.push(""),
            "." => {}
            ".." => {
                kept.pop();
                if last {
                    kept.push("");
                }
            }
            _ => kept.push(segment),
        }
    }
    format!("/{}", kept.join("/"))
}

/// The host, in lower case, of an https URL without user information and fragment.
pub(super) fn https_host(url: &str) -> Option<String> {
    if !url.bytes().all(|b| b.is_ascii_graphic() && b != b'\\') || url.contains('#') {
        return None;
    }
    let rest = url.strip_prefix("https://")?;
    let authority = rest.split(['/', '?']).next()?;
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => authority,
    };
    is_host(host).then(|| host.to_ascii_lowercase())
}

/// A name without empty labels (but for the root's, at its end), or an IPv6 address in its brackets. What is left of
/// a wrong port is neither: two readers would see two hosts in it.
fn is_host(host: &str) -> bool {
    if let Some(rest) = host.strip_prefix('[') {
        let address = rest.strip_suffix(']');
        return address.is_some_and(|address| address.parse::<Ipv6Addr>().is_ok());
    }
    let name = host.strip_suffix('.').unwrap_or(host);
    name.split('.').all(|label| !label.is_empty()) && !host.contains([':', '@', '[', ']'])
}

/// What a `client_id` must look like before anything is fetched for it.
pub(super) fn client_id_shape(url: &str) -> bool {
    let path = url
        .strip_prefix("https://")
        .and_then(|rest| rest.find('/').and_then(|at| rest.split_at_checked(at)))
        .map(|(_, path)| path.split('?').next().unwrap_or(path));
    let dotted = |segment: &str| {
        let segment = segment.to_ascii_lowercase().replace("%2e", ".");
        segment == "." || segment == ".."
    };
    url.len() <= 2048
        && https_host(url).is_some()
        && path.is_some_and(|path| path.len() > 1 && !path.split('/').any(dotted))
}

/// A redirect URI that a client on `host` may register: its own https host, or a loopback literal with
/// a port (RFC 8252 section 7.3, AAP-226).
pub(super) fn redirect_shape(url: &str, host: &str) -> bool {
    if https_host(url).is_some_and(|own| own == host) {
        return true;
    }
    let rest = ["http://127.0.0.1", "http://[::1]"]
        .iter()
        .find_map(|origin| url.strip_prefix(origin));
    rest.is_some_and(|rest| {
        let after_port = rest.strip_prefix(':').map_or(rest, |port| {
            port.trim_start_matches(|c: char| c.is_ascii_digit())
        });
        after_port.starts_with('/') && !after_port.contains('#')
    })
}
