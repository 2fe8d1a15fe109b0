//! Tests of the mapping room.

mod language;
mod ledger;
mod pricing;
mod properties;
mod reference;
pub(crate) mod presets;
