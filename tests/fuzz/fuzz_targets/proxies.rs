//! Feeds arbitrary bytes to what reads proxies' headers.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| forecourt_fuzz::proxies::headers(data));
