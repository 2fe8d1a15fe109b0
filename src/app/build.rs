//! One deployment from its settings: its inventory, lead desk and issuer, opened and joined. A source that is
//! away is no reason not to serve the rest.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::register::{self, Register};
use super::rooftops::Profiles;
use super::{AppError, Ground, make_private_folder, words};
use crate::config::{self, Aggregate, Prints};
use crate::deployment::{Deployment, Gates, LegacySessions, Parts};
use crate::inventory::{self, Frame, Inventory, Reader, SellerReader};
use crate::oauth::{Authority, Gate, Issuer};
use crate::profile::Profile;
use crate::sources::Source;

/// How long a session id of an older MCP revision lasts.
const LEGACY_SESSION: Duration = Duration::from_hours(24);

/// What an inventory is opened with: its settings, its reader, its vocabulary of features.
type InventoryParts = (inventory::Settings, Reader, Vec<(String, String)>);

/// What building one deployment needs.
#[derive(Clone, Copy)]
pub(super) struct Builder<'a> {
    pub(super) settings: &'a config::Deployment,
    pub(super) ground: &'a Ground,
    pub(super) data_directory: &'a Path,
    /// The deployment of this id as it is served now.
    pub(super) before: Option<&'a Built>,
    /// Whether that one stands on the same ground.
    pub(super) same_ground: bool,
}

/// A deployment, with what its settings were.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) deployment: Arc<Deployment>,
    prints: Prints,
    /// Rooftops that lie in the source could not be read: it is to be built again when they can.
    incomplete: bool,
}

