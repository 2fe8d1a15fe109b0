//! Finds and merges what a configuration is made of. The only reader of the environment. Must not know
//! what any key means.
//!
//! Order, later wins: defaults, files (left to right), `FORECOURT_…__…` variables, flags.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use figment::value::{Dict, Map, Value};
use figment::{Figment, Metadata, Profile, Provider};

use super::finding::Finding;
use super::tree::{FLAG, Tree, VARIABLE};

/// Every variable of ours starts so; levels are parted by two underscores.
const PREFIX: &str = "FORECOURT_";
/// Names with our prefix that are not configuration keys.
const RESERVED: [&str; 4] = ["CONFIG", "LOG", "LOG_FORMAT", "OUTPUT"];
/// A configuration file larger than this is not one.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// The process's environment, read once at the start.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// The variables that concern us, as the process was given them.
    pub fn read() -> Self {
        let concerns = |name: &str| {
            name.starts_with(PREFIX) || matches!(name, "HOME" | "XDG_CONFIG_HOME" | "NO_COLOR")
        };
        let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
        std::env::vars_os()
            .map(|(name, value)| (text(name), text(value)))
            .filter(|(name, _)| concerns(name))
            .collect()
    }

    /// One variable; an empty one counts as absent.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .get(name)
            .map(String::as_str)
            .filter(|v| !v.is_empty())
    }

    /// The variables that are configuration keys: name, key path, value. Kubernetes announces a Service
    /// called `forecourt` by names such as `FORECOURT_SERVICE_HOST` and `FORECOURT_PORT_80_TCP`; those
    /// are no keys of ours.
    fn keys(&self) -> impl Iterator<Item = (&str, Vec<String>, &str)> {
        self.0.iter().filter_map(|(name, value)| {
            let key = name.strip_prefix(PREFIX)?;
            let service = key == "PORT" || key.starts_with("PORT_") || key.starts_with("SERVICE_");
            if RESERVED.contains(&key) || (service && !key.contains("__")) {
                return None;
            }
            let path = key.to_lowercase().split("__").map(str::to_owned).collect();
            Some((name.as_str(), path, value.as_str()))
        })
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

/// One key set on the command line.
#[derive(Clone, Debug)]
pub struct Flag {
    /// As the user typed it, e.g. `--listen`.
    pub name: String,
    /// The dotted key that it sets.
    pub key: String,
    pub value: String,
}

/// Where a configuration comes from.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The files and folders named on the command line, left to right.
    pub files: Vec<PathBuf>,
    pub flags: Vec<Flag>,
    pub environment: Environment,
}

impl Sources {
    /// Merges everything into one tree that knows where each value came from.
    pub(super) fn merge(&self, findings: &mut Vec<Finding>) -> Tree {
        let files = self.find_files(findings);
        let mut figment = Figment::new();
        for path in &files {
            match read_file(path) {
                Ok(dict) => figment = figment.merge(Layer::file(path, dict)),
                Err(finding) => findings.push(finding),
            }
        }
        for (name, path, value) in self.environment.keys() {
            figment = figment.merge(Layer::text(format!("{VARIABLE}{name}"), &path, value));
        }
        for flag in &self.flags {
            let path: Vec<String> = flag.key.split('.').map(str::to_owned).collect();
            figment = figment.merge(Layer::text(
                format!("{FLAG}{}", flag.name),
                &path,
                &flag.value,
            ));
        }
        Tree::new(figment, files)
    }

    /// The files to read: those named, or else the first usual place that holds one.
    fn find_files(&self, findings: &mut Vec<Finding>) -> Vec<PathBuf> {
        let named: Vec<PathBuf> = if self.files.is_empty() {
            let variable = self.environment.get("FORECOURT_CONFIG").unwrap_or_default();
            variable
                .split(':')
                .filter(|p| !p.is_empty())
                .map(PathBuf::from)
                .collect()
        } else {
            self.files.clone()
        };
        if named.is_empty() {
            return self
                .usual_places()
                .into_iter()
                .find(|path| path.is_file())
                .into_iter()
                .collect();
        }
        let mut files = Vec::new();
        for path in named {
            match expand(&path) {
                Ok(found) => files.extend(found),
                Err(reason) => findings.push(Finding {
                    place: Some(path.display().to_string()),
                    key: String::new(),
                    reason,
                    remedy: "name an existing TOML file, or a folder that holds some".to_owned(),
                }),
            }
        }
        files
    }

