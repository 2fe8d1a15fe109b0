//! The Redis store: what replicas share. Every step that must be atomic is one Lua script over keys of one
//! hash tag, so it is one in a cluster too. A server that may evict or that keeps nothing is refused.

mod ledger;
mod outbox;
mod script;
mod sessions;

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, FromRedisValue, RedisError};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use super::StoreError;
use super::rows::{Acceptance, Accepted, Claim, KeyEntry};
use script::{Scripts, Step};

/// How long one command may take.
const RESPONSE: Duration = Duration::from_secs(5);
/// How often a process that delivers says that it lives.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// How long it counts as alive after it last said so.
const ALIVE: Duration = Duration::from_secs(20);

/// Which Redis, and how to use it.
#[derive(Clone)]
pub struct RedisSettings {
    /// `redis://…` or `rediss://…`, with credentials where it needs them.
    pub url: String,
    /// What all keys begin with; deployments of several Forecourts on one server differ in it.
    pub prefix: String,
    /// Takes a server that may evict keys: leads could be lost and sent twice.
    pub danger_allow_eviction: bool,
    /// Takes a server that keeps nothing over a restart.
    pub danger_allow_no_persistence: bool,
}

/// The Redis store.
pub struct Redis {
    place: String,
    /// The prefix of leads' keys, with their hash tag.
    leads: String,
    /// The prefix of claims' keys, with theirs.
    claims: String,
    /// This opened store's own name: whose jobs are whose.
    instance: String,
    connection: ConnectionManager,
    scripts: Scripts,
    heartbeat: Mutex<Option<JoinHandle<()>>>,
}

impl Redis {
    /// Connects and looks whether the server keeps what it is given.
    pub async fn open(settings: &RedisSettings) -> Result<Self, StoreError> {
        let client = Client::open(settings.url.as_str()).map_err(|_| StoreError::Unavailable {
            place: "redis".to_owned(),
            cause: "the URL is not valid".to_owned(),
        })?;
        let place = format!("redis {}", client.get_connection_info().addr());
        let config = ConnectionManagerConfig::new()
            .set_response_timeout(Some(RESPONSE))
            .set_connection_timeout(Some(RESPONSE));
        let connecting = ConnectionManager::new_with_config(client, config);
        let connection = connecting
            .await
            .map_err(|error| unavailable(&place, &error))?;
        let store = Self {
            leads: format!("{{{}}}:", settings.prefix),
            claims: format!("{{{}:claims}}:", settings.prefix),
            instance: uuid::Uuid::new_v4().simple().to_string(),
            scripts: Scripts::new(),
            heartbeat: Mutex::new(None),
            place,
            connection,
        };
        store.refuse_forgetful(settings).await?;
        Ok(store)
    }

    /// Refuses a server that may forget leads.
    async fn refuse_forgetful(&self, settings: &RedisSettings) -> Result<(), StoreError> {
        let memory: String = self.command(redis::cmd("INFO").arg("memory")).await?;
        let persistence: String = self.command(redis::cmd("INFO").arg("persistence")).await?;
        let says = |info: &str, line: &str| info.lines().any(|other| other.trim() == line);
        let unlimited = says(&memory, "maxmemory:0");
        if !unlimited
            && !says(&memory, "maxmemory_policy:noeviction")
            && !settings.danger_allow_eviction
        {
            return Err(StoreError::Unfit {
                place: self.place.clone(),
                reason: "its maxmemory-policy may evict keys: set it to noeviction",
            });
        }
        let appends = says(&persistence, "aof_enabled:1");
        if !appends && !settings.danger_allow_no_persistence {
            return Err(StoreError::Unfit {
                place: self.place.clone(),
                reason: "it keeps no append-only file: set appendonly to yes",
            });
        }
        Ok(())
    }

    pub(super) async fn ping(&self) -> Result<(), StoreError> {
        self.command::<String>(&redis::cmd("PING")).await.map(drop)
    }

    pub(super) async fn close(&self) {
        if let Some(task) = self.heartbeat.lock().await.take() {
            task.abort();
            let key = format!("{}alive:{}", self.leads, self.instance);
            drop(self.command::<i64>(redis::cmd("DEL").arg(key)).await);
        }
    }

