//! Equipment by evidence: the deployment's vocabulary and the rows that prove each code. Must not take a
//! trim, a model year or a text for evidence (AAP-374, AAP-398).

use std::collections::HashMap;

use roaring::RoaringBitmap;

use super::terms::bitmap_bytes;

/// The feature codes of a deployment with their labels. Rows never change it (AAP-370, AAP-371).
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    entries: Vec<(String, String)>,
}

impl Vocabulary {
    /// Codes and labels; the first of several equal codes counts (AAP-373).
    pub fn new(entries: Vec<(String, String)>) -> Self {
        let mut unique: Vec<(String, String)> = Vec::with_capacity(entries.len());
        for (code, label) in entries {
            if !unique.iter().any(|(known, _)| *known == code) {
                unique.push((code, label));
            }
        }
        Self { entries: unique }
    }
}

/// The rows that prove each code of the vocabulary.
#[derive(Debug)]
pub(super) struct Features {
    entries: Vec<Feature>,
    by_code: HashMap<Box<str>, usize>,
}

/// One code of the vocabulary.
#[derive(Debug)]
pub(super) struct Feature {
    pub(super) code: String,
    pub(super) label: String,
    pub(super) rows: RoaringBitmap,
}

impl Features {
    /// The vocabulary with what `evidence` proves; codes outside the vocabulary are not searchable.
    pub(super) fn new(vocabulary: &Vocabulary, evidence: Vec<(Box<str>, RoaringBitmap)>) -> Self {
        let mut evidence: HashMap<Box<str>, RoaringBitmap> = evidence.into_iter().collect();
        let entries: Vec<Feature> = vocabulary
            .entries
            .iter()
            .map(|(code, label)| Feature {
                code: code.clone(),
                label: label.clone(),
                rows: evidence.remove(code.as_str()).unwrap_or_default(),
            })
            .collect();
        let by_code = entries.iter().enumerate();
        let by_code = by_code
            .map(|(at, feature)| (feature.code.as_str().into(), at))
            .collect();
        Self { entries, by_code }
    }

    /// The rows that prove `code`; `None` when the vocabulary has no such code.
    pub(super) fn rows_of(&self, code: &str) -> Option<&RoaringBitmap> {
        let at = self.by_code.get(code)?;
        self.entries.get(*at).map(|feature| &feature.rows)
    }

    /// The whole vocabulary.
    pub(super) fn entries(&self) -> &[Feature] {
        &self.entries
    }

    /// Bytes of the index.
    pub(super) fn bytes(&self) -> usize {
        let rows = self.entries.iter();
        rows.map(|feature| bitmap_bytes(&feature.rows)).sum()
    }
}
