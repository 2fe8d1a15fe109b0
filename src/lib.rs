#![doc = include_str!("ARCHITECTURE.md")]

pub mod contract;
pub mod inventory;
pub mod profile;
pub mod net;
pub mod seal;
pub mod clock;
