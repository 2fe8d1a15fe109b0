//! One page of a search: what matches, in which order, from where on. Must not know the wire form of an
//! answer.

use std::collections::BinaryHeap;
use std::sync::Arc;

use super::blocks::BLOCK;
use super::cursor::{Binding, Cursor, meaning, meaning_of};
use super::listed::{Vehicles, found};
use super::matching::Matching;
use super::order::{QueryOrder, row_of};
use super::pages::{Shown, Text};
use super::places::published_mi;
use super::snapshot::Snapshot;
use super::text::tokens;
use super::{Inventory, InventoryError, Page};
use crate::contract::Fragment;
use crate::contract::request::{AskedFilters, SearchRequest, Sort};

/// A traversal, renewed with every page, ends for good after this many lifetimes of one cursor.
pub(super) const TRAVERSAL_LIFETIMES: i64 = 16;
/// A skipped run is passed in steps of this many rows, whatever its length.
const SKIP_STEP: usize = 4096;
/// Reading a ready order off is tried when it should touch this many times fewer rows than the matches.
const READY_GAIN: u64 = 4;

/// One page's rows and whether more follow.
struct Cut {
    total: u64,
    places: Vec<u64>,
    more: bool,
}

/// What a request asks for, defaults filled in.
struct Asked<'r> {
    filters: Option<&'r AskedFilters>,
    sort: Sort,
    limit: u32,
    skip: u64,
}

pub(super) fn page(
    inventory: &Inventory,
    snapshot: &Arc<Snapshot>,
    request: &SearchRequest,
    caller_scope: &str,
) -> Result<Page, InventoryError> {
    let settings = inventory.settings();
    let limit = request.pagination.limit;
    let asked = Asked {
        filters: request.filters.as_ref(),
        sort: request.sort.unwrap_or(settings.capabilities.default_sort),
        limit: limit.unwrap_or(settings.capabilities.default_limit).max(1),
        skip: request.pagination.skip.unwrap_or(0),
    };
    let now_s = inventory.clock().now().as_second();
    let meaning = meaning(asked.filters, asked.sort, asked.limit);
    let binding = Binding::new(&settings.deployment, caller_scope, &meaning);
    let cursor = request.pagination.cursor.as_deref();
    let cursor = cursor
        .map(|text| Cursor::open(&inventory.keys(), &binding, text, now_s))
        .transpose()?;

    let facets = settings.facets_in_search;
    let keeps = settings.keeps_pages && !facets;
    let remembered = keeps && cursor.is_none() && asked.skip == 0;
    let shown = if remembered {
        let make = || shown(snapshot, &asked, None, false);
        snapshot.pages().get_or_make(meaning, make)?
    } else {
        Arc::new(shown(snapshot, &asked, cursor.as_ref(), facets)?)
    };
    let last = shown.rows.last().zip(shown.next.as_ref());
    let last = last.and_then(|((row, _), place)| Some((place, snapshot.listing(*row)?)));
    let began = cursor
        .as_ref()
        .map(|cursor| (cursor.began_s, cursor.read_at));
    let (began_s, read_at) = began.unwrap_or((now_s, snapshot.stamp().read_at));
    let next_cursor = last.map(|(place, listing)| {
        let ttl = settings.cursor_ttl_s;
        let ends_s = began_s.saturating_add(ttl.saturating_mul(TRAVERSAL_LIFETIMES));
        Cursor {
            expires_s: now_s.saturating_add(ttl).min(ends_s),
            began_s,
            read_at,
            place: place.clone(),
            dealer: listing.dealer_id.clone(),
            id: listing.vehicle_id.clone(),
        }
        .seal(&inventory.keys(), &binding)
    });
    Ok(Page {
        total: shown.total,
        limit: asked.limit,
        next_cursor: next_cursor.transpose()?,
        sort: asked.sort,
        query_terms: query_terms(asked.filters),
        facets: shown.facets.clone(),
        vehicles: if remembered {
            Vehicles::remembered(snapshot, shown)
        } else {
            found(snapshot, &shown.rows).into()
        },
    })
}

/// The rows of one page, found in the snapshot.
fn shown(
    snapshot: &Snapshot,
    asked: &Asked<'_>,
    cursor: Option<&Cursor>,
    with_facets: bool,
) -> Result<Shown, InventoryError> {
    let read_at = cursor.map_or(snapshot.stamp().read_at, |cursor| cursor.read_at);
    let matching = Matching::new(snapshot, asked.filters.map(|filters| &**filters))?;
    let order = QueryOrder::new(snapshot, asked.sort, matching.distances(), read_at);
    let start = cursor.map_or(0, |cursor| {
        order.after(&cursor.place, cursor.dealer.as_deref(), &cursor.id)
    });
    let cutter = Cutter {
        matching: &matching,
        order: &order,
        unsure: snapshot.unsure_since(read_at),
    };
    let cut = cutter.cut(start, asked.skip, asked.limit as usize);
    let last = cut.places.last().filter(|_| cut.more);
    let rows = cut.places.iter().map(|place| {
        let row = row_of(*place);
        let distance = matching.distances().and_then(|d| d.of_row(row));
        (row, distance.map(published_mi))
    });
    Ok(Shown {
        total: cut.total,
        rows: rows.collect(),
        next: last.map(|place| order.cursor_place(row_of(*place))),
        facets: with_facets.then(|| facets(snapshot, &matching)),
        text: Text::default(),
    })
}

