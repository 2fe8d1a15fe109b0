#![doc = include_str!("ARCHITECTURE.md")]

pub mod contract;
pub mod inventory;
pub mod leads;
pub mod delivery;
pub mod store;
pub mod net;
pub mod profile;
pub mod seal;
pub mod telemetry;
pub mod clock;
