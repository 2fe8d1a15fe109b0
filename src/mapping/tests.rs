//! Tests of the mapping room.

mod drafts;
mod language;
mod ledger;
mod pricing;
mod properties;
mod reference;
mod traps;
pub(crate) mod presets;