fn query_terms(filters: Option<&AskedFilters>) -> Option<Vec<String>> {
    Some(tokens(filters?.query.as_deref()?))
}

/// The facets over what the filters leave; `keeps` those that were asked for before.
pub(super) fn facets_of(
    snapshot: &Snapshot,
    filters: Option<&AskedFilters>,
    keeps: bool,
) -> Result<Arc<Fragment>, InventoryError> {
    let make = || {
        let matching = Matching::new(snapshot, filters.map(|filters| &**filters))?;
        Ok(facets(snapshot, &matching))
    };
    // Those over everything are kept anyway.
    let keeps = keeps && filters.is_some_and(|filters| filters.names().next().is_some());
    if keeps {
        snapshot.pages().facets(meaning_of(filters), make)
    } else {
        make()
    }
}

/// The facets over what matches: ready for everything, counted for less.
fn facets(snapshot: &Snapshot, matching: &Matching<'_>) -> Arc<Fragment> {
    if matching.is_everything() {
        return Arc::clone(snapshot.all_facets());
    }
    Arc::new(super::facets::of(snapshot, matching))
}

/// Cuts one page out of what matches.
struct Cutter<'a, 's> {
    matching: &'a Matching<'s>,
    order: &'a QueryOrder<'s>,
    /// Updated after this instant (nanoseconds): perhaps on an earlier page, at another place.
    unsure: Option<Unsure<'s>>,
}

/// Tells which units a traversal cannot place, because they changed before this process knew them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unsure<'s> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) read_at: i64,
}

impl Unsure<'_> {
    fn holds(&self, row: u32) -> bool {
        let updated = super::fields::Number::UpdatedAt;
        let updated = self.snapshot.columns().number(updated).at(row);
        updated.is_some_and(|at| *at > self.read_at)
    }
}

impl Cutter<'_, '_> {
    fn cut(&self, start: u64, skip: u64, limit: usize) -> Cut {
        if let Some(total) = self.matching.known_len()
            && let Some(cut) = self.read_off(total, start, skip, limit)
        {
            return cut;
        }
        let mut start = start;
        let mut left = usize::try_from(skip).unwrap_or(usize::MAX);
        while left > 0 {
            let step = self.smallest(start, left.min(SKIP_STEP));
            let Some(last) = step.places.last() else {
                break;
            };
            start = *last + 1;
            left -= step.places.len();
            if !step.more {
                return Cut {
                    places: Vec::new(),
                    ..step
                };
            }
        }
        self.smallest(start, limit)
    }

    /// The `limit` first places from `start` on, by one pass over the matches.
    fn smallest(&self, start: u64, limit: usize) -> Cut {
        let mut heap: BinaryHeap<u64> = BinaryHeap::with_capacity(limit);
        let (mut total, mut eligible) = (0, 0);
        let mut places = Vec::with_capacity(BLOCK);
        self.matching.each_block(|block| {
            total += block.len() as u64;
            self.order.places(block, &mut places);
            for place in places.iter().copied().filter(|place| *place >= start) {
                if self
                    .unsure
                    .is_some_and(|unsure| unsure.holds(row_of(place)))
                {
                    continue;
                }
                eligible += 1;
                if heap.len() < limit {
                    heap.push(place);
                } else if let Some(mut greatest) = heap.peek_mut()
                    && place < *greatest
                {
                    *greatest = place;
                }
            }
        });
        Cut {
            total,
            more: eligible > heap.len(),
            places: heap.into_sorted_vec(),
        }
    }

    /// The page read off a ready order, when that touches fewer rows than going through the matches.
    fn read_off(&self, total: u64, start: u64, skip: u64, limit: usize) -> Option<Cut> {
        let ready = self.order.ready().filter(|_| self.unsure.is_none())?;
        // A range of what the order runs by: all matches stand between its bounds.
        let mut spans = self.matching.spans().iter();
        let bounds = spans.find_map(|span| self.order.bounds(*span));
        let (first, end) = bounds.unwrap_or((0, u64::MAX));
        let standing = |at: u64| ready.partition_point(|row| self.order.place(*row) < at);
        let (from, to) = (standing(first.max(start)), standing(end));
        let rest = ready.get(from..to).unwrap_or_default();
        let wanted = skip.saturating_add(limit as u64).saturating_add(1);
        let touched = wanted.saturating_mul(rest.len() as u64) / total.max(1);
        let most = total / READY_GAIN;
        if touched > most {
            return None;
        }
        // The matches may be spread unevenly: no more rows are touched than were reckoned with.
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let exhausted = rest.len() > most;
        let mut matches = rest
            .iter()
            .take(most)
            .copied()
            .filter(|row| self.matching.holds(*row))
            .skip(usize::try_from(skip).unwrap_or(usize::MAX));
        let page = matches.by_ref().take(limit);
        let places: Vec<u64> = page.map(|row| self.order.place(row)).collect();
        let more = matches.next().is_some();
        if !more && exhausted {
            return None;
        }
        Some(Cut {
            total,
            places,
            more,
        })
    }
}
