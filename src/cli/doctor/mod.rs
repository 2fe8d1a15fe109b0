//! `forecourt doctor`: looks at a live deployment from outside, as an agent does that knows the dealer's host
//! only, and says of everything whether it holds. Must not trust what it reads, nor send anything but reads.

mod documents;
mod endpoints;
mod jsonrpc;
mod mcp;
mod native;
mod probe;
mod report;
mod serving;
mod visit;

use std::path::PathBuf;

use http::Uri;

use super::failure::{Exit, Failure};
use super::output::Output;
use crate::bindings::discovery::agreement;
use crate::contract::Contract;
use crate::net::{Client, Policy, Reach};
pub use report::{Check, Report, Verdict};

/// Which deployment to look at.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The dealer's site: a host name, or `https://HOST`
    url: String,
    /// Let the site and what it names lie at private addresses, e.g. before it goes public
    #[arg(long)]
    allow_private: bool,
    /// A PEM file of authorities trusted beside the public ones
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
}

pub(super) async fn run(arguments: Arguments, output: Output) -> Result<Exit, Failure> {
    let usage = |words: String| Failure::new(Exit::Usage, words);
    let base = base(&arguments.url).map_err(usage)?;
    let mut policy = policy(&base);
    if arguments.allow_private {
        policy.reach = Reach::Site;
    }
    policy.extra_ca_file = arguments.ca;
    let client = Client::new(policy).map_err(|error| usage(error.to_string()))?;
    let contract = Contract::v3_0();
    let contract = contract.map_err(|error| Failure::new(Exit::Internal, error.to_string()))?;
    let report = examine(&base, &client, &contract).await;
    output.print(&report.text(), &report.to_value())?;
    let exit = if report.findings() == 0 {
        Exit::Fine
    } else {
        Exit::Findings
    };
    Ok(exit)
}

/// What may be fetched for this site. Documents of a public site must not lead into the network that the
/// doctor runs in.
pub fn policy(base: &str) -> Policy {
    let loopback = agreement::is_loopback(base);
    Policy {
        reach: if loopback { Reach::Site } else { Reach::Public },
        // Only ever used for loopback: see `visit`.
        allow_http: loopback,
        max_body_bytes: 4 * 1024 * 1024,
        ..Policy::for_operator()
    }
}

/// `https://HOST[:PORT]` of what a person wrote.
fn base(text: &str) -> Result<String, String> {
    let text = if text.contains("://") {
        text.to_owned()
    } else {
        format!("https://{text}")
    };
    let wrong = || format!("{text:?} is not a site; write a host name, or https://HOST");
    let uri: Uri = text.parse().map_err(|_| wrong())?;
    let authority = uri.authority().ok_or_else(wrong)?;
    let known = matches!(uri.scheme_str(), Some("https" | "http"));
    let bare = uri.path() == "/" && uri.query().is_none();
    if !known || !bare || authority.as_str().contains('@') {
        return Err(wrong());
    }
    let scheme = uri.scheme_str().unwrap_or("https");
    Ok(format!(
        "{scheme}://{}",
        authority.as_str().to_ascii_lowercase()
    ))
}

/// Looks at everything that the site names. `base` is `https://HOST[:PORT]`.
pub async fn examine(base: &str, client: &Client, contract: &Contract) -> Report {
    let mut report = Report::new(base);
    if !visit::transport(base, &mut report) {
        return report;
    }
    let visitor = visit::Visitor::new(client);
    let read = documents::read(base, &visitor, contract, &mut report).await;
    documents::people(&read, &visitor, &mut report).await;
    serving::judge(base, &visitor, &mut report).await;
    let tools = match &read.agent_card {
        Some(card) => endpoints::judge(card, &visitor, contract, &mut report).await,
        None => None,
    };
    native::judge(&read, &visitor, &mut report).await;
    documents::agree(&read, tools.as_ref(), &mut report);
    report
}

#[cfg(test)]
mod tests;
