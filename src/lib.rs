#![doc = include_str!("ARCHITECTURE.md")]

pub mod cli;
pub mod app;
pub mod config;
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
pub mod delivery;
pub mod store;
pub mod net;
pub mod oauth;
pub mod profile;
pub mod seal;
pub mod telemetry;
pub mod clock;
mod recent;
mod failpoint;
