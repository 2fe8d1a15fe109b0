//! Whether this Redis is known to be whole. After it lost something (another replication id, or emptied),
//! nobody accepts or delivers until every process that shares it has restored what its journal knows, or an
//! operator confirms that nothing more is to come. Must not decide what to restore: the journal says it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{MutexGuard, PoisonError, Weak};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Mutex;

use super::super::StoreError;
use super::super::rows::{DeliveryState, Ending, Job};
use super::Redis;
use super::journal::{Entry, Journal};
use super::recall::Recall;
use crate::clock::Clock;

/// Seconds after which a member that was not seen is away: nobody waits for it to take note of others.
const AWAY_S: u64 = 20;
/// Seconds after which a member that was not seen is not waited for at a repair.
const FORGET_S: u64 = 60 * 24 * 60 * 60;
/// How often a process says that it is there and looks whether Redis is whole.
const BEAT: Duration = Duration::from_secs(1);
/// After how many beats the journal is tidied.
const TIDY_EVERY: u32 = 600;
/// Steps of one look: each of the two phases is entered and left at most once.
const STEPS: usize = 4;

/// What this process does to keep the gate.
#[derive(Debug)]
pub(super) struct Warden {
    pub(super) journal: Journal,
    open: AtomicBool,
    /// The version of the members' list that lies in the journal.
    version: AtomicU64,
    /// One look at a time.
    looking: Mutex<()>,
    /// The attempts of this process whose end Redis was not told.
    under_way: std::sync::Mutex<UnderWay>,
}

/// By lead and target: the attempt's number, and whether its end is in the journal.
type UnderWay = BTreeMap<(String, String), (u32, bool)>;

