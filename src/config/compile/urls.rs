//! Where a deployment is reached from outside.

use std::collections::BTreeSet;
use std::net::IpAddr;

use http::Uri;

use super::super::raw;
use super::Scope;
use crate::deployment::Urls;

/// A deployment's public URLs, as far as they are known before the port is.
#[derive(Clone, Debug)]
pub struct PublicUrl {
    /// The base without a trailing slash; `None` is HTTP on the loopback domain with the port that is
    /// listened on.
    base: Option<String>,
    domain: String,
    mcp_path: String,
    a2a_path: String,
    inventory_page: Option<String>,
    aliases: Vec<String>,
    extra_hosts: Vec<String>,
}

impl PublicUrl {
    /// Further domains of the same company.
    pub(super) fn aliases(&self) -> &[String] {
        &self.aliases
    }

    /// The names under which the deployment's documents answer: no other deployment may have one of them.
    pub(super) fn hosts(&self) -> BTreeSet<String> {
        let more = self.aliases.iter().chain(&self.extra_hosts);
        let mut hosts: BTreeSet<String> = more.cloned().collect();
        hosts.insert(if is_loopback(&self.domain) {
            "localhost".to_owned()
        } else {
            self.domain.clone()
        });
        hosts
    }

    /// The base URL, without a trailing slash.
    pub fn base(&self, port: u16) -> String {
        match &self.base {
            Some(base) => base.clone(),
            None if self.domain.contains(':') => format!("http://[{}]:{port}", self.domain),
            None => format!("http://{}:{port}", self.domain),
        }
    }

    /// Every URL, for a process that listens on `port`.
    pub fn urls(&self, port: u16) -> Urls {
        let base = self.base(port);
        Urls {
            mcp: format!("{base}{}", self.mcp_path),
            a2a: format!("{base}{}", self.a2a_path),
            llms_txt: format!("{base}/llms.txt"),
            agent_card: format!("{base}/.well-known/agent-card.json"),
            poppy: format!("{base}/.well-known/poppy.json"),
            api_catalog: format!("{base}/.well-known/api-catalog"),
            inventory_page: self
                .inventory_page
                .clone()
                .unwrap_or_else(|| format!("{base}/inventory")),
            serve_inventory_page: self.inventory_page.is_none(),
            aliases: self.aliases.clone(),
            hosts: self.extra_hosts.clone(),
            ..Urls::default()
        }
    }
}

pub(super) fn compile(scope: &mut Scope<'_>, raw: &raw::Deployment, domain: &str) -> PublicUrl {
    let base = match &raw.public_url {
        Some(url) => match base(url) {
            Ok(base) => Some(base),
            Err(reason) => {
                let remedy =
                    "write https://HOST without a path, or http:// with a loopback address";
                scope.fault("public_url", reason, remedy);
                None
            }
        },
        None if is_loopback(domain) => None,
        None => Some(format!("https://{domain}")),
    };
    let other = base.as_deref().filter(|base| !is_on(base, domain));
    if let (Some(_), false) = (other, domain.is_empty()) {
        let remedy = "let both name the host on which agents find the dealer's documents";
        scope.fault("public_url", "is on another host than domain", remedy);
    }
    let mcp_path = raw.mcp.path.clone().unwrap_or_else(|| "/mcp".to_owned());
    let a2a_path = raw.a2a.path.clone().unwrap_or_else(|| "/a2a".to_owned());
    for (key, path) in [("mcp.path", &mcp_path), ("a2a.path", &a2a_path)] {
        let remedy = "write e.g. /mcp, without a trailing slash";
        if !is_path(path) {
            scope.fault(key, "is not a path", remedy);
        } else if is_ours(path) || (path == "/inventory" && raw.inventory_page_url.is_none()) {
            scope.fault(key, "is where this process answers otherwise", remedy);
        }
    }
    if mcp_path == a2a_path {
        scope.fault("a2a.path", "is MCP's path, too", "give each its own");
    }
    if let Some(page) = &raw.inventory_page_url
        && let Err(reason) = published(page)
    {
        let remedy = "write e.g. https://dealer.example/inventory";
        scope.fault("inventory_page_url", reason, remedy);
    }
    PublicUrl {
        base,
        domain: domain.to_owned(),
        mcp_path,
        a2a_path,
        inventory_page: raw.inventory_page_url.clone(),
        aliases: aliases(scope, raw, domain),
        extra_hosts: extra_hosts(scope, raw),
    }
}

