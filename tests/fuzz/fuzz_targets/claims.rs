//! Feeds arbitrary bytes to what reads access tokens of another issuer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| forecourt_fuzz::bearer::claims(data));
