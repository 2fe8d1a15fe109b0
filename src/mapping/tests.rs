//! Tests of the mapping room.

mod language;
mod properties;
pub(crate) mod presets;
