//! What the Auto Agent Protocol says: skills, error codes, request shapes, schemas. Pure: no I/O, no
//! clock, nothing of any deployment. What only one AAP release fixes lies in its own folder (`v3_0`).

pub mod answer;
pub mod caller;
pub mod capabilities;
pub mod error;
pub mod request;
pub mod skill;

pub use answer::{Answer, Fragment};
pub use caller::Caller;
pub use capabilities::Capabilities;
pub use error::{AapError, ErrorCode, Problem};
pub use request::Request;
pub use skill::Skill;

#[cfg(test)]
mod tests;
