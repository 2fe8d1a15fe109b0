//! How often a target is asked: no faster than it may be, and hardly at all while it fails again and again.
//! Must not know why it fails.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::delivery::Outcome;

/// After how many failures in a row a target is left alone.
const TROUBLES: u32 = 5;
/// For how long at first; doubled with each further failure.
const FIRST_PAUSE: Duration = Duration::from_secs(30);
const LONGEST_PAUSE: Duration = Duration::from_mins(10);

/// What one target's workers share.
#[derive(Debug)]
pub(super) struct Breaker {
    /// From one attempt to the next.
    interval: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Failures in a row.
    failures: u32,
    /// Nothing is tried before.
    closed_until: Option<Timestamp>,
    /// One attempt is under way that shall show whether the target is well again.
    probing: bool,
    /// When the next attempt keeps the pace.
    next: Option<Timestamp>,
}

impl Breaker {
    pub(super) fn new(per_minute: Option<u32>) -> Self {
        let interval = per_minute.map(|count| Duration::from_mins(1) / count.max(1));
        Self {
            interval: interval.unwrap_or_default(),
            state: Mutex::default(),
        }
    }

    /// How long to wait before the next attempt; `None` when it may be made now.
    pub(super) fn wait(&self, now: Timestamp) -> Option<Duration> {
        let state = self.lock();
        if state.probing {
            return Some(FIRST_PAUSE);
        }
        let until = state.closed_until.max(state.next)?;
        Duration::try_from(until.duration_since(now))
            .ok()
            .filter(|left| !left.is_zero())
    }

    /// Notes that an attempt begins.
    pub(super) fn spend(&self, now: Timestamp) -> Spent<'_> {
        let mut state = self.lock();
        if !self.interval.is_zero() {
            state.next = after(now, self.interval);
        }
        let probes = state.failures >= TROUBLES;
        state.probing |= probes;
        Spent {
            breaker: self,
            probes,
        }
    }

    fn note(&self, outcome: &Outcome, now: Timestamp) -> Option<Duration> {
        let mut state = self.lock();
        match outcome {
            // It answered, be it with a refusal of this one lead.
            Outcome::Delivered(_) | Outcome::Refused(_) => {
                state.failures = 0;
                state.closed_until = None;
                None
            }
            Outcome::Retry(_) | Outcome::Later(..) | Outcome::Unknown(_) => {
                state.failures = state.failures.saturating_add(1);
                // What it asks of one lead holds for all of them.
                let asked = if let Outcome::Later(_, wait) = outcome {
                    *wait
                } else {
                    Duration::ZERO
                };
                let beyond = state.failures.checked_sub(TROUBLES);
                let pause = beyond.map_or(asked, |beyond| {
                    let pause = FIRST_PAUSE.saturating_mul(1 << beyond.min(10));
                    pause.min(LONGEST_PAUSE).max(asked)
                });
                if !pause.is_zero() {
                    state.closed_until = state.closed_until.max(after(now, pause));
                }
                (beyond == Some(0)).then_some(pause)
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An attempt under way. One that is dropped told nothing of the target: it ended before it reached that.
#[derive(Debug)]
pub(super) struct Spent<'a> {
    breaker: &'a Breaker,
    /// The others wait for it.
    probes: bool,
}

impl Spent<'_> {
    /// Notes how the attempt ended. For how long the target is left alone, when that begins now.
    pub(super) fn end(self, outcome: &Outcome, now: Timestamp) -> Option<Duration> {
        self.breaker.note(outcome, now)
    }
}

impl Drop for Spent<'_> {
    fn drop(&mut self) {
        if self.probes {
            self.breaker.lock().probing = false;
        }
    }
}

fn after(now: Timestamp, pause: Duration) -> Option<Timestamp> {
    let pause = SignedDuration::try_from(pause).ok()?;
    now.checked_add(pause).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_900_000_000 + seconds).unwrap()
    }

    fn failed() -> Outcome {
        Outcome::Retry(String::new())
    }

    #[test]
    fn a_target_that_fails_is_left_alone_and_then_tried_by_one_attempt() {
        let breaker = Breaker::new(None);
        for number in 1..=TROUBLES {
            assert_eq!(breaker.wait(at(0)), None);
            let paused = breaker.spend(at(0)).end(&failed(), at(0));
            assert_eq!(paused.is_some(), number == TROUBLES);
        }
        assert_eq!(breaker.wait(at(0)), Some(FIRST_PAUSE));
        assert_eq!(breaker.wait(at(30)), None);
        let probe = breaker.spend(at(30));
        assert!(breaker.wait(at(30)).is_some(), "one probe only");
        assert_eq!(probe.end(&failed(), at(31)), None, "said once");
        assert_eq!(breaker.wait(at(31)), Some(FIRST_PAUSE * 2));
        for _ in 0..20 {
            breaker.note(&Outcome::Unknown(String::new()), at(31));
        }
        assert_eq!(breaker.wait(at(31)), Some(LONGEST_PAUSE));
        breaker.note(&Outcome::Refused(String::new()), at(700));
        assert_eq!(breaker.wait(at(700)), None);
    }

    #[test]
    fn a_target_that_asks_for_time_gets_it() {
        let breaker = Breaker::new(None);
        let asked = Duration::from_mins(20);
        let said = breaker
            .spend(at(0))
            .end(&Outcome::Later(String::new(), asked), at(0));
        assert_eq!(said, None, "it is not in trouble");
        // one that was under way meanwhile and failed otherwise does not shorten it
        breaker.note(&failed(), at(1));
        assert_eq!(breaker.wait(at(0)), Some(asked));
        assert_eq!(breaker.wait(at(20 * 60)), None);
    }

    #[test]
    fn a_probe_that_never_reached_the_target_is_made_again() {
        let breaker = Breaker::new(None);
        for _ in 0..TROUBLES {
            breaker.spend(at(0)).end(&failed(), at(0));
        }
        let probe = breaker.spend(at(30));
        assert_eq!(breaker.wait(at(30)), Some(FIRST_PAUSE));
        drop(probe);
        assert_eq!(breaker.wait(at(30)), None);
    }

    #[test]
    fn attempts_keep_the_pace() {
        let breaker = Breaker::new(Some(30));
        assert_eq!(breaker.wait(at(0)), None);
        drop(breaker.spend(at(0)));
        assert_eq!(breaker.wait(at(0)), Some(Duration::from_secs(2)));
        assert_eq!(breaker.wait(at(2)), None);
    }
}
