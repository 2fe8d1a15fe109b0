//! Tests of the mapping room.

mod language;
mod ledger;
mod properties;
pub(crate) mod presets;
