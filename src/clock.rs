//! The only room that tells time, so that tests can hold it still. Must not know what the time is for.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

/// A source of the current instant: the system's, or one that a test holds and moves.
#[derive(Clone, Debug, Default)]
pub struct Clock(Option<Arc<Mutex<Timestamp>>>);

impl Clock {
    /// The machine's own clock.
    pub fn system() -> Self {
        Self(None)
    }

    /// A clock that stands at `now` until [`Clock::advance`] moves it.
    pub fn fixed(now: Timestamp) -> Self {
        Self(Some(Arc::new(Mutex::new(now))))
    }

    /// The current instant.
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            None => system_now(),
            Some(held) => *held.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// Moves a fixed clock; the system's clock is not moved.
    pub fn advance(&self, by: SignedDuration) {
        if let Some(held) = &self.0 {
            let mut now = held.lock().unwrap_or_else(PoisonError::into_inner);
            if let Ok(later) = now.checked_add(by) {
                *now = later;
            }
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this room is where time comes from"
)]
fn system_now() -> Timestamp {
    Timestamp::now()
}
