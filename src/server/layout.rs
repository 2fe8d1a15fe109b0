//! Every URL in one function: what a deployment has to show, and at which hosts and paths. Must not answer.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use http::Uri;

use super::document::Document;
use super::router::{Place, Site, Surface, without_slash};
use super::website::Website;
use crate::bindings::discovery::{self, Documents};
use crate::bindings::{a2a, mcp, pap};
use crate::deployment::Deployment;

/// Why deployments cannot be served together.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SiteError {
    #[error("deployment {deployment}: {url:?} is not an absolute http or https URL without query")]
    BadUrl { deployment: String, url: String },
    #[error("deployment {deployment}: website: {reason}")]
    Website { deployment: String, reason: String },
    #[error("deployment {deployment}: its documents contradict each other ({claim}): {words}")]
    Contradiction {
        deployment: String,
        claim: &'static str,
        words: String,
    },
    #[error("deployments {first} and {second} would both answer at {host}{path}")]
    Taken {
        first: String,
        second: String,
        host: String,
        path: String,
    },
}

/// Names of this machine to itself.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

impl Site {
    /// Lays out the addresses of these deployments; every mistake at once.
    pub fn new(deployments: Vec<Arc<Deployment>>) -> Result<Self, Vec<SiteError>> {
        let mut layout = Layout::default();
        for deployment in deployments {
            layout.add(&deployment);
        }
        if layout.mistakes.is_empty() {
            Ok(layout.site)
        } else {
            Err(layout.mistakes)
        }
    }
}

#[derive(Debug, Default)]
struct Layout {
    site: Site,
    owners: HashMap<(String, String), String>,
    mistakes: Vec<SiteError>,
}

impl Layout {
    /// Every URL of one deployment.
    fn add(&mut self, deployment: &Arc<Deployment>) {
        let urls = &deployment.urls;
        let endpoint = Arc::new(mcp::Endpoint::new(Arc::clone(deployment)));
        self.place(deployment, &urls.mcp, &Surface::Mcp(endpoint));
        let endpoint = Arc::new(a2a::Endpoint::new(Arc::clone(deployment)));
        self.place(deployment, &urls.a2a, &Surface::A2a(endpoint));
        self.add_documents(deployment);
        if urls.serve_inventory_page {
            let page = Surface::InventoryPage(Arc::clone(deployment));
            self.place(deployment, &urls.inventory_page, &page);
        }
        if let Some(endpoint) = pap::Endpoint::new(Arc::clone(deployment)) {
            self.add_pap(deployment, &Arc::new(endpoint));
        }
        self.add_website(deployment);
        // Known hosts answer 404, not 421, where nothing is.
        self.site
            .hosts
            .entry(deployment.domain.clone())
            .or_default();
    }

    /// The dealer's own website, behind every host of the deployment.
    fn add_website(&mut self, deployment: &Arc<Deployment>) {
        let Some(website) = &deployment.urls.website else {
            return;
        };
        let opened = Website::new(&website.upstream, website.timeout);
        let surface = match opened {
            Ok(opened) => Surface::Website(Arc::new(opened)),
            Err(error) => {
                self.mistakes.push(SiteError::Website {
                    deployment: deployment.id.clone(),
                    reason: error.to_string(),
                });
                return;
            }
        };
        let Some((host, _)) = self.address(deployment, &deployment.urls.mcp) else {
            return;
        };
        let mut all = hosts(deployment, host, true);
        all.insert(deployment.domain.clone());
        for host in all {
            let place = Place {
                deployment: Arc::clone(deployment),
                surface: surface.clone(),
            };
            self.site.hosts.entry(host).or_default().rest = Some(place);
        }
    }

