//! From what the writer wrote to what the rooms want: every value checked, every file read, every mapping
//! compiled. Opens no socket, database or store.

mod access;
mod aggregate;
mod delivery;
mod deployment;
mod http;
mod inventory;
mod leads;
mod oauth;
mod pap;
mod print;
mod profile;
mod scope;
mod server;
mod source;
mod store;
mod telemetry;
mod together;
mod urls;
mod website;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::finding::Findings;
use super::load::Sources;
use super::raw::Raw;
use super::tree::Tree;
use crate::contract::Skill;
use crate::contract::capabilities::Scope as SearchScope;
use crate::deployment::{McpSettings, Quota};
use crate::mapping::Mapping;
use crate::profile::Profile;
pub use aggregate::{Aggregate, Seller};
pub use oauth::Oauth;
pub use pap::Pap;
pub use print::{Fixed, Print, Prints};
use scope::Scope;
pub use store::StoreSettings;
pub use telemetry::Otlp;
pub use urls::PublicUrl;

/// A configuration without findings.
#[derive(Debug)]
pub struct Config {
    pub server: Server,
    /// Where this process keeps what must survive it.
    pub data_directory: PathBuf,
    pub keys: Keys,
    pub store: StoreSettings,
    /// How identities of personal agents are fetched.
    pub peers: crate::net::Policy,
    /// Where traces and metrics go, if anywhere.
    pub telemetry: Option<Otlp>,
    pub deployments: Vec<Deployment>,
    /// What everything but server and deployments comes to.
    pub print: Print,
    /// Where that lies which a process cannot leave while it serves.
    pub places: Print,
    /// What a process takes at its start only.
    pub fixed: Fixed,
    /// The merged values with their places, for `config show`.
    pub tree: Tree,
}

/// How this process is reached.
#[derive(Clone, Debug)]
pub struct Server {
    /// `address:port`.
    pub listen: std::net::SocketAddr,
    /// Where operators find probes and metrics.
    pub admin_listen: Option<std::net::SocketAddr>,
    pub tls: Option<crate::server::TlsSettings>,
    pub settings: crate::server::Settings,
}

/// The key file.
#[derive(Clone, Debug)]
pub struct Keys {
    pub file: PathBuf,
    /// Whether it may be made: only where nobody named it.
    pub create: bool,
}

/// One deployment's settings.
#[derive(Debug)]
pub struct Deployment {
    pub id: String,
    pub domain: String,
    pub public_url: PublicUrl,
    pub skills: Vec<Skill>,
    pub scope: SearchScope,
    pub profile: Arc<Profile>,
    /// One dealer's own inventory.
    pub inventory: Option<Inventory>,
    /// The sellers of an aggregate, with their inventories.
    pub aggregate: Option<Aggregate>,
    pub leads: Option<crate::leads::Settings>,
    pub mcp: McpSettings,
    /// Where personal agents are served.
    pub pap: Option<Pap>,
    /// Where access tokens are asked for.
    pub oauth: Option<Oauth>,
    /// Whether clients of older MCP revisions are given session ids.
    pub legacy_sessions: bool,
    pub quota: Quota,
    /// The dealer's own website, for everything that is not ours.
    pub website: Option<crate::deployment::Website>,
    pub prints: Prints,
}

/// One deployment's inventory settings.
#[derive(Debug)]
pub struct Inventory {
    pub settings: crate::inventory::Settings,
    pub mapping: Arc<Mapping>,
    pub source: crate::sources::Settings,
}

impl Deployment {
    /// How its inventory is searched and kept fresh, be it one dealer's own or all sellers' together.
    pub fn inventory_settings(&self) -> Option<&crate::inventory::Settings> {
        let own = self.inventory.as_ref().map(|own| &own.settings);
        own.or_else(|| self.aggregate.as_ref()?.settings.as_ref())
    }

    /// The inventories that it is made of, each with a name for people and whose it is: one, or one for each
    /// seller.
    pub fn inventories(&self) -> Vec<(String, &Arc<Profile>, &Inventory)> {
        let own = self.inventory.iter();
        let own = own.map(|own| (self.id.clone(), &self.profile, own));
        let sellers = self.aggregate.iter().flat_map(|all| &all.sellers);
        let sellers = sellers.filter_map(|seller| {
            let id = seller.profile.dealer_id.as_deref()?;
            let inventory = seller.inventory.as_ref()?;
            Some((format!("{}/{id}", self.id), &seller.profile, inventory))
        });
        own.chain(sellers).collect()
    }
}

