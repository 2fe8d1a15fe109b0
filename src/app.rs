//! The composition root: from a configuration to everything that serves it, and back down again. The only
//! room that constructs others. Must not decide anything that a room or the configuration decides.

mod build;
mod crew;
mod ops;
mod reading;
mod register;
mod reload;
mod rooftops;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use arc_swap::ArcSwap;
use futures_util::FutureExt as _;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::clock::Clock;
use crate::config::{self, Config, Print};
use crate::contract::Contract;
use crate::deployment::Deployment;
use crate::inventory::InventoryError;
use crate::net;
use crate::seal::{KeyRing, SealError};
use crate::server::{self, Site};
use crate::sources::SourceError;
use crate::store::{Store, StoreError};

use build::{Builder, Built};
use crew::Crew;
use ops::{Ops, Reloads};
pub use reading::{Tally, take_stock};
pub use reload::Reload;
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
    site: Arc<Site>,
    built: Vec<Built>,
    ground: Ground,
    print: Print,
    places: Print,
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
    #[error("data.directory, store and keys.file cannot change while serving; restart for that")]
    Restart,
    #[error("{0}")]
    Site(String),
    /// The embedded schemas do not hold: a fault of this program.
    #[error("{0}")]
    Contract(String),
}

/// How an [`App`] is served.
pub struct Serving {
    pub listener: TcpListener,
    pub settings: server::Settings,
    pub stop: watch::Receiver<bool>,
    /// Where the operators' listener finds what it tells about.
    pub operated: server::Operated,
    pub reload: Option<Reload>,
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
        let ground = Ground {
            store,
            keys,
            peers: net::Client::new(config.peers.clone())?,
            contract,
            clock,
            port,
            key_print: Print::of_file(&config.keys.file),
        };
        Self::join(config, ground, &[]).await
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
        };
        let before: &[Built] = if changed { &[] } else { &self.built };
        Self::join(config, ground, before).await
    }

    async fn join(config: &Config, ground: Ground, before: &[Built]) -> Result<Self, AppError> {
        let built = stream::iter(&config.deployments)
            .map(|settings| {
                let builder = Builder {
                    settings,
                    ground: &ground,
                    data_directory: &config.data_directory,
                    before: before
                        .iter()
                        .find(|built| built.deployment.id == settings.id),
                };
                builder.build().boxed()
            })
            .buffered(BUILT_AT_ONCE)
            .try_collect::<Vec<_>>()
            .await?;
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
        })
    }

    /// Serves until `stop` says so, then ends everything that it began.
    pub async fn serve(
        self,
        listener: TcpListener,
        settings: server::Settings,
        stop: watch::Receiver<bool>,
    ) {
        let serving = Serving {
            listener,
            settings,
            stop,
            operated: server::Operated::default(),
            reload: None,
        };
        self.serve_with(serving).await;
    }

    /// The same, told about to operators and kept up to date.
    pub async fn serve_with(mut self, serving: Serving) {
        let Serving {
            listener,
            settings,
            mut stop,
            operated,
            mut reload,
        } = serving;
        let patience = settings.shutdown_grace + LAST_PATIENCE;
        let (stats, reloads) = (
            Arc::new(server::Stats::default()),
            Arc::<Reloads>::default(),
        );
        let site = Arc::new(ArcSwap::new(Arc::clone(&self.site)));
        let mut crew = Crew::default();
        self.put_to_work(&mut crew, &operated, (&stats, &reloads));
        crew.join(server::serve_counted(
            listener,
            Arc::clone(&site),
            settings,
            (ready(&operated), Arc::clone(&stats)),
            stop.clone(),
        ));
        loop {
            tokio::select! {
                // An error means that whoever could say stop is gone: then it is time, too.
                _ = stop.wait_for(|stops| *stops) => break,
                () = due(reload.as_mut()) => {}
            }
            let Some(reload) = &mut reload else { break };
            let Some(next) = self.next(reload).await else {
                reloads.refused.fetch_add(1, Ordering::Relaxed);
                continue;
            };
            // First everything is ready to work, then requests go there, then the old one ends.
            let before = std::mem::replace(&mut self, next);
            self.put_to_work(&mut crew, &operated, (&stats, &reloads));
            site.store(Arc::clone(&self.site));
            drop(before);
            reloads.done.fetch_add(1, Ordering::Relaxed);
            tracing::info!(deployments = self.deployments.len(), "configuration taken");
        }
        crew.end(patience).await;
        operated.store(None);
        self.store.close().await;
    }

    /// What the configuration as it is now makes of this; `None` when it is not taken.
    async fn next(&self, reload: &mut Reload) -> Option<Self> {
        let config = reload.read().await?;
        let built = match reload.certificates(&config) {
            Ok(()) => self.rebuild(&config).await,
            Err(words) => Err(AppError::Site(words)),
        };
        built
            .map_err(|error| reload::refused(&error.to_string()))
            .ok()
    }

    fn put_to_work(
        &self,
        crew: &mut Crew,
        operated: &server::Operated,
        (stats, reloads): (&Arc<server::Stats>, &Arc<Reloads>),
    ) {
        crew.match_to(&self.deployments);
        let ops = Ops {
            deployments: self.deployments.clone(),
            store: Arc::clone(&self.store),
            peers: self.ground.peers.clone(),
            clock: self.clock.clone(),
            stats: Arc::clone(stats),
            reloads: Arc::clone(reloads),
            tallies: tokio::sync::Mutex::default(),
        };
        operated.store(Some(Arc::new(Box::new(ops))));
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving")
            .field("listener", &self.listener)
            .field("reload", &self.reload)
            .finish_non_exhaustive()
    }
}

/// Waits until the configuration is to be read anew; for ever where it never is.
async fn due(reload: Option<&mut Reload>) {
    match reload {
        Some(reload) => reload.due().await,
        None => std::future::pending().await,
    }
}

fn ready(operated: &server::Operated) -> server::Ready {
    let operated = Arc::clone(operated);
    Arc::new(move || {
        let operated = operated.load_full();
        Box::pin(async move {
            match operated {
                Some(operated) => operated.health().await,
                None => server::Health::default(),
            }
        })
    })
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
