//! What every compiling function needs: the tree, the findings so far, and where it stands.

use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::super::finding::Finding;
use super::super::secret::{self, Secret};
use super::super::tree::Tree;

/// How a certificate begins in PEM.
const MARK: &[u8] = b"-----BEGIN CERTIFICATE-----";

/// A place in the configuration, from which keys are named. Findings collect in it.
pub(super) struct Scope<'a> {
    tree: &'a mut Tree,
    findings: &'a mut Vec<Finding>,
    at: Vec<String>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(tree: &'a mut Tree, findings: &'a mut Vec<Finding>) -> Self {
        Self {
            tree,
            findings,
            at: Vec::new(),
        }
    }

    /// The place below this one; `key` may have several dotted parts.
    pub(super) fn below(&mut self, key: &str) -> Scope<'_> {
        let at = self.key(key);
        Scope {
            tree: self.tree,
            findings: self.findings,
            at,
        }
    }

    fn key(&self, key: &str) -> Vec<String> {
        let parts = key
            .split('.')
            .filter(|part| !part.is_empty())
            .map(str::to_owned);
        self.at.iter().cloned().chain(parts).collect()
    }

    /// Says that something is wrong with `key`.
    pub(super) fn fault(
        &mut self,
        key: &str,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let finding = self.tree.finding(&self.key(key), reason, remedy);
        self.findings.push(finding);
    }

    /// Whether nothing was found wrong so far.
    pub(super) fn clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// The value, or a finding that it is missing.
    pub(super) fn need<T>(&mut self, key: &str, value: Option<T>, remedy: &str) -> Option<T> {
        if value.is_none() {
            self.fault(key, "is missing", remedy);
        }
        value
    }

    /// The value when it lies within the bounds; the default when it is absent.
    pub(super) fn bounded<T>(
        &mut self,
        key: &str,
        value: Option<T>,
        default: T,
        bounds: (T, T),
    ) -> T
    where
        T: PartialOrd + std::fmt::Display + Copy,
    {
        let (low, high) = bounds;
        match value {
            None => default,
            Some(value) if value >= low && value <= high => value,
            Some(_) => {
                self.fault(
                    key,
                    format!("lies outside {low} to {high}"),
                    format!("set it to {low} to {high}"),
                );
                default
            }
        }
    }

    /// A number that limits something; zero would let nothing pass.
    pub(super) fn limit(&mut self, key: &str, value: Option<u32>) -> Option<u32> {
        if value == Some(0) {
            let remedy = "set it to 1 or more, or leave it out: nothing is limited then";
            self.fault(key, "is zero: nothing would ever pass", remedy);
        }
        value
    }

    /// Says of each key that is given where it means nothing that it does: its writer meant something else.
    pub(super) fn idle(&mut self, keys: &[(&str, bool)], reason: &str, remedy: &str) {
        for (key, _) in keys.iter().filter(|(_, given)| *given) {
            self.fault(key, reason, remedy);
        }
    }

    /// The part at `key` as a `T`; its mistakes become findings.
    pub(super) fn read<T: DeserializeOwned + Default>(&mut self, key: &str) -> T {
        let at = self.key(key);
        self.tree.read(&at, self.findings)
    }

    /// This table without the keys that were read before, as a `T`.
    pub(super) fn read_without<T: DeserializeOwned + Default>(&mut self, keys: &[&str]) -> T {
        self.tree.forget(&self.at, keys);
        self.tree.read(&self.at, self.findings)
    }

    /// A path as its writer meant it.
    pub(super) fn path(&self, key: &str, path: &Path) -> PathBuf {
        self.tree.resolve(&self.key(key), path)
    }

    /// A PEM file of authorities as its writer meant it; a finding where it holds no certificate.
    pub(super) fn authorities(&mut self, key: &str, path: &Path) -> (PathBuf, Vec<u8>) {
        let path = self.path(key, path);
        let read = fs::read(&path).map_err(|error| error.to_string());
        let read = read.and_then(|pem| {
            let holds_one = pem.windows(MARK.len()).any(|window| window == MARK);
            let none = || "holds no certificate".to_owned();
            holds_one.then_some(pem).ok_or_else(none)
        });
        let pem = read.unwrap_or_else(|reason| {
            let reason = format!("{}: {reason}", path.display());
            self.fault(key, reason, "name a PEM file of certificates");
            Vec::new()
        });
        (path, pem)
    }

    /// The secret given as `key` or as `{key}_file`.
    pub(super) fn secret(
        &mut self,
        key: &str,
        value: Option<&Secret>,
        file: Option<&Path>,
    ) -> Option<Secret> {
        let at = self.key(key);
        secret::choose(self.tree, &at, value, file, self.findings)
    }

    /// The same for a secret that must be there, as it is.
    pub(super) fn need_secret(
        &mut self,
        key: &str,
        value: Option<&Secret>,
        file: Option<&Path>,
        remedy: &str,
    ) -> Option<String> {
        if value.is_none() && file.is_none() {
            self.fault(key, "is missing", remedy);
        }
        let secret = self.secret(key, value, file)?;
        Some(secret.expose().to_owned())
    }
}
