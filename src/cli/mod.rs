//! The command line: what a person or a script asks of this program. One file per command. Must not hold
//! product logic; a command calls the room that does the work and prints what came out.

mod serve;
mod demo;
mod call;
mod check;
pub mod doctor;
mod mappings;
mod inventory;
mod leads;
mod adf;
mod schemas;
mod generate;
mod init;
mod keys;
mod settings;
mod healthcheck;
mod version;
mod examples;
mod output;
mod failure;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::config::{Environment, Flag, Sources};
use crate::telemetry;
use failure::{Exit, Failure};
use output::{Format, Output};

/// Lets buyers' AI agents shop at a car dealer's, in front of the systems that the dealer has.
#[derive(Debug, Parser)]
#[command(
    name = "forecourt",
    disable_version_flag = true,
    max_term_width = 100,
    after_help = examples::ALL
)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

const CONFIG_HELP: &str = "A configuration file, or a folder of them; repeat it to merge several, the last wins \
    [default: FORECOURT_CONFIG, or the first of ./forecourt.toml, ~/.config/forecourt/forecourt.toml, \
    /etc/forecourt/forecourt.toml]";

/// Flags that every command takes.
#[derive(Debug, Args)]
struct Global {
    /// A configuration file, or a folder of them; may be repeated
    #[arg(short, long, global = true, value_name = "PATH", help = CONFIG_HELP)]
    config: Vec<PathBuf>,
    /// Set one configuration key over files and variables, e.g. server.listen=127.0.0.1:8081; may be repeated
    #[arg(long, global = true, value_name = "KEY=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    /// How results are printed on standard output [default: human]
    #[arg(short, long, global = true, value_enum)]
    output: Option<Format>,
    /// How log lines are written on standard error [default: text]
    #[arg(long, global = true, value_enum)]
    log_format: Option<LogFormat>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the configured deployments until SIGTERM or Ctrl-C
    #[command(after_help = examples::SERVE)]
    Serve {
        /// Where to listen; stands over server.listen
        #[arg(long, value_name = "ADDRESS:PORT")]
        listen: Option<String>,
    },
    /// Try everything on this machine: no configuration, no server, nothing leaves loopback
    #[command(after_help = examples::DEMO)]
    Demo(demo::Arguments),
    /// Write a first configuration, its key file and, with a source, a first mapping
    #[command(after_help = examples::INIT)]
    Init(init::Arguments),
    /// Call one skill as an agent does, over PAP, MCP or A2A, and see both sides
    #[command(after_help = examples::CALL)]
    Call(call::Arguments),
    /// Check configuration, mappings and sources as `serve` would, without serving
    #[command(after_help = examples::CHECK)]
    Check {
        /// Open no source
        #[arg(long)]
        offline: bool,
    },
    /// Look at a live deployment from outside, as an agent that knows its host name only
    #[command(after_help = examples::DOCTOR)]
    Doctor(doctor::Arguments),
    /// See what mappings make of a source's rows
    #[command(subcommand)]
    Mappings(mappings::Command),
    /// Have a running process read its sources
    #[command(subcommand)]
    Inventory(inventory::Command),
    /// Work with accepted leads and their deliveries
    #[command(subcommand)]
    Leads(leads::Command),
    /// See how a lead looks to a CRM
    #[command(subcommand)]
    Adf(adf::Command),
    /// Check a JSON document against one of the contract's types
    #[command(after_help = examples::VALIDATE)]
    Validate(schemas::Validate),
    /// Write files for other programs
    #[command(subcommand)]
    Generate(generate::Command),
    /// Make or rotate the key file
    #[command(subcommand)]
    Keys(keys::Command),
    /// See the merged configuration
    #[command(subcommand)]
    Config(settings::Command),
    /// Ask a running process on this machine whether it is ready
    Healthcheck {
        /// Where it listens [default: the admin listener, or else the listener of the configuration]
        #[arg(long, value_name = "ADDRESS:PORT")]
        address: Option<std::net::SocketAddr>,
    },
    /// Print the version of this program and of what it speaks
    Version,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

/// Runs one command line and says how it ended.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let environment = Environment::read();
    let output = Output::new(cli.global.output, environment.get("FORECOURT_OUTPUT"));
    let result = check_words(&environment)
        .and_then(|()| begin_logging(&cli.global, &environment))
        .and_then(|()| perform(cli, environment, output));
    output.finish(result).code()
}

