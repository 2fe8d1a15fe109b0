//! One advertised dealer or aggregate endpoint set as a compiled value: everything its requests need.
//! Must not look at a host name or an envelope.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::Clock;
use crate::contract::capabilities::Scope;
use crate::contract::{AapError, Caller, Contract, Skill};
use crate::inventory::Inventory;
use crate::leads::Leads;
use crate::oauth::{Gate, Issuer};
use crate::profile::Profile;
use crate::seal::KeyRing;

pub mod calls;
mod fit;
mod quota;

use calls::Calls;
pub use fit::{DeploymentError, INVENTORY_SKILLS};
use quota::Meter;
pub use quota::Quota;

/// What a deployment is made of; [`Deployment::compile`] checks that the parts fit together.
#[derive(Debug)]
pub struct Parts {
    /// Stable identifier (AAP-019).
    pub id: String,
    /// The dealer's host name without a port, in lower case.
    pub domain: String,
    pub contract: Arc<Contract>,
    /// In any order; listing order is made here (AAP-079).
    pub skills: Vec<Skill>,
    pub scope: Scope,
    /// First the endpoint's own: the dealer, or the marketplace; then an aggregate's sellers.
    pub profiles: Vec<Arc<Profile>>,
    /// Needed by the `inventory.*` skills.
    pub inventory: Option<Arc<Inventory>>,
    /// Needed by `lead.submit`.
    pub leads: Option<Arc<Leads>>,
    pub urls: Urls,
    pub mcp: McpSettings,
    /// The issuer of guest Sessions; with it comes the native PAP API.
    pub pap: Option<Arc<Issuer>>,
    pub gates: Gates,
    pub quota: Quota,
    pub clock: Clock,
}

/// Where access tokens of an outside issuer are asked for; nothing is asked where there is no gate
/// (AAP-122).
#[derive(Clone, Debug, Default)]
pub struct Gates {
    pub mcp: Option<Arc<Gate>>,
    pub a2a: Option<Arc<Gate>>,
}

/// The absolute URLs under which a deployment is reached and named.
#[derive(Clone, Debug, Default)]
pub struct Urls {
    pub mcp: String,
    /// The A2A JSON-RPC interface.
    pub a2a: String,
    pub llms_txt: String,
    /// The page where people see the inventory.
    pub inventory_page: String,
    /// Whether this process serves that page itself.
    pub serve_inventory_page: bool,
    pub agent_card: String,
    pub poppy: String,
    /// The catalogue of these endpoints (RFC 9727).
    pub api_catalog: String,
    /// Named in discovery only when it is there (AAP-047): it describes the native PAP API.
    pub openapi: Option<String>,
    /// The dealer's own website, for every address that is not ours.
    pub website: Option<Website>,
    /// Further domains of the same company, each with a `poppy.json` of its own.
    pub aliases: Vec<String>,
    /// Further host names, without port, under which a proxy reaches this deployment.
    pub hosts: Vec<String>,
}

/// The dealer's own website, behind this process.
#[derive(Clone, Debug)]
pub struct Website {
    /// Its base URL; what stands after host and port is not used.
    pub upstream: String,
    /// How long nothing may move before its answer begins.
    pub timeout: Duration,
}

/// What an operator chooses for the MCP endpoint.
#[derive(Clone, Debug)]
pub struct McpSettings {
    /// Exact origins that may call from a browser; `*` allows every well-formed one (AAP-071).
    pub allowed_origins: Vec<String>,
    /// Refuse omitted mirror headers as upstream MCP does, instead of AAP's compatibility ingress (AAP-129).
    pub strict_headers: bool,
    /// Issue session ids to clients of older revisions (AAP-114).
    pub legacy_sessions: Option<LegacySessions>,
    /// How long clients may keep the tool list.
    pub cache_ttl_ms: u64,
    /// The dealer's own sentence, added to the instructions for agents.
    pub instructions: Option<String>,
}

impl Default for McpSettings {
    fn default() -> Self {
        Self {
            allowed_origins: Vec::new(),
            strict_headers: false,
            legacy_sessions: None,
            cache_ttl_ms: 300_000,
            instructions: None,
        }
    }
}

/// Session ids that say by themselves which revision was negotiated.
#[derive(Clone, Debug)]
pub struct LegacySessions {
    pub keys: Arc<KeyRing>,
    pub lifetime: Duration,
}

/// A compiled deployment.
#[derive(Debug)]
pub struct Deployment {
    pub id: String,
    pub domain: String,
    pub contract: Arc<Contract>,
    /// In listing order, without repetition.
    pub skills: Vec<Skill>,
    pub scope: Scope,
    /// First the endpoint's own: the dealer, or the marketplace; then an aggregate's sellers.
    pub profiles: Vec<Arc<Profile>>,
    pub inventory: Option<Arc<Inventory>>,
    pub leads: Option<Arc<Leads>>,
    pub urls: Urls,
    pub mcp: McpSettings,
    pub pap: Option<Arc<Issuer>>,
    pub gates: Gates,
    pub clock: Clock,
    pub calls: Calls,
    meter: Meter,
}

impl Deployment {
    /// Checks the parts against each other; every mistake at once.
    pub fn compile(mut parts: Parts) -> Result<Self, Vec<DeploymentError>> {
        parts.skills.sort_unstable();
        parts.skills.dedup();
        let mistakes = fit::mistakes(&parts);
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        Ok(Self {
            id: parts.id,
            domain: parts.domain.to_ascii_lowercase(),
            contract: parts.contract,
            skills: parts.skills,
            scope: parts.scope,
            profiles: parts.profiles,
            inventory: parts.inventory,
            leads: parts.leads,
            urls: parts.urls,
            mcp: parts.mcp,
            pap: parts.pap,
            gates: parts.gates,
            meter: Meter::new(parts.quota, parts.clock.clone()),
            clock: parts.clock,
            calls: Calls::default(),
        })
    }

    /// Whether this deployment implements the skill.
    pub fn offers(&self, skill: Skill) -> bool {
        self.skills.contains(&skill)
    }

    /// Whether the caller may run the skill now: its quota (AAP-102).
    pub fn permit(&self, caller: &Caller, skill: Skill) -> Result<(), AapError> {
        self.meter.take(caller, skill)
    }

    /// Requests a minute that all callers together may make, where it is limited.
    pub fn requests_per_minute(&self) -> Option<u32> {
        self.meter.requests_per_minute()
    }

    /// The profile with exactly this id (AAP-349).
    pub fn profile(&self, dealer_id: &str) -> Option<&Arc<Profile>> {
        self.profiles
            .iter()
            .find(|profile| profile.dealer_id.as_deref() == Some(dealer_id))
    }

    /// The endpoint's own profile (AAP-343): the dealer's, or in aggregate scope the marketplace's.
    pub fn own_profile(&self) -> Option<&Arc<Profile>> {
        self.profiles.first()
    }

    /// Whether everyone may read over MCP.
    pub fn public_read(&self) -> bool {
        !self
            .gates
            .mcp
            .as_ref()
            .is_some_and(|gate| gate.protects_everything())
    }

    /// The name under which people know this deployment.
    pub fn name(&self) -> &str {
        self.own_profile()
            .map_or(self.domain.as_str(), |profile| profile.name.as_str())
    }
}
