//! Feeds arbitrary bytes to what reads sealed tokens.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| forecourt_fuzz::oauth::sealed(data));
