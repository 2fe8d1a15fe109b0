//! The one integration test binary.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    reason = "a test stops at the first surprise, in its own functions too"
)]

mod a2a_probes;
mod access;
mod aggregate;
mod app;
mod a2a_tck;
mod architecture;
mod attacks;
mod away;
mod call;
mod canaries;
mod cli;
mod collector;
mod discovery_http;
mod doctor;
mod dms;
mod documents;
mod mask;
mod edge;
mod fleet;
mod fuzz;
mod http2;
mod isolation;
mod lead_targets;
mod leads_cli;
mod mappings_check;
mod mappings_init;
mod mappings_init_api;
mod mappings_profile;
mod mcp_field_reports;
mod mcp_probes;
mod meaning;
mod operators;
mod otlp;
mod panics;
mod pap;
mod process;
mod reload;
mod sellers;
mod refresh_order;
mod memory;
mod mcp_rules;
mod server_limits;
mod setup;
mod tls;
mod traces;
mod website;
