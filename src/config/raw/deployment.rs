//! `[deployments.ID]`: one advertised dealer or aggregate endpoint set.

use std::collections::BTreeMap;
use std::path::PathBuf;

use figment::value::Value;
use serde::Deserialize;

use super::{Leads, Oauth, Pap, Profile};

/// `[deployments.ID]`: one advertised dealer.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Deployment {
    /// The host name that agents know the dealer by, e.g. `dealer.example`. Required.
    pub domain: Option<String>,
    /// The public base URL, without a path: `https://…`, or `http://` on a loopback address. Default
    /// `https://` and the domain; for a loopback domain, `http://` with the port that is listened on.
    pub public_url: Option<String>,
    /// The skills offered. Default all five.
    pub skills: Option<Vec<String>>,
    /// `dealer` (one dealer's own inventory, the default), or `aggregate`: several sellers under one endpoint.
    pub scope: Option<Scope>,
    /// Further domains of the same company, e.g. `www.dealer.example`: each final host gets its own
    /// `poppy.json` with the same issuer.
    pub aliases: Vec<String>,
    /// Further host names, without port, under which a proxy reaches this deployment.
    pub extra_hosts: Vec<String>,
    /// The page where people see the dealer's inventory. Without it, this process serves a small one.
    pub inventory_page_url: Option<String>,
    /// What the dealer is; of an aggregate, what the marketplace is. Required.
    pub profile: Option<Profile>,
    /// Where the vehicles come from. Required; an aggregate names the source with each seller, and the mapping there or here for all.
    pub inventory: Option<Inventory>,
    /// The sellers of an aggregate, each under its `dealer_id`: up to 64 of a-z, 0-9, `_` and `-`. An id once
    /// used stays with its business for ever.
    pub sellers: BTreeMap<String, Seller>,
    pub search: Search,
    /// Where leads go. Required when `lead.submit` is offered.
    pub leads: Option<Leads>,
    pub mcp: Mcp,
    pub a2a: A2a,
    pub pap: Pap,
    /// Whose access tokens are taken. Required where an `access` is `oauth`.
    pub oauth: Option<Oauth>,
    pub limits: Limits,
    pub website: Website,
}

/// Who may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    Public,
    Oauth,
}

/// Whose inventory a deployment shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    Dealer,
    Aggregate,
}

/// `[deployments.ID.inventory]`: where the vehicles come from.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Inventory {
    /// The mapping file, which turns the source's rows into vehicles. Required.
    pub mapping: Option<PathBuf>,
    /// The source; `kind` says which: `sql`, `feed` or `rest`. Required.
    pub source: Option<Value>,
    /// Seconds from one reading of the source to the next. Default 300.
    pub refresh_interval_s: Option<u64>,
    /// The share, 0 to 0.5, by which that is made longer or shorter at random. Default 0.1.
    pub refresh_jitter: Option<f64>,
    /// Seconds after which everything is read, where the mapping also says how only what changed is.
    /// Default 14400.
    pub full_refresh_interval_s: Option<u64>,
    /// Milliseconds between two looks at a feed's file, which is read when it changed. Default 2000; 0
    /// looks at none.
    pub watch_interval_ms: Option<u64>,
    /// Seconds after which a reading is too old to answer from. Default 86400; 0 for never.
    pub max_age_s: Option<u64>,
    /// The greatest share of the vehicles, 0 to 1, that may vanish from one reading to the next; a
    /// reading that lost more is held back for a person. Default 0.5.
    pub shrink_guard: Option<f64>,
    /// Milliseconds that looking one vehicle up at the source may take. Default 2000.
    pub look_up_timeout_ms: Option<u64>,
    /// Milliseconds for which such an answer is used again. Default 2000.
    pub look_up_cache_ms: Option<u64>,
}

/// `[deployments.ID.sellers.DEALER_ID]`: one seller of an aggregate.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Seller {
    /// What the seller is. Required.
    pub profile: Option<Profile>,
    /// The seller's former name, where the same business was renamed. Without it, another name under a known
    /// id is taken for another business and refused.
    pub formerly: Option<String>,
    /// The seller's `mapping` and `source`. Required.
    pub inventory: Option<Inventory>,
}

/// `[deployments.ID.search]`: what search answers when the request does not say.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Search {
    /// Vehicles on a page when the request names no limit. Default 20.
    pub default_limit: Option<u32>,
    /// Vehicles on a page at most, up to 100. Default 100.
    pub max_limit: Option<u32>,
    /// The order when the request names none, e.g. `price asc`. Default `updated_at desc`.
    pub default_sort: Option<String>,
    /// Whether `pagination.skip` is accepted. Default false.
    pub offset: Option<bool>,
    /// Whether each search answer carries the facets of all that matches. Default false.
    pub facets_in_search: Option<bool>,
    /// Seconds after which a cursor expires. Default 900.
    pub cursor_ttl_s: Option<u64>,
}

/// `[deployments.ID.mcp]`: the MCP binding.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Mcp {
    /// The path of the MCP endpoint. Default `/mcp`.
    pub path: Option<String>,
    /// Origins whose pages may call from a browser, e.g. `https://app.example`. Default none.
    pub allowed_origins: Option<Vec<String>>,
    /// Whether a request of the 2026-07-28 revision must carry its mirror headers. Default false: AAP
    /// lets them be derived.
    pub strict_headers: Option<bool>,
    /// Whether clients of older revisions are given a session id. Default false.
    pub legacy_sessions: Option<bool>,
    /// Seconds for which clients may keep the tool list. Default 300.
    pub cache_ttl_s: Option<u64>,
    /// The dealer's own sentence, added to what agents are told of this server.
    pub instructions: Option<String>,
    /// Who may call: `public` (default), or `oauth` for callers with an access token only.
    pub access: Option<Access>,
    /// Who may submit leads: `public` (default) or `oauth`. Reading stays open.
    pub lead_access: Option<Access>,
    /// What an access token's `aud` must hold. Default the endpoint's URL.
    pub audience: Option<String>,
}

/// `[deployments.ID.a2a]`: the A2A binding.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct A2a {
    /// The path of the A2A endpoint. Default `/a2a`.
    pub path: Option<String>,
    /// Who may call: `public` (default), or `oauth` for callers with an access token only.
    pub access: Option<Access>,
    /// Who may submit leads: `public` (default) or `oauth`. Reading stays open.
    pub lead_access: Option<Access>,
    /// What an access token's `aud` must hold. Default the endpoint's URL.
    pub audience: Option<String>,
}

/// `[deployments.ID.limits]`: what one verified caller may ask; all anonymous callers count as one.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Leads a minute. Default unlimited.
    pub leads_per_minute: Option<u32>,
    /// Calls a minute of the skills that read, all together; leads count apart. Default unlimited.
    pub calls_per_minute: Option<u32>,
    /// HTTP requests a minute of all callers together, whatever they ask for. Default unlimited.
    pub requests_per_minute: Option<u32>,
}

/// `[deployments.ID.website]`: the dealer's own website, to which everything that is not ours is passed on.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Website {
    /// Its address, e.g. `http://127.0.0.1:8081`. Without it, what is not ours is not found.
    pub upstream: Option<String>,
    /// Seconds for which nothing may move before its answer begins. Default 60.
    pub timeout_s: Option<u64>,
}
