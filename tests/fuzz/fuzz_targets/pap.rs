//! Feeds arbitrary bytes to what reads requests to the PAP issuer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| forecourt_fuzz::targets::pap(data));
