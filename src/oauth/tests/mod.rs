//! The issuer: identities, assertions, proofs, Sessions, and every attack that is known.

mod access;
mod client;
mod mcp;
mod replay;
pub(crate) mod rig;
mod session;
mod token;
mod vectors;
