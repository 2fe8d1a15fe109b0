//! Feeds arbitrary bytes to what reads token forms.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| forecourt_fuzz::oauth::token_form(data));
