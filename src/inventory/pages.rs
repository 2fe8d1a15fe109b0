//! First pages and facets that were asked for before: many agents begin with the same search. They belong to one
//! snapshot and go with it, so that nothing outlives what it shows. Must not know callers or cursors.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::cursor::Place;
use crate::contract::Fragment;
use crate::recent::Recent;

/// Pages that are kept at least, and half of those that are kept at most.
const KEPT: usize = 128;
/// A request whose meaning takes more text than this is not remembered.
const LONGEST: usize = 2048;
/// Written vehicles and facets may take this part of what all listings take, and this much at least.
const SHARE_OF_LISTINGS: usize = 16;
const LEAST_ROOM: usize = 256 * 1024;

/// What one page shows.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) total: u64,
    /// Each row, with its distance where the request had `near`.
    pub(super) rows: Vec<(u32, Option<f64>)>,
    /// Where the last row stands, when more follow.
    pub(super) next: Option<Place>,
    pub(super) facets: Option<Arc<Fragment>>,
    /// The vehicles' JSON, where the page was asked for before and there was room.
    pub(super) text: Text,
}

/// The JSON of one page's vehicles.
#[derive(Debug, Default)]
pub(super) struct Text {
    /// Set when the page is asked for again.
    room: OnceLock<Arc<Room>>,
    /// `None` where there was no room.
    written: OnceLock<Option<Written>>,
}

#[derive(Debug)]
struct Written {
    text: Arc<Fragment>,
    room: Arc<Room>,
}

impl Drop for Written {
    fn drop(&mut self) {
        self.room.0.fetch_add(self.text.bytes(), Ordering::Relaxed);
    }
}

/// Bytes that texts may still take.
#[derive(Debug)]
struct Room(AtomicUsize);

impl Room {
    fn take(&self, bytes: usize) -> bool {
        let order = Ordering::Relaxed;
        let rest = |left: usize| left.checked_sub(bytes);
        self.0.fetch_update(order, order, rest).is_ok()
    }
}

impl Shown {
    /// The vehicles' JSON; `None` for a page that is asked for the first time, or had no room.
    pub(super) fn text(&self, write: impl FnOnce() -> Fragment) -> Option<Arc<Fragment>> {
        let room = self.text.room.get()?;
        let written = self.text.written.get_or_init(|| {
            let text = Arc::new(write());
            let room = Arc::clone(room);
            // A value that was made would give back on its end what it never took.
            room.take(text.bytes()).then(|| Written { text, room })
        });
        Some(Arc::clone(&written.as_ref()?.text))
    }
}

/// Pages and facets by what their requests mean.
#[derive(Debug)]
pub(super) struct Pages {
    kept: Recent<Arc<Shown>>,
    facets: Recent<Arc<Written>>,
    room: Arc<Room>,
}

impl Pages {
    /// No pages yet, of a snapshot whose listings take this many bytes.
    pub(super) fn new(listings: usize) -> Self {
        let room = (listings / SHARE_OF_LISTINGS).max(LEAST_ROOM);
        Self {
            kept: Recent::new(KEPT),
            facets: Recent::new(KEPT),
            room: Arc::new(Room(AtomicUsize::new(room))),
        }
    }

    /// The page of this meaning; made, without holding others up, when it is not there.
    pub(super) fn get_or_make<E>(
        &self,
        meaning: String,
        make: impl FnOnce() -> Result<Shown, E>,
    ) -> Result<Arc<Shown>, E> {
        if meaning.len() > LONGEST {
            return make().map(Arc::new);
        }
        if let Some(shown) = self.kept.get(&meaning) {
            shown.text.room.get_or_init(|| Arc::clone(&self.room));
            return Ok(shown);
        }
        let shown = Arc::new(make()?);
        self.kept.put(meaning, Arc::clone(&shown));
        Ok(shown)
    }

