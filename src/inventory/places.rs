//! Where rooftops stand and how far they are: great-circle distance per rooftop, never per vehicle.
//! Must not know routes, regions or names of towns (AAP-376, AAP-494).

use roaring::RoaringBitmap;

use super::rank::{MISSING, Ranked, bitmaps, narrow};
use crate::contract::request::Near;

/// The earth's radius in statute miles that AAP fixes (AAP-400).
const EARTH_RADIUS_MI: f64 = 3958.7613;

/// A point in degrees that can stand in a dictionary: the bits of latitude and longitude.
pub(super) type PointBits = (u64, u64);

/// The place of each row.
#[derive(Debug)]
pub(super) struct Places {
    column: Ranked<PointBits>,
    points: Vec<Point>,
    bitmaps: Vec<RoaringBitmap>,
}

/// What every distance needs of a point.
#[derive(Clone, Copy, Debug)]
struct Point {
    /// In degrees: only a difference is turned into radians.
    longitude: f64,
    latitude_rad: f64,
    latitude_cos: f64,
}

impl Places {
    /// The column of `rows`; places that only `extra` names are known too.
    pub(super) fn build(
        rows: &[Option<PointBits>],
        extra: impl Iterator<Item = PointBits>,
    ) -> Self {
        let column = Ranked::build(rows, extra);
        let sorted = column.sorted();
        let points = sorted.values().iter().map(|bits| Point::of(*bits));
        Self {
            points: points.collect(),
            bitmaps: bitmaps(column.ranks(), sorted.count()),
            column,
        }
    }

    /// The place of each row.
    pub(super) fn column(&self) -> &Ranked<PointBits> {
        &self.column
    }

    /// The distances of all places from a point; infinite for what is beyond the radius by its latitude alone.
    pub(super) fn distances(&self, near: &Near) -> Distances<'_> {
        let origin = Point::new(near.latitude, near.longitude);
        let to = |point: &Point| {
            if surely_beyond(origin, *point, near.radius_mi) {
                f64::INFINITY
            } else {
                haversine_mi(origin, *point)
            }
        };
        let miles: Vec<f64> = self.points.iter().map(to).collect();
        Distances {
            places: self,
            miles,
            radius: near.radius_mi,
        }
    }

    /// Bytes of the index.
    pub(super) fn bytes(&self) -> usize {
        let bitmaps: usize = self.bitmaps.iter().map(super::terms::bitmap_bytes).sum();
        self.column.bytes() + self.points.len() * size_of::<Point>() + bitmaps
    }
}

impl Point {
    fn new(latitude: f64, longitude: f64) -> Self {
        let latitude_rad = latitude.to_radians();
        Self {
            longitude,
            latitude_rad,
            latitude_cos: latitude_rad.cos(),
        }
    }

    fn of((latitude, longitude): PointBits) -> Self {
        Self::new(f64::from_bits(latitude), f64::from_bits(longitude))
    }
}

/// The bits of a point, one form for both zeros.
pub(super) fn point_bits(latitude: f64, longitude: f64) -> PointBits {
    ((latitude + 0.0).to_bits(), (longitude + 0.0).to_bits())
}

/// How far every place is from one origin.
#[derive(Debug)]
pub(super) struct Distances<'s> {
    places: &'s Places,
    miles: Vec<f64>,
    radius: f64,
}

impl Distances<'_> {
    /// The unrounded distance of a place.
    pub(super) fn of_place(&self, place: u32) -> Option<f64> {
        self.miles.get(place as usize).copied()
    }

    /// The unrounded distance of a row.
    pub(super) fn of_row(&self, row: u32) -> Option<f64> {
        self.of_place(self.places.column.rank(row))
    }

    /// Whether a row's place is known and inside the inclusive, unrounded radius (AAP-401, AAP-403).
    pub(super) fn holds(&self, row: u32) -> bool {
        self.of_row(row).is_some_and(|miles| miles <= self.radius)
    }

    /// The rows of each place inside the radius.
    pub(super) fn bitmaps_inside(&self) -> impl Iterator<Item = &RoaringBitmap> {
        let inside = self.miles.iter().map(|miles| *miles <= self.radius);
        let pairs = inside.zip(&self.places.bitmaps);
        pairs.filter_map(|(inside, rows)| inside.then_some(rows))
    }

    /// The distinct distances in order, as bits (which order like the numbers, none being negative), and
    /// the rank of each place among them.
    pub(super) fn ranked(&self) -> (Vec<u64>, Vec<u32>) {
        let mut distinct: Vec<u64> = self.miles.iter().map(|miles| miles.to_bits()).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let ranks = self.miles.iter().map(|miles| {
            let found = distinct.binary_search(&miles.to_bits());
            found.map_or(MISSING, narrow)
        });
        let ranks = ranks.collect();
        (distinct, ranks)
    }
}

/// A distance as it is published: to a thousandth of a mile.
pub(super) fn published_mi(miles: f64) -> f64 {
    (miles * 1000.0).round() / 1000.0
}

/// Whether the latitudes alone are farther apart than the radius. They are never farther apart than the points;
/// the margin is greater than any rounding of [`haversine_mi`].
fn surely_beyond(from: Point, to: Point, radius_mi: f64) -> bool {
    const MARGIN_MI: f64 = 0.001;
    (to.latitude_rad - from.latitude_rad).abs() * EARTH_RADIUS_MI > radius_mi + MARGIN_MI
}

fn haversine_mi(from: Point, to: Point) -> f64 {
    let half_lat = ((to.latitude_rad - from.latitude_rad) / 2.0).sin();
    let half_lon = ((to.longitude - from.longitude).to_radians() / 2.0).sin();
    let a = half_lat * half_lat + from.latitude_cos * to.latitude_cos * half_lon * half_lon;
    // Rounding can carry `a` past 1 at antipodes.
    (2.0 * EARTH_RADIUS_MI * a.clamp(0.0, 1.0).sqrt().asin()).abs()
}
