//! Feeds arbitrary bytes to what reads cursors.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| forecourt_fuzz::targets::cursor(data));