    /// The facets of this meaning, made in the same way and kept while there is room.
    pub(super) fn facets<E>(
        &self,
        meaning: &str,
        make: impl FnOnce() -> Result<Arc<Fragment>, E>,
    ) -> Result<Arc<Fragment>, E> {
        if let Some(written) = self.facets.get(meaning) {
            return Ok(Arc::clone(&written.text));
        }
        let text = make()?;
        if meaning.len() <= LONGEST && self.room.take(text.bytes()) {
            let (text, room) = (Arc::clone(&text), Arc::clone(&self.room));
            self.facets.put(meaning, Arc::new(Written { text, room }));
        }
        Ok(text)
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
            text: Text::default(),
        }
    }

    fn asked(pages: &Pages, meaning: &str, total: u64) -> u64 {
        let made = pages.get_or_make(meaning.to_owned(), || Ok::<_, Infallible>(shown(total)));
        made.unwrap().total
    }

    #[test]
    fn what_is_asked_again_is_not_made_again() {
        let pages = Pages::new(0);
        assert_eq!(asked(&pages, "a", 1), 1);
        assert_eq!(asked(&pages, "a", 2), 1);
        assert_eq!(asked(&pages, "b", 2), 2);
    }

    #[test]
    fn a_long_request_and_a_failed_one_are_not_kept() {
        let pages = Pages::new(0);
        let long = "x".repeat(LONGEST + 1);
        assert_eq!(asked(&pages, &long, 1), 1);
        assert_eq!(asked(&pages, &long, 2), 2);
        assert!(pages.get_or_make("a".to_owned(), || Err(())).is_err());
        assert_eq!(asked(&pages, "a", 3), 3);
    }

    #[test]
    fn facets_are_made_once_and_a_failure_is_not_kept() {
        let pages = Pages::new(0);
        assert!(pages.facets("a", || Err(())).is_err());
        let make = |json: &'static str| move || Ok::<_, ()>(Arc::new(Fragment::new(json)));
        let first = pages.facets("a", make("1")).unwrap();
        assert!(Arc::ptr_eq(&first, &pages.facets("a", make("2")).unwrap()));
        assert_eq!(pages.facets("b", make("3")).unwrap().json(), "3");
        let long = "x".repeat(LONGEST + 1);
        pages.facets(&long, make("4")).unwrap();
        assert_eq!(pages.facets(&long, make("5")).unwrap().json(), "5");
    }

    #[test]
    fn a_page_is_written_once_and_only_when_it_is_asked_for_again() {
        let pages = Pages::new(0);
        let page = || {
            let made = pages.get_or_make("a".to_owned(), || Ok::<_, Infallible>(shown(1)));
            made.unwrap()
        };
        let write = |json: &'static str| move || Fragment::new(json);
        assert!(page().text(write("1")).is_none());
        let first = page().text(write("2")).unwrap();
        assert_eq!(first.json(), "2");
        assert!(Arc::ptr_eq(&first, &page().text(write("3")).unwrap()));
    }

    #[test]
    fn texts_take_no_more_than_their_room_and_give_it_back() {
        let pages = Pages::new(0);
        let json = "1".repeat(LEAST_ROOM / 5);
        let written = |name: String| {
            let ask = || pages.get_or_make(name.clone(), || Ok::<_, Infallible>(shown(1)));
            ask().unwrap();
            let text = ask().unwrap().text(|| Fragment::new(json.as_str()));
            text.is_some()
        };
        let some: Vec<bool> = (0..3).map(|n| written(n.to_string())).collect();
        assert_eq!(some, [true, true, false]);
        for n in 3..4 * KEPT {
            written(n.to_string());
        }
        let left = pages.room.0.load(Ordering::Relaxed);
        assert!(left <= LEAST_ROOM, "{left}");
        let facets = |name: &str| {
            let text = || Ok::<_, Infallible>(Arc::new(Fragment::new(json.as_str())));
            let first = pages.facets(name, text).unwrap();
            Arc::ptr_eq(&first, &pages.facets(name, text).unwrap())
        };
        let some: Vec<bool> = (0..40).map(|n| facets(&n.to_string())).collect();
        assert!(!some[39], "{some:?}");
        let room = Arc::clone(&pages.room);
        drop(pages);
        assert_eq!(room.0.load(Ordering::Relaxed), LEAST_ROOM);
    }
}
