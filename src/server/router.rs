//! From a host and a path to a surface of a deployment. Must not answer, nor decide what is where
//! (`layout` does).

use std::collections::HashMap;
use std::sync::Arc;

use super::document::Document;
use super::stats::Answerer;
use super::website::Website;
use crate::bindings::{a2a, mcp, pap};
use crate::deployment::Deployment;

/// What answers at an address.
#[derive(Clone, Debug)]
pub(super) enum Surface {
    Mcp(Arc<mcp::Endpoint>),
    A2a(Arc<a2a::Endpoint>),
    Document(Arc<Document>),
    InventoryPage(Arc<Deployment>),
    Pap(pap::Part, Arc<pap::Endpoint>),
    /// The dealer's own website.
    Website(Arc<Website>),
}

impl Surface {
    pub(super) fn answerer(&self) -> Answerer {
        match self {
            Self::Mcp(_) => Answerer::Mcp,
            Self::A2a(_) => Answerer::A2a,
            Self::Document(_) => Answerer::Discovery,
            Self::InventoryPage(_) => Answerer::Page,
            Self::Pap(pap::Part::Skill, _) => Answerer::PapApi,
            Self::Pap(pap::Part::Token | pap::Part::Revocation, _) => Answerer::PapIssuer,
            Self::Website(_) => Answerer::Website,
        }
    }
}

/// A surface and whose it is.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) deployment: Arc<Deployment>,
    pub(super) surface: Surface,
}

/// Where a request leads.
#[derive(Clone, Debug)]
pub(super) enum Route {
    Found(Box<Place>),
    NoSuchPath,
    NoSuchHost,
}

/// All addresses that are served, compiled once and swapped whole.
#[derive(Debug, Default)]
pub struct Site {
    pub(super) hosts: HashMap<String, Host>,
}

/// What answers at one host name.
#[derive(Debug, Default)]
pub(super) struct Host {
    pub(super) paths: HashMap<String, Place>,
    /// What answers where nothing of ours is.
    pub(super) rest: Option<Place>,
}

impl Site {
    /// The surface at a host (without port, lower case) and path. One trailing slash makes no difference:
    /// clients lose methods and bodies at redirects.
    pub(super) fn route(&self, host: &str, path: &str) -> Route {
        match self.hosts.get(host) {
            None => Route::NoSuchHost,
            Some(Host { paths, rest }) => paths
                .get(without_slash(path))
                .or_else(|| paths.get(&any_below(path)?))
                .or(rest.as_ref())
                .cloned()
                .map_or(Route::NoSuchPath, |place| Route::Found(Box::new(place))),
        }
    }
}

/// The pattern of everything directly beside `path`, as the layout places it.
fn any_below(path: &str) -> Option<String> {
    path.rsplit_once('/')
        .map(|(folder, _)| format!("{folder}/*"))
}

pub(super) fn without_slash(path: &str) -> &str {
    match path.strip_suffix('/') {
        Some(shorter) if !shorter.is_empty() => shorter,
        _ => path,
    }
}
