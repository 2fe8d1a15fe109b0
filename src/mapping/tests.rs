//! Tests of the mapping room.

mod language;
mod ledger;
mod pricing;
mod properties;
pub(crate) mod presets;
