//! When the configuration is read anew: when somebody asks, or when a file of it has changed and stays as it
//! is. Must not build anything.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::config::{Config, Findings, Sources};
use crate::server::{Tls, TlsSettings};

/// How a served configuration is kept up to date.
#[derive(Debug)]
pub struct Reload {
    pub sources: Sources,
    /// A message asks for it.
    pub asked: mpsc::Receiver<()>,
    /// How often the files are looked at.
    pub every: Duration,
    /// The files that the configuration was made of.
    pub files: Files,
    /// The listener's side of TLS with its settings, whose certificates are read with the rest.
    pub tls: Option<(Arc<Tls>, TlsSettings)>,
}

/// The files of a configuration as they were read.
#[derive(Clone, Debug, Default)]
pub struct Files {
    named: Vec<PathBuf>,
    /// Nothing where one of them changed while it was read.
    state: Option<u64>,
}

impl Files {
    /// Reads the configuration, and sees that its files stand still meanwhile: what changes from then on is another
    /// configuration, however long this one takes to be built. `self` is what was read before.
    pub fn read(&self, sources: &Sources) -> (Self, Result<Config, Findings>) {
        let before = sources.state(&self.named);
        let loaded = Config::load(sources);
        let named = match &loaded {
            Ok(config) => config.files(),
            Err(_) => self.named.clone(),
        };
        let state = sources.state(&named);
        let stood_still = sources.state(&self.named) == before;
        let files = Self {
            named,
            state: stood_still.then_some(state),
        };
        (files, loaded)
    }
}

impl Reload {
    /// Waits until it is time.
    pub(super) async fn due(&mut self) {
        let known = self.files.state;
        let mut changed = None;
        loop {
            tokio::select! {
                asked = self.asked.recv() => match asked {
                    Some(()) => return,
                    // Nobody can ask any more; files still can change.
                    None => tokio::time::sleep(self.every).await,
                },
                () = tokio::time::sleep(self.every) => {}
            }
            let now = Some(self.state().await);
            // A change counts once it stands still: several files are rarely written in one moment.
            if now != known && changed == now {
                return;
            }
            changed = now.filter(|_| now != known);
        }
    }

    async fn state(&self) -> u64 {
        let (sources, files) = (self.sources.clone(), self.files.named.clone());
        let looked = tokio::task::spawn_blocking(move || sources.state(&files)).await;
        looked.unwrap_or_default()
    }

    /// The configuration as it is now; `None` with a log line for each finding.
    pub(super) async fn read(&mut self) -> Option<Config> {
        let (sources, files) = (self.sources.clone(), self.files.clone());
        let read = tokio::task::spawn_blocking(move || files.read(&sources)).await;
        match read {
            Ok((files, loaded)) => {
                self.files = files;
                let findings = match loaded {
                    Ok(config) => return Some(config),
                    Err(findings) => findings,
                };
                for finding in &findings.0 {
                    refused(&finding.to_string());
                }
            }
            Err(error) => refused(&error.to_string()),
        }
        None
    }

    /// Reads the certificates in use again, whatever becomes of the configuration: a renewed one must not wait for
    /// that. Where one is broken, the configuration says so.
    pub(super) fn renew_certificates(&self) {
        if let Some((tls, settings)) = &self.tls {
            drop(tls.replace(settings));
        }
    }

    /// Takes the certificates that the configuration names, once everything else of it can be served.
    pub(super) fn take_certificates(&mut self, config: &Config) -> Result<(), String> {
        match (&mut self.tls, &config.server.tls) {
            (Some((tls, settings)), Some(named)) => {
                tls.replace(named).map_err(|error| error.to_string())?;
                settings.clone_from(named);
                Ok(())
            }
            (None, None) => Ok(()),
            (Some(_), None) | (None, Some(_)) => {
                Err("[server.tls] was added or removed; that needs a restart".to_owned())
            }
        }
    }
}

/// Says which keys wait for a restart; what they said when the process began holds until then.
pub(super) fn waits_for_restart(keys: &[String]) {
    if !keys.is_empty() {
        let keys = keys.join(", ");
        tracing::warn!(keys, "changed, but only a restart takes these");
    }
}

/// What is in use stays.
pub(super) fn refused(words: &str) {
    tracing::error!(
        reason = words,
        "configuration not taken; the one in use stays"
    );
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const DEALER: &str = "[deployments.main]\ndomain = \"dealer.example\"\nskills = [\"dealer.information\"]\n\
        [deployments.main.profile]\nname = \"NAME\"\nrooftops = [{ name = \"Main Street\" }]\n";

    // What changes between a reading and the end of what is built from it is not overlooked.
    #[tokio::test]
    async fn a_change_while_the_last_one_was_built_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("forecourt.toml");
        fs::write(&file, DEALER).unwrap();
        let (_asks, asked) = mpsc::channel(1);
        let mut reload = Reload {
            sources: Sources {
                files: vec![file.clone()],
                ..Sources::default()
            },
            asked,
            every: Duration::from_millis(1),
            files: Files::default(),
            tls: None,
        };
        assert!(reload.read().await.is_some());
        fs::write(&file, DEALER.replace("NAME", "Another name")).unwrap();
        let patience = Duration::from_mins(1);
        tokio::time::timeout(patience, reload.due()).await.unwrap();
        let config = reload.read().await.unwrap();
        assert_eq!(config.deployments[0].profile.name, "Another name");
    }
}
