//! What an operator decides, from files, environment and flags to finished settings. Must not open
//! sockets, databases or stores: [`crate::app`] does.

mod load;
pub mod raw;
pub mod reference;
mod tree;
mod secret;
mod compile;
mod finding;

pub use compile::{
    Aggregate, Config, Deployment, Fixed, Inventory, Keys, Oauth, Otlp, Pap, Print, Prints,
    PublicUrl, Seller, Server, StoreSettings,
};
pub use finding::{Finding, Findings};
pub use load::{Environment, Flag, Sources};
pub use secret::Secret;
pub use tree::Tree;

#[cfg(test)]
mod tests;