fn perform(cli: Cli, environment: Environment, output: Output) -> Result<Exit, Failure> {
    let mut sources = sources(cli.global, environment);
    match cli.command {
        Command::Serve { listen } => {
            sources.flags.extend(listen.map(|value| Flag {
                name: "--listen".to_owned(),
                key: "server.listen".to_owned(),
                value,
            }));
            wait_for(serve::run(&sources))
        }
        Command::Demo(arguments) => wait_for(demo::run(arguments, sources.environment, output)),
        Command::Init(arguments) => wait_for(init::run(arguments, sources.environment, output)),
        Command::Call(arguments) => wait_for(call::run(arguments, output)),
        Command::Check { offline } => wait_for(check::run(&sources, offline, output)),
        Command::Doctor(arguments) => wait_for(doctor::run(arguments, output)),
        Command::Mappings(command) => wait_for(mappings::run(command, &sources, output)),
        Command::Inventory(command) => inventory::run(&command, &sources, output),
        Command::Leads(command) => wait_for(leads::run(command, &sources, output)),
        Command::Adf(command) => adf::run(command, &sources, output),
        Command::Validate(arguments) => schemas::validate(&arguments, output),
        Command::Generate(command) => generate::run(command, output),
        Command::Keys(command) => keys::run(command, &sources, output),
        Command::Config(command) => settings::run(&command, &sources, output),
        Command::Healthcheck { address } => wait_for(healthcheck::run(address, &sources, output)),
        Command::Version => version::run(output),
    }
}

/// Runs one command to its end.
fn wait_for(command: impl Future<Output = Result<Exit, Failure>>) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime =
        runtime.map_err(|error| Failure::new(Exit::Internal, format!("runtime: {error}")))?;
    let result = runtime.block_on(command);
    // Blocking work that nobody waits for any more must not hold the process up.
    runtime.shutdown_background();
    result
}

/// Prints clap's own text: help to standard output, mistakes to standard error.
fn usage(error: &clap::Error) -> ExitCode {
    let exit = if error.use_stderr() {
        Exit::Usage
    } else {
        Exit::Fine
    };
    match error.print() {
        Ok(()) => exit.code(),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Exit::Fine.code(),
        Err(_) => Exit::Internal.code(),
    }
}

/// That variables with a few words have one of them.
fn check_words(environment: &Environment) -> Result<(), Failure> {
    for (name, words) in [
        ("FORECOURT_OUTPUT", ["human", "json"]),
        ("FORECOURT_LOG_FORMAT", ["text", "json"]),
    ] {
        if environment
            .get(name)
            .is_some_and(|word| !words.contains(&word))
        {
            let message = format!("{name} is not one of {}", words.join(", "));
            return Err(Failure::new(Exit::Config, message).hint("correct it, or leave it out"));
        }
    }
    Ok(())
}

fn begin_logging(global: &Global, environment: &Environment) -> Result<(), Failure> {
    let json = match global.log_format {
        Some(format) => matches!(format, LogFormat::Json),
        None => environment.get("FORECOURT_LOG_FORMAT") == Some("json"),
    };
    let settings = telemetry::Settings {
        format: if json {
            telemetry::Format::Json
        } else {
            telemetry::Format::Text
        },
        filter: environment.get("FORECOURT_LOG").map(str::to_owned),
        colour: environment.get("NO_COLOR").is_none(),
    };
    telemetry::begin(&settings).map_err(|error| {
        Failure::new(Exit::Config, error.to_string())
            .hint("FORECOURT_LOG is a level such as `info`, or a list such as `forecourt=debug,sqlx=warn`")
    })
}

fn sources(global: Global, environment: Environment) -> Sources {
    let flag = |(key, value)| Flag {
        name: "--set".to_owned(),
        key,
        value,
    };
    Sources {
        files: global.config,
        flags: global.set.into_iter().map(flag).collect(),
        environment,
    }
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE")?;
    Ok((key.trim().to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests;
