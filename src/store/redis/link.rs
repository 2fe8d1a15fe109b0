//! How the store reaches Redis: one server, the master that Sentinels name, or a Cluster. Must not know what
//! is asked. A command that finds its connection dead fails; whoever asked may ask again.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use redis::aio::{
    ConnectionLike, ConnectionManager, ConnectionManagerConfig, MultiplexedConnection,
};
use redis::cluster::ClusterClientBuilder;
use redis::cluster_async::ClusterConnection;
use redis::sentinel::{SentinelClient, SentinelClientBuilder, SentinelServerType};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionInfo, IntoConnectionInfo as _, Pipeline,
    RedisError, RedisFuture, RedisResult, TlsCertificates, TlsMode, Value,
};
use tokio::sync::Mutex;

use super::settings::{RedisSettings, Topology};

/// How long one command, or one attempt to connect, may take.
const RESPONSE: Duration = Duration::from_secs(5);
/// How often a Cluster command is tried again: it follows slots that move.
const CLUSTER_RETRIES: u32 = 3;

/// A way to Redis that repairs itself.
#[derive(Clone)]
pub(super) enum Link {
    Single(ConnectionManager),
    Sentinel(Arc<Watched>),
    Cluster(ClusterConnection),
}

/// The connection to the master that Sentinels named last.
pub(super) struct Watched {
    client: Mutex<SentinelClient>,
    current: RwLock<Option<MultiplexedConnection>>,
    /// How long one command may take.
    patience: Duration,
}

impl Link {
    pub(super) async fn open(settings: &RedisSettings) -> RedisResult<Self> {
        match &settings.topology {
            Topology::Single => {
                let client = single(settings)?;
                let config = ConnectionManagerConfig::new()
                    .set_response_timeout(Some(settings.patience(RESPONSE)))
                    .set_connection_timeout(Some(RESPONSE));
                let manager = ConnectionManager::new_with_config(client, config).await?;
                Ok(Self::Single(manager))
            }
            Topology::Sentinel { .. } => {
                let watched = Watched {
                    client: Mutex::new(sentinel(settings)?),
                    current: RwLock::new(None),
                    patience: settings.patience(RESPONSE),
                };
                watched.connection().await?;
                Ok(Self::Sentinel(Arc::new(watched)))
            }
            Topology::Cluster => {
                let connecting = cluster(settings)?.get_async_connection().await?;
                Ok(Self::Cluster(connecting))
            }
        }
    }
}

impl Watched {
    async fn connection(&self) -> RedisResult<MultiplexedConnection> {
        if let Some(connection) = self.standing() {
            return Ok(connection);
        }
        let mut client = self.client.lock().await;
        // Somebody else may have found the master meanwhile.
        if let Some(connection) = self.standing() {
            return Ok(connection);
        }
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(RESPONSE))
            .set_response_timeout(Some(self.patience));
        let asking = client.get_async_connection_with_config(&config);
        let found = tokio::time::timeout(RESPONSE, asking).await;
        let connection = found.map_err(|_| {
            RedisError::from((redis::ErrorKind::Io, "the Sentinels do not answer in time"))
        })??;
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = Some(connection.clone());
        Ok(connection)
    }

    fn standing(&self) -> Option<MultiplexedConnection> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.clone()
    }

    /// Forgets a connection that failed, or whose server is no longer the master.
    fn look_at<T>(&self, result: RedisResult<T>) -> RedisResult<T> {
        if let Err(error) = &result
            && (error.is_io_error() || error.is_unrecoverable_error() || is_demoted(error))
        {
            let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
            *current = None;
        }
        result
    }
}

/// What a server says that is no master any more, or not yet one again.
fn is_demoted(error: &RedisError) -> bool {
    matches!(
        error.code(),
        Some("READONLY" | "MASTERDOWN" | "LOADING" | "UNBLOCKED")
    )
}