impl Warden {
    pub(super) fn new(journal: Journal) -> Self {
        Self {
            journal,
            open: AtomicBool::new(false),
            version: AtomicU64::new(0),
            looking: Mutex::new(()),
            under_way: std::sync::Mutex::default(),
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    /// Notes that a receiver may have the lead from here on.
    pub(super) async fn begun(&self, job: &Job) -> Result<(), StoreError> {
        let begun = Entry::Begun {
            lead_id: job.lead_id.clone(),
            target: job.target.clone(),
            attempt: job.attempt,
        };
        self.journal.append(&[begun]).await?;
        self.under_way().insert(of(job), (job.attempt, false));
        Ok(())
    }

    /// Notes how a job ended: once, however often Redis has to be told.
    pub(super) async fn ended(
        &self,
        job: &Job,
        ending: &Ending,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let lasting = matches!(
            ending.state,
            DeliveryState::Delivered | DeliveryState::Refused
        );
        let known = self.under_way().get(&of(job)).copied();
        match known.filter(|(attempt, _)| *attempt == job.attempt) {
            Some((_, true)) => return Ok(()),
            // It never began to transmit, so a Redis that forgot it may try it again.
            None if !lasting => return Ok(()),
            Some((_, false)) | None => {}
        }
        let ended = Entry::Ended {
            lead_id: job.lead_id.clone(),
            target: job.target.clone(),
            attempt: job.attempt,
            state: ending.state.id().to_owned(),
            detail: ending.detail.clone(),
            at,
        };
        self.journal.append(&[ended]).await?;
        self.under_way().insert(of(job), (job.attempt, true));
        Ok(())
    }

    /// Redis knows how it ended.
    pub(super) fn told(&self, job: &Job) {
        self.under_way().remove(&of(job));
    }

    fn under_way(&self) -> MutexGuard<'_, UnderWay> {
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn of(job: &Job) -> (String, String) {
    (job.lead_id.clone(), job.target.clone())
}

/// Looks after the gate until the store is gone.
pub(super) async fn watch(store: Weak<Redis>) {
    let clock = Clock::system();
    for round in 1_u32.. {
        tokio::time::sleep(BEAT).await;
        let Some(store) = store.upgrade() else { return };
        let Some(warden) = &store.warden else { return };
        said(store.tend(warden, clock.now()).await);
        if round % TIDY_EVERY == 0 {
            said(store.tidy_journal(warden, clock.now()).await);
        }
    }
}

/// Tells the operator what could not be done; the next beat tries it again.
fn said(result: Result<(), StoreError>) {
    if let Err(error) = result {
        tracing::warn!(%error, "store: Redis cannot be looked after");
    }
}

fn whole_again() {
    tracing::info!("store: Redis is whole; leads are accepted");
}

fn waiting_for(behind: &[String]) {
    let behind = behind.join(", ");
    tracing::warn!(%behind, "store: waiting for what other processes know");
}

/// What a repair waits for.
struct Repair {
    open: bool,
    token: String,
    /// What every member has reached.
    least: u32,
    /// What this one has.
    own: u32,
    behind: Vec<String>,
}

impl Redis {
    /// Looks after the gate once: says that this process is there, and repairs what it can.
    pub(super) async fn tend(&self, warden: &Warden, now: Timestamp) -> Result<(), StoreError> {
        let _one = warden.looking.lock().await;
        let looked = self.look(warden, now).await;
        let open = *looked.as_ref().unwrap_or(&false);
        warden.open.store(open, Ordering::Release);
        looked.map(drop)
    }

    async fn look(&self, warden: &Warden, now: Timestamp) -> Result<bool, StoreError> {
        if let Some(settled) = self.beat(warden).await? {
            return Ok(settled);
        }
        let known = warden.journal.recall().await?;
        let mut reached = (String::new(), 0);
        for _ in 0..STEPS {
            let repair = self.repair(warden, &known, &reached).await?;
            if repair.open {
                whole_again();
                break;
            }
            if repair.own > repair.least {
                waiting_for(&repair.behind);
                return Ok(false);
            }
            self.reach(repair.own, &known, now).await?;
            reached = (repair.token, repair.own + 1);
        }
        self.beat(warden).await.map(|open| open.unwrap_or(false))
    }

    /// Does what leads from one phase of a repair to the next.
    async fn reach(&self, from: u32, known: &Recall, now: Timestamp) -> Result<(), StoreError> {
        match from {
            0 => self.restore_leads(known, now).await,
            _ => self.settle_attempts(known, now).await,
        }
    }

    /// Says that this process is there; `None` when the gate is shut, else whether every other process
    /// knows of this one.
    async fn beat(&self, warden: &Warden) -> Result<Option<bool>, StoreError> {
        let known = warden.version.load(Ordering::Acquire);
        let mut step = self.step(&self.scripts.beat);
        step.arg(&warden.journal.id)
            .arg(known.to_string())
            .arg(AWAY_S.to_string());
        let said: Vec<String> = self.run(step).await?;
        let [open, settled, version, members @ ..] = said.as_slice() else {
            return Err(StoreError::Corrupt("the members of the store".to_owned()));
        };
        if open != "1" {
            return Ok(None);
        }
        let version = version.parse().unwrap_or(u64::MAX);
        if version != known {
            let members = members.iter().cloned().collect();
            warden.journal.append(&[Entry::Members(members)]).await?;
            warden.version.store(version, Ordering::Release);
            return Box::pin(self.beat(warden)).await;
        }
        Ok(Some(settled == "1"))
    }

    async fn repair(
        &self,
        warden: &Warden,
        known: &Recall,
        reached: &(String, u32),
    ) -> Result<Repair, StoreError> {
        let fresh = uuid::Uuid::new_v4().simple().to_string();
        let (token, phase) = reached;
        let mut step = self.step(&self.scripts.repair);
        step.arg(&warden.journal.id)
            .arg(fresh)
            .arg(token)
            .arg(phase.to_string())
            .arg(FORGET_S.to_string());
        for member in &known.members {
            step.arg(member);
        }
        let said: Vec<String> = self.run(step).await?;
        let [open, token, least, own, behind @ ..] = said.as_slice() else {
            return Err(StoreError::Corrupt("the repair of the store".to_owned()));
        };
        Ok(Repair {
            open: open == "1",
            token: token.clone(),
            least: least.parse().unwrap_or_default(),
            own: own.parse().unwrap_or_default(),
            behind: behind.to_vec(),
        })
    }

    /// Forgets in the journal what was erased in Redis, by whomever, and what can no longer matter.
    pub(super) async fn tidy_journal(
        &self,
        warden: &Warden,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut command = redis::cmd("ZRANGE");
        command.arg(format!("{}erased", self.leads)).arg(0).arg(-1);
        let erased: Vec<String> = self.command(&command).await?;
        let held = warden.journal.recall().await?.lead_ids();
        let gone = erased.into_iter().filter(|lead| held.contains(lead));
        let entries: Vec<Entry> = gone.map(Entry::Erased).collect();
        warden.journal.append(&entries).await?;
        warden.journal.compact(now).await
    }

    /// What an operator confirms: the processes that are still waited for. `None` when the gate is open.
    pub(in crate::store) async fn confirm(
        &self,
        really: bool,
    ) -> Result<Option<Vec<String>>, StoreError> {
        let mut step = self.step(&self.scripts.confirm);
        step.arg(if really { "1" } else { "0" });
        let said: Vec<String> = self.run(step).await?;
        Ok(match said.as_slice() {
            [first, behind @ ..] if first == "closed" => Some(behind.to_vec()),
            _ => None,
        })
    }
}
