//! `forecourt inventory`: what an operator asks of a running process about its inventories. Must not read a
//! source itself.

use serde_json::json;

use super::examples;
use super::failure::{Exit, Failure};
use super::output::Output;
use crate::config::{Config, Sources};
use crate::inventory::order_refresh;

/// What to have done.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Read the source now, as soon as it may be bothered again
    #[command(after_help = examples::INVENTORY_REFRESH)]
    Refresh {
        /// Only this deployment
        #[arg(long, value_name = "ID")]
        deployment: Option<String>,
        /// Publish what comes, even when many vehicles or a column are gone
        #[arg(long)]
        accept: bool,
    },
}

pub(super) fn run(command: &Command, sources: &Sources, output: Output) -> Result<Exit, Failure> {
    let Command::Refresh { deployment, accept } = command;
    let config = Config::load(sources)?;
    let mut asked = Vec::new();
    for settings in &config.deployments {
        let wanted = deployment.as_deref().is_none_or(|id| id == settings.id);
        let inventory = settings.inventory_settings().filter(|_| wanted);
        let Some(directory) = inventory.and_then(|inventory| inventory.directory.as_ref()) else {
            continue;
        };
        order_refresh(directory, *accept).map_err(|error| {
            let words = format!("{}: {error}", directory.display());
            Failure::new(Exit::Unavailable, words)
                .hint("run this as the user that serves, with the same configuration")
        })?;
        asked.push(settings.id.as_str());
    }
    if asked.is_empty() {
        let words = "no such deployment has an inventory";
        return Err(Failure::new(Exit::Usage, words));
    }
    let text = format!(
        "{}: the running process will read the source; its log tells how it went",
        asked.join(", ")
    );
    output.print(&text, &json!({ "schema_version": 1, "asked": asked }))?;
    Ok(Exit::Fine)
}
