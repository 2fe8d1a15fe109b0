//! How many calls a deployment had, how they ended and how long they took: counters without a lock, bounded
//! by construction. Must not know who asks.

use std::array;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::contract::{Binding, ErrorCode, Skill};

/// Upper bounds of the latency classes, in microseconds; one more class is above all of them.
pub const BOUNDS_US: [u64; 12] = [
    500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 5_000_000,
    30_000_000,
];
const BINDINGS: usize = Binding::ALL.len();
/// The skills, and one place for calls whose skill is not known.
const SKILLS: usize = Skill::ALL.len() + 1;
/// Fine, and each error code.
const OUTCOMES: usize = ErrorCode::ALL.len() + 1;
const CLASSES: usize = BOUNDS_US.len() + 1;

/// The calls of one deployment.
#[derive(Debug)]
pub struct Calls([[Series; SKILLS]; BINDINGS]);

#[derive(Debug)]
struct Series {
    outcomes: [AtomicU64; OUTCOMES],
    classes: [AtomicU64; CLASSES],
    sum_us: AtomicU64,
}

/// What one binding and skill had.
#[derive(Clone, Debug)]
pub struct Reading {
    pub binding: &'static str,
    pub skill: &'static str,
    /// `ok` or an error code, with its count; those that never happened are left out.
    pub outcomes: Vec<(&'static str, u64)>,
    /// Calls in each latency class, not added up.
    pub classes: [u64; CLASSES],
    pub sum_us: u64,
}

impl Default for Calls {
    fn default() -> Self {
        Self(array::from_fn(|_| array::from_fn(|_| Series::new())))
    }
}

impl Calls {
    /// Counts one call.
    pub fn note(
        &self,
        binding: Binding,
        skill: Option<Skill>,
        code: Option<ErrorCode>,
        took: Duration,
    ) {
        let skill = skill.map_or(SKILLS - 1, |skill| skill as usize);
        let outcome = code.map_or(0, |code| code as usize + 1);
        let Some(series) = self.0.get(binding as usize).and_then(|row| row.get(skill)) else {
            return;
        };
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let class = BOUNDS_US.partition_point(|bound| *bound < us);
        add(series.outcomes.get(outcome), 1);
        add(series.classes.get(class), 1);
        series.sum_us.fetch_add(us, Ordering::Relaxed);
    }

    /// What was counted so far; bindings and skills that were never called are left out.
    pub fn read(&self) -> Vec<Reading> {
        let mut readings = Vec::new();
        for (binding, row) in Binding::ALL.iter().zip(&self.0) {
            for (index, series) in row.iter().enumerate() {
                let skill = Skill::ALL.get(index).map_or("unknown", |skill| skill.id());
                let reading = series.read(binding.id(), skill);
                if !reading.outcomes.is_empty() {
                    readings.push(reading);
                }
            }
        }
        readings
    }
}

impl Series {
    fn new() -> Self {
        Self {
            outcomes: array::from_fn(|_| AtomicU64::new(0)),
            classes: array::from_fn(|_| AtomicU64::new(0)),
            sum_us: AtomicU64::new(0),
        }
    }

    fn read(&self, binding: &'static str, skill: &'static str) -> Reading {
        let names = std::iter::once("ok").chain(ErrorCode::ALL.iter().map(|code| code.id()));
        let counts = self
            .outcomes
            .iter()
            .map(|count| count.load(Ordering::Relaxed));
        Reading {
            binding,
            skill,
            outcomes: names.zip(counts).filter(|(_, count)| *count > 0).collect(),
            classes: array::from_fn(|index| {
                let class = self.classes.get(index);
                class.map_or(0, |class| class.load(Ordering::Relaxed))
            }),
            sum_us: self.sum_us.load(Ordering::Relaxed),
        }
    }
}

fn add(counter: Option<&AtomicU64>, count: u64) {
    if let Some(counter) = counter {
        counter.fetch_add(count, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_binding_skill_and_outcome() {
        let calls = Calls::default();
        let ms = Duration::from_millis(1);
        calls.note(Binding::Mcp, Some(Skill::LeadSubmit), None, ms);
        calls.note(Binding::Mcp, Some(Skill::LeadSubmit), None, ms * 3);
        let limited = Some(ErrorCode::RateLimited);
        calls.note(Binding::Mcp, Some(Skill::LeadSubmit), limited, ms * 3);
        let failed = Some(ErrorCode::InternalError);
        calls.note(Binding::Page, None, failed, Duration::from_hours(1));
        let readings = calls.read();
        assert_eq!(readings.len(), 2);
        let lead = &readings[0];
        assert_eq!((lead.binding, lead.skill), ("mcp", "lead.submit"));
        assert_eq!(lead.outcomes, [("ok", 2), ("RATE_LIMITED", 1)]);
        assert_eq!((lead.classes[1], lead.classes[3]), (1, 2));
        assert_eq!(lead.sum_us, 7_000);
        let page = &readings[1];
        assert_eq!((page.binding, page.skill), ("page", "unknown"));
        assert_eq!(page.outcomes, [("INTERNAL_ERROR", 1)]);
        assert_eq!(page.classes[CLASSES - 1], 1);
    }
}
