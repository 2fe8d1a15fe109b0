//! Term columns: interned values, the rows of each, and how a value is shown. Must not know which AAP
//! field it holds.

use std::borrow::Cow;
use std::collections::HashMap;

use roaring::RoaringBitmap;

use super::rank::{MISSING, Sorted, bitmaps, narrow};
use super::text::fold;

/// How the values of a term field are compared (AAP-381).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    Folded,
    Exact,
}

impl Case {
    pub(super) fn key(self, value: &str) -> Cow<'_, str> {
        match self {
            Self::Folded => Cow::Owned(fold(value)),
            Self::Exact => Cow::Borrowed(value),
        }
    }
}

/// One term or none per row.
#[derive(Debug)]
pub(super) struct Terms {
    case: Case,
    values: Sorted<Box<str>>,
    /// The rank of each row; none any more once they are kept elsewhere.
    ranks: Vec<u32>,
    shown: Vec<Box<str>>,
    bitmaps: Vec<RoaringBitmap>,
}

impl Terms {
    /// The rows whose value equals `value`.
    pub(super) fn rows_of(&self, value: &str) -> Option<&RoaringBitmap> {
        let key: Box<str> = self.case.key(value).into();
        let rank = self.values.position(&key).ok()?;
        self.bitmaps.get(rank as usize)
    }

    /// Each compared value with its rows.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&str, &RoaringBitmap)> {
        let keys = self.values.values().iter().map(AsRef::as_ref);
        keys.zip(&self.bitmaps)
    }

    /// How the value of a rank is written: its most frequent spelling, the first in order of several.
    pub(super) fn shown(&self, rank: usize) -> Option<&str> {
        self.shown.get(rank).map(AsRef::as_ref)
    }

    /// The compared values.
    pub(super) fn sorted(&self) -> &Sorted<Box<str>> {
        &self.values
    }

    /// The rank of each row, as long as they are kept here.
    pub(super) fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    /// The compared value of one row, as long as the ranks are kept here.
    pub(super) fn at(&self, row: u32) -> Option<&str> {
        let value = self.values.value(*self.ranks.get(row as usize)?);
        value.map(AsRef::as_ref)
    }

    /// Lets the ranks go, because they are kept elsewhere.
    pub(super) fn forget_ranks(&mut self) {
        self.ranks = Vec::new();
    }

    /// Bytes of the index.
    pub(super) fn bytes(&self) -> usize {
        let text: usize = self.values.values().iter().map(|v| v.len() * 2).sum();
        let bitmaps: usize = self.bitmaps.iter().map(bitmap_bytes).sum();
        let ranks = self.ranks.capacity() * size_of::<u32>();
        ranks + self.values.bytes() + self.shown.len() * size_of::<Box<str>>() + text + bitmaps
    }
}

/// Bytes of one bitmap in memory, nearly: its serialised form and its frame.
pub(super) fn bitmap_bytes(bitmap: &RoaringBitmap) -> usize {
    bitmap.serialized_size() + size_of::<RoaringBitmap>()
}

/// Collects a term column in order of arrival.
#[derive(Debug)]
pub(super) struct TermsBuilder {
    case: Case,
    /// Each spelling with its code and how often it came.
    spellings: HashMap<Box<str>, (u32, u32)>,
    codes_of_keys: HashMap<Box<str>, u32>,
    /// The compared value of each code.
    keys: Vec<Box<str>>,
    codes: Vec<u32>,
}

impl TermsBuilder {
    pub(super) fn new(case: Case) -> Self {
        Self {
            case,
            spellings: HashMap::new(),
            codes_of_keys: HashMap::new(),
            keys: Vec::new(),
            codes: Vec::new(),
        }
    }

    /// Takes the next row's value.
    pub(super) fn push(&mut self, value: Option<&str>) {
        let code = match value {
            None => MISSING,
            Some(value) => self.code(value),
        };
        self.codes.push(code);
    }

