//! What units were ordered by before, for as long as a traversal may remember it. A page that continues
//! an older page orders every unit as that traversal first saw it, so no unit comes twice (AAP-425).
//! Must not hold whole listings.

use std::cmp::Ordering;

use super::columns::{Columns, Keys, SORT_FIELDS};
use super::rank::MISSING;

/// The identity of a unit: its seller in aggregate scope, and its id.
pub(super) type Identity<'s> = (Option<&'s str>, &'s str);

/// What one unit was ordered by until a certain reading.
#[derive(Clone, Debug)]
pub(super) struct Past {
    pub(super) dealer: Option<Box<str>>,
    pub(super) id: Box<str>,
    /// When the source was read that first showed something else, nanoseconds since 1970.
    pub(super) until: i64,
    pub(super) keys: Keys,
}

impl Past {
    pub(super) fn identity(&self) -> Identity<'_> {
        (self.dealer.as_deref(), &self.id)
    }
}

/// The same for a unit that the snapshot holds, as ranks.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowPast {
    row: u32,
    until: i64,
    ranks: [u32; SORT_FIELDS.len()],
    pub(super) place: u32,
}

impl RowPast {
    /// The rank in [`SORT_FIELDS`] at `axis`.
    pub(super) fn rank(&self, axis: usize) -> u32 {
        self.ranks.get(axis).copied().unwrap_or(MISSING)
    }
}

/// All pasts that are still remembered.
#[derive(Debug, Default)]
pub(super) struct History {
    /// By identity, then time.
    all: Vec<Past>,
    /// Those of present rows, by row, then time.
    rows: Vec<RowPast>,
    newest: i64,
    /// Changes before this instant are not known.
    pub(super) known_since: i64,
}

impl History {
    /// The pasts after one more reading: `old` ones newer than `keep_after`, and `changed` ones.
    pub(super) fn advanced(old: &Self, changed: Vec<Past>, keep_after: i64) -> Self {
        let kept = old.all.iter().filter(|past| past.until > keep_after);
        let mut all: Vec<Past> = kept.cloned().chain(changed).collect();
        all.sort_by(|a, b| {
            let by_identity = a.identity().cmp(&b.identity());
            by_identity.then(a.until.cmp(&b.until))
        });
        Self {
            newest: all.iter().map(|past| past.until).max().unwrap_or(i64::MIN),
            all,
            rows: Vec::new(),
            known_since: old.known_since.max(keep_after),
        }
    }

    /// A history that begins with the reading at `read_at`.
    pub(super) fn beginning(read_at: i64) -> Self {
        Self {
            newest: i64::MIN,
            known_since: read_at,
            ..Self::default()
        }
    }

    pub(super) fn all(&self) -> &[Past] {
        &self.all
    }

    /// Finds the rows of the remembered units. `identities` are those of the rows, in order.
    pub(super) fn bind<'s>(
        &mut self,
        columns: &Columns,
        identities: impl Iterator<Item = Identity<'s>>,
    ) {
        let mut pasts = self.all.iter().peekable();
        for (row, identity) in (0..).zip(identities) {
            while let Some(past) = pasts.peek() {
                match past.identity().cmp(&identity) {
                    Ordering::Greater => break,
                    Ordering::Less => {}
                    Ordering::Equal => {
                        let (ranks, place) = columns.ranks_of(&past.keys);
                        self.rows.push(RowPast {
                            row,
                            until: past.until,
                            ranks,
                            place,
                        });
                    }
                }
                pasts.next();
            }
        }
    }

    /// The pasts to respect for a traversal that began with the reading at `read_at`: none, usually.
    pub(super) fn since(&self, read_at: i64) -> Option<Since<'_>> {
        (self.newest > read_at && !self.rows.is_empty()).then_some(Since {
            rows: &self.rows,
            read_at,
        })
    }
}

/// The pasts that a traversal must respect.
#[derive(Clone, Copy, Debug)]
pub(super) struct Since<'s> {
    rows: &'s [RowPast],
    read_at: i64,
}

impl Since<'_> {
    /// What `row` was ordered by when the traversal began, when that was something else.
    pub(super) fn of_row(&self, row: u32) -> Option<&RowPast> {
        let first = self
            .rows
            .partition_point(|past| (past.row, past.until) <= (row, self.read_at));
        self.rows.get(first).filter(|past| past.row == row)
    }
}
