//! `forecourt leads`: what a person does with leads and their deliveries, beside a running process or
//! without one. Whoever may read the data folder sees customers' data here.

mod change;
mod look;

use std::sync::Arc;

use crate::clock::Clock;
use crate::config::{Config, Sources};
use crate::leads::Record;
use crate::seal::KeyRing;
use crate::store::{DeliveryState, Lead, LeadFilter, Store, StoreError};

use super::failure::{Exit, Failure};
use super::output::Output;

/// How many leads are read from the store at a time.
const PAGE: u32 = 500;

/// What to do with leads.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// List leads and where their deliveries stand, newest last; no customer data
    List {
        /// Only of this deployment
        #[arg(long, value_name = "ID")]
        deployment: Option<String>,
        /// Only with a delivery in this state: queued, sending, waiting, held, delivered, refused
        #[arg(long, value_parser = state)]
        state: Option<DeliveryState>,
        /// At most so many
        #[arg(long, default_value_t = 100)]
        limit: u32,
    },
    /// Show one lead: the request, the answer, every attempt
    Show { lead: String },
    /// Print a lead as its delivery renders it now; sends nothing
    Render {
        lead: String,
        /// The delivery [default: the lead's first]
        #[arg(long, value_name = "NAME")]
        delivery: Option<String>,
    },
    /// Send what was refused or waits again now; what is held needs `resolve`
    Retry {
        lead: String,
        /// Only this delivery
        #[arg(long, value_name = "NAME")]
        delivery: Option<String>,
    },
    /// Decide about a held delivery, after asking its receiver
    Resolve {
        lead: String,
        #[arg(long, value_name = "NAME")]
        delivery: String,
        /// What the receiver says
        #[arg(long = "as", value_name = "DECISION")]
        decision: Decision,
    },
    /// Erase leads; their idempotency keys stay until they expire
    Purge {
        /// This lead only
        #[arg(
            long,
            value_name = "LEAD",
            conflicts_with = "older_than_days",
            required_unless_present = "older_than_days"
        )]
        lead: Option<String>,
        /// Leads accepted before so many days whose deliveries are all finished
        #[arg(long, value_name = "DAYS")]
        older_than_days: Option<u32>,
        /// Really do it; without this, only say what would go
        #[arg(long)]
        yes: bool,
    },
    /// Print every lead with everything known about it, one JSON object a line
    Export {
        /// Only of this deployment
        #[arg(long, value_name = "ID")]
        deployment: Option<String>,
    },
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

fn state(text: &str) -> Result<DeliveryState, String> {
    let words: Vec<_> = DeliveryState::ALL.iter().map(|state| state.id()).collect();
    DeliveryState::from_id(text).ok_or_else(|| format!("use one of: {}", words.join(", ")))
}

pub(super) async fn run(
    command: Command,
    sources: &Sources,
    output: Output,
) -> Result<Exit, Failure> {
    let desk = Desk::open(sources).await?;
    let result = match command {
        Command::List {
            deployment,
            state,
            limit,
        } => look::list(&desk, deployment, state, limit, output).await,
        Command::Show { lead } => look::show(&desk, &lead, output).await,
        Command::Render { lead, delivery } => {
            look::render(&desk, &lead, delivery.as_deref(), output).await
        }
        Command::Export { deployment } => look::export(&desk, deployment).await,
        Command::Retry { lead, delivery } => {
            change::retry(&desk, &lead, delivery.as_deref(), output).await
        }
        Command::Resolve {
            lead,
            delivery,
            decision,
        } => change::resolve(&desk, &lead, &delivery, decision, output).await,
        Command::Purge {
            lead,
            older_than_days,
            yes,
        } => change::purge(&desk, lead, older_than_days, yes, output).await,
    };
    desk.store.close().await;
    result
}

/// What these commands work on.
struct Desk {
    config: Config,
    store: Store,
    keys: Arc<KeyRing>,
    clock: Clock,
}

impl Desk {
    async fn open(sources: &Sources) -> Result<Self, Failure> {
        let config = Config::load(sources)?;
        if !config.store_file.is_file() {
            let words = format!(
                "{} is not there: no lead was ever accepted here",
                config.store_file.display()
            );
            return Err(Failure::new(Exit::Unavailable, words));
        }
        Ok(Self {
            keys: Arc::new(KeyRing::read(&config.keys.file)?),
            store: Store::open_embedded(&config.store_file).await?,
            config,
            clock: Clock::system(),
        })
    }

    async fn lead(&self, id: &str) -> Result<Lead, Failure> {
        let filter = LeadFilter {
            lead_id: Some(id.to_owned()),
            ..LeadFilter::default()
        };
        let found = self.store.leads(&filter).await?.into_iter().next();
        found.ok_or_else(|| {
            Failure::new(Exit::Findings, format!("there is no lead {id}"))
                .hint("`forecourt leads list` names them")
        })
    }

    /// All that match, in pages.
    async fn each(
        &self,
        mut filter: LeadFilter,
        mut take: impl FnMut(Lead) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        filter.limit = PAGE;
        loop {
            let page = self.store.leads(&filter).await?;
            let full = page.len() >= PAGE as usize;
            filter.after = page
                .last()
                .map(|lead| (lead.accepted_at, lead.lead_id.clone()));
            for lead in page {
                take(lead)?;
            }
            if !full {
                return Ok(());
            }
        }
    }

    fn record(&self, lead: &Lead) -> Result<Record, Failure> {
        Record::from_text(&lead.record, &lead.lead_id, &self.keys)
            .map_err(|error| Failure::new(Exit::Unavailable, format!("{}: {error}", lead.lead_id)))
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::new(Exit::Unavailable, error.to_string())
    }
}
