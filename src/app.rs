//! The composition root: from a configuration to everything that serves it, and back down again. The only
//! room that constructs others. Must not decide anything that a room or the configuration decides.

mod build;
mod reading;
mod register;
mod rooftops;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::clock::Clock;
use crate::config::{self, Config};
use crate::contract::Contract;
use crate::deployment::Deployment;
use crate::inventory::InventoryError;
use crate::net;
use crate::seal::{KeyRing, SealError};
use crate::server::{self, Site};
use crate::sources::SourceError;
use crate::store::{Store, StoreError};

use build::Builder;
pub use reading::{Tally, take_stock};
pub use rooftops::with_rooftops;

/// Deployments that are built at one time: most of it is waiting for their sources.
const BUILT_AT_ONCE: usize = 16;
/// Beyond the grace for requests, so long may whatever else is under way take to end.
const LAST_PATIENCE: Duration = Duration::from_millis(300);

/// Everything that serves one configuration.
#[derive(Debug)]
pub struct App {
    pub deployments: Vec<Arc<Deployment>>,
    pub store: Arc<Store>,
    pub keys: Arc<KeyRing>,
    pub clock: Clock,
    site: Site,
}

/// Why a configuration cannot be served now.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    #[error("data folder {path}: {cause}")]
    Data { path: PathBuf, cause: io::Error },
    #[error(transparent)]
    Keys(#[from] SealError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("deployment {deployment}: {cause}")]
    Source {
        deployment: String,
        cause: SourceError,
    },
    #[error("deployment {deployment}: {cause}")]
    Inventory {
        deployment: String,
        cause: InventoryError,
    },
    #[error("deployment {deployment}: leads: {words}")]
    Leads { deployment: String, words: String },
    #[error("net: {0}")]
    Net(#[from] net::NetError),
    #[error("deployment {deployment}: {words}")]
    Deployment { deployment: String, words: String },
    #[error("deployment {deployment}: {cause}")]
    Register {
        deployment: String,
        cause: register::RegisterError,
    },
    #[error("{0}")]
    Site(String),
    /// The embedded schemas do not hold: a fault of this program.
    #[error("{0}")]
    Contract(String),
}

impl App {
    /// Opens keys, store and sources, reads every inventory once, and joins all of it. `port` is the one
    /// that is listened on.
    pub async fn build(config: &Config, port: u16, clock: Clock) -> Result<Self, AppError> {
        make_private_folder(&config.data_directory)?;
        let keys = Arc::new(if config.keys.create {
            KeyRing::read_or_create(&config.keys.file)?
        } else {
            KeyRing::read(&config.keys.file)?
        });
        let store = Arc::new(open_store(&config.store).await?);
        let contract = Contract::v3_0().map_err(|error| AppError::Contract(error.to_string()))?;
        let peers = net::Client::new(config.peers.clone())?;
        let deployments = stream::iter(&config.deployments)
            .map(|settings| {
                let builder = Builder {
                    settings,
                    contract: &contract,
                    keys: &keys,
                    store: &store,
                    clock: &clock,
                    peers: &peers,
                    data_directory: &config.data_directory,
                };
                async move { builder.build(port).await.map(Arc::new) }
            })
            .buffered(BUILT_AT_ONCE)
            .try_collect::<Vec<_>>()
            .await?;
        let site =
            Site::new(deployments.clone()).map_err(|errors| AppError::Site(words(&errors)))?;
        Ok(Self {
            deployments,
            store,
            keys,
            clock,
            site,
        })
    }

    /// Serves until `stop` says so, then ends everything that it began.
    pub async fn serve(
        self,
        listener: TcpListener,
        settings: server::Settings,
        stop: watch::Receiver<bool>,
    ) {
        let patience = settings.shutdown_grace + LAST_PATIENCE;
        let mut tasks = JoinSet::new();
        for deployment in &self.deployments {
            if let Some(inventory) = &deployment.inventory {
                tasks.spawn(Arc::clone(inventory).run(stop.clone()));
            }
            if let Some(leads) = &deployment.leads {
                tasks.spawn(crate::leads::worker::run(Arc::clone(leads), stop.clone()));
            }
        }
        let site = Arc::new(ArcSwap::from_pointee(self.site));
        let inventories: Vec<_> = self
            .deployments
            .iter()
            .filter_map(|deployment| deployment.inventory.clone())
            .collect();
        tasks.spawn(server::serve(
            listener,
            site,
            settings,
            Arc::new(move || inventories.iter().all(|inventory| inventory.answers())),
            stop.clone(),
        ));
        let mut stop = stop;
        // An error means that whoever could say stop is gone: then it is time, too.
        drop(stop.wait_for(|stops| *stops).await);
        let ended = tokio::time::timeout(patience, async {
            while tasks.join_next().await.is_some() {}
        })
        .await;
        if ended.is_err() {
            cut_off(tasks).await;
        }
        self.store.close().await;
    }
}

/// Ends what would not end. A delivery that is cut off is found as such at the next start, and held.
async fn cut_off(mut tasks: JoinSet<()>) {
    tracing::warn!(tasks = tasks.len(), "not everything ended in time; cut off");
    tasks.shutdown().await;
}

/// Opens the configured store.
pub async fn open_store(settings: &config::StoreSettings) -> Result<Store, StoreError> {
    match settings {
        config::StoreSettings::Embedded(file) => Store::open_embedded(file).await,
        config::StoreSettings::Redis(settings) => Store::open_redis(settings).await,
    }
}

fn words(errors: &[impl ToString]) -> String {
    let words: Vec<_> = errors.iter().map(ToString::to_string).collect();
    words.join("; ")
}

/// A folder that only its owner can read: leads and keys lie in it.
pub fn make_private_folder(path: &Path) -> Result<(), AppError> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|cause| AppError::Data {
            path: path.to_owned(),
            cause,
        })
}
