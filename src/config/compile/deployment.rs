//! `[deployments.ID]`.

use std::path::Path;
use std::sync::Arc;

use super::super::finding::nearest;
use super::super::raw;
use super::{
    Aggregate, Deployment, Prints, Scope, aggregate, inventory, leads, oauth, pap, profile, urls,
    website,
};
use crate::contract::Skill;
use crate::contract::capabilities::Scope as SearchScope;
use crate::deployment::{INVENTORY_SKILLS, McpSettings, Quota};

pub(super) fn compile(
    scope: &mut Scope<'_>,
    id: &str,
    raw: &raw::Deployment,
    data_directory: &Path,
) -> Option<Deployment> {
    check_id(scope, id);
    let domain = domain(scope, raw);
    let skills = skills(scope, raw.skills.as_deref());
    let search_scope = match raw.scope {
        Some(raw::Scope::Aggregate) => SearchScope::Aggregate,
        Some(raw::Scope::Dealer) | None => SearchScope::Dealer,
    };
    let public_url = urls::compile(scope, raw, domain.as_deref().unwrap_or_default());
    let remedy = "describe the dealer under [deployments.ID.profile]";
    let profile = scope
        .need("profile", raw.profile.as_ref(), remedy)
        .and_then(|raw| profile::compile(&mut scope.below("profile"), raw))
        .map(Arc::new);
    let (inventory, aggregate) = match search_scope {
        SearchScope::Dealer => {
            if !raw.sellers.is_empty() {
                let remedy = "set scope = \"aggregate\", or leave the sellers out";
                scope.fault("sellers", "stands in a deployment of one dealer", remedy);
            }
            let inventory = inventory(scope, id, raw, profile.as_ref(), &skills, data_directory);
            (inventory, None)
        }
        SearchScope::Aggregate => {
            if !skills.contains(&Skill::DealerInformation) {
                let remedy = "name it: agents look up by it whose car it is";
                scope.fault(
                    "skills",
                    "leaves dealer.information out of an aggregate",
                    remedy,
                );
            }
            let aggregate = aggregate::compile(scope, id, raw, &skills, data_directory);
            (None, Some(aggregate?))
        }
    };
    if let Some(profile) = profile.as_deref() {
        let mapping = inventory.as_ref().map(|inventory| &*inventory.mapping);
        // Without a mapping that loads, nobody knows what it would have said.
        if mapping.is_some() || raw.inventory.is_none() || aggregate.is_some() {
            profile::need_rooftops(&mut scope.below("profile"), profile, mapping);
        }
    }
    let leads = leads(
        scope,
        id,
        raw,
        profile.as_ref(),
        (&skills, aggregate.as_ref()),
    );
    let pap = pap::compile(
        &mut scope.below("pap"),
        &raw.pap,
        domain.as_deref().unwrap_or_default(),
        public_url.aliases(),
    );
    let oauth = oauth::compile(scope, raw);
    Some(Deployment {
        id: id.to_owned(),
        domain: domain?,
        public_url,
        skills,
        scope: search_scope,
        profile: profile?,
        inventory,
        aggregate,
        leads,
        mcp: mcp(scope, &raw.mcp),
        pap,
        oauth,
        legacy_sessions: raw.mcp.legacy_sessions.unwrap_or(false),
        quota: quota(&mut scope.below("limits"), &raw.limits),
        website: website::compile(&mut scope.below("website"), &raw.website),
        prints: Prints::default(),
    })
}

fn inventory(
    scope: &mut Scope<'_>,
    id: &str,
    raw: &raw::Deployment,
    profile: Option<&Arc<crate::profile::Profile>>,
    skills: &[Skill],
    data_directory: &Path,
) -> Option<super::Inventory> {
    let needed = INVENTORY_SKILLS.iter().any(|skill| skills.contains(skill));
    if needed && raw.inventory.is_none() {
        let remedy =
            "name mapping and source under [deployments.ID.inventory], or leave the skills out";
        scope.fault("inventory", "is missing", remedy);
    }
    let raw_inventory = raw.inventory.as_ref()?;
    let subject = inventory::Subject {
        id,
        data_directory,
        skills,
        scope: SearchScope::Dealer,
        placed: profile.is_some_and(|profile| inventory::is_placed(profile)),
        bare: profile.is_some_and(|profile| profile.rooftops.is_empty()),
    };
    inventory::compile(scope, &subject, raw_inventory, &raw.search)
}

