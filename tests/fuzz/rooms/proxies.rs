//! What the fuzzer puts into the headers of proxies. Compiled into the room, because its reader is private. Must
//! not answer anything: it panics when a promise is broken.
#![expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a broken promise ends the run"
)]

use std::collections::HashSet;
use std::net::IpAddr;

use http::{HeaderMap, HeaderName, HeaderValue};

use super::{Asker, Networks, asker};

/// Header lines: a stranger is never believed; what a trusted proxy says ends at the first address that is no
/// trusted proxy's, so that nothing put in front of it counts; networks hold their own first address.
pub fn headers(bytes: &[u8]) {
    let trusted = Networks::parse(["10.0.0.0/8", "2001:db8:1::/48"]).unwrap();
    let (mut said, mut embellished) = (HeaderMap::new(), HeaderMap::new());
    let mut front_of = HashSet::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let (Some(name), Some(value)) = (parts.next(), parts.next()) else {
            continue;
        };
        let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value))
        else {
            continue;
        };
        // before the first line that says anything
        let says = value.as_bytes().iter().any(|byte| !b" \t,".contains(byte));
        let first = says && front_of.insert(name.clone());
        let front: &[u8] = match name.as_str() {
            "forwarded" if first => b"for=198.51.100.9;proto=http,",
            "x-forwarded-for" if first => b"198.51.100.9,",
            _ => b"",
        };
        let more = HeaderValue::try_from([front, value.as_bytes()].concat()).unwrap();
        said.append(name.clone(), value);
        embellished.append(name, more);
    }
    let stranger: IpAddr = "192.0.2.1".parse().unwrap();
    for secure in [false, true] {
        let expected = Asker {
            address: stranger,
            secure,
        };
        assert_eq!(asker(&said, stranger, secure, &trusted), expected);
    }
    let proxy: IpAddr = "10.1.2.3".parse().unwrap();
    let found = asker(&said, proxy, false, &trusted);
    assert_eq!(found, asker(&said, proxy, false, &trusted));
    // a line that is not text is passed over, so nothing can be put in front of it
    let readable = said.values().all(|value| value.to_str().is_ok());
    if readable && found.address != proxy && !trusted.contain(found.address) {
        let with_more = asker(&embellished, proxy, false, &trusted);
        assert_eq!(
            with_more.address, found.address,
            "the front of the chain counts"
        );
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    for line in text.lines() {
        if let (Ok(networks), Some(first)) = (Networks::parse([line]), line.split('/').next()) {
            let held = first
                .parse::<IpAddr>()
                .is_ok_and(|first| networks.contain(first) || first.to_canonical() != first);
            assert!(held || line == "loopback", "{line}");
        }
    }
}
