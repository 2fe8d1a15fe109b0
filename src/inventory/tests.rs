//! The tests of this room: an oracle, single rules, whole traversals, refreshes, a real source.

mod fixture;
mod oracle;
mod differential;
mod examples;
mod traversal;
mod opening;
mod asked_before;
mod refreshing;
mod gone;
mod keeping;
mod mapped;
mod bad_sources;
mod sellers;
