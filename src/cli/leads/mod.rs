//! `forecourt leads`: what a person does with leads and their deliveries, beside a running process or
//! without one. Whoever may read the data folder sees customers' data here. Must not decide anything itself:
//! the ledger does.

mod change;
mod look;

use std::path::PathBuf;
use std::sync::Arc;

use crate::app;
use crate::clock::Clock;
use crate::config::{Config, Sources, StoreSettings};
use crate::leads::{self, Ledger, LedgerError};
use crate::seal::KeyRing;
use crate::store::{DeliveryState, Store, StoreError};

use super::examples;
use super::failure::{Exit, Failure};
use super::output::Output;

/// How many leads long work goes through before a word about it.
const WORD_EVERY: u64 = 1000;

/// What to do with leads.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// List leads and where their deliveries stand, newest first; no customer data
    #[command(after_help = examples::LEADS_LIST)]
    List {
        /// Only of this deployment
        #[arg(long, value_name = "ID")]
        deployment: Option<String>,
        /// Only with a delivery in this state: queued, sending, waiting, held, delivered, refused
        #[arg(long, value_name = "STATE", value_parser = state)]
        state: Option<DeliveryState>,
        /// At most so many
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
    },
    /// Show one lead: the request, the answer, every attempt
    Show {
        /// The lead's id
        lead: String,
    },
    /// Print a lead as its delivery renders it now; sends nothing
    Render {
        /// The lead's id
        lead: String,
        /// The delivery [default: the lead's first]
        #[arg(long, value_name = "NAME")]
        delivery: Option<String>,
    },
    /// Send what was refused or waits again now; what is held needs `resolve`
    Retry(Delivery),
    /// Keep back what has not gone out
    Hold(Delivery),
    /// Decide about a held delivery, after asking its receiver
    #[command(after_help = examples::LEADS_RESOLVE)]
    Resolve {
        #[command(flatten)]
        delivery: Delivery,
        /// What the receiver says
        #[arg(long = "as", value_name = "DECISION")]
        decision: Decision,
    },
    /// Erase leads that are delivered or refused; their idempotency keys stay until they expire
    #[command(after_help = examples::LEADS_PURGE)]
    Purge(Purge),
    /// Print every lead with everything known about it, one JSON object a line, as an import takes it
    Export {
        /// Only of this deployment
        #[arg(long, value_name = "ID")]
        deployment: Option<String>,
    },
    /// After Redis lost something: show which processes have not restored what they know, or go on without
    /// them
    Confirm {
        /// Go on without them: what only they knew is lost
        #[arg(long)]
        yes: bool,
    },
    /// Take in what `export` printed, e.g. into another store; what is there already stays as it is
    Import {
        /// The exported lines, `-` for standard input
        file: PathBuf,
    },
}

/// A lead, and one of its deliveries or all that the decision fits.
#[derive(Debug, clap::Args)]
pub(super) struct Delivery {
    /// The lead's id
    lead: String,
    /// Only this delivery
    #[arg(long = "delivery", value_name = "NAME")]
    name: Option<String>,
}

/// What to erase.
#[derive(Debug, clap::Args)]
pub(super) struct Purge {
    #[command(flatten)]
    which: Which,
    /// Also what is not delivered yet: it will never be
    #[arg(long)]
    undelivered_too: bool,
    /// Really do it; without this, only say what would go
    #[arg(long)]
    yes: bool,
}

/// Which leads: what fits all that is said.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = true)]
pub(super) struct Which {
    /// This lead
    #[arg(long, value_name = "LEAD")]
    lead: Option<String>,
    /// Leads accepted before so many days
    #[arg(long, value_name = "DAYS")]
    older_than_days: Option<u32>,
    /// Leads of the customer with this e-mail address or phone number
    #[arg(long, value_name = "ADDRESS")]
    customer: Option<String>,
}

/// What became of a held delivery.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(super) enum Decision {
    /// The receiver has it
    Delivered,
    /// The receiver has it not: send it again
    Resend,
    /// Give it up
    Refused,
}

impl From<Decision> for leads::Decision {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Delivered => Self::ResolveDelivered,
            Decision::Resend => Self::SendAgain,
            Decision::Refused => Self::GiveUp,
        }
    }
}