    pub(super) async fn accept(
        &self,
        acceptance: Acceptance,
        now: Timestamp,
    ) -> Result<Accepted, StoreError> {
        let mut step = self.step(&self.scripts.accept);
        step.arg(&acceptance.key)
            .arg(millis(acceptance.key_expires_at))
            .arg(&acceptance.fingerprint)
            .arg(&acceptance.lead_id)
            .arg(&acceptance.deployment)
            .arg(&acceptance.dealer)
            .arg(millis(acceptance.accepted_at))
            .arg(&acceptance.record)
            .arg(&acceptance.answer)
            .arg(millis(now));
        for delivery in &acceptance.deliveries {
            step.arg(&delivery.target).arg(millis(delivery.due_at));
        }
        let found: Vec<String> = self.run(step).await?;
        match found.as_slice() {
            [] => Ok(Accepted::New),
            [fingerprint, lead_id, answer] => Ok(Accepted::Existing(KeyEntry {
                fingerprint: fingerprint.clone(),
                lead_id: lead_id.clone(),
                answer: Some(answer.clone()),
            })),
            _ => Err(StoreError::Corrupt("an idempotency key".to_owned())),
        }
    }

    pub(super) async fn key(
        &self,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<KeyEntry>, StoreError> {
        let mut command = redis::cmd("HMGET");
        command.arg(format!("{}key:{key}", self.leads));
        command.arg(&["expires_at", "fingerprint", "lead_id", "answer"]);
        let found: Vec<Option<String>> = self.command(&command).await?;
        let [Some(expires_at), Some(fingerprint), Some(lead_id), answer] = found.as_slice() else {
            return Ok(None);
        };
        let standing = instant(expires_at)? > now;
        Ok(standing.then(|| KeyEntry {
            fingerprint: fingerprint.clone(),
            lead_id: lead_id.clone(),
            answer: answer.clone(),
        }))
    }

    pub(super) async fn claim_all(
        &self,
        claims: &[Claim<'_>],
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let twice = claims.iter().enumerate().any(|(at, one)| {
            let mut later = claims.iter().skip(at + 1);
            later.any(|two| (one.namespace, one.key) == (two.namespace, two.key))
        });
        if twice {
            return Ok(false);
        }
        let mut step = Step::new(&self.scripts.claim, &self.claims);
        step.arg(millis(now));
        for claim in claims {
            step.arg(claim.namespace)
                .arg(claim.key)
                .arg(millis(claim.expires_at));
        }
        self.run(step).await
    }

    pub(super) async fn is_claimed(
        &self,
        namespace: &str,
        key: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let name = format!("{}claim:{}:{namespace}:{key}", self.claims, namespace.len());
        let found: Option<String> = self.command(redis::cmd("GET").arg(name)).await?;
        Ok(found
            .map(|text| instant(&text))
            .transpose()?
            .is_some_and(|until| until > now))
    }

    fn step<'a>(&'a self, script: &'a redis::Script) -> Step<'a> {
        Step::new(script, &self.leads)
    }

    async fn run<T: FromRedisValue>(&self, step: Step<'_>) -> Result<T, StoreError> {
        let mut connection = self.connection.clone();
        step.run(&mut connection)
            .await
            .map_err(|error| self.fail(&error))
    }

    async fn command<T: FromRedisValue>(&self, command: &redis::Cmd) -> Result<T, StoreError> {
        let mut connection = self.connection.clone();
        command
            .query_async(&mut connection)
            .await
            .map_err(|error| self.fail(&error))
    }

    fn fail(&self, error: &RedisError) -> StoreError {
        unavailable(&self.place, error)
    }
}

fn unavailable(place: &str, error: &RedisError) -> StoreError {
    StoreError::Unavailable {
        place: place.to_owned(),
        cause: error.to_string(),
    }
}

/// A time as scripts take it.
fn millis(at: Timestamp) -> String {
    at.as_millisecond().to_string()
}

/// A time as scripts give it.
fn instant(text: &str) -> Result<Timestamp, StoreError> {
    text.parse()
        .ok()
        .and_then(|milliseconds| Timestamp::from_millisecond(milliseconds).ok())
        .ok_or_else(|| StoreError::Corrupt("a time".to_owned()))
}

impl fmt::Debug for RedisSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisSettings")
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redis")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}
