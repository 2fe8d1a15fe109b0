#![doc = include_str!("ARCHITECTURE.md")]

pub mod cli;
pub mod config;
pub mod contract;
pub mod inventory;
pub mod net;
pub mod profile;
pub mod seal;
pub mod telemetry;
pub mod clock;
