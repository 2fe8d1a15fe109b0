//! Every target that goes through the whole crate, built once for all fuzzers. Must not hold a target itself.
#![cfg(feature = "whole")]

#[path = "targets/mod.rs"]
pub mod targets;

pub use forecourt::oauth::{fuzz as oauth, fuzz_bearer as bearer};
pub use forecourt::server::fuzz_proxies as proxies;
