//! What the fuzzer runs, and `cargo test` runs again over the corpora: one function a decoder, over bytes. Must not
//! answer anything: a target panics when a promise is broken. Those of private readers lie in `../rooms`.

mod adf;
mod config;
mod cursor;
mod feed;
mod mapping;
mod messages;
mod pap;
mod request;
mod shop;

use forecourt::contract;

pub use adf::adf;
pub use config::config;
pub use cursor::cursor;
pub use feed::feed;
pub use mapping::{mapping, rows};
pub use messages::{a2a, mcp};
pub use pap::pap;
pub use request::request;

/// What stands between the two halves of an input that has two.
const BETWEEN: &[u8] = b"\n%%%\n";

/// The two halves of an input, where it has two.
fn halves(bytes: &[u8]) -> (&[u8], Option<&[u8]>) {
    let at = bytes
        .windows(BETWEEN.len())
        .position(|window| window == BETWEEN);
    match at {
        Some(at) => (&bytes[..at], Some(&bytes[at + BETWEEN.len()..])),
        None => (bytes, None),
    }
}
