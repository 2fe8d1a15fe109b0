//! `forecourt keys`: makes and rotates the key file.

use std::path::PathBuf;

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
    /// Put a fresh key in front: it seals from the next start on, the others go on opening
    #[command(after_help = examples::KEYS_ROTATE)]
    Rotate {
        /// The key file [default: the configured one]
        file: Option<PathBuf>,
        /// Keep at most so many keys; what an older key sealed can then be read no more
        #[arg(long, value_name = "N")]
        keep: Option<usize>,
    },
}

pub(super) fn run(command: Command, sources: &Sources, output: Output) -> Result<Exit, Failure> {
    let (file, keys) = match command {
        Command::Generate { file } => {
            KeyRing::generate()?.write_new(&file)?;
            (file, 1)
        }
        Command::Rotate { file, keep } => {
            let file = match file {
                Some(file) => file,
                None => Config::load(sources)?.keys.file,
            };
            let mut ring = KeyRing::read(&file)?.rotated()?;
            if let Some(keep) = keep {
                ring.forget_after(keep.max(1));
            }
            ring.replace_file(&file)?;
            (file, ring.len())
        }
    };
    let text = format!("{}: {keys} keys, the first seals", file.display());
    output.print(
        &text,
        &json!({ "schema_version": 1, "file": file, "keys": keys }),
    )?;
    Ok(Exit::Fine)
}

impl From<SealError> for Failure {
    fn from(error: SealError) -> Self {
        Self::new(Exit::Unavailable, error.to_string())
    }
}