fn leads(
    scope: &mut Scope<'_>,
    id: &str,
    raw: &raw::Deployment,
    profile: Option<&Arc<crate::profile::Profile>>,
    (skills, aggregate): (&[Skill], Option<&Aggregate>),
) -> Option<crate::leads::Settings> {
    if raw.leads.is_none() && skills.contains(&Skill::LeadSubmit) {
        let remedy = "name a delivery under [deployments.ID.leads.deliveries.NAME], or leave lead.submit out";
        scope.fault("leads", "is missing", remedy);
    }
    // An aggregate's receivers are its sellers.
    let receiver = profile.map(Arc::as_ref).filter(|_| aggregate.is_none());
    let settings = leads::compile(&mut scope.below("leads"), id, raw.leads.as_ref()?, receiver)?;
    if let Some(aggregate) = aggregate {
        aggregate::check_routes(scope, aggregate, &settings);
    } else {
        // No lead of one dealer is a seller's: such a way out would take none.
        for target in &settings.targets {
            let key = format!("leads.deliveries.{}.sellers", target.name);
            let keys = [(key.as_str(), !target.route.sellers.is_empty())];
            let reason = "stands in a deployment of one dealer, whose leads are no seller's";
            scope.idle(&keys, reason, "leave it out");
        }
    }
    Some(settings)
}

/// An id is part of cursors, keys and log lines, and of names of environment variables.
fn check_id(scope: &mut Scope<'_>, id: &str) {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    if id.is_empty() || id.len() > 64 || !id.bytes().all(plain) || id.contains("__") {
        scope.fault(
            "",
            "is no usable id",
            "use up to 64 of a-z, 0-9 and single _",
        );
    }
}

fn domain(scope: &mut Scope<'_>, raw: &raw::Deployment) -> Option<String> {
    let domain = scope.need(
        "domain",
        raw.domain.as_deref(),
        "give the dealer's host name, e.g. dealer.example",
    )?;
    let domain = domain.trim_end_matches('.').to_ascii_lowercase();
    if urls::is_host_name(&domain) || urls::is_loopback(&domain) {
        return Some(domain);
    }
    scope.fault(
        "domain",
        "is not a host name",
        "write only the host, e.g. dealer.example",
    );
    None
}

fn skills(scope: &mut Scope<'_>, named: Option<&[String]>) -> Vec<Skill> {
    let Some(named) = named else {
        return Skill::ALL.to_vec();
    };
    if named.is_empty() {
        scope.fault("skills", "is empty", "leave it out for all five skills");
    }
    let ids = Skill::ALL.map(Skill::id);
    let mut skills = Vec::new();
    for (index, id) in named.iter().enumerate() {
        if let Some(skill) = Skill::from_id(id) {
            skills.push(skill);
            continue;
        }
        let remedy = match nearest(id, ids) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("use: {}", ids.join(", ")),
        };
        scope.fault(&format!("skills.{index}"), "is not a skill", remedy);
    }
    skills
}

fn quota(scope: &mut Scope<'_>, raw: &raw::Limits) -> Quota {
    Quota {
        leads_per_minute: scope.limit("leads_per_minute", raw.leads_per_minute),
        calls_per_minute: scope.limit("calls_per_minute", raw.calls_per_minute),
        requests_per_minute: scope.limit("requests_per_minute", raw.requests_per_minute),
    }
}

fn mcp(scope: &mut Scope<'_>, raw: &raw::Mcp) -> McpSettings {
    let default = McpSettings::default();
    let cache_ttl_s = scope.bounded(
        "mcp.cache_ttl_s",
        raw.cache_ttl_s,
        default.cache_ttl_ms / 1000,
        (0, 86_400),
    );
    let allowed_origins = raw.allowed_origins.clone().unwrap_or_default();
    for (index, origin) in allowed_origins.iter().enumerate() {
        if origin != "*" && !urls::is_origin(origin) {
            let remedy = "write scheme and host as browsers do, e.g. https://app.example";
            scope.fault(
                &format!("mcp.allowed_origins.{index}"),
                "is no origin",
                remedy,
            );
        }
    }
    McpSettings {
        allowed_origins,
        strict_headers: raw.strict_headers.unwrap_or(false),
        cache_ttl_ms: cache_ttl_s * 1000,
        instructions: raw.instructions.clone(),
        ..default
    }
}
