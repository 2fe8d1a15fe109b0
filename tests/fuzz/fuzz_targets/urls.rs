//! Feeds arbitrary bytes to what reads URLs.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| forecourt_fuzz::oauth::urls(data));