impl ConnectionLike for Link {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        match self {
            Self::Single(link) => link.req_packed_command(cmd),
            Self::Cluster(link) => link.req_packed_command(cmd),
            Self::Sentinel(watched) => Box::pin(async move {
                let mut connection = watched.connection().await?;
                watched.look_at(connection.req_packed_command(cmd).await)
            }),
        }
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        match self {
            Self::Single(link) => link.req_packed_commands(pipeline, offset, count),
            Self::Cluster(link) => link.req_packed_commands(pipeline, offset, count),
            Self::Sentinel(watched) => Box::pin(async move {
                let mut connection = watched.connection().await?;
                let done = connection.req_packed_commands(pipeline, offset, count);
                watched.look_at(done.await)
            }),
        }
    }

    fn get_db(&self) -> i64 {
        match self {
            Self::Single(link) => link.get_db(),
            Self::Cluster(link) => link.get_db(),
            Self::Sentinel(_) => 0,
        }
    }
}

/// The node's place, with the settings' credentials where its URL has none.
fn node(settings: &RedisSettings, url: &str) -> RedisResult<ConnectionInfo> {
    let info = url.into_connection_info()?;
    let mut redis = info.redis_settings().clone();
    if let Some(user) = &settings.username {
        redis = redis.set_username(user);
    }
    if let Some(password) = &settings.password {
        redis = redis.set_password(password);
    }
    Ok(info.set_redis_settings(redis))
}

fn nodes(settings: &RedisSettings) -> RedisResult<Vec<ConnectionInfo>> {
    settings
        .urls
        .iter()
        .map(|url| node(settings, url))
        .collect()
}

fn certificates(settings: &RedisSettings) -> Option<TlsCertificates> {
    let root = settings.ca_pem.clone()?;
    Some(TlsCertificates {
        client_tls: None,
        root_cert: Some(root),
    })
}

fn single(settings: &RedisSettings) -> RedisResult<Client> {
    let mut nodes = nodes(settings)?.into_iter();
    let (Some(node), None) = (nodes.next(), nodes.next()) else {
        let words = "one server has exactly one URL";
        return Err((redis::ErrorKind::InvalidClientConfig, words).into());
    };
    match certificates(settings) {
        Some(certificates) => Client::build_with_tls(node, certificates),
        None => Client::open(node),
    }
}

fn sentinel(settings: &RedisSettings) -> RedisResult<SentinelClient> {
    let Topology::Sentinel {
        master,
        username,
        password,
    } = &settings.topology
    else {
        let words = "no master's name";
        return Err((redis::ErrorKind::InvalidClientConfig, words).into());
    };
    let nodes = nodes(settings)?;
    let secure = nodes
        .iter()
        .any(|node| matches!(node.addr(), redis::ConnectionAddr::TcpTls { .. }));
    let places = nodes.iter().map(|node| node.addr().clone());
    let mut builder = SentinelClientBuilder::new(places, master, SentinelServerType::Master)?;
    if let Some(user) = &settings.username {
        builder = builder.set_client_to_redis_username(user);
    }
    if let Some(password) = &settings.password {
        builder = builder.set_client_to_redis_password(password);
    }
    if let Some(user) = username {
        builder = builder.set_client_to_sentinel_username(user);
    }
    if let Some(password) = password {
        builder = builder.set_client_to_sentinel_password(password);
    }
    if secure {
        builder = builder
            .set_client_to_redis_tls_mode(TlsMode::Secure)
            .set_client_to_sentinel_tls_mode(TlsMode::Secure);
    }
    if let Some(certificates) = certificates(settings) {
        builder = builder
            .set_client_to_redis_certificates(certificates.clone())
            .set_client_to_sentinel_certificates(certificates);
    }
    builder.build()
}

fn cluster(settings: &RedisSettings) -> RedisResult<redis::cluster::ClusterClient> {
    let mut builder = ClusterClientBuilder::new(nodes(settings)?)
        .retries(CLUSTER_RETRIES)
        .connection_timeout(RESPONSE)
        .response_timeout(settings.patience(RESPONSE));
    if let Some(certificates) = certificates(settings) {
        builder = builder.certs(certificates);
    }
    builder.build()
}
