//! Feeds arbitrary bytes to what reads A2A messages.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| forecourt_fuzz::targets::a2a(data));
