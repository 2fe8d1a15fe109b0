//! Feeds arbitrary bytes to what reads client metadata and JWKS.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| forecourt_fuzz::oauth::documents(data));
