mod access;
mod client;
mod replay;
mod rig;
mod session;
mod token;
mod vectors;
