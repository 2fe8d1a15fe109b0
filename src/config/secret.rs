//! Values that must not be shown: given in place (`x`) or as a file (`x_file`), never both.

use std::fmt;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use zeroize::Zeroizing;

use super::finding::Finding;
use super::tree::Tree;

/// A larger file is no secret.
const MAX_SECRET_BYTES: u64 = 64 * 1024;

/// A text that prints as `***`.
#[derive(Clone, Deserialize)]
#[serde(from = "String")]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// The text itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(Zeroizing::new(text))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The secret at `key`, from its value or its file; a finding when both are given or the file fails.
pub(super) fn choose(
    tree: &Tree,
    key: &[String],
    value: Option<&Secret>,
    file: Option<&Path>,
    findings: &mut Vec<Finding>,
) -> Option<Secret> {
    let mut file_key = key.to_vec();
    if let Some(last) = file_key.last_mut() {
        last.push_str("_file");
    }
    match (value, file) {
        (Some(_), Some(_)) => {
            let name = key.last().map_or("x", String::as_str);
            let reason = format!("is given together with `{name}`");
            findings.push(tree.finding(&file_key, reason, "keep one of the two"));
            None
        }
        (Some(value), None) if value.expose().is_empty() => {
            findings.push(tree.finding(key, "is empty", "give it, or leave it out"));
            None
        }
        (Some(value), None) => Some(value.clone()),
        (None, Some(file)) => {
            let path = tree.resolve(&file_key, file);
            match read(&path) {
                Ok(secret) => Some(secret),
                Err(reason) => {
                    let reason = format!("{}: {reason}", path.display());
                    findings.push(tree.finding(
                        &file_key,
                        reason,
                        "name a readable file that holds only the secret",
                    ));
                    None
                }
            }
        }
        (None, None) => None,
    }
}

/// A file's text without its last line break.
fn read(path: &Path) -> Result<Secret, String> {
    let size = fs::metadata(path).map_err(|error| error.to_string())?.len();
    if size > MAX_SECRET_BYTES {
        return Err(format!("{size} bytes are too many for a secret"));
    }
    let text = Zeroizing::new(fs::read_to_string(path).map_err(|error| error.to_string())?);
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    if text.is_empty() {
        return Err("is empty".to_owned());
    }
    Ok(Secret::from(text.to_owned()))
}
