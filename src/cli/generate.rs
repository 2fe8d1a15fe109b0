//! `forecourt generate`: files for other programs, made from what this one is. Must not hold what they say.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use clap_complete::Shell;
use serde_json::json;

use super::examples;
use super::failure::{Exit, Failure};
use super::output::Output;
use super::{Cli, schemas};
use crate::config::reference;

/// What to generate.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Write every JSON Schema of the contract as NAME.schema.json
    Schemas {
        /// The folder to write into
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// Print a JSON Schema of the configuration, for editors
    ConfigSchema,
    /// Print every configuration key with its meaning, in Markdown
    Reference,
    /// Print completions for a shell
    #[command(after_help = examples::GENERATE_COMPLETIONS)]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write a manual page for each command
    Man {
        /// The folder to write into
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
}

pub(super) fn run(command: Command, output: Output) -> Result<Exit, Failure> {
    match command {
        Command::Schemas { out } => schemas::write(&out, output),
        Command::ConfigSchema => print(format!("{:#}\n", reference::schema()).as_bytes()),
        Command::Reference => print(reference::markdown().trim_start().as_bytes()),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "forecourt", &mut text);
            print(&text)
        }
        Command::Man { out } => manual(&out, output),
    }
}

/// A text as it is, whatever the output form: it is a file for another program.
fn print(text: &[u8]) -> Result<Exit, Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text)?;
    out.flush()?;
    Ok(Exit::Fine)
}

fn manual(out: &Path, output: Output) -> Result<Exit, Failure> {
    let cannot =
        |error: io::Error| Failure::new(Exit::Unavailable, format!("{}: {error}", out.display()));
    fs::create_dir_all(out).map_err(cannot)?;
    let mut root = Cli::command().version(env!("CARGO_PKG_VERSION"));
    root.build();
    let mut pages = Vec::new();
    page(&root, "forecourt", out, &mut pages).map_err(cannot)?;
    let text = format!("{}: {} pages", out.display(), pages.len());
    output.print(
        &text,
        &json!({ "schema_version": 1, "directory": out, "pages": pages }),
    )?;
    Ok(Exit::Fine)
}

/// The page of a command and of those below it.
fn page(
    command: &clap::Command,
    name: &str,
    out: &Path,
    pages: &mut Vec<String>,
) -> io::Result<()> {
    let file = format!("{name}.1");
    let mut text = Vec::new();
    let manual = clap_mangen::Man::new(command.clone());
    manual.title(name).render(&mut text)?;
    fs::write(out.join(&file), text)?;
    pages.push(file);
    for below in command
        .get_subcommands()
        .filter(|below| below.get_name() != "help")
    {
        page(below, &format!("{name}-{}", below.get_name()), out, pages)?;
    }
    Ok(())
}
