//! Feeds arbitrary bytes to what reads requests.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[allow(dead_code, unused_imports)]
#[path = "../../../src/contract/mod.rs"]
mod contract;
#[path = "../targets.rs"]
mod targets;

fuzz_target!(|data: &[u8]| targets::request(data));
