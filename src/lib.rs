#![doc = include_str!("ARCHITECTURE.md")]

pub mod server;
pub mod bindings;
pub mod dispatch;
pub mod contract;
pub mod skills;
pub mod deployment;
pub mod inventory;
pub mod leads;
pub mod profile;
pub mod seal;
pub mod clock;