    /// The state of the configuration's files and of `more`, as one number: another one means that one of
    /// them was changed, replaced, added or removed. A link that leads elsewhere now counts, too.
    pub fn state(&self, more: &[PathBuf]) -> u64 {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        use std::os::unix::fs::MetadataExt as _;
        let mut hasher = DefaultHasher::new();
        for path in self.find_files(&mut Vec::new()).iter().chain(more) {
            path.hash(&mut hasher);
            let about = fs::metadata(path).ok();
            let about = about.map(|a| (a.dev(), a.ino(), a.len(), a.mtime(), a.mtime_nsec()));
            about.hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Where a configuration file is looked for when none is named, in order.
    pub fn usual_places(&self) -> Vec<PathBuf> {
        let own_folder = self
            .environment
            .get("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(|| Some(Path::new(self.environment.get("HOME")?).join(".config")));
        [
            Some(PathBuf::from("forecourt.toml")),
            own_folder.map(|folder| folder.join("forecourt/forecourt.toml")),
            Some(PathBuf::from("/etc/forecourt/forecourt.toml")),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// A named path as files: itself, or the `.toml` files of a folder in order of name.
fn expand(path: &Path) -> Result<Vec<PathBuf>, String> {
    if !path.is_dir() {
        return match fs::metadata(path) {
            Ok(_) => Ok(vec![path.to_owned()]),
            Err(error) => Err(format!("cannot be read: {error}")),
        };
    }
    let entries = fs::read_dir(path).map_err(|error| format!("cannot be read: {error}"))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ext| ext == "toml") && path.is_file())
        .collect();
    files.sort();
    if files.is_empty() {
        return Err("is a folder without any .toml file".to_owned());
    }
    Ok(files)
}

fn read_file(path: &Path) -> Result<Dict, Finding> {
    let finding = |reason: String, remedy: &str| Finding {
        place: Some(path.display().to_string()),
        key: String::new(),
        reason,
        remedy: remedy.to_owned(),
    };
    let cannot = |error| finding(format!("cannot be read: {error}"), "make it readable");
    let size = fs::metadata(path).map_err(cannot)?.len();
    if size > MAX_FILE_BYTES {
        let reason = format!("has {size} bytes, more than a configuration file may have");
        return Err(finding(reason, "name the right file"));
    }
    let text = fs::read_to_string(path).map_err(cannot)?;
    toml::from_str(&text).map_err(|error| {
        // The message alone: the parser's own display repeats the line, which may hold a secret.
        let line = error
            .span()
            .and_then(|span| text.get(..span.start))
            .map(|before| before.lines().count().max(1));
        let place = line.map_or(String::new(), |line| format!("line {line}: "));
        let reason = format!("{place}not TOML: {}", error.message());
        finding(reason, "correct the syntax (https://toml.io)")
    })
}

/// One source of values for figment.
struct Layer {
    metadata: Metadata,
    dict: Dict,
}

impl Layer {
    fn file(path: &Path, dict: Dict) -> Self {
        Self {
            metadata: Metadata::from("file", path),
            dict,
        }
    }

    /// A single value, kept as text: what type it must have is known only when it is used, so that an
    /// all-digit password stays a string (a number is made of it where a number is wanted).
    fn text(name: String, path: &[String], value: &str) -> Self {
        let mut nested = Value::from(value);
        for key in path.iter().skip(1).rev() {
            nested = Value::from(Dict::from([(key.clone(), nested)]));
        }
        let first = path.first().cloned().unwrap_or_default();
        Self {
            metadata: Metadata::named(name),
            dict: Dict::from([(first, nested)]),
        }
    }
}

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        self.metadata.clone()
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        Ok(Map::from([(Profile::Default, self.dict.clone())]))
    }
}
