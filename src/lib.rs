#![doc = include_str!("ARCHITECTURE.md")]

pub mod contract;
pub mod inventory;
pub mod mapping;
pub mod sources;
pub mod profile;
pub mod seal;
pub mod clock;