impl Builder<'_> {
    /// The deployment: the one that is served now when nothing of it has changed.
    pub(super) async fn build(self) -> Result<Built, AppError> {
        let prints = &self.settings.prints;
        let same = self.before.filter(|before| {
            self.same_ground && before.prints.whole == prints.whole && !before.incomplete
        });
        let (deployment, incomplete) = match same {
            Some(before) => (Arc::clone(&before.deployment), false),
            None => self.anew().await?,
        };
        Ok(Built {
            deployment,
            prints: prints.clone(),
            incomplete,
        })
    }

    /// And whether it is incomplete.
    async fn anew(&self) -> Result<(Arc<Deployment>, bool), AppError> {
        let (settings, ground) = (self.settings, self.ground);
        let mut mcp = settings.mcp.clone();
        if settings.legacy_sessions {
            mcp.legacy_sessions = Some(LegacySessions {
                keys: Arc::clone(&ground.keys),
                lifetime: LEGACY_SESSION,
            });
        }
        let pap = self.pap(ground.port).await?;
        let mut urls = settings.public_url.urls(ground.port);
        urls.website.clone_from(&settings.website);
        urls.openapi = pap
            .as_ref()
            .map(|issuer| format!("{}/openapi.json", issuer.settings().resource));
        let profiles = self.profiles().await;
        let incomplete = profiles.is_incomplete();
        let parts = Parts {
            id: settings.id.clone(),
            domain: settings.domain.clone(),
            contract: Arc::clone(&ground.contract),
            skills: settings.skills.clone(),
            scope: settings.scope,
            inventory: self.inventory(&profiles).await?,
            leads: self.leads(&profiles.all)?,
            profiles: profiles.all,
            gates: self.gates(&urls.mcp, &urls.a2a)?,
            urls,
            mcp,
            pap,
            quota: settings.quota,
            clock: ground.clock.clone(),
        };
        let compiled = Deployment::compile(parts);
        let deployment = compiled.map_err(|errors| AppError::Deployment {
            deployment: settings.id.clone(),
            words: words(&errors),
        })?;
        Ok((Arc::new(deployment), incomplete))
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
            self.ground.peers.clone(),
            Arc::clone(&self.ground.keys),
            Arc::clone(&self.ground.store),
            self.ground.clock.clone(),
        );
        let issuer = issuer.await.map_err(|refusal| AppError::Deployment {
            deployment: self.settings.id.clone(),
            words: refusal.to_string(),
        })?;
        let before = self.before.and_then(|b| b.deployment.pap.as_deref());
        Ok(Some(Arc::new(issuer.after(before))))
    }

    /// The gates of the endpoints that ask for access tokens; both go to one issuer.
    fn gates(&self, mcp: &str, a2a: &str) -> Result<Gates, AppError> {
        let Some(oauth) = &self.settings.oauth else {
            return Ok(Gates::default());
        };
        let authority = Authority::new(oauth.authority.clone(), self.ground.clock.clone())?;
        let authority = Arc::new(authority);
        let name = &self.settings.profile.name;
        let gate = |settings| Arc::new(Gate::new(settings, Arc::clone(&authority)));
        Ok(Gates {
            mcp: oauth.mcp(mcp, name).map(gate),
            a2a: oauth.a2a(a2a, name).map(gate),
        })
    }

    /// What is served now, where it has the same inventory.
    pub(super) fn same_inventory(&self) -> Option<&Built> {
        let prints = &self.settings.prints;
        let same = |before: &&Built| before.prints.inventory == prints.inventory;
        self.before.filter(same).filter(|before| !before.incomplete)
    }

    /// The inventory, read once where that can be done now.
    async fn inventory(&self, profiles: &Profiles) -> Result<Option<Arc<Inventory>>, AppError> {
        if let Some(before) = self.same_inventory() {
            return Ok(before.deployment.inventory.clone());
        }
        let settings = self.settings;
        let parts = match (&settings.inventory, &settings.aggregate) {
            (Some(inventory), _) => Some((
                inventory.settings.clone(),
                self.reader(profiles, 0, inventory).await?,
                inventory.mapping.features().to_vec(),
            )),
            (None, Some(aggregate)) => self.sellers(profiles, aggregate).await?,
            (None, None) => None,
        };
        let Some((inventory, reader, features)) = parts else {
            return Ok(None);
        };
        let opened = self.open(inventory, reader, &profiles.all, features)?;
        self.begin(&opened).await?;
        Ok(Some(opened))
    }

    /// What an aggregate's inventory is made of, when it has one.
    async fn sellers(
        &self,
        profiles: &Profiles,
        aggregate: &Aggregate,
    ) -> Result<Option<InventoryParts>, AppError> {
        self.register(aggregate)?;
        let Some(common) = &aggregate.settings else {
            return Ok(None);
        };
        let (mut readers, mut features) = (Vec::new(), Vec::new());
        // The first profile is the endpoint's own.
        for (at, seller) in (1..).zip(&aggregate.sellers) {
            let (Some(inventory), Some(id)) = (&seller.inventory, &seller.profile.dealer_id) else {
                continue;
            };
            readers.push(SellerReader {
                dealer_id: id.clone(),
                reader: self.reader(profiles, at, inventory).await?,
            });
            for feature in inventory.mapping.features() {
                if !features.iter().any(|(code, _)| *code == feature.0) {
                    features.push(feature.clone());
                }
            }
        }
        let keep = common
            .max_age_s
            .and_then(|seconds| u64::try_from(seconds).ok());
        let reader = Reader::of_sellers(readers, keep.map(Duration::from_secs));
        Ok(Some((common.clone(), reader, features)))
    }

    /// Enters the sellers before any of their ids is used.
    fn register(&self, aggregate: &Aggregate) -> Result<(), AppError> {
        let failed = |cause| AppError::Register {
            deployment: self.settings.id.clone(),
            cause,
        };
        let folder = register::folder(self.data_directory);
        make_private_folder(&folder)?;
        let mut register = Register::read(&folder, &self.settings.id).map_err(failed)?;
        let entered = register.enter_all(aggregate, self.ground.clock.now());
        entered.and_then(|()| register.write()).map_err(failed)
    }

    /// How the inventory of the profile at this place is read: not before its rooftops are known.
    async fn reader(
        &self,
        profiles: &Profiles,
        at: usize,
        inventory: &config::Inventory,
    ) -> Result<Reader, AppError> {
        let source = Source::open(inventory.source.clone(), inventory.mapping.plan())
            .await
            .map_err(|cause| AppError::Source {
                deployment: self.settings.id.clone(),
                cause,
            })?;
        if let Some(profile) = profiles.unread(at) {
            return Ok(self.rooftop_reader(profile, inventory));
        }
        let mapping = Arc::clone(&inventory.mapping);
        Ok(Reader::mapped(source, mapping))
    }

    fn open(
        &self,
        settings: inventory::Settings,
        reader: Reader,
        profiles: &[Arc<Profile>],
        features: Vec<(String, String)>,
    ) -> Result<Arc<Inventory>, AppError> {
        let frame = Frame::new(self.settings.scope, profiles, features);
        let contract = Arc::clone(&self.ground.contract);
        if let Some(folder) = &settings.directory {
            make_private_folder(folder)?;
        }
        let opened = Inventory::open(
            settings,
            reader,
            frame,
            Arc::new(move |listing| contract.check_listing(listing)),
            Arc::clone(&self.ground.keys),
            self.ground.clock.clone(),
        );
        opened.map_err(|cause| AppError::Inventory {
            deployment: self.settings.id.clone(),
            cause,
        })
    }
}
