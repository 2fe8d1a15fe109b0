//! The program: makes the cryptography ready and hands the command line on.

use std::process::ExitCode;

/// The system's allocator keeps what a large reading used; this one gives it back, and is faster.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // First of all: without a provider installed, rustls and jsonwebtoken panic at their first use as
    // soon as any dependency brings a second one.
    let tls = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let tokens = jsonwebtoken::crypto::aws_lc::DEFAULT_PROVIDER.install_default();
    if tls.is_err() || tokens.is_err() {
        return ExitCode::from(70);
    }
    forecourt::cli::run(std::env::args_os())
}
