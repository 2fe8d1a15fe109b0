//! The composition root: from a configuration to everything that serves it, and back down again. The only
//! room that constructs others. Must not decide anything that a room or the configuration decides.

mod reading;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::clock::Clock;
use crate::config::{self, Config};
use crate::contract::Contract;
use crate::deployment::{Deployment, LegacySessions, Parts};
use crate::inventory::{Frame, Inventory, InventoryError};
use crate::leads::Leads;
use crate::net;
use crate::oauth::{Issuer, Ledger};
use crate::seal::{KeyRing, SealError};
use crate::server::{self, Site};
use crate::sources::{Source, SourceError};
use crate::store::{Store, StoreError};

pub use reading::{Tally, take_stock};

/// How long a session id of an older MCP revision lasts.
const LEGACY_SESSION: Duration = Duration::from_hours(24);
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
        let store = Arc::new(Store::open_embedded(&config.store_file).await?);
        let contract = Contract::v3_0().map_err(|error| AppError::Contract(error.to_string()))?;
        let peers = net::Client::new(config.peers.clone())?;
        let mut deployments = Vec::new();
        for settings in &config.deployments {
            let builder = Builder {
                settings,
                contract: &contract,
                keys: &keys,
                store: &store,
                clock: &clock,
                peers: &peers,
            };
            deployments.push(Arc::new(builder.build(port).await?));
        }
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
        let _asked = stop.wait_for(|stops| *stops).await;
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

/// What building one deployment needs.
struct Builder<'a> {
    settings: &'a config::Deployment,
    contract: &'a Arc<Contract>,
    keys: &'a Arc<KeyRing>,
    store: &'a Arc<Store>,
    clock: &'a Clock,
    peers: &'a net::Client,
}

impl Builder<'_> {
    async fn build(&self, port: u16) -> Result<Deployment, AppError> {
        let settings = self.settings;
        let mut mcp = settings.mcp.clone();
        if settings.legacy_sessions {
            mcp.legacy_sessions = Some(LegacySessions {
                keys: Arc::clone(self.keys),
                lifetime: LEGACY_SESSION,
            });
        }
        let pap = self.pap(port).await?;
        let mut urls = settings.public_url.urls(port);
        urls.openapi = pap
            .as_ref()
            .map(|issuer| format!("{}/openapi.json", issuer.settings().resource));
        let parts = Parts {
            id: settings.id.clone(),
            domain: settings.domain.clone(),
            contract: Arc::clone(self.contract),
            skills: settings.skills.clone(),
            scope: settings.scope,
            profiles: vec![Arc::clone(&settings.profile)],
            inventory: self.inventory().await?,
            leads: self.leads()?,
            urls,
            mcp,
            pap,
            quota: settings.quota,
            clock: self.clock.clone(),
        };
        Deployment::compile(parts).map_err(|errors| AppError::Deployment {
            deployment: settings.id.clone(),
            words: words(&errors),
        })
    }

    /// The issuer of guest Sessions, where the deployment has one.
    async fn pap(&self, port: u16) -> Result<Option<Arc<Issuer>>, AppError> {
        let Some(pap) = &self.settings.pap else {
            return Ok(None);
        };
        let issuer = Issuer::open(
            pap.settings(
                &self.settings.public_url.base(port),
                &self.settings.public_url.urls(port).mcp,
            ),
            self.peers.clone(),
            Arc::clone(self.keys),
            Ledger::Store(Arc::clone(self.store)),
            self.clock.clone(),
        );
        let issuer = issuer.await.map_err(|refusal| AppError::Deployment {
            deployment: self.settings.id.clone(),
            words: refusal.to_string(),
        })?;
        Ok(Some(Arc::new(issuer)))
    }

    async fn inventory(&self) -> Result<Option<Arc<Inventory>>, AppError> {
        let Some(settings) = &self.settings.inventory else {
            return Ok(None);
        };
        let deployment = || self.settings.id.clone();
        let source = Source::open(settings.source.clone(), settings.mapping.plan())
            .await
            .map_err(|cause| AppError::Source {
                deployment: deployment(),
                cause,
            })?;
        let reader = reading::reader(Arc::new(source), Arc::clone(&settings.mapping));
        let profiles = [Arc::clone(&self.settings.profile)];
        let frame = Frame::new(
            self.settings.scope,
            &profiles,
            settings.mapping.features().to_vec(),
        );
        let contract = Arc::clone(self.contract);
        let mut settings = settings.settings.clone();
        settings.directory = settings
            .directory
            .map(|folder| folder.join(&self.settings.id));
        if let Some(folder) = &settings.directory {
            make_private_folder(folder)?;
        }
        let inventory = Inventory::with_reader(
            settings,
            reader,
            frame,
            Arc::new(move |listing| contract.check_listing(listing)),
            Arc::clone(self.keys),
            self.clock.clone(),
        )
        .await
        .map_err(|cause| AppError::Inventory {
            deployment: deployment(),
            cause,
        })?;
        Ok(Some(inventory))
    }

    fn leads(&self) -> Result<Option<Arc<Leads>>, AppError> {
        let Some(settings) = &self.settings.leads else {
            return Ok(None);
        };
        let leads = Leads::new(
            settings.clone(),
            Arc::clone(self.store),
            Arc::clone(self.keys),
            self.clock.clone(),
        );
        leads
            .map(|leads| Some(Arc::new(leads)))
            .map_err(|error| AppError::Leads {
                deployment: self.settings.id.clone(),
                words: error.to_string(),
            })
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
