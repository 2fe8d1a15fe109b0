//! Feeds arbitrary bytes to what reads client and Session assertions.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| forecourt_fuzz::oauth::assertion(data));
