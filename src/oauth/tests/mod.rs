//! The issuer: identities, assertions, proofs, Sessions, and every attack that is known.

mod access;
mod attacks;
mod client;
mod fuzz;
mod mcp;
mod replay;
pub(crate) mod rig;
mod session;
mod token;
mod vectors;
