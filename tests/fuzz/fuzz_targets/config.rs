//! Feeds arbitrary bytes to what reads configuration files.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| forecourt_fuzz::targets::config(data));
