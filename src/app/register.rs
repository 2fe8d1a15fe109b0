//! Which business each `dealer_id` of an aggregate belongs to, for ever: written down before the id is first
//! used, so that an id is never given to another business (AAP-351, AAP-352). Must not serve anything.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config::{Aggregate, Config, Deployment};

/// A larger file is not ours.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The register of one endpoint.
#[derive(Debug)]
pub(super) struct Register {
    file: PathBuf,
    businesses: BTreeMap<String, Business>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Business {
    /// Its names, the present one last.
    names: Vec<String>,
    /// When its id was first used, RFC 3339.
    since: String,
}

/// Why a seller cannot be served under its id.
#[derive(Debug, thiserror::Error)]
pub enum RegisterError {
    #[error("register of dealer ids {file}: {cause}")]
    File { file: PathBuf, cause: io::Error },
    #[error(
        "dealer_id {dealer_id:?} belongs to {known:?} and is never given to another business; give {name:?} an id of its own, or, if it is the same business under a new name, set formerly = {known:?}"
    )]
    Taken {
        dealer_id: String,
        known: String,
        name: String,
    },
}

/// Whether the sellers of a deployment may be served under their ids; writes nothing.
pub fn check_sellers(config: &Config, deployment: &Deployment) -> Result<(), RegisterError> {
    let Some(aggregate) = &deployment.aggregate else {
        return Ok(());
    };
    let mut register = Register::read(&folder(&config.data_directory), &deployment.id)?;
    register.enter_all(aggregate, jiff::Timestamp::UNIX_EPOCH)
}

/// Where registers lie.
pub(super) fn folder(data_directory: &Path) -> PathBuf {
    data_directory.join("dealers")
}

impl Register {
    /// Reads the register of the endpoint `deployment` in `folder`.
    pub(super) fn read(folder: &Path, deployment: &str) -> Result<Self, RegisterError> {
        let file = folder.join(format!("{deployment}.json"));
        let failed = |cause| RegisterError::File {
            file: file.clone(),
            cause,
        };
        let businesses = match fs::metadata(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(failed(error)),
            Ok(about) if about.len() > MAX_BYTES => {
                return Err(failed(io::Error::other("it is too large")));
            }
            Ok(_) => {
                let text = fs::read(&file).map_err(failed)?;
                serde_json::from_slice(&text).map_err(|error| failed(error.into()))?
            }
        };
        Ok(Self { file, businesses })
    }

    /// Enters a seller, or finds it; `formerly` is the name under which it may stand there.
    pub(super) fn enter(
        &mut self,
        dealer_id: &str,
        name: &str,
        formerly: Option<&str>,
        now: jiff::Timestamp,
    ) -> Result<(), RegisterError> {
        let Some(business) = self.businesses.get_mut(dealer_id) else {
            let business = Business {
                names: vec![name.to_owned()],
                since: now.to_string(),
            };
            self.businesses.insert(dealer_id.to_owned(), business);
            return Ok(());
        };
        let known = business.names.last().cloned().unwrap_or_default();
        if known == name {
            return Ok(());
        }
        if formerly != Some(known.as_str()) {
            return Err(RegisterError::Taken {
                dealer_id: dealer_id.to_owned(),
                known,
                name: name.to_owned(),
            });
        }
        business.names.push(name.to_owned());
        Ok(())
    }

    /// Enters every seller of an aggregate, or finds it.
    pub(super) fn enter_all(
        &mut self,
        aggregate: &Aggregate,
        now: jiff::Timestamp,
    ) -> Result<(), RegisterError> {
        for seller in &aggregate.sellers {
            let id = seller.profile.dealer_id.as_deref().unwrap_or_default();
            self.enter(id, &seller.profile.name, seller.formerly.as_deref(), now)?;
        }
        Ok(())
    }

    /// Writes it durably, in one piece or not at all.
    pub(super) fn write(&self) -> Result<(), RegisterError> {
        let write = || -> io::Result<()> {
            let text = serde_json::to_vec_pretty(&self.businesses)?;
            if fs::read(&self.file).is_ok_and(|written| written == text) {
                return Ok(());
            }
            let folder = self.file.parent().unwrap_or(Path::new("."));
            let fresh = self.file.with_extension("new");
            let mut file = fs::File::create(&fresh)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&fresh, &self.file)?;
            fs::File::open(folder)?.sync_all()
        };
        write().map_err(|cause| RegisterError::File {
            file: self.file.clone(),
            cause,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entered(folder: &Path, id: &str, name: &str, formerly: Option<&str>) -> Result<(), String> {
        let mut register = Register::read(folder, "market").unwrap();
        let now = "2026-11-30T12:00:00Z".parse().unwrap();
        register
            .enter(id, name, formerly, now)
            .map_err(|error| error.to_string())?;
        register.write().map_err(|error| error.to_string())
    }

    // AAP-351 AAP-352
    #[test]
    fn an_id_stays_with_its_business_over_restarts_removal_and_renaming() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        assert_eq!(entered(folder, "north", "North Motors", None), Ok(()));
        assert_eq!(entered(folder, "north", "North Motors", None), Ok(()));
        // Nobody asked for it meanwhile: it is taken all the same.
        assert_eq!(entered(folder, "south", "South Cars", None), Ok(()));
        let refused = entered(folder, "north", "Other Business", None).unwrap_err();
        assert!(refused.contains("belongs to \"North Motors\""), "{refused}");
        let refused = entered(folder, "north", "Other Business", Some("South Cars")).unwrap_err();
        assert!(refused.contains("never given"), "{refused}");
        let renamed = entered(folder, "north", "Northern Motors", Some("North Motors"));
        assert_eq!(renamed, Ok(()));
        assert_eq!(entered(folder, "north", "Northern Motors", None), Ok(()));
        assert!(entered(folder, "north", "North Motors", None).is_err());
    }

    #[test]
    fn a_damaged_register_is_an_error_and_not_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("market.json"), "{").unwrap();
        assert!(Register::read(folder.path(), "market").is_err());
    }
}
