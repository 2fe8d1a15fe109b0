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
mod architecture;
mod call;
mod cli;
mod edge;
mod fleet;
mod fuzz;
mod isolation;
mod meaning;
mod mappings_check;
mod mappings_init;
mod mappings_profile;
mod mappings_walk;
mod mcp_probes;
mod mcp_field_reports;
mod pap;
mod sellers;
mod mcp_rules;
mod server_limits;
mod traces;
