//! `forecourt keys`: makes and rotates the key file.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use serde_json::json;

use super::examples;
use super::failure::{Exit, Failure};
use super::output::Output;
use crate::config::{Config, Sources};
use crate::seal::{KeyRing, SealError};

/// What to do with a key file.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Write a new key file with one key; an existing file is never overwritten
    Generate {
        /// The new key file
        file: PathBuf,
    },
    /// Put a fresh key in front: it seals as soon as a running process has noticed, the others go on opening
    #[command(after_help = examples::KEYS_ROTATE)]
    Rotate {
        /// The key file [default: the configured one]
        file: Option<PathBuf>,
        /// Keep at most so many keys; what an older key sealed can then be read no more
        #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
        keep: Option<usize>,
    },
}

pub(super) fn run(command: Command, sources: &Sources, output: Output) -> Result<Exit, Failure> {
    let (file, keys) = match command {
        Command::Generate { file } => {
            KeyRing::generate()?.write_new(&file).map_err(|error| {
                named(&error).hint("name a file that is not there yet, in a folder that is")
            })?;
            (file, 1)
        }
        Command::Rotate { file, keep } => {
            let (file, read) = if let Some(file) = file {
                let read = KeyRing::read(&file).map_err(|error| named(&error));
                (file, read)
            } else {
                let file = Config::load(sources)?.keys.file;
                let read = KeyRing::read(&file).map_err(Failure::from);
                (file, read)
            };
            let mut ring = read?.rotated()?;
            if let Some(keep) = keep {
                ring.forget_after(keep);
            }
            ring.replace_file(&file)?;
            (file, ring.len())
        }
    };
    let text = if keys == 1 {
        format!("{}: one key", file.display())
    } else {
        format!("{}: {keys} keys, the first seals", file.display())
    };
    output.print(
        &text,
        &json!({ "schema_version": 1, "file": file, "keys": keys }),
    )?;
    Ok(Exit::Fine)
}

/// A file that the command line names.
fn named(error: &SealError) -> Failure {
    Failure::new(Exit::Usage, error.to_string())
}

impl From<SealError> for Failure {
    fn from(error: SealError) -> Self {
        let exit = match &error {
            SealError::File { .. } | SealError::BadKey { .. } | SealError::NoKey { .. } => {
                Exit::Config
            }
            SealError::Crypto => Exit::Internal,
        };
        Self::new(exit, error.to_string()).hint("see [keys] in docs/configuration.md")
    }
}
