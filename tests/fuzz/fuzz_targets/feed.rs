//! Feeds arbitrary bytes to what reads feed files.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| forecourt_fuzz::targets::feed(data));
