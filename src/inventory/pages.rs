//! First pages that were asked for before: many agents begin with the same search. They belong to one snapshot
//! and go with it, so that no page outlives what it shows. Must not know callers or cursors.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::cursor::Place;
use crate::contract::Fragment;

/// Pages that are kept at least, and half of those that are kept at most.
const KEPT: usize = 128;
/// A request whose meaning takes more text than this is not remembered.
const LONGEST: usize = 2048;

/// What one page shows.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) total: u64,
    /// Each row, with its distance where the request had `near`.
    pub(super) rows: Vec<(u32, Option<f64>)>,
    /// Where the last row stands, when more follow.
    pub(super) next: Option<Place>,
    pub(super) facets: Option<Arc<Fragment>>,
}

/// Pages by what their requests mean.
#[derive(Debug, Default)]
pub(super) struct Pages(Mutex<Kept>);

/// Those that were used lately, and those that were used before: when the first are full, the others go.
#[derive(Debug, Default)]
struct Kept {
    lately: HashMap<String, Arc<Shown>>,
    before: HashMap<String, Arc<Shown>>,
}

impl Pages {
    /// The page of this meaning; made, without holding others up, when it is not there.
    pub(super) fn get_or_make<E>(
        &self,
        meaning: String,
        make: impl FnOnce() -> Result<Shown, E>,
    ) -> Result<Arc<Shown>, E> {
        if meaning.len() > LONGEST {
            return make().map(Arc::new);
        }
        if let Some(shown) = self.kept(|kept| kept.get(&meaning)) {
            return Ok(shown);
        }
        let shown = Arc::new(make()?);
        self.kept(|kept| kept.put(meaning, Arc::clone(&shown)));
        Ok(shown)
    }

    fn kept<T>(&self, act: impl FnOnce(&mut Kept) -> T) -> T {
        // What a panic elsewhere leaves here is whole: a map of finished pages.
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Kept {
    fn get(&mut self, meaning: &str) -> Option<Arc<Shown>> {
        if let Some(shown) = self.lately.get(meaning) {
            return Some(Arc::clone(shown));
        }
        let (meaning, shown) = self.before.remove_entry(meaning)?;
        self.put(meaning, Arc::clone(&shown));
        Some(shown)
    }

    fn put(&mut self, meaning: String, shown: Arc<Shown>) {
        if self.lately.len() >= KEPT {
            self.before = std::mem::take(&mut self.lately);
        }
        self.lately.insert(meaning, shown);
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn shown(total: u64) -> Shown {
        Shown {
            total,
            rows: Vec::new(),
            next: None,
            facets: None,
        }
    }

    fn asked(pages: &Pages, meaning: &str, total: u64) -> u64 {
        let made = pages.get_or_make(meaning.to_owned(), || Ok::<_, Infallible>(shown(total)));
        made.unwrap().total
    }

    #[test]
    fn what_is_asked_again_is_not_made_again() {
        let pages = Pages::default();
        assert_eq!(asked(&pages, "a", 1), 1);
        assert_eq!(asked(&pages, "a", 2), 1);
        assert_eq!(asked(&pages, "b", 2), 2);
    }

    #[test]
    fn what_is_used_stays_and_the_number_is_bounded() {
        let pages = Pages::default();
        for n in 0..10_000 {
            assert_eq!(asked(&pages, "used", n), 0);
            asked(&pages, &format!("once {n}"), n);
        }
        let kept = pages.kept(|kept| kept.lately.len() + kept.before.len());
        assert!(kept <= 2 * KEPT, "{kept}");
        assert_eq!(asked(&pages, "once 3", 77), 77);
    }

    #[test]
    fn a_long_request_and_a_failed_one_are_not_kept() {
        let pages = Pages::default();
        let long = "x".repeat(LONGEST + 1);
        assert_eq!(asked(&pages, &long, 1), 1);
        assert_eq!(asked(&pages, &long, 2), 2);
        assert!(pages.get_or_make("a".to_owned(), || Err(())).is_err());
        assert_eq!(asked(&pages, "a", 3), 3);
    }
}
