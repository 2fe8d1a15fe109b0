//! The Redis store: what replicas share. Every step that must be atomic is one Lua script over keys of one
//! hash tag, so it is one in a cluster too. A server that may evict or that keeps nothing is refused.

mod accept;
mod gate;
mod journal;
mod ledger;
mod link;
mod outbox;
mod pending;
mod recall;
mod restore;
mod script;
mod sessions;
mod settings;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use redis::{FromRedisValue, RedisError};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use super::StoreError;
use super::rows::Claim;
use crate::clock::Clock;
use gate::Warden;
use journal::Journal;
use link::Link;
use script::{Scripts, Step};
pub use settings::{RedisSettings, Topology};

/// How often a process that delivers says that it lives.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// How long it is remembered that a process left.
const GONE_S: u32 = 3600;
/// How long it counts as alive after it last said so.
const ALIVE: Duration = Duration::from_secs(20);

/// The Redis store.
pub struct Redis {
    place: String,
    /// The prefix of leads' keys, with their hash tag.
    leads: String,
    /// The prefix of claims' keys, with theirs.
    claims: String,
    /// This opened store's own name: whose jobs are whose.
    instance: String,
    link: Link,
    wait: Option<(u32, Duration)>,
    scripts: Scripts,
    heartbeat: Mutex<Option<JoinHandle<()>>>,
    /// Where this process keeps a journal.
    warden: Option<Warden>,
}

impl Redis {
    /// Connects and looks whether the server keeps what it is given.
    pub async fn open(settings: &RedisSettings) -> Result<Arc<Self>, StoreError> {
        let place = format!("redis {}", settings.place());
        let link = Link::open(settings)
            .await
            .map_err(|error| unavailable(&place, &error))?;
        let store = Self {
            leads: format!("{{{}}}:", settings.prefix),
            claims: format!("{{{}:claims}}:", settings.prefix),
            instance: uuid::Uuid::new_v4().simple().to_string(),
            scripts: Scripts::new(),
            heartbeat: Mutex::new(None),
            warden: match &settings.journal {
                Some(folder) => Some(Warden::new(Journal::open(folder)?)),
                None => None,
            },
            wait: settings.wait,
            place,
            link,
        };
        store.refuse_forgetful(settings).await?;
        let store = Arc::new(store);
        if let Some(warden) = &store.warden {
            let now = Clock::system().now();
            let belongs = store.belongs(&warden.journal.id).await?;
            store.tend(warden, now).await?;
            // What an earlier life of this process could not tell Redis any more. A lead that a whole Redis
            // lacks was never taken; unless others went on without this process.
            let known = warden.journal.recall().await?;
            if !belongs {
                store.restore_leads(&known, now).await?;
            }
            store.succeed(&warden.journal.id).await?;
            store.settle_attempts(&known, now).await?;
            tokio::spawn(gate::watch(Arc::downgrade(&store)));
        }
        Ok(store)
    }

    /// Whether the Redis was never without this process's knowledge.
    async fn belongs(&self, journal: &str) -> Result<bool, StoreError> {
        let mut known = redis::cmd("HEXISTS");
        known.arg(format!("{}members", self.leads)).arg(journal);
        self.command(&known).await
    }

    /// Whoever held this journal before is dead, or the journal's lock would be taken: its jobs are orphans.
    async fn succeed(&self, journal: &str) -> Result<(), StoreError> {
        let mut swap = redis::cmd("GETSET");
        swap.arg(format!("{}instance:{journal}", self.leads));
        let earlier: Option<String> = self.command(swap.arg(&self.instance)).await?;
        match earlier {
            Some(earlier) => self.leave(&earlier).await,
            None => Ok(()),
        }
    }

    /// Says that a process is gone.
    async fn leave(&self, instance: &str) -> Result<(), StoreError> {
        let mut gone = redis::cmd("SET");
        gone.arg(format!("{}gone:{instance}", self.leads));
        gone.arg("1").arg("EX").arg(GONE_S);
        self.command::<String>(&gone).await.map(drop)
    }

    /// The name under which this process vouches; empty where it keeps no journal.
    fn member(&self) -> &str {
        self.warden
            .as_ref()
            .map_or("", |warden| warden.journal.id.as_str())
    }

    /// Refuses a server that may forget leads.
    async fn refuse_forgetful(&self, settings: &RedisSettings) -> Result<(), StoreError> {
        let [memory, persistence, _]: [String; 3] =
            self.run(self.step(&self.scripts.facts)).await?;
        let says = |info: &str, line: &str| info.lines().any(|other| other.trim() == line);
        let keeps_all =
            says(&memory, "maxmemory:0") || says(&memory, "maxmemory_policy:noeviction");
        if !keeps_all && !settings.danger_allow_eviction {
            return Err(self.unfit("its maxmemory-policy may evict keys: set it to noeviction"));
        }
        if !says(&persistence, "aof_enabled:1") && !settings.danger_allow_no_persistence {
            return Err(self.unfit("it keeps no append-only file: set appendonly to yes"));
        }
        Ok(())
    }

    fn unfit(&self, reason: &'static str) -> StoreError {
        StoreError::Unfit {
            place: self.place.clone(),
            reason,
        }
    }

    /// Waits until enough replicas have what was written, where the operator asks for it.
    async fn confirmed(&self) -> Result<(), StoreError> {
        let Some((replicas, within)) = self.wait else {
            return Ok(());
        };
        let mut wait = redis::cmd("WAIT");
        wait.arg(replicas)
            .arg(u64::try_from(within.as_millis()).unwrap_or(u64::MAX));
        let confirmed: u32 = self.command(&wait).await?;
        if confirmed >= replicas {
            return Ok(());
        }
        Err(StoreError::Unavailable {
            place: self.place.clone(),
            cause: format!("{confirmed} of {replicas} replicas confirmed in time"),
        })
    }

    pub(super) async fn ping(&self) -> Result<(), StoreError> {
        self.command::<String>(&redis::cmd("PING")).await.map(drop)
    }

    pub(super) async fn close(&self) {
        if let Some(task) = self.heartbeat.lock().await.take() {
            task.abort();
            drop(self.leave(&self.instance).await);
        }
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
        let mut connection = self.link.clone();
        step.run(&mut connection)
            .await
            .map_err(|error| self.fail(&error))
    }

    async fn command<T: FromRedisValue>(&self, command: &redis::Cmd) -> Result<T, StoreError> {
        let mut connection = self.link.clone();
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

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redis")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}