fn state(text: &str) -> Result<DeliveryState, String> {
    let words: Vec<_> = DeliveryState::ALL.iter().map(|state| state.id()).collect();
    DeliveryState::from_id(text).ok_or_else(|| format!("use one of: {}", words.join(", ")))
}

pub(super) async fn run(
    command: Command,
    sources: &Sources,
    output: Output,
) -> Result<Exit, Failure> {
    let fill = matches!(command, Command::Import { .. });
    let desk = Desk::open(sources, fill).await?;
    let result = act(&desk, command, output).await;
    desk.store.close().await;
    result
}

async fn act(desk: &Desk, command: Command, output: Output) -> Result<Exit, Failure> {
    let decide = |delivery: Delivery, decision| change::decide(desk, delivery, decision, output);
    match command {
        Command::List {
            deployment,
            state,
            limit,
        } => look::list(desk, deployment, state, limit, output).await,
        Command::Show { lead } => look::show(desk, &lead, output).await,
        Command::Render { lead, delivery } => {
            look::render(desk, &lead, delivery.as_deref(), output).await
        }
        Command::Export { deployment } => look::export(desk, deployment).await,
        Command::Confirm { yes } => change::confirm(desk, yes, output).await,
        Command::Import { file } => change::import(desk, &file, output).await,
        Command::Retry(delivery) => decide(delivery, leads::Decision::Retry).await,
        Command::Hold(delivery) => decide(delivery, leads::Decision::Hold).await,
        Command::Resolve { delivery, decision } => decide(delivery, decision.into()).await,
        Command::Purge(purge) => change::purge(desk, purge, output).await,
    }
}

impl Desk {
    /// A finding that no configured deployment is called so: for whoever asked about one and got nothing.
    fn know(&self, deployment: Option<&str>) -> Result<(), Failure> {
        let configured = || self.config.deployments.iter().map(|one| one.id.as_str());
        match deployment.filter(|id| !configured().any(|known| known == *id)) {
            None => Ok(()),
            Some(id) => {
                let words = format!("there is no deployment {id}, and no lead of one");
                let known: Vec<&str> = configured().collect();
                let hint = format!("configured: {}", known.join(", "));
                Err(Failure::new(Exit::Usage, words).hint(hint))
            }
        }
    }
}

/// What these commands work on.
struct Desk {
    config: Config,
    store: Arc<Store>,
    ledger: Ledger,
    clock: Clock,
}

impl Desk {
    /// `fill`: the command writes leads, so a store that is not there yet may be made.
    async fn open(sources: &Sources, fill: bool) -> Result<Self, Failure> {
        let config = Config::load(sources)?;
        if let StoreSettings::Embedded(file) = &config.store
            && !fill
            && !file.is_file()
        {
            let words = format!(
                "{} is not there: no lead was ever accepted here",
                file.display()
            );
            return Err(Failure::new(Exit::Unavailable, words));
        }
        if fill {
            app::make_private_folder(&config.data_directory)?;
        }
        let keys = if fill && config.keys.create {
            KeyRing::read_or_create(&config.keys.file)?
        } else {
            KeyRing::read(&config.keys.file)?
        };
        let keys = Arc::new(keys);
        let settings = config.store.clone().without_journal();
        let store = Arc::new(app::open_store(&settings).await?);
        let clock = Clock::system();
        Ok(Self {
            ledger: Ledger::new(Arc::clone(&store), keys, clock.clone()),
            config,
            store,
            clock,
        })
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::new(Exit::Unavailable, error.to_string()).hint(error.remedy())
    }
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        let words = error.to_string();
        match error {
            LedgerError::NoLead(_) => {
                Self::new(Exit::Findings, words).hint("`forecourt leads list` names them")
            }
            LedgerError::NotPossible { .. } => Self::new(Exit::Findings, words).hint(
                "a held delivery may have arrived: ask its receiver, then `forecourt leads resolve`",
            ),
            LedgerError::Unbounded | LedgerError::NoCustomer => Self::new(Exit::Usage, words),
            LedgerError::Render(_) | LedgerError::Import { .. } => Self::new(Exit::Findings, words),
            LedgerError::Write(cause) => cause.into(),
            LedgerError::Record { .. } | LedgerError::Store(_) => Self::new(Exit::Unavailable, words),
        }
    }
}
