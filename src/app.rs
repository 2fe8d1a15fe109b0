//! The composition root: from a configuration to everything that serves it, and back down again. The only
//! room that constructs others. Must not decide anything that a room or the configuration decides.

mod build;
mod crew;
mod desk;
mod export;
mod first;
mod metrics;
mod ops;
mod reading;
mod register;
mod reload;
mod rooftops;
mod serving;
mod upkeep;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use futures_util::{FutureExt as _, TryFutureExt as _};
use tokio::sync::Notify;

use crate::clock::Clock;
use crate::config::{self, Config, Fixed, Print};
use crate::contract::Contract;
use crate::deployment::Deployment;
use crate::inventory::InventoryError;
use crate::net;
use crate::seal::{KeyRing, SealError};
use crate::server::Site;
use crate::sources::SourceError;
use crate::store::{Store, StoreError};
use crate::telemetry::trace::Tracer;

use build::{Builder, Built};
use export::Exporter;
pub use reading::{Tally, take_stock};
pub use register::check_sellers;
pub use reload::{Files, Reload};
pub use rooftops::with_rooftops;
pub use serving::Serving;

/// Deployments that are built at one time: most of it is waiting for their sources.
const BUILT_AT_ONCE: usize = 16;

/// Everything that serves one configuration.
#[derive(Debug)]
pub struct App {
    pub deployments: Vec<Arc<Deployment>>,
    pub store: Arc<Store>,
    pub keys: Arc<KeyRing>,
    pub clock: Clock,
    site: Arc<Site>,
    built: Vec<Built>,
    ground: Ground,
    print: Print,
    places: Print,
    /// What the process began with.
    fixed: Fixed,
    /// Of the process; whoever serves first takes it.
    exporter: Option<Exporter>,
}

/// What every deployment stands on.
#[derive(Debug)]
struct Ground {
    store: Arc<Store>,
    keys: Arc<KeyRing>,
    /// Fetches the identities of personal agents.
    peers: net::Client,
    contract: Arc<Contract>,
    clock: Clock,
    port: u16,
    /// Of the key file as it was read.
    key_print: Print,
    /// A deployment that could not be built wholly can be now.
    wanted: Arc<Notify>,
    /// Who records readings.
    tracer: Option<Arc<Tracer>>,
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
    /// Settings, mapping and source do not fit together.
    #[error("deployment {deployment}: {words}")]
    Mistaken { deployment: String, words: String },
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
    #[error("data.directory, store and keys.file cannot change while serving; restart for that")]
    Restart,
    #[error("{0}")]
    Site(String),
    /// The embedded schemas do not hold: a fault of this program.
    #[error("{0}")]
    Contract(String),
}

impl App {
    /// Opens keys, store and sources, reads every inventory once as far as its source is there, and joins all
    /// of it. `port` is the one that is listened on.
    pub async fn build(config: &Config, port: u16, clock: Clock) -> Result<Self, AppError> {
        make_private_folder(&config.data_directory)?;
        let keys = Arc::new(if config.keys.create {
            KeyRing::read_or_create(&config.keys.file)?
        } else {
            KeyRing::read(&config.keys.file)?
        });
        let store = Arc::new(open_store(&config.store).await?);
        let contract = Contract::v3_0().map_err(|error| AppError::Contract(error.to_string()))?;
        let exporter = config.telemetry.clone();
        let exporter = exporter.map(|settings| Exporter::new(settings, clock.clone()));
        let exporter = exporter.transpose()?;
        let tracer = exporter.as_ref().map(Exporter::exports);
        let ground = Ground {
            tracer: tracer.map(|exports| Arc::clone(&exports.tracer)),
            store,
            keys,
            peers: net::Client::new(config.peers.clone())?,
            contract,
            clock,
            port,
            key_print: Print::of_file(&config.keys.file),
            wanted: Arc::default(),
        };
        let app = Self::join(config, ground, &[], false).await?;
        Ok(Self { exporter, ..app })
    }

    /// The same over a changed configuration: store and whatever has not changed are used on, snapshots
    /// included.
    async fn rebuild(&self, config: &Config) -> Result<Self, AppError> {
        let own = &self.ground;
        if config.places != self.places {
            return Err(AppError::Restart);
        }
        let key_print = Print::of_file(&config.keys.file);
        let changed = config.print != self.print || key_print != own.key_print;
        let ground = Ground {
            store: Arc::clone(&self.store),
            keys: if changed {
                Arc::new(KeyRing::read(&config.keys.file)?)
            } else {
                Arc::clone(&self.keys)
            },
            peers: if changed {
                net::Client::new(config.peers.clone())?
            } else {
                own.peers.clone()
            },
            contract: Arc::clone(&own.contract),
            clock: self.clock.clone(),
            port: own.port,
            key_print,
            wanted: Arc::clone(&own.wanted),
            tracer: own.tracer.clone(),
        };
        let next = Self::join(config, ground, &self.built, !changed).await?;
        Ok(Self {
            fixed: self.fixed.clone(),
            ..next
        })
    }

    /// Gives inventories that were used before the keys that are used from now on.
    fn hand_keys(&self, before: &Self) {
        if Arc::ptr_eq(&self.keys, &before.keys) {
            return;
        }
        for deployment in &self.deployments {
            if let Some(inventory) = &deployment.inventory {
                inventory.use_keys(Arc::clone(&self.keys));
            }
        }
    }

    /// What is served `before` is used on where it can be.
    async fn join(
        config: &Config,
        ground: Ground,
        before: &[Built],
        same_ground: bool,
    ) -> Result<Self, AppError> {
        let mut built = stream::iter(config.deployments.iter().enumerate())
            .map(|(at, settings)| {
                let builder = Builder {
                    settings,
                    ground: &ground,
                    data_directory: &config.data_directory,
                    before: before
                        .iter()
                        .find(|built| built.deployment.id == settings.id),
                    same_ground,
                };
                builder.build().map_ok(move |built| (at, built)).boxed()
            })
            // In any order: a slow source keeps its own place only.
            .buffer_unordered(BUILT_AT_ONCE)
            .try_collect::<Vec<_>>()
            .await?;
        built.sort_unstable_by_key(|(at, _)| *at);
        let built: Vec<Built> = built.into_iter().map(|(_, built)| built).collect();
        let deployments: Vec<_> = built
            .iter()
            .map(|built| Arc::clone(&built.deployment))
            .collect();
        let site = Site::new(deployments.clone());
        let site = site.map_err(|errors| AppError::Site(words(&errors)))?;
        Ok(Self {
            deployments,
            store: Arc::clone(&ground.store),
            keys: Arc::clone(&ground.keys),
            clock: ground.clock.clone(),
            site: Arc::new(site),
            built,
            ground,
            print: config.print.clone(),
            places: config.places.clone(),
            fixed: config.fixed.clone(),
            exporter: None,
        })
    }
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
