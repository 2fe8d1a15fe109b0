//! The names of very many units in little room: one text, and where each unit begins in it. Must not know
//! why a unit is on a roll.

use std::hash::{DefaultHasher, Hash, Hasher as _};

use super::Identifiers;

/// A longer name is none that anybody asks by; a unit that has one is not entered.
const MOST_NAME_BYTES: usize = 1024;
/// Stands for "has none" among the lengths.
const NONE: u16 = u16::MAX;

/// Where a name stands among [`Names`].
pub(super) const VEHICLE_ID: usize = 1;
pub(super) const VIN: usize = 2;
pub(super) const STOCK: usize = 3;

/// What a unit is called: seller, vehicle id, VIN, stock number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Names<'a>(pub(super) [Option<&'a str>; 4]);

impl<'a> Names<'a> {
    pub(super) fn of(unit: &'a Identifiers) -> Self {
        Self([
            unit.dealer_id.as_deref(),
            unit.vehicle_id.as_deref(),
            unit.vin.as_deref(),
            unit.stock.as_deref(),
        ])
    }

    pub(super) fn get(&self, which: usize) -> Option<&'a str> {
        self.0.get(which).copied().flatten()
    }

    /// Whether a unit is called as `asked` says, as far as it says anything.
    pub(super) fn are_those_of(&self, asked: &Self) -> bool {
        let mut pairs = asked.0.iter().zip(&self.0);
        pairs.all(|(asked, own)| asked.is_none() || asked == own)
    }

    /// The seller and the stable id, as for [`crate::inventory::Listing`].
    pub(super) fn identity(self) -> Option<(Option<&'a str>, &'a str)> {
        let [dealer_id, vehicle_id, vin, stock] = self.0;
        Some((dealer_id, vehicle_id.or(vin).or(stock)?))
    }
}

/// Units with the second since 1970 when each was noted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::inventory) struct Roll {
    text: String,
    units: Vec<Unit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unit {
    noted_s: i64,
    start: u32,
    lengths: [u16; 4],
}

impl Roll {
    /// Enters a unit that a source hides.
    pub(in crate::inventory) fn enter(&mut self, unit: &Identifiers) {
        self.push(Names::of(unit), 0);
    }

    pub(super) fn push(&mut self, names: Names<'_>, noted_s: i64) {
        let long = |name: &&str| name.len() > MOST_NAME_BYTES;
        let Ok(start) = u32::try_from(self.text.len()) else {
            return;
        };
        if names.0.iter().flatten().any(long) {
            return;
        }
        let lengths = names.0.map(|name| {
            let name = name?;
            self.text.push_str(name);
            u16::try_from(name.len()).ok()
        });
        self.units.push(Unit {
            noted_s,
            start,
            lengths: lengths.map(|length| length.unwrap_or(NONE)),
        });
    }

    pub(super) fn len(&self) -> usize {
        self.units.len()
    }

    pub(super) fn get(&self, at: u32) -> Option<(i64, Names<'_>)> {
        let unit = self.units.get(at as usize)?;
        let mut rest = self.text.get(unit.start as usize..)?;
        let names = unit.lengths.map(|length| {
            let length = (length != NONE).then_some(usize::from(length))?;
            let (name, after) = rest.split_at_checked(length)?;
            rest = after;
            Some(name)
        });
        Some((unit.noted_s, Names(names)))
    }

    /// Every unit with its place.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, i64, Names<'_>)> {
        let places = 0..u32::try_from(self.units.len()).unwrap_or(u32::MAX);
        places.filter_map(|at| self.get(at).map(|(noted_s, names)| (at, noted_s, names)))
    }

    /// The `most` that were noted last.
    pub(super) fn newest(self, most: usize) -> Self {
        let surplus = self.len().saturating_sub(most);
        if surplus == 0 {
            return self;
        }
        let mut order: Vec<(i64, u32)> = self.iter().map(|(at, noted, _)| (noted, at)).collect();
        order.sort_unstable();
        let mut kept: Vec<u32> = order.iter().skip(surplus).map(|(_, at)| *at).collect();
        kept.sort_unstable();
        let mut newest = Self::default();
        for (noted_s, names) in kept.into_iter().filter_map(|at| self.get(at)) {
            newest.push(names, noted_s);
        }
        newest
    }
}

/// Finds places by what lies there: eight bytes each. Two different things may share a hash, so whoever asks
/// compares.
#[derive(Debug, Default)]
pub(super) struct Index(Vec<(u32, u32)>);

impl Index {
    pub(super) fn new<K: Hash>(keys: impl Iterator<Item = (K, u32)>) -> Self {
        let mut places: Vec<(u32, u32)> = keys.map(|(key, at)| (hash(&key), at)).collect();
        places.sort_unstable();
        places.shrink_to_fit();
        Self(places)
    }

    /// Where `key` may lie: hashes and places.
    pub(super) fn places(&self, key: &impl Hash) -> &[(u32, u32)] {
        let wanted = hash(key);
        let start = self.0.partition_point(|(hash, _)| *hash < wanted);
        let from = self.0.get(start..).unwrap_or_default();
        let length = from.partition_point(|(hash, _)| *hash == wanted);
        from.get(..length).unwrap_or_default()
    }
}

/// The same in every run of one program.
pub(super) fn hash(key: &impl Hash) -> u32 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    #[expect(clippy::cast_possible_truncation, reason = "any half of a hash is one")]
    let half = hasher.finish() as u32;
    half
}
