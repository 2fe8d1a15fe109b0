//! The wire protocols. Siblings, not a trait: each has `decode` and `encode`, and nothing of an envelope
//! goes further down.

pub mod a2a;
mod access;
pub mod discovery;
pub mod mcp;
pub mod pap;

#[cfg(test)]
mod tests;
