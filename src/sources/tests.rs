//! Tests of the sources room.
