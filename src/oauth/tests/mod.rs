mod access;
mod client;
mod replay;
pub(crate) mod rig;
mod session;
mod token;
mod vectors;
