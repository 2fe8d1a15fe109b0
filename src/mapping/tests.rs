//! Tests of the mapping room.

mod language;
mod presets;
