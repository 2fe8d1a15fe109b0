//! The vehicles of one page, one by one or as one JSON text. Must not know what stands around them.

use std::sync::Arc;

use super::Listing;
use super::pages::Shown;
use super::snapshot::Snapshot;
use crate::contract::{Answer, Fragment};

/// One listing on a page.
#[derive(Clone, Debug)]
pub struct Found {
    pub listing: Arc<Listing>,
    /// Statute miles, rounded to 0.001, when the request had `near`.
    pub distance_mi: Option<f64>,
}

/// The vehicles of one page.
#[derive(Debug)]
pub struct Vehicles(Kept);

#[derive(Debug)]
enum Kept {
    /// Of a page that is made for one request.
    Each(Vec<Found>),
    /// Of a remembered page.
    Shown(Arc<Snapshot>, Arc<Shown>),
}

impl From<Vec<Found>> for Vehicles {
    fn from(found: Vec<Found>) -> Self {
        Self(Kept::Each(found))
    }
}

impl Vehicles {
    pub(super) fn remembered(snapshot: &Arc<Snapshot>, shown: Arc<Shown>) -> Self {
        Self(Kept::Shown(Arc::clone(snapshot), shown))
    }

    /// Each of them, in their order.
    pub fn found(&self) -> Vec<Found> {
        match &self.0 {
            Kept::Each(found) => found.clone(),
            Kept::Shown(snapshot, shown) => found(snapshot, &shown.rows),
        }
    }

    /// Appends their JSON, separated by commas.
    pub fn write(&self, answer: &mut Answer) {
        match &self.0 {
            Kept::Each(found) => {
                let each = found.iter();
                write(each.map(|one| (&*one.listing, one.distance_mi)), answer);
            }
            Kept::Shown(snapshot, shown) => match shown.text(|| text(snapshot, &shown.rows)) {
                Some(text) => answer.push_fragment(&text),
                None => write(listings(snapshot, &shown.rows), answer),
            },
        }
    }
}

/// The listings in these rows.
pub(super) fn found(snapshot: &Snapshot, rows: &[(u32, Option<f64>)]) -> Vec<Found> {
    let found = rows.iter().filter_map(|(row, distance_mi)| {
        Some(Found {
            listing: Arc::clone(snapshot.listing(*row)?),
            distance_mi: *distance_mi,
        })
    });
    found.collect()
}

fn listings<'s>(
    snapshot: &'s Snapshot,
    rows: &'s [(u32, Option<f64>)],
) -> impl Iterator<Item = (&'s Listing, Option<f64>)> {
    let listed = rows.iter();
    listed.filter_map(|(row, distance_mi)| Some((&**snapshot.listing(*row)?, *distance_mi)))
}

fn text(snapshot: &Snapshot, rows: &[(u32, Option<f64>)]) -> Fragment {
    let mut answer = Answer::new();
    write(listings(snapshot, rows), &mut answer);
    Fragment::new(answer.to_json())
}

fn write<'a>(listings: impl Iterator<Item = (&'a Listing, Option<f64>)>, answer: &mut Answer) {
    let mut ends = "";
    for (listing, distance_mi) in listings {
        if !ends.is_empty() {
            answer.push("},");
        }
        answer.push_fragment(&listing.open_json);
        if let Some(distance_mi) = distance_mi {
            answer.push(r#","distance_mi":"#);
            answer.push_value(&distance_mi);
        }
        ends = "}";
    }
    answer.push(ends);
}
