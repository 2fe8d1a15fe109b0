//! Columns as ranks into a sorted dictionary: ranges become integer comparisons and every order becomes
//! the order of one `u32`. Must not know what a column means.

use roaring::RoaringBitmap;

/// The rank of a row without a value. It is greater than every rank, so missing values sort last (AAP-410).
pub(super) const MISSING: u32 = u32::MAX;

/// Distinct values in order: the place of one among them is its rank.
#[derive(Debug)]
pub(super) struct Sorted<T>(Vec<T>);

impl<T: Ord> Sorted<T> {
    /// Those of `values` that differ.
    pub(super) fn new(mut values: Vec<T>) -> Self {
        values.sort_unstable();
        values.dedup();
        values.shrink_to_fit();
        Self(values)
    }

    /// The rank of `value`, or where it would stand.
    pub(super) fn position(&self, value: &T) -> Result<u32, u32> {
        narrow_both(self.0.binary_search(value))
    }

    /// How many ranks are below `value`.
    pub(super) fn below(&self, value: &T) -> u32 {
        narrow(self.0.partition_point(|v| v < value))
    }

    /// How many ranks are not above `value`.
    pub(super) fn through(&self, value: &T) -> u32 {
        narrow(self.0.partition_point(|v| v <= value))
    }
}

impl<T> Sorted<T> {
    /// The values in order.
    pub(super) fn values(&self) -> &[T] {
        &self.0
    }

    /// How many there are.
    pub(super) fn count(&self) -> u32 {
        narrow(self.0.len())
    }

    /// The value of a rank; `None` for [`MISSING`].
    pub(super) fn value(&self, rank: u32) -> Option<&T> {
        self.0.get(rank as usize)
    }

    /// Bytes of the values' own array.
    pub(super) fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<T>()
    }
}

/// One value or none per row, as ranks into the sorted distinct values.
#[derive(Debug)]
pub(super) struct Ranked<T> {
    sorted: Sorted<T>,
    ranks: Vec<u32>,
}

impl<T: Ord> Ranked<T> {
    /// The column of `rows`. `extra` values get ranks too, though no row has them now.
    pub(super) fn build(rows: &[Option<T>], extra: impl Iterator<Item = T>) -> Self
    where
        T: Clone,
    {
        let sorted = Sorted::new(rows.iter().flatten().cloned().chain(extra).collect());
        let rank = |row: &Option<T>| {
            let found = row.as_ref().and_then(|value| sorted.position(value).ok());
            found.unwrap_or(MISSING)
        };
        let ranks = rows.iter().map(rank).collect();
        Self { sorted, ranks }
    }
}

impl<T> Ranked<T> {
    /// The distinct values.
    pub(super) fn sorted(&self) -> &Sorted<T> {
        &self.sorted
    }

    /// The rank of each row.
    pub(super) fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    /// The rank of one row.
    pub(super) fn rank(&self, row: u32) -> u32 {
        self.ranks.get(row as usize).copied().unwrap_or(MISSING)
    }

    /// The value of one row.
    pub(super) fn at(&self, row: u32) -> Option<&T> {
        self.sorted.value(self.rank(row))
    }

    /// Bytes of the ranks and of the dictionary's own array.
    pub(super) fn bytes(&self) -> usize {
        self.ranks.capacity() * size_of::<u32>() + self.sorted.bytes()
    }
}

/// The rows of each of `count` ranks.
pub(super) fn bitmaps(ranks: &[u32], count: u32) -> Vec<RoaringBitmap> {
    let mut bitmaps = vec![RoaringBitmap::new(); count as usize];
    for (row, rank) in ranks.iter().enumerate() {
        if let Some(bitmap) = bitmaps.get_mut(*rank as usize) {
            bitmap.insert(narrow(row));
        }
    }
    for bitmap in &mut bitmaps {
        bitmap.optimize();
    }
    bitmaps
}

/// A length or index of an inventory, which never reaches 2³² rows (the builder refuses more).
pub(super) fn narrow(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(MISSING)
}

fn narrow_both(found: Result<usize, usize>) -> Result<u32, u32> {
    match found {
        Ok(index) => Ok(narrow(index)),
        Err(index) => Err(narrow(index)),
    }
}
