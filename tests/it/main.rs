//! The one integration test binary.
#![expect(
    clippy::unwrap_used,
    clippy::string_slice,
    reason = "a test stops at the first surprise, in its own functions too"
)]

mod architecture;
