//! Feeds arbitrary bytes to what reads DPoP proofs.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| forecourt_fuzz::oauth::proof(data));
