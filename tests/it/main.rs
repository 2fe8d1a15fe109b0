//! The one integration test binary.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    reason = "a test stops at the first surprise, in its own functions too"
)]

mod app;
mod a2a_probes;
mod access;
mod aggregate;
mod a2a_tck;
mod architecture;
mod call;
mod cli;
mod discovery_http;
mod doctor;
mod mask;
mod edge;
mod fleet;
mod fuzz;
mod isolation;
mod meaning;
mod mcp_probes;
mod mcp_field_reports;
mod pap;
mod sellers;
mod mcp_rules;
mod server_limits;
mod traces;
