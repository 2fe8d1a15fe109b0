//! Feeds arbitrary bytes to what reads leads and ADF profiles.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| forecourt_fuzz::targets::adf(data));
