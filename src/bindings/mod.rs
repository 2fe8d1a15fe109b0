//! The wire protocols. Siblings, not a trait: each has `decode` and `encode`, and nothing of an envelope
//! goes further down.

pub mod a2a;
mod access;
pub mod discovery;
pub mod mcp;
pub mod pap;

/// What an answer of theirs is made of, for the listener that sends it.
pub use crate::contract::Rope;

#[cfg(test)]
mod tests;
