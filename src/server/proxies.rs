//! Who really asks, when a proxy stands in front: what a peer says of others is believed only of proxies
//! that the operator named. Must not look at anything but addresses.

use std::net::IpAddr;

use http::HeaderMap;

/// Addresses in CIDR form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Networks(Vec<(IpAddr, u8)>);

impl Networks {
    /// Reads `10.0.0.0/8`, `2001:db8::/32`, a single address, or `loopback`.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut networks = Vec::new();
        for text in texts {
            if text == "loopback" {
                networks.push((IpAddr::from([127, 0, 0, 0]), 8));
                networks.push((IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1_u16]), 128));
                continue;
            }
            networks.push(network(text).ok_or_else(|| text.to_owned())?);
        }
        Ok(Self(networks))
    }

    /// Whether one of the networks holds the address.
    pub fn contain(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0
            .iter()
            .any(|(network, bits)| same(*network, address, *bits))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn network(text: &str) -> Option<(IpAddr, u8)> {
    let (address, bits) = match text.split_once('/') {
        Some((address, bits)) => (address, Some(bits.parse().ok()?)),
        None => (text, None),
    };
    let address: IpAddr = address.parse().ok()?;
    let whole = if address.is_ipv4() { 32 } else { 128 };
    let bits = bits.unwrap_or(whole);
    (bits <= whole).then_some((address, bits))
}

fn same(network: IpAddr, address: IpAddr, bits: u8) -> bool {
    let kept = |whole: u32| whole.saturating_sub(u32::from(bits));
    match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            let differing = network.to_bits() ^ address.to_bits();
            differing.checked_shr(kept(32)).unwrap_or(0) == 0
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => {
            let differing = network.to_bits() ^ address.to_bits();
            differing.checked_shr(kept(128)).unwrap_or(0) == 0
        }
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
    }
}

/// What is known of the asking side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asker {
    pub(super) address: IpAddr,
    /// Whether the connection to it was encrypted, as far as it is known.
    pub(super) secure: bool,
}

/// The asking side behind trusted proxies: the last address of the chain that is no trusted proxy's. A
/// chain that cannot be read ends at the peer.
pub(super) fn asker(headers: &HeaderMap, peer: IpAddr, secure: bool, trusted: &Networks) -> Asker {
    let peer = peer.to_canonical();
    if !trusted.contain(peer) {
        return Asker {
            address: peer,
            secure,
        };
    }
    let forwarded = list(headers, "forwarded");
    let (chain, scheme): (Vec<Option<IpAddr>>, Option<String>) = if forwarded.is_empty() {
        let chain = list(headers, "x-forwarded-for");
        let scheme = list(headers, "x-forwarded-proto").pop();
        (chain.iter().map(|text| node(text)).collect(), scheme)
    } else {
        let chain = forwarded
            .iter()
            .map(|element| node(parameter(element, "for")?));
        let scheme = forwarded.last().and_then(|last| parameter(last, "proto"));
        (chain.collect(), scheme.map(str::to_owned))
    };
    let mut address = peer;
    for hop in chain.into_iter().rev() {
        let Some(hop) = hop else { break };
        address = hop;
        if !trusted.contain(hop) {
            break;
        }
    }
    let secure = secure || scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"));
    Asker { address, secure }
}

/// The comma-separated members of all lines of a header.
fn list(headers: &HeaderMap, name: &str) -> Vec<String> {
    let lines = headers.get_all(name).iter();
    let texts = lines.filter_map(|line| line.to_str().ok());
    texts
        .flat_map(|text| text.split(','))
        .map(|member| member.trim().to_owned())
        .filter(|member| !member.is_empty())
        .collect()
}

/// A parameter of an element of `Forwarded` (RFC 7239).
fn parameter<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    element.split(';').find_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        let known = key.trim().eq_ignore_ascii_case(name);
        known.then(|| value.trim().trim_matches('"'))
    })
}

/// An address, with or without port and brackets.
fn node(text: &str) -> Option<IpAddr> {
    let text = text.trim().trim_matches('"');
    let bare = text.trim_matches(['[', ']']);
    if let Ok(address) = bare.parse::<IpAddr>() {
        return Some(address.to_canonical());
    }
    let socket: std::net::SocketAddr = text.parse().ok()?;
    Some(socket.ip().to_canonical())
}

#[cfg(any(test, fuzzing))]
#[path = "../../tests/fuzz/rooms/proxies.rs"]
pub mod fuzz;

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(peer: &str, headers: &[(&'static str, &str)]) -> (String, bool) {
        let trusted = Networks::parse(["10.0.0.0/8", "2001:db8:1::/48", "loopback"]).unwrap();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let found = asker(&map, peer.parse().unwrap(), false, &trusted);
        (found.address.to_string(), found.secure)
    }

    #[test]
    fn only_a_trusted_proxy_is_believed() {
        let said = [
            ("x-forwarded-for", "203.0.113.7"),
            ("x-forwarded-proto", "https"),
        ];
        assert_eq!(asked("192.0.2.1", &said), ("192.0.2.1".to_owned(), false));
        assert_eq!(asked("10.1.2.3", &said), ("203.0.113.7".to_owned(), true));
        assert_eq!(
            asked("::ffff:10.1.2.3", &said),
            ("203.0.113.7".to_owned(), true)
        );
        assert_eq!(asked("127.0.0.1", &[]), ("127.0.0.1".to_owned(), false));
    }

    #[test]
    fn what_a_client_puts_in_front_of_the_chain_is_worth_nothing() {
        for chain in [
            "198.51.100.9, 203.0.113.7",
            "198.51.100.9, 203.0.113.7, 10.9.9.9",
            "garbage, 203.0.113.7",
        ] {
            let said = [("x-forwarded-for", chain)];
            assert_eq!(asked("10.1.2.3", &said).0, "203.0.113.7", "{chain}");
        }
        let said = [("x-forwarded-for", "203.0.113.7, unknown")];
        assert_eq!(asked("10.1.2.3", &said).0, "10.1.2.3");
    }

    #[test]
    fn the_standard_header_is_read_before_the_usual_ones() {
        let said = [
            (
                "forwarded",
                "for=198.51.100.9, for=\"[2001:db8:2::7]:443\";proto=https",
            ),
            ("forwarded", "for=10.2.2.2;proto=https"),
            ("x-forwarded-for", "192.0.2.77"),
        ];
        assert_eq!(asked("10.1.2.3", &said), ("2001:db8:2::7".to_owned(), true));
    }

    #[test]
    fn networks_are_read_exactly() {
        let networks = Networks::parse(["10.0.0.0/8", "::1", "0.0.0.0/0"]).unwrap();
        assert!(
            networks.contain("192.0.2.1".parse().unwrap()),
            "all of IPv4"
        );
        assert!(!networks.contain("2001:db8::1".parse().unwrap()));
        for wrong in ["10.0.0.0/33", "host", "10.0.0", "::/129", ""] {
            assert_eq!(Networks::parse([wrong]), Err(wrong.to_owned()));
        }
        assert!(Networks::default().is_empty());
    }

    #[test]
    fn the_fuzzers_corpus_breaks_no_promise() {
        let folder =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus/proxies");
        let mut seeds = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let seed = std::fs::read(entry.unwrap().path()).unwrap();
            seeds += 1;
            for at in 0..=seed.len() {
                fuzz::headers(&seed[..at]);
                fuzz::headers(&[&seed[..at], b"\n", &seed[at..]].concat());
            }
        }
        assert!(seeds > 2, "{seeds} seeds");
    }
}
