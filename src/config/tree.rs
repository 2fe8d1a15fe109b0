//! The merged configuration before it is typed: each value with the place that said it. Turns parts of
//! it into types and collects every mistake on the way. Must not know what any key means.

mod defaults;
mod mistake;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use figment::error::{Actual, Kind};
use figment::value::{Dict, Tag, Value};
use figment::{Figment, Provider as _, Source};
use serde::de::DeserializeOwned;

use super::finding::Finding;

/// How the places of values from outside the files are named.
pub(super) const VARIABLE: &str = "environment variable ";
pub(super) const FLAG: &str = "flag ";

/// A key as its parts, e.g. `["server", "listen"]`.
pub(super) type Key = Vec<String>;

/// The merged values.
#[derive(Debug)]
pub struct Tree {
    figment: Figment,
    /// The values as they were merged.
    merged: Value,
    /// The same, less what was read or was wrong.
    root: Value,
    files: Vec<PathBuf>,
    /// The paths that were asked for, each with its key.
    named: Mutex<Vec<(Key, PathBuf)>>,
}

impl Tree {
    pub(super) fn new(figment: Figment, files: Vec<PathBuf>) -> Self {
        let data = figment.data().unwrap_or_default();
        let root = data
            .into_iter()
            .find(|(profile, _)| *profile == figment::Profile::Default);
        let root = Value::from(root.map(|(_, dict)| dict).unwrap_or_default());
        Self {
            merged: root.clone(),
            root,
            figment,
            files,
            named: Mutex::default(),
        }
    }

    /// The files that were read.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The root table as it was merged.
    pub(crate) fn merged(&self) -> &Value {
        &self.merged
    }

    /// The place that said `key`, or the nearest table above it.
    pub fn place(&self, key: &[String]) -> Option<String> {
        let metadata = self.figment.get_metadata(self.tag(key)?)?;
        Some(match &metadata.source {
            Some(Source::File(path)) => path.display().to_string(),
            _ => metadata.name.clone().into_owned(),
        })
    }

    /// A relative path as its writer meant it: from the folder of the file that says it, or from the
    /// working directory where no file says it.
    pub(super) fn resolve(&self, key: &[String], path: &Path) -> PathBuf {
        let source = self
            .tag(key)
            .and_then(|tag| self.figment.get_metadata(tag))
            .and_then(|metadata| metadata.source.as_ref());
        let path = match source {
            Some(Source::File(file)) => file.parent().unwrap_or(Path::new("")).join(path),
            _ => path.to_owned(),
        };
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        named.push((key.to_vec(), path.clone()));
        path
    }

    /// The paths that the configuration names, each with its key.
    pub(super) fn named(&self) -> Vec<(Key, PathBuf)> {
        let named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        named.clone()
    }

    /// A finding about `key`.
    pub(super) fn finding(
        &self,
        key: &[String],
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Finding {
        Finding {
            place: self.place(key),
            key: key.join("."),
            reason: reason.into(),
            remedy: remedy.into(),
        }
    }

    /// The part at `key` as a `T`. Each mistake in it becomes a finding and is taken out, so that the
    /// next shows too; what is left is the result.
    pub(super) fn read<T: DeserializeOwned + Default>(
        &mut self,
        key: &[String],
        findings: &mut Vec<Finding>,
    ) -> T {
        loop {
            let Some(part) = find(&self.root, key) else {
                return T::default();
            };
            let error = match part.deserialize::<T>() {
                Ok(value) => return value,
                Err(error) => error,
            };
            let at: Key = key.iter().chain(&error.path).cloned().collect();
            if self.coerce(&at, &error.kind) {
                continue;
            }
            let (reason, remedy) = mistake::words(&error.kind);
            findings.push(self.finding(&at, reason, remedy));
            if error.path.is_empty() || !remove(&mut self.root, &at) {
                return T::default();
            }
        }
    }

    /// Takes keys that were read already out of the table at `key`.
    pub(super) fn forget(&mut self, key: &[String], keys: &[&str]) {
        if let Some(Value::Dict(_, dict)) = find_mut(&mut self.root, key) {
            dict.retain(|name, _| !keys.contains(&name.as_str()));
        }
    }

    /// Reads a value of a variable or flag as TOML where its text is not of the wanted type.
    fn coerce(&mut self, at: &[String], kind: &Kind) -> bool {
        let outside = self
            .place(at)
            .is_some_and(|p| p.starts_with(VARIABLE) || p.starts_with(FLAG));
        if !outside || !matches!(kind, Kind::InvalidType(Actual::Str(_), _)) {
            return false;
        }
        let Some(value) = find_mut(&mut self.root, at) else {
            return false;
        };
        let Some(text) = value.as_str() else {
            return false;
        };
        let parsed = toml::from_str::<Dict>(&format!("value = {text}"));
        match parsed.ok().and_then(|mut dict| dict.remove("value")) {
            None | Some(Value::String(..)) => false,
            Some(parsed) => {
                let tag = value.tag();
                *value = retag(parsed, tag);
                true
            }
        }
    }

    /// The tag of the value at `key`, or of the nearest one above it that has a place.
    fn tag(&self, key: &[String]) -> Option<Tag> {
        (0..=key.len())
            .rev()
            .filter_map(|length| find(&self.merged, key.get(..length)?))
            .map(Value::tag)
            .find(|tag| self.figment.get_metadata(*tag).is_some())
    }
}

/// The value at `key`; a number addresses an element of a list.
pub(super) fn find<'v>(root: &'v Value, key: &[String]) -> Option<&'v Value> {
    key.iter().try_fold(root, |value, part| match value {
        Value::Dict(_, dict) => dict.get(part),
        Value::Array(_, list) => list.get(part.parse::<usize>().ok()?),
        Value::String(..)
        | Value::Char(..)
        | Value::Bool(..)
        | Value::Num(..)
        | Value::Empty(..) => None,
    })
}

fn find_mut<'v>(root: &'v mut Value, key: &[String]) -> Option<&'v mut Value> {
    key.iter().try_fold(root, |value, part| match value {
        Value::Dict(_, dict) => dict.get_mut(part),
        Value::Array(_, list) => list.get_mut(part.parse::<usize>().ok()?),
        Value::String(..)
        | Value::Char(..)
        | Value::Bool(..)
        | Value::Num(..)
        | Value::Empty(..) => None,
    })
}

/// Takes the value at `key` out of its table. An element of a list takes the list with it: the places
/// of the others must not move.
fn remove(root: &mut Value, key: &[String]) -> bool {
    let Some((last, parent)) = key.split_last() else {
        return false;
    };
    match find_mut(root, parent) {
        Some(Value::Dict(_, dict)) => dict.remove(last).is_some(),
        Some(Value::Array(..)) => remove(root, parent),
        _ => false,
    }
}

/// `value` with `tag` on it and on everything in it.
fn retag(value: Value, tag: Tag) -> Value {
    match value {
        Value::String(_, v) => Value::String(tag, v),
        Value::Char(_, v) => Value::Char(tag, v),
        Value::Bool(_, v) => Value::Bool(tag, v),
        Value::Num(_, v) => Value::Num(tag, v),
        Value::Empty(_, v) => Value::Empty(tag, v),
        Value::Dict(_, v) => Value::Dict(
            tag,
            v.into_iter().map(|(k, v)| (k, retag(v, tag))).collect(),
        ),
        Value::Array(_, v) => Value::Array(tag, v.into_iter().map(|v| retag(v, tag)).collect()),
    }
}
