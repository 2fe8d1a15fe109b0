//! Feeds arbitrary bytes to what reads rows of a source.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| forecourt_fuzz::targets::rows(data));