impl Config {
    /// The inventory source of one deployment, whatever else is still missing: for a mapping that is yet to
    /// be written. Nothing where there is no such deployment, or it has no inventory.
    pub fn source(
        sources: &Sources,
        deployment: &str,
    ) -> Result<Option<crate::sources::Settings>, Findings> {
        let mut findings = Vec::new();
        let mut tree = sources.merge(&mut findings);
        tree.lay_below("defaults", "deployments");
        let raw: Raw = tree.read(&[], &mut findings);
        let mut scope = Scope::new(&mut tree, &mut findings);
        let data_directory = data_directory(&scope, &raw);
        let inventory = raw.deployments.get(deployment);
        let inventory = inventory.and_then(|deployment| deployment.inventory.as_ref());
        let source = inventory.and_then(|inventory| {
            let mut scope = scope.below(&format!("deployments.{deployment}"));
            source::compile(&mut scope.below("inventory"), inventory, &data_directory)
        });
        if findings.is_empty() {
            Ok(source)
        } else {
            Err(Findings(findings))
        }
    }

    /// Reads, merges and compiles; every finding at once.
    pub fn load(sources: &Sources) -> Result<Self, Findings> {
        let mut findings = Vec::new();
        let mut tree = sources.merge(&mut findings);
        // Read by themselves first: a mistake in them is said once, not for every deployment.
        let _checked: super::raw::Deployment = tree.read(&["defaults".to_owned()], &mut findings);
        tree.lay_below("defaults", "deployments");
        let raw: Raw = tree.read(&[], &mut findings);
        let mut scope = Scope::new(&mut tree, &mut findings);
        let server = server::compile(&mut scope.below("server"), &raw.server);
        let listen = server.as_ref().map(|server| server.listen);
        let peers = pap::policy(&mut scope.below("net"), &raw.net, listen);
        let data_directory = data_directory(&scope, &raw);
        let telemetry = telemetry::compile(&mut scope.below("telemetry"), &raw.telemetry);
        let keys = keys(&mut scope, &raw, &data_directory);
        let store = store::compile(&mut scope.below("store"), &raw.store, &data_directory);
        if raw.deployments.is_empty() && scope.clean() {
            let places = sources.usual_places();
            let places: Vec<_> = places
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            let remedy = format!(
                "describe one under [deployments.ID]; without --config, files are looked for at {}",
                places.join(", ")
            );
            scope.fault("deployments", "is missing", remedy);
        }
        let mut deployments: Vec<_> = raw
            .deployments
            .iter()
            .filter_map(|(id, raw)| {
                deployment::compile(
                    &mut scope.below(&format!("deployments.{id}")),
                    id,
                    raw,
                    &data_directory,
                )
            })
            .collect();
        together::check_hosts(&mut scope, &deployments);
        together::check_profiles(&mut scope, &deployments);
        let mut files = print::parts(&tree);
        for deployment in &mut deployments {
            let own = files.remove(&deployment.id).unwrap_or_default();
            deployment.prints = print::of_deployment(&tree, &deployment.id, &own);
        }
        match (server, findings.is_empty()) {
            (Some(server), true) => Ok(Self {
                print: print::of_ground(&tree),
                places: print::of_places(&tree),
                fixed: print::of_fixed(&tree),
                server,
                data_directory,
                keys,
                store,
                peers,
                telemetry,
                deployments,
                tree,
            }),
            _ => Err(Findings(findings)),
        }
    }
}

impl Config {
    /// The files that this was made of, those that it names included.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = print::files(&self.tree);
        files.push(self.keys.file.clone());
        files
    }
}

fn data_directory(scope: &Scope<'_>, raw: &Raw) -> PathBuf {
    match &raw.data.directory {
        Some(directory) => scope.path("data.directory", directory),
        // Beside the file that describes the deployments.
        None => scope.path("deployments", Path::new("forecourt-data")),
    }
}

fn keys(scope: &mut Scope<'_>, raw: &Raw, data_directory: &Path) -> Keys {
    let Some(file) = &raw.keys.file else {
        return Keys {
            file: data_directory.join("keys"),
            create: true,
        };
    };
    let file = scope.path("keys.file", file);
    if !file.is_file() {
        let reason = format!("{} is not there", file.display());
        scope.fault(
            "keys.file",
            reason,
            "make it with `forecourt keys generate FILE`",
        );
    }
    Keys {
        file,
        create: false,
    }
}
