//! Forecourt: what stands in front of a dealer's systems for buyers' AI agents.
//! The modules below stand in reading order: the path of one request, then the rooms off it.

pub mod contract;
pub mod inventory;
pub mod leads;
pub mod net;
pub mod oauth;
pub mod profile;
pub mod seal;
pub mod clock;
