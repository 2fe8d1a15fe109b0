//! A column's ranks cut into bits, one flat bitmap a bit: a range over many rows is found without looking at
//! any row singly. Must not know what a column means.

use std::ops::Range;

use roaring::RoaringBitmap;

/// Words that are worked on together: they stay in the nearest cache.
const CHUNK: usize = 256;
const WORD: usize = u64::BITS as usize;

/// The ranks of a column, bit by bit. A missing value stands as a rank that no range contains.
#[derive(Debug)]
pub(super) struct Slices {
    /// The most significant bit first.
    bits: Vec<Box<[u64]>>,
    words: usize,
}

impl Slices {
    /// Cuts `ranks`, all of which are below `count` or missing.
    pub(super) fn cut(ranks: &[u32], count: u32) -> Self {
        let depth = u32::BITS - count.leading_zeros();
        let bit = |bit: u32| {
            let words = ranks.chunks(WORD).map(|ranks| word(ranks, count, bit));
            words.collect()
        };
        Self {
            bits: (0..depth).rev().map(bit).collect(),
            words: ranks.len().div_ceil(WORD),
        }
    }

    /// The rows with `low <= rank < high`.
    pub(super) fn between(&self, low: u32, high: u32) -> RoaringBitmap {
        let mut bytes = Vec::with_capacity(self.words * size_of::<u64>());
        for start in (0..self.words).step_by(CHUNK) {
            let words = start..self.words.min(start + CHUNK);
            let length = words.len();
            let (mut inside, mut under) = ([0; CHUNK], [0; CHUNK]);
            self.below(high, words.clone(), &mut inside);
            self.below(low, words, &mut under);
            let rows = inside.iter().zip(&under).take(length);
            bytes.extend(rows.flat_map(|(inside, under)| (inside & !under).to_le_bytes()));
        }
        RoaringBitmap::from_lsb0_bytes(0, &bytes)
    }

    /// Adds the rows whose rank is below `bound` to `less`.
    fn below(&self, bound: u32, words: Range<usize>, less: &mut [u64; CHUNK]) {
        let mut equal = [u64::MAX; CHUNK];
        let deepest = bound.trailing_zeros();
        let places = (0..u32::try_from(self.bits.len()).unwrap_or(0)).rev();
        // Below its last bit that is set, a bound decides nothing more.
        for (bits, place) in self.bits.iter().zip(places.take_while(|p| *p >= deepest)) {
            let bits = bits.get(words.clone()).unwrap_or_default();
            let both = equal.iter_mut().zip(less.iter_mut());
            if bound >> place & 1 == 1 {
                for ((equal, less), bits) in both.zip(bits) {
                    *less |= *equal & !*bits;
                    *equal &= *bits;
                }
            } else {
                for ((equal, _), bits) in both.zip(bits) {
                    *equal &= !*bits;
                }
            }
        }
    }

    /// Bytes of the bitmaps.
    pub(super) fn bytes(&self) -> usize {
        self.bits.len() * self.words * size_of::<u64>()
    }
}

/// One bit of up to 64 ranks. What is missing, rows beyond the last included, stands as `count` or more.
fn word(ranks: &[u32], count: u32, bit: u32) -> u64 {
    let beyond = u64::MAX.checked_shl(u32::try_from(ranks.len()).unwrap_or(0));
    let bits = (0..).zip(ranks).map(|(at, rank)| {
        let rank = (*rank).min(count);
        u64::from(rank >> bit & 1) << at
    });
    bits.fold(beyond.unwrap_or(0), |word, bit| word | bit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::rank::MISSING;
    use super::Slices;

    proptest! {
        // AAP-380 AAP-382
        #[test]
        fn a_range_holds_the_rows_that_a_look_at_each_finds(
            ranks in proptest::collection::vec(proptest::option::of(0_u32..70), 0..20_000),
            low in 0_u32..70,
            length in 0_u32..70,
        ) {
            let ranks: Vec<u32> = ranks.into_iter().map(|rank| rank.unwrap_or(MISSING)).collect();
            let high = (low + length).min(70);
            let found: Vec<u32> = Slices::cut(&ranks, 70).between(low, high).iter().collect();
            let rows = (0..).zip(&ranks).filter(|(_, rank)| (low..high).contains(rank));
            let wanted: Vec<u32> = rows.map(|(row, _)| row).collect();
            prop_assert_eq!(found, wanted);
        }
    }
}