    fn code(&mut self, value: &str) -> u32 {
        if let Some((code, count)) = self.spellings.get_mut(value) {
            *count += 1;
            return *code;
        }
        let key: Box<str> = self.case.key(value).into();
        let next = narrow(self.keys.len());
        let code = *self.codes_of_keys.entry(key.clone()).or_insert(next);
        if code == next {
            self.keys.push(key);
        }
        self.spellings.insert(value.into(), (code, 1));
        code
    }

    /// The compared value of the row that arrived as `arrival`.
    pub(super) fn key_at(&self, arrival: u32) -> Option<&str> {
        let code = *self.codes.get(arrival as usize)?;
        self.keys.get(code as usize).map(AsRef::as_ref)
    }

    /// The finished column. `arrivals` is the arrival of each row; `extra` values get ranks without rows.
    pub(super) fn finish(self, arrivals: &[u32], extra: impl Iterator<Item = Box<str>>) -> Terms {
        let mut keys: Vec<(Box<str>, u32)> = self.codes_of_keys.into_iter().collect();
        let mut extra: Vec<Box<str>> = extra.collect();
        extra.sort_unstable();
        extra.dedup();
        keys.sort_unstable();
        extra.retain(|value| keys.binary_search_by(|(key, _)| key.cmp(value)).is_err());
        keys.extend(extra.into_iter().map(|value| (value, MISSING)));
        keys.sort_unstable();

        let mut rank_of_code = vec![MISSING; keys.len()];
        let mut shown: Vec<(u32, Box<str>)> = Vec::with_capacity(keys.len());
        for (rank, (key, code)) in keys.iter().enumerate() {
            if let Some(slot) = rank_of_code.get_mut(*code as usize) {
                *slot = narrow(rank);
            }
            shown.push((0, key.clone()));
        }
        let rank = |code: u32| rank_of_code.get(code as usize).copied().unwrap_or(MISSING);
        for (spelling, (code, count)) in self.spellings {
            if let Some(best) = shown.get_mut(rank(code) as usize)
                && (count > best.0 || (count == best.0 && spelling < best.1))
            {
                *best = (count, spelling);
            }
        }
        let code_of = |arrival: &u32| self.codes.get(*arrival as usize).copied();
        let ranks: Vec<u32> = arrivals
            .iter()
            .map(|arrival| code_of(arrival).map_or(MISSING, rank))
            .collect();
        let values = Sorted::new(keys.into_iter().map(|(key, _)| key).collect());
        Terms {
            case: self.case,
            bitmaps: bitmaps(&ranks, values.count()),
            shown: shown.into_iter().map(|(_, shown)| shown).collect(),
            values,
            ranks,
        }
    }
}

/// Several values per row: feature codes, and the readable feature list.
#[derive(Debug, Default)]
pub(super) struct ManyBuilder {
    codes: HashMap<Box<str>, usize>,
    arrivals: Vec<Vec<u32>>,
}

impl ManyBuilder {
    /// Notes that the row which arrived as `arrival` has `value`.
    pub(super) fn push(&mut self, value: &str, arrival: u32) {
        let code = if let Some(code) = self.codes.get(value) {
            *code
        } else {
            self.codes.insert(value.into(), self.arrivals.len());
            self.arrivals.push(Vec::new());
            self.arrivals.len() - 1
        };
        if let Some(rows) = self.arrivals.get_mut(code) {
            rows.push(arrival);
        }
    }

    /// Each value with its rows, in order of the values. `row_of` is the row of each arrival, or
    /// [`MISSING`] for one that was left out.
    pub(super) fn finish(self, row_of: &[u32]) -> Vec<(Box<str>, RoaringBitmap)> {
        let mut arrivals = self.arrivals;
        let mut many: Vec<(Box<str>, RoaringBitmap)> = self
            .codes
            .into_iter()
            .map(|(value, code)| {
                let rows = arrivals.get_mut(code).map(std::mem::take);
                let mut bitmap: RoaringBitmap = rows
                    .unwrap_or_default()
                    .into_iter()
                    .filter_map(|arrival| row_of.get(arrival as usize).copied())
                    .filter(|row| *row != MISSING)
                    .collect();
                bitmap.optimize();
                (value, bitmap)
            })
            .collect();
        many.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        many
    }
}
