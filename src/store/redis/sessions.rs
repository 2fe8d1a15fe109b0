//! Sessions in Redis.

use jiff::Timestamp;

use super::super::StoreError;
use super::super::rows::Claim;
use super::super::sessions::{CallEntry, SessionEntry};
use super::script::Step;
use super::{Redis, millis};

impl Redis {
    pub(in super::super) async fn enter_session(
        &self,
        issuer: &str,
        key: &str,
        owner: &str,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<SessionEntry, StoreError> {
        let mut step = Step::new(&self.scripts.enter, &self.claims);
        step.arg(millis(now)).arg(issuer).arg(key);
        step.arg(owner).arg(millis(expires_at));
        match self.run::<String>(step).await?.as_str() {
            "owned" => Ok(SessionEntry::Owned),
            "foreign" => Ok(SessionEntry::Foreign),
            "ended" => Ok(SessionEntry::Ended),
            _ => Err(StoreError::Corrupt("a session".to_owned())),
        }
    }

    pub(in super::super) async fn end_session(
        &self,
        issuer: &str,
        key: &str,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        let mut step = Step::new(&self.scripts.end, &self.claims);
        step.arg(millis(now)).arg(issuer).arg(key);
        step.arg(millis(expires_at));
        self.run::<i64>(step).await.map(drop)
    }

    pub(in super::super) async fn ended_sessions(
        &self,
        issuer: &str,
        now: Timestamp,
    ) -> Result<Vec<String>, StoreError> {
        let mut command = redis::cmd("ZRANGEBYSCORE");
        command.arg(format!("{}ended:{issuer}", self.claims));
        command.arg(format!("({}", millis(now))).arg("+inf");
        let mut keys: Vec<String> = self.command(&command).await?;
        keys.sort_unstable();
        Ok(keys)
    }

    pub(in super::super) async fn session_has_ended(
        &self,
        issuer: &str,
        key: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut command = redis::cmd("ZSCORE");
        command
            .arg(format!("{}ended:{issuer}", self.claims))
            .arg(key);
        let until: Option<f64> = self.command(&command).await?;
        // milliseconds of our dates are exact in a double
        #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
        let now = now.as_millisecond() as f64;
        Ok(until.is_some_and(|until| until > now))
    }

    pub(in super::super) async fn session_call(
        &self,
        issuer: &str,
        key: &str,
        claim: &Claim<'_>,
        now: Timestamp,
    ) -> Result<CallEntry, StoreError> {
        let mut step = Step::new(&self.scripts.call, &self.claims);
        step.arg(millis(now)).arg(issuer).arg(key);
        step.arg(claim.namespace).arg(claim.key);
        step.arg(millis(claim.expires_at));
        match self.run::<String>(step).await?.as_str() {
            "passed" => Ok(CallEntry::Passed),
            "used" => Ok(CallEntry::Used),
            "ended" => Ok(CallEntry::Ended),
            _ => Err(StoreError::Corrupt("a session".to_owned())),
        }
    }
}
