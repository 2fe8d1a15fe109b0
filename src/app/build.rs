//! One deployment from its settings: its inventory, lead desk and issuer, opened and joined.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::register::Register;
use super::{AppError, Ground, make_private_folder, with_rooftops, words};
use crate::config::{self, Aggregate, Prints};
use crate::deployment::{Deployment, Gates, LegacySessions, Parts};
use crate::inventory::{self, Frame, Inventory, Reader, SellerReader};
use crate::leads::{self, Leads};
use crate::oauth::{Authority, Gate, Issuer, Ledger};
use crate::profile::Profile;
use crate::sources::Source;

/// How long a session id of an older MCP revision lasts.
const LEGACY_SESSION: Duration = Duration::from_hours(24);

/// What building one deployment needs.
#[derive(Clone, Copy)]
pub(super) struct Builder<'a> {
    pub(super) settings: &'a config::Deployment,
    pub(super) ground: &'a Ground,
    pub(super) data_directory: &'a Path,
    /// The deployment of this id as it is served now, where it stands on the same ground.
    pub(super) before: Option<&'a Built>,
}

/// A deployment, with what its settings were.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) deployment: Arc<Deployment>,
    prints: Prints,
}

impl Builder<'_> {
    /// The deployment: the one that is served now when nothing of it has changed.
    pub(super) async fn build(self) -> Result<Built, AppError> {
        let prints = &self.settings.prints;
        let same = self
            .before
            .filter(|before| before.prints.whole == prints.whole);
        let deployment = match same {
            Some(before) => Arc::clone(&before.deployment),
            None => Arc::new(self.anew().await?),
        };
        Ok(Built {
            deployment,
            prints: prints.clone(),
        })
    }

    async fn anew(&self) -> Result<Deployment, AppError> {
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
        let profiles = self.profiles().await?;
        let parts = Parts {
            id: settings.id.clone(),
            domain: settings.domain.clone(),
            contract: Arc::clone(&ground.contract),
            skills: settings.skills.clone(),
            scope: settings.scope,
            inventory: self.inventory(&profiles).await?,
            leads: self.leads(&profiles)?,
            profiles,
            gates: self.gates(&urls.mcp, &urls.a2a)?,
            urls,
            mcp,
            pap,
            quota: settings.quota,
            clock: ground.clock.clone(),
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
            self.ground.peers.clone(),
            Arc::clone(&self.ground.keys),
            Ledger::Store(Arc::clone(&self.ground.store)),
            self.ground.clock.clone(),
        );
        let issuer = issuer.await.map_err(|refusal| AppError::Deployment {
            deployment: self.settings.id.clone(),
            words: refusal.to_string(),
        })?;
        Ok(Some(Arc::new(issuer)))
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

    /// The dealer's own profile, and an aggregate's sellers'; rooftops are the sources' own where none are
    /// configured.
    async fn profiles(&self) -> Result<Vec<Arc<Profile>>, AppError> {
        let settings = self.settings;
        let sellers = settings.aggregate.iter().flat_map(|all| &all.sellers);
        let sellers = sellers.map(|seller| (&seller.profile, seller.inventory.as_ref()));
        let own = std::iter::once((&settings.profile, settings.inventory.as_ref()));
        let mut profiles = Vec::new();
        for (profile, inventory) in own.chain(sellers) {
            profiles.push(match inventory {
                Some(inventory) => self.rooftops(profile, inventory).await?,
                None => Arc::clone(profile),
            });
        }
        Ok(profiles)
    }

    async fn rooftops(
        &self,
        profile: &Arc<Profile>,
        inventory: &config::Inventory,
    ) -> Result<Arc<Profile>, AppError> {
        let read = with_rooftops(profile, &inventory.source, &inventory.mapping);
        let (profile, findings) = read.await.map_err(|cause| AppError::Source {
            deployment: self.settings.id.clone(),
            cause,
        })?;
        for finding in &findings {
            tracing::warn!(deployment = self.settings.id, finding, "dealer profile");
        }
        Ok(profile)
    }

    async fn inventory(
        &self,
        profiles: &[Arc<Profile>],
    ) -> Result<Option<Arc<Inventory>>, AppError> {
        let settings = self.settings;
        let same = |before: &&Built| before.prints.inventory == settings.prints.inventory;
        if let Some(before) = self.before.filter(same) {
            return Ok(before.deployment.inventory.clone());
        }
        if let Some(inventory) = &settings.inventory {
            let reader = self.reader(inventory).await?;
            let features = inventory.mapping.features().to_vec();
            let opened = self.open(inventory.settings.clone(), reader, profiles, features);
            return opened.await.map(Some);
        }
        let Some(aggregate) = &settings.aggregate else {
            return Ok(None);
        };
        self.register(aggregate)?;
        let Some(common) = &aggregate.settings else {
            return Ok(None);
        };
        let (mut readers, mut features) = (Vec::new(), Vec::new());
        for seller in &aggregate.sellers {
            let (Some(inventory), Some(id)) = (&seller.inventory, &seller.profile.dealer_id) else {
                continue;
            };
            readers.push(SellerReader {
                dealer_id: id.clone(),
                reader: self.reader(inventory).await?,
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
        let opened = self.open(common.clone(), reader, profiles, features);
        opened.await.map(Some)
    }

    /// Enters the sellers before any of their ids is used.
    fn register(&self, aggregate: &Aggregate) -> Result<(), AppError> {
        let failed = |cause| AppError::Register {
            deployment: self.settings.id.clone(),
            cause,
        };
        let folder = self.data_directory.join("dealers");
        make_private_folder(&folder)?;
        let mut register = Register::read(&folder, &self.settings.id).map_err(failed)?;
        for seller in &aggregate.sellers {
            let id = seller.profile.dealer_id.as_deref().unwrap_or_default();
            let (name, formerly) = (&seller.profile.name, seller.formerly.as_deref());
            let entered = register.enter(id, name, formerly, self.ground.clock.now());
            entered.map_err(failed)?;
        }
        register.write().map_err(failed)
    }

    async fn reader(&self, inventory: &config::Inventory) -> Result<Reader, AppError> {
        let source = Source::open(inventory.source.clone(), inventory.mapping.plan())
            .await
            .map_err(|cause| AppError::Source {
                deployment: self.settings.id.clone(),
                cause,
            })?;
        let mapping = Arc::clone(&inventory.mapping);
        Ok(Reader::mapped(source, mapping))
    }

    async fn open(
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
        let opened = Inventory::with_reader(
            settings,
            reader,
            frame,
            Arc::new(move |listing| contract.check_listing(listing)),
            Arc::clone(&self.ground.keys),
            self.ground.clock.clone(),
        );
        let opened = opened.await.map_err(|cause| AppError::Inventory {
            deployment: self.settings.id.clone(),
            cause,
        })?;
        let strangers = opened.status().unknown_rooftops;
        if strangers > 0 {
            let deployment = &self.settings.id;
            tracing::warn!(
                deployment,
                vehicles = strangers,
                "vehicles name a rooftop that the profile lacks; `forecourt mappings check` names it"
            );
        }
        Ok(opened)
    }

    fn leads(&self, profiles: &[Arc<Profile>]) -> Result<Option<Arc<Leads>>, AppError> {
        let Some(settings) = &self.settings.leads else {
            return Ok(None);
        };
        // What is wrong with configured rooftops was found at load.
        let read = profiles
            .first()
            .filter(|_| self.settings.profile.rooftops.is_empty());
        let findings = read.map(|profile| leads::check_receiver(settings, profile));
        if let Some(finding) = findings.iter().flatten().next() {
            return Err(AppError::Leads {
                deployment: self.settings.id.clone(),
                words: format!("{}: {}", finding.reason, finding.remedy),
            });
        }
        let leads = Leads::new(
            settings.clone(),
            Arc::clone(&self.ground.store),
            Arc::clone(&self.ground.keys),
            self.ground.clock.clone(),
        );
        leads
            .map(|leads| Some(Arc::new(leads)))
            .map_err(|error| AppError::Leads {
                deployment: self.settings.id.clone(),
                words: error.to_string(),
            })
    }
}
