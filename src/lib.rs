#![doc = include_str!("ARCHITECTURE.md")]

pub mod server;
pub mod bindings;
pub mod dispatch;
pub mod contract;
pub mod skills;
pub mod deployment;
pub mod inventory;
pub mod mapping;
pub mod sources;
pub mod leads;
pub mod profile;
pub mod net;
pub mod seal;
pub mod clock;
pub mod store;
pub mod delivery;
