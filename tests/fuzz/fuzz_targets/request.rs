//! Feeds arbitrary bytes to what reads requests.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[allow(dead_code, unused_imports)]
#[path = "../../../src/contract/mod.rs"]
mod contract;
#[path = "../targets/request.rs"]
mod target;

fuzz_target!(|data: &[u8]| target::request(data));