fn extra_hosts(scope: &mut Scope<'_>, raw: &raw::Deployment) -> Vec<String> {
    let mut hosts = Vec::new();
    for (index, host) in raw.extra_hosts.iter().enumerate() {
        let host = host.to_ascii_lowercase();
        let address = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
        let is_address = address.is_some_and(|address| address.parse::<IpAddr>().is_ok());
        if !is_address && !is_host_name(&host) {
            let remedy = "write only the host, without port, e.g. forecourt.shop.svc";
            scope.fault(
                &format!("extra_hosts.{index}"),
                "is not a host name",
                remedy,
            );
        }
        hosts.push(host);
    }
    hosts
}

fn aliases(scope: &mut Scope<'_>, raw: &raw::Deployment, domain: &str) -> Vec<String> {
    let mut aliases = Vec::new();
    for (index, alias) in raw.aliases.iter().enumerate() {
        let alias = alias.trim_end_matches('.').to_ascii_lowercase();
        if !is_host_name(&alias) || alias == domain || aliases.contains(&alias) {
            let reason = "is not a further host name";
            let remedy = "write only the host, e.g. www.dealer.example, and each once";
            scope.fault(&format!("aliases.{index}"), reason, remedy);
        }
        aliases.push(alias);
    }
    aliases
}

/// Whether the text, in lower case, can be the name of a host.
pub(super) fn is_host_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    !name.is_empty() && name.len() <= 253 && name.chars().all(plain)
}

/// Whether a browser can send it as its page's origin, but for one trailing slash (RFC 6454 section 7).
pub(super) fn is_origin(text: &str) -> bool {
    let uri: Option<Uri> = text.parse().ok();
    uri.is_some_and(|uri| {
        let authority = uri.authority().map_or("", http::uri::Authority::as_str);
        let bare = uri.path() == "/" && uri.query().is_none() && !text.contains('#');
        uri.scheme().is_some() && !authority.is_empty() && !authority.contains('@') && bare
    })
}

/// Whether a base URL's host is the domain (AAP-031).
fn is_on(base: &str, domain: &str) -> bool {
    let uri: Option<Uri> = base.parse().ok();
    let host = uri.as_ref().and_then(Uri::host).unwrap_or_default();
    host.trim_matches(['[', ']']).eq_ignore_ascii_case(domain)
}

/// A base URL, in one spelling and without a trailing slash.
fn base(text: &str) -> Result<String, &'static str> {
    let uri = published(text)?;
    if uri.path() != "/" || uri.query().is_some() {
        return Err("has a path or query");
    }
    let scheme = uri.scheme_str().ok_or("names no scheme")?;
    let authority = uri.authority().ok_or("names no host")?;
    Ok(format!(
        "{scheme}://{}",
        authority.as_str().to_ascii_lowercase()
    ))
}

/// An address that agents are given: HTTPS, or HTTP on loopback (AAP-048).
pub(super) fn published(text: &str) -> Result<Uri, &'static str> {
    let uri: Uri = text.parse().map_err(|_| "is not a URL")?;
    let host = uri.host().ok_or("names no host")?;
    if uri
        .authority()
        .is_some_and(|authority| authority.as_str().contains('@'))
    {
        return Err("must not hold credentials");
    }
    match uri.scheme_str() {
        Some("https") => Ok(uri),
        Some("http") if is_loopback(host.trim_matches(['[', ']'])) => Ok(uri),
        Some("http") => Err("is plain HTTP outside loopback"),
        Some(_) => Err("is not an HTTPS address"),
        None => Err("names no scheme"),
    }
}

pub(super) fn is_loopback(host: &str) -> bool {
    host == "localhost"
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// Probes and documents, which stand at every host.
fn is_ours(path: &str) -> bool {
    ["/livez", "/readyz", "/startupz", "/llms.txt"].contains(&path)
        || path.starts_with("/.well-known/")
}

/// An absolute path of plain segments.
pub(super) fn is_path(path: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
    path.strip_prefix('/').is_some_and(|rest| {
        rest.split('/')
            .all(|part| !part.is_empty() && part.chars().all(plain))
    })
}
