//! What the bindings have in common: one deployment behind all three, asked the same.

mod agreement;
mod parity;
mod site;
