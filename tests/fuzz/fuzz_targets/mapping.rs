//! Feeds arbitrary bytes to what reads mapping files.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| forecourt_fuzz::targets::mapping(data));
