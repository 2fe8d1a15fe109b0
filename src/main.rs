//! The `forecourt` command. Must only read its arguments, run, and turn the outcome into an exit code.

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Stands in front of a car dealer's systems and lets buyers' AI agents shop there.
#[derive(Debug, Parser)]
#[command(name = "forecourt", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print the version.
    Version,
}

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Version => {
            // A closed pipe is the reader's choice, not a failure.
            match writeln!(std::io::stdout(), "forecourt {}", env!("CARGO_PKG_VERSION")) {
                Ok(()) | Err(_) => ExitCode::SUCCESS,
            }
        }
    }
}
