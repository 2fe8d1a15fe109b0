//! Feeds arbitrary bytes to what reads MCP messages.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| forecourt_fuzz::targets::mcp(data));
