//! Keyword search: the rows in which a token is part of make, model, trim, VIN, stock or a feature's text.
//! Dictionaries are searched once per distinct text, unit numbers in one buffer. Must not rank or stem:
//! quotes and operators are letters like others (AAP-406, AAP-407).

use memchr::memmem::Finder;
use roaring::RoaringBitmap;

use super::rank::narrow;
use super::terms::Terms;

/// VIN and stock of every row in lowercase, one line each, and the distinct feature texts.
#[derive(Debug, Default)]
pub(super) struct Keywords {
    /// `vin LF stock LF` per row. A token holds no white space, so no match crosses a line.
    numbers: Vec<u8>,
    /// Where each row's lines end.
    ends: Vec<usize>,
    /// Each distinct feature text in lowercase with its rows.
    features: Vec<(Box<str>, RoaringBitmap)>,
}

/// One token, looked up in the dictionaries.
#[derive(Debug)]
pub(super) struct Token<'s> {
    keywords: &'s Keywords,
    finder: Finder<'static>,
    /// The rows of all dictionary texts that hold the token.
    rows: RoaringBitmap,
}

impl Keywords {
    pub(super) fn new(features: Vec<(Box<str>, RoaringBitmap)>) -> Self {
        Self {
            features,
            ..Self::default()
        }
    }

    /// Takes the next row's numbers, already folded.
    pub(super) fn push(&mut self, vin: &str, stock: &str) {
        self.numbers.extend_from_slice(vin.as_bytes());
        self.numbers.push(b'\n');
        self.numbers.extend_from_slice(stock.as_bytes());
        self.numbers.push(b'\n');
        self.ends.push(self.numbers.len());
    }

    /// Looks a folded token up in the dictionaries.
    pub(super) fn token<'s>(&'s self, token: &str, terms: [&'s Terms; 3]) -> Token<'s> {
        let finder = Finder::new(token.as_bytes()).into_owned();
        let entries = terms.into_iter().flat_map(Terms::entries);
        let features = self.features.iter().map(|(text, rows)| (&**text, rows));
        let mut rows = RoaringBitmap::new();
        for (text, of_text) in entries.chain(features) {
            if finder.find(text.as_bytes()).is_some() {
                rows |= of_text;
            }
        }
        Token {
            keywords: self,
            finder,
            rows,
        }
    }

    /// Bytes of the keyword index.
    pub(super) fn bytes(&self) -> usize {
        let features = self.features.iter();
        let features: usize = features
            .map(|(text, rows)| text.len() + super::terms::bitmap_bytes(rows))
            .sum();
        self.numbers.capacity() + self.ends.capacity() * size_of::<usize>() + features
    }

    fn start(&self, row: usize) -> usize {
        let before = row.checked_sub(1).and_then(|row| self.ends.get(row));
        before.copied().unwrap_or_default()
    }
}

impl Token<'_> {
    /// Whether one row holds the token.
    pub(super) fn holds(&self, row: u32) -> bool {
        self.rows.contains(row) || self.in_numbers(row)
    }

    fn in_numbers(&self, row: u32) -> bool {
        let row = row as usize;
        let end = self.keywords.ends.get(row).copied().unwrap_or_default();
        let lines = self.keywords.numbers.get(self.keywords.start(row)..end);
        lines.is_some_and(|lines| self.finder.find(lines).is_some())
    }

    /// All rows that hold the token.
    pub(super) fn into_rows(self) -> RoaringBitmap {
        let mut rows = self.rows;
        let mut hits: Vec<u32> = Vec::new();
        let mut position = 0;
        let mut row = 0;
        while let Some(rest) = self.keywords.numbers.get(position..)
            && let Some(offset) = self.finder.find(rest)
        {
            let found = position + offset;
            while self.keywords.ends.get(row).is_some_and(|end| *end <= found) {
                row += 1;
            }
            let Some(end) = self.keywords.ends.get(row) else {
                break;
            };
            hits.push(narrow(row));
            if hits.len() == 4096 {
                rows.extend(hits.drain(..));
            }
            position = *end;
            row += 1;
        }
        rows.extend(hits);
        rows
    }
}
