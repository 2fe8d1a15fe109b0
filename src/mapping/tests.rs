//! Tests of the mapping room.

mod language;
pub(crate) mod presets;
