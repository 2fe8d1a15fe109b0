//! `forecourt serve`.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};

use super::failure::{Exit, Failure};
use crate::app::{App, AppError, Files, Reload, Serving};
use crate::clock::Clock;
use crate::config::{Config, Sources};
use crate::deployment::Deployment;
use crate::server::{self, Operated, Tls, serve_admin};

/// Descriptors for everything but connections: stores, sources, deliveries, log.
const OTHER_DESCRIPTORS: u64 = 200;
/// How often the configuration's files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

pub(super) async fn run(sources: &Sources) -> Result<Exit, Failure> {
    let (files, config) = Files::default().read(sources);
    let config = config?;
    raise_descriptors(config.server.settings.max_connections);
    let stop = stop_on_signal()?;
    let asked = ask_on_hangup()?;
    let operated = Operated::default();
    if let Some(address) = config.server.admin_listen {
        let listener = bind(address).await?;
        tokio::spawn(serve_admin(listener, Arc::clone(&operated), stop.clone()));
    }
    let listener = bind(config.server.listen).await?;
    let port = listener
        .local_addr()
        .map_or(config.server.listen.port(), |address| address.port());
    let tls = config.server.tls.as_ref().map(Tls::open).transpose();
    let tls = tls.map_err(|error| Failure::new(Exit::Config, error.to_string()))?;
    let tls = tls.map(Arc::new);
    let mut stopped = stop.clone();
    let app = tokio::select! {
        app = App::build(&config, port, Clock::system()) => app?,
        // Nothing was answered yet, and nothing was begun that a crash could not end.
        _ = stopped.wait_for(|stops| *stops) => return Ok(Exit::Fine),
    };
    announce(&config, &app);
    let serving = Serving {
        listener,
        settings: server::Settings {
            tls: tls.clone(),
            ..config.server.settings.clone()
        },
        stop,
        operated,
        reload: Some(Reload {
            sources: sources.clone(),
            asked,
            every: LOOK_EVERY,
            files,
            tls: tls.zip(config.server.tls.clone()),
        }),
    };
    app.serve_with(serving).await;
    Ok(Exit::Fine)
}

/// Every connection is a descriptor; shells and service managers often allow 1024 unless one asks for more.
fn raise_descriptors(connections: usize) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limits = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limits.maximum,
        maximum: limits.maximum,
    };
    let allowed = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limits.maximum,
        Err(_) => limits.current,
    };
    if allowed.is_some_and(|allowed| allowed < connections as u64 + OTHER_DESCRIPTORS) {
        tracing::warn!(
            allowed,
            connections,
            "fewer file descriptors than server.max_connections; raise the limit (LimitNOFILE, ulimit -n)"
        );
    }
}

/// Yields a message at each SIGHUP.
fn ask_on_hangup() -> Result<mpsc::Receiver<()>, Failure> {
    let failure = |error: io::Error| Failure::new(Exit::Internal, format!("signals: {error}"));
    let mut hangup = signal(SignalKind::hangup()).map_err(failure)?;
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            // One that waits already is as good as two.
            if let Err(mpsc::error::TrySendError::Closed(())) = sender.try_send(()) {
                return;
            }
        }
    });
    Ok(receiver)
}

fn announce(config: &Config, app: &App) {
    config.tree.files().iter().for_each(|file| tell_file(file));
    app.deployments
        .iter()
        .for_each(|deployment| tell_deployment(deployment));
}

fn tell_file(file: &Path) {
    tracing::info!(file = %file.display(), "configuration");
}

fn tell_deployment(deployment: &Deployment) {
    let vehicles = deployment
        .inventory
        .as_ref()
        .filter(|inventory| inventory.was_read())
        .map(|inventory| inventory.status().vehicles);
    tracing::info!(
        deployment = deployment.id,
        mcp = deployment.urls.mcp,
        vehicles,
        "serving"
    );
}

/// The listener, or why there is none and what to do.
pub(super) async fn bind(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| {
        let failure = Failure::new(Exit::Unavailable, format!("cannot listen on {address}: {error}"));
        if error.kind() == io::ErrorKind::AddrInUse {
            let other = SocketAddr::new(address.ip(), 0);
            failure.hint(format!("end the program that listens there, or choose another port: --listen {other} takes any"))
        } else {
            failure.hint("choose an address of this machine with --listen ADDRESS:PORT")
        }
    })
}

/// Becomes true at the first SIGTERM or Ctrl-C.
pub(super) fn stop_on_signal() -> Result<watch::Receiver<bool>, Failure> {
    let failure = |error: io::Error| Failure::new(Exit::Internal, format!("signals: {error}"));
    let mut terminate = signal(SignalKind::terminate()).map_err(failure)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failure)?;
    let (sender, receiver) = watch::channel(false);
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        sender.send_replace(true);
        // The channel stays open while anyone listens.
        sender.closed().await;
    });
    Ok(receiver)
}

impl From<AppError> for Failure {
    fn from(error: AppError) -> Self {
        let (exit, hint) = match &error {
            AppError::Keys(_) => (Exit::Config, "see [keys] in docs/configuration.md"),
            AppError::Data { .. } => (
                Exit::Unavailable,
                "make the folder writable, or set data.directory",
            ),
            AppError::Store(error) => (Exit::Unavailable, error.remedy()),
            AppError::Source { .. } | AppError::Mistaken { .. } => (
                Exit::Config,
                "see [deployments.ID.inventory]; `forecourt mappings check` shows what was read",
            ),
            AppError::Inventory { .. } => (
                Exit::Unavailable,
                "see inventory/ID in the data folder; it must be readable, or be taken away",
            ),
            AppError::Leads { .. } => (
                Exit::Config,
                "see [deployments.ID.leads] in docs/configuration.md",
            ),
            AppError::Restart => (Exit::Config, "restart the process"),
            AppError::Register { .. } | AppError::Deployment { .. } | AppError::Site(_) => (
                Exit::Config,
                "see [deployments.ID] in docs/configuration.md",
            ),
            AppError::Net(_) => (Exit::Config, "see [net] in docs/configuration.md"),
            AppError::Contract(_) => (
                Exit::Internal,
                "this is a fault of this program; please report it",
            ),
        };
        Self::new(exit, error.to_string()).hint(hint)
    }
}
