//! Columns as ranks into a sorted dictionary: ranges become integer comparisons and every order becomes
//! the order of one `u32`. Must not know what a column means.

use roaring::RoaringBitmap;

/// The rank of a row without a value. It is greater than every rank, so missing values sort last (AAP-410).
pub(super) const MISSING: u32 = u32::MAX;

/// One value or none per row, as ranks into the sorted distinct values.
#[derive(Debug)]
pub(super) struct Ranked<T> {
    values: Vec<T>,
    ranks: Vec<u32>,
}

impl<T: Ord> Ranked<T> {
    /// The column of `rows`. `extra` values get ranks too, though no row has them now.
    pub(super) fn build(rows: &[Option<T>], extra: impl Iterator<Item = T>) -> Self
    where
        T: Clone,
    {
        let mut values: Vec<T> = rows.iter().flatten().cloned().chain(extra).collect();
        values.sort_unstable();
        values.dedup();
        values.shrink_to_fit();
        let mut column = Self {
            values,
            ranks: Vec::with_capacity(rows.len()),
        };
        for row in rows {
            let rank = row
                .as_ref()
                .and_then(|value| column.position(value).ok())
                .unwrap_or(MISSING);
            column.ranks.push(rank);
        }
        column
    }

    /// A column from a sorted dictionary and finished ranks.
    pub(super) fn from_parts(values: Vec<T>, ranks: Vec<u32>) -> Self {
        Self { values, ranks }
    }

    /// The rank of `value`, or where it would stand.
    pub(super) fn position(&self, value: &T) -> Result<u32, u32> {
        narrow_both(self.values.binary_search(value))
    }

    /// How many ranks are below `value`.
    pub(super) fn below(&self, value: &T) -> u32 {
        narrow(self.values.partition_point(|v| v < value))
    }

    /// How many ranks are not above `value`.
    pub(super) fn through(&self, value: &T) -> u32 {
        narrow(self.values.partition_point(|v| v <= value))
    }
}

impl<T> Ranked<T> {
    /// The distinct values in order.
    pub(super) fn values(&self) -> &[T] {
        &self.values
    }

    /// The value of a rank; `None` for [`MISSING`].
    pub(super) fn value(&self, rank: u32) -> Option<&T> {
        self.values.get(rank as usize)
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
        self.value(self.rank(row))
    }

    /// The rows of each rank.
    pub(super) fn bitmaps(&self) -> Vec<RoaringBitmap> {
        let mut bitmaps = vec![RoaringBitmap::new(); self.values.len()];
        for (row, rank) in self.ranks.iter().enumerate() {
            if let Some(bitmap) = bitmaps.get_mut(*rank as usize) {
                bitmap.insert(narrow(row));
            }
        }
        for bitmap in &mut bitmaps {
            bitmap.optimize();
        }
        bitmaps
    }

    /// Bytes of the ranks and of the dictionary's own array.
    pub(super) fn bytes(&self) -> usize {
        self.ranks.capacity() * size_of::<u32>() + self.values.capacity() * size_of::<T>()
    }
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
