//! What an operator decides, from files, environment and flags to finished settings. Must not open
//! sockets, databases or stores: [`crate::app`] does.

mod finding;
mod load;
pub mod raw;
mod secret;
mod tree;

pub(crate) use finding::nearest;
pub use finding::{Finding, Findings};
pub use load::{Environment, Flag, Sources};
pub use secret::Secret;
pub use tree::Tree;

#[cfg(test)]
mod tests;
