//! Rows in blocks: the inner loops of search and facets run over short arrays, without a branch per row.
//! Must not know what a row is.

use roaring::RoaringBitmap;

/// Rows of one block: they and what is looked up for them stay in the nearest cache.
pub(super) const BLOCK: usize = 1024;

/// Goes through `rows` block by block, in ascending order.
pub(super) fn each_block(rows: &RoaringBitmap, mut visit: impl FnMut(&mut Vec<u32>)) {
    let mut iter = rows.iter();
    let mut block = vec![0; BLOCK];
    loop {
        block.resize(BLOCK, 0);
        let length = iter.next_many(&mut block).len();
        if length == 0 {
            return;
        }
        block.truncate(length);
        visit(&mut block);
    }
}

/// Goes through the rows below `end` block by block.
pub(super) fn each_block_below(end: u32, mut visit: impl FnMut(&mut Vec<u32>)) {
    let mut block = Vec::with_capacity(BLOCK);
    let mut rows = 0..end;
    loop {
        block.clear();
        block.extend(rows.by_ref().take(BLOCK));
        if block.is_empty() {
            return;
        }
        visit(&mut block);
    }
}

/// Keeps the rows of `block` that pass. Every row is written, kept or not: a branch that the processor
/// guesses wrong half of the time costs more.
#[inline]
#[expect(
    clippy::indexing_slicing,
    reason = "`kept` never passes `at`, which is below the length"
)]
pub(super) fn retain(block: &mut Vec<u32>, passes: impl Fn(u32) -> bool) {
    let mut kept = 0;
    for at in 0..block.len() {
        let row = block[at];
        block[kept] = row;
        kept += usize::from(passes(row));
    }
    block.truncate(kept);
}