    /// One document for each final host; they differ in nothing but the domain (AAP-213).
    fn add_poppy(&mut self, deployment: &Arc<Deployment>, links: &str) {
        let document = |domain: &str| {
            let page = Documents::poppy_page(deployment, domain);
            let document = Document::new(page, links, deployment.clock.now());
            Surface::Document(Arc::new(document))
        };
        let Some((host, path)) = self.address(deployment, &deployment.urls.poppy) else {
            return;
        };
        let own = document(&deployment.domain);
        for host in hosts(deployment, host, false) {
            self.claim(deployment, host, &path, &own);
        }
        for alias in &deployment.urls.aliases {
            self.claim(deployment, alias.clone(), &path, &document(alias));
        }
    }

    /// The issuer and the native API.
    fn add_pap(&mut self, deployment: &Arc<Deployment>, endpoint: &Arc<pap::Endpoint>) {
        let settings = endpoint.issuer_settings();
        let skills = format!("{}/skills/*", settings.resource);
        for (url, part) in [
            (settings.token_endpoint(), pap::Part::Token),
            (settings.revocation_endpoint(), pap::Part::Revocation),
            (skills, pap::Part::Skill),
        ] {
            self.place(deployment, &url, &Surface::Pap(part, Arc::clone(endpoint)));
        }
    }

    /// What describes the deployment, if it describes it without contradicting itself.
    fn add_documents(&mut self, deployment: &Arc<Deployment>) {
        let documents = Documents::write(deployment);
        for disagreement in documents.disagreements(deployment) {
            self.mistakes.push(SiteError::Contradiction {
                deployment: deployment.id.clone(),
                claim: disagreement.topic.claim(),
                words: disagreement.words,
            });
        }
        let (links, since) = (discovery::links(deployment), deployment.clock.now());
        for page in documents.pages(deployment) {
            let url = page.url.clone();
            let document = Document::new(page, &links, since);
            self.place(deployment, &url, &Surface::Document(Arc::new(document)));
        }
        self.add_poppy(deployment, &links);
    }

    fn place(&mut self, deployment: &Arc<Deployment>, url: &str, surface: &Surface) {
        if let Some((host, path)) = self.address(deployment, url) {
            for host in hosts(deployment, host, true) {
                self.claim(deployment, host, &path, surface);
            }
        }
    }

    /// Host and path of a URL; a mistake when it has none.
    fn address(&mut self, deployment: &Deployment, url: &str) -> Option<(String, String)> {
        let found = address(url);
        if found.is_none() {
            self.mistakes.push(SiteError::BadUrl {
                deployment: deployment.id.clone(),
                url: url.to_owned(),
            });
        }
        found
    }

    fn claim(&mut self, deployment: &Arc<Deployment>, host: String, path: &str, surface: &Surface) {
        let key = (host.clone(), path.to_owned());
        if let Some(first) = self.owners.insert(key, deployment.id.clone()) {
            self.mistakes.push(SiteError::Taken {
                first,
                second: deployment.id.clone(),
                host,
                path: path.to_owned(),
            });
            return;
        }
        let place = Place {
            deployment: Arc::clone(deployment),
            surface: surface.clone(),
        };
        let known = self.site.hosts.entry(host).or_default();
        known.paths.insert(path.to_owned(), place);
    }
}

/// Every host at which what is published at `host` answers.
fn hosts(deployment: &Deployment, host: String, aliases: bool) -> BTreeSet<String> {
    let urls = &deployment.urls;
    let more = urls.aliases.iter().filter(|_| aliases);
    let mut hosts: BTreeSet<String> = urls
        .hosts
        .iter()
        .chain(more)
        .map(|host| host.to_ascii_lowercase())
        .collect();
    if LOOPBACK.contains(&host.as_str()) {
        hosts.extend(LOOPBACK.map(str::to_owned));
    }
    hosts.insert(host);
    hosts
}

/// Host (lower case) and path (without trailing slash) of an absolute URL.
fn address(url: &str) -> Option<(String, String)> {
    let uri: Uri = url.parse().ok()?;
    let known = matches!(uri.scheme_str(), Some("http" | "https"));
    if !known || uri.query().is_some() || uri.authority()?.as_str().contains('@') {
        return None;
    }
    let host = uri.host()?.to_ascii_lowercase();
    Some((host, without_slash(uri.path()).to_owned()))
}
