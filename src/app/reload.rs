//! When the configuration is read anew: when somebody asks, or when a file of it has changed and stays as it
//! is. Must not build anything.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::config::{Config, Sources};
use crate::server::Tls;

/// How a served configuration is kept up to date.
#[derive(Debug)]
pub struct Reload {
    pub sources: Sources,
    /// A message asks for it.
    pub asked: mpsc::Receiver<()>,
    /// How often the files are looked at.
    pub every: Duration,
    /// The files that the configuration in use was made of.
    pub files: Vec<PathBuf>,
    /// The listener's side of TLS, whose certificates are read with the rest.
    pub tls: Option<Arc<Tls>>,
}

impl Reload {
    /// Waits until it is time.
    pub(super) async fn due(&mut self) {
        let known = self.state().await;
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
            let now = self.state().await;
            // A change counts once it stands still: several files are rarely written in one moment.
            if now != known && changed == Some(now) {
                return;
            }
            changed = (now != known).then_some(now);
        }
    }

    async fn state(&self) -> u64 {
        let (sources, files) = (self.sources.clone(), self.files.clone());
        let looked = tokio::task::spawn_blocking(move || sources.state(&files)).await;
        looked.unwrap_or_default()
    }

    /// The configuration as it is now; `None` with a log line for each finding.
    pub(super) async fn read(&mut self) -> Option<Config> {
        let sources = self.sources.clone();
        let loaded = tokio::task::spawn_blocking(move || Config::load(&sources)).await;
        match loaded {
            Ok(Ok(config)) => {
                self.files = config.files();
                Some(config)
            }
            Ok(Err(findings)) => {
                for finding in &findings.0 {
                    refused(&finding.to_string());
                }
                None
            }
            Err(error) => {
                refused(&error.to_string());
                None
            }
        }
    }

    /// Certificates are read whatever else has changed: their files do not stand in the configuration.
    pub(super) fn certificates(&self, config: &Config) -> Result<(), String> {
        match (&self.tls, &config.server.tls) {
            (Some(tls), Some(settings)) => tls.replace(settings).map_err(|error| error.to_string()),
            (None, None) => Ok(()),
            (Some(_), None) | (None, Some(_)) => {
                Err("[server.tls] was added or removed; that needs a restart".to_owned())
            }
        }
    }
}

/// What is in use stays.
pub(super) fn refused(words: &str) {
    tracing::error!(
        reason = words,
        "configuration not taken; the one in use stays"
    );
}
