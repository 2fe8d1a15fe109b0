//! Which addresses a connection may be opened to: the special-use tables of RFC 6890 and the IANA
//! registries, written out because the standard library's tests leave most of them out. Pure.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Reach;

/// What an address is, as far as reach is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Globally reachable unicast.
    Public,
    /// Loopback, RFC 1918, carrier-grade NAT and unique-local: where a dealer's own systems live.
    Site,
    /// Link-local (cloud metadata), multicast, documentation, transition and reserved ranges.
    Special,
}

const fn v4(a: u8, b: u8, c: u8, d: u8) -> u32 {
    Ipv4Addr::new(a, b, c, d).to_bits()
}

/// First address, prefix length, kind. The first match counts.
const V4: &[(u32, u32, Kind)] = &[
    (v4(0, 0, 0, 0), 8, Kind::Special),
    (v4(10, 0, 0, 0), 8, Kind::Site),
    (v4(100, 64, 0, 0), 10, Kind::Site),
    (v4(127, 0, 0, 0), 8, Kind::Site),
    (v4(169, 254, 0, 0), 16, Kind::Special),
    (v4(172, 16, 0, 0), 12, Kind::Site),
    (v4(192, 0, 0, 0), 24, Kind::Special),
    (v4(192, 0, 2, 0), 24, Kind::Special),
    (v4(192, 88, 99, 0), 24, Kind::Special),
    (v4(192, 168, 0, 0), 16, Kind::Site),
    (v4(198, 18, 0, 0), 15, Kind::Special),
    (v4(198, 51, 100, 0), 24, Kind::Special),
    (v4(203, 0, 113, 0), 24, Kind::Special),
    (v4(224, 0, 0, 0), 4, Kind::Special),
    (v4(240, 0, 0, 0), 4, Kind::Special),
];

const fn v6(s: [u16; 8]) -> u128 {
    Ipv6Addr::new(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]).to_bits()
}

/// The NAT64 well-known prefix (RFC 6052): judged by the IPv4 address in its last 32 bits, because
/// hosts without IPv4 reach every public IPv4 name through it.
const NAT64: (u128, u32) = (v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0]), 96);

/// First address, prefix length, kind. The first match counts; what none matches is reserved.
const V6: &[(u128, u32, Kind)] = &[
    (v6([0, 0, 0, 0, 0, 0, 0, 1]), 128, Kind::Site),
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0]), 7, Kind::Site),
    // IETF assignments: Teredo, benchmarking, ORCHID
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0]), 23, Kind::Special),
    (v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0]), 32, Kind::Special),
    // 6to4 carries an IPv4 address of the sender's choice
    (v6([0x2002, 0, 0, 0, 0, 0, 0, 0]), 16, Kind::Special),
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0]), 20, Kind::Special),
    (v6([0x2000, 0, 0, 0, 0, 0, 0, 0]), 3, Kind::Public),
];

/// Classifies an address, looking through IPv4-mapped and NAT64 forms.
pub(super) fn kind(address: IpAddr) -> Kind {
    match address.to_canonical() {
        IpAddr::V4(address) => kind_v4(address.to_bits()),
        IpAddr::V6(address) => kind_v6(address.to_bits()),
    }
}

fn kind_v4(bits: u32) -> Kind {
    V4.iter()
        .find(|(first, prefix, _)| (bits ^ first) >> (32 - prefix) == 0)
        .map_or(Kind::Public, |(_, _, kind)| *kind)
}

fn kind_v6(bits: u128) -> Kind {
    if (bits ^ NAT64.0) >> (128 - NAT64.1) == 0 {
        let [.., a, b, c, d] = bits.to_be_bytes();
        return match kind_v4(v4(a, b, c, d)) {
            Kind::Public => Kind::Public,
            // a private address behind somebody's translator is nobody's own site
            Kind::Site | Kind::Special => Kind::Special,
        };
    }
    V6.iter()
        .find(|(first, prefix, _)| (bits ^ first) >> (128 - prefix) == 0)
        .map_or(Kind::Special, |(_, _, kind)| *kind)
}

/// Whether a connection of this reach may go to the address.
pub(super) fn permitted(reach: Reach, address: IpAddr) -> bool {
    match (reach, kind(address)) {
        (Reach::Any, _) | (_, Kind::Public) | (Reach::Site, Kind::Site) => true,
        // written as such, and not inside another form of address
        (Reach::Loopback, Kind::Site) => address.is_loopback(),
        (Reach::Public, Kind::Site)
        | (Reach::Public | Reach::Loopback | Reach::Site, Kind::Special) => false,
    }
}
