//! The small columns once more, row by row: to count facets, one line of memory a row is touched instead of
//! one a column. Must not know what a field means.

use super::features::Feature;

/// Bits of one cell.
const CELL: usize = u16::BITS as usize;
/// A vocabulary of more codes than this is counted by its bitmaps. The tests' inventories are small, and shall be
/// counted in both ways.
const MOST_CODES: usize = if cfg!(test) { 3 } else { 256 };
/// A column with this many values or more stays outside: a rank and the mark of a missing value fill a cell.
const TOO_MANY_VALUES: u32 = if cfg!(test) { 4 } else { 0xFFFF };

/// A column for the grid: the rank of each row, and how many ranks there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'s> {
    pub(super) ranks: &'s [u32],
    pub(super) count: u32,
}

impl Source<'_> {
    fn fits(self) -> bool {
        self.count < TOO_MANY_VALUES
    }
}

/// The cells of all rows. A cell is a rank, or the number of ranks where the row has no value; after them come
/// the features, sixteen to a cell.
#[derive(Debug)]
pub(super) struct Grid {
    cells: Vec<u16>,
    /// Which of the sources have a cell.
    inside: Vec<usize>,
    /// Cells of features.
    feature_cells: usize,
}

impl Grid {
    /// The grid of `rows` rows; a source with too many values for a cell stays outside.
    pub(super) fn lay(rows: usize, sources: &[Source<'_>], features: &[Feature]) -> Self {
        let inside: Vec<usize> = (0..sources.len())
            .filter(|at| sources.get(*at).is_some_and(|source| source.fits()))
            .collect();
        let feature_cells = if features.len() <= MOST_CODES {
            features.len().div_ceil(CELL)
        } else {
            0
        };
        let mut grid = Self {
            cells: vec![0; rows * (inside.len() + feature_cells)],
            inside,
            feature_cells,
        };
        for (cell, source) in grid.inside.clone().into_iter().enumerate() {
            if let Some(source) = sources.get(source) {
                grid.write(cell, *source);
            }
        }
        if feature_cells > 0 {
            grid.write_features(features);
        }
        grid
    }

    fn width(&self) -> usize {
        self.inside.len() + self.feature_cells
    }

    fn write(&mut self, cell: usize, source: Source<'_>) {
        let width = self.width();
        let cells = self.cells.iter_mut().skip(cell).step_by(width);
        for (cell, rank) in cells.zip(source.ranks) {
            *cell = u16::try_from((*rank).min(source.count)).unwrap_or(u16::MAX);
        }
    }

    fn write_features(&mut self, features: &[Feature]) {
        let (width, first) = (self.width(), self.inside.len());
        for (at, feature) in features.iter().enumerate() {
            for row in &feature.rows {
                let cell = row as usize * width + first + at / CELL;
                if let Some(cell) = self.cells.get_mut(cell) {
                    *cell |= 1 << (at % CELL);
                }
            }
        }
    }

    /// Whether the source at this place has a cell.
    pub(super) fn has(&self, source: usize) -> bool {
        self.inside.contains(&source)
    }

    /// Whether the features have cells.
    pub(super) fn has_features(&self) -> bool {
        self.feature_cells > 0
    }

    /// Counts the cells of `rows`: `starts` is where the counts of each source begin in `counts`, one more than
    /// it has ranks, and then where those of the features begin.
    pub(super) fn count(&self, rows: &[u32], starts: &[usize], counts: &mut [u32]) {
        let width = self.width();
        let start = |source: &usize| starts.get(*source).copied().unwrap_or(usize::MAX);
        let of_cells: Vec<usize> = self.inside.iter().map(start).collect();
        let of_features = starts.last().copied().unwrap_or(usize::MAX);
        for row in rows {
            let first = *row as usize * width;
            let cells = self.cells.get(first..first + width).unwrap_or_default();
            let (ranks, features) = cells.split_at(self.inside.len().min(cells.len()));
            for (rank, start) in ranks.iter().zip(&of_cells) {
                if let Some(count) = counts.get_mut(start + usize::from(*rank)) {
                    *count += 1;
                }
            }
            for (cell, bits) in features.iter().enumerate() {
                let mut bits = *bits;
                while bits != 0 {
                    let at = cell * CELL + bits.trailing_zeros() as usize;
                    if let Some(count) = counts.get_mut(of_features + at) {
                        *count += 1;
                    }
                    bits &= bits - 1;
                }
            }
        }
    }

    /// Bytes of the cells.
    pub(super) fn bytes(&self) -> usize {
        self.cells.capacity() * size_of::<u16>()
    }
}
