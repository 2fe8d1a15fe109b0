mod access;
mod client;
mod rig;
mod session;
mod token;
mod vectors;
