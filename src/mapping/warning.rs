//! What was left out of a row, and why. Must not hold a cell's content.

/// A value that did not make it. Holds what kind of value it was, never the value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Warning {
    pub field: String,
    pub column: String,
    pub value_class: String,
    pub reason: String,
}

/// The class of an amount that a rule of the mapping withholds.
pub(super) const WITHHELD: &str = "an amount";

impl Warning {
    /// Whether a rule of the mapping left the field out, and not a cell that cannot be read.
    pub fn is_by_rule(&self) -> bool {
        self.value_class == WITHHELD
    }
}
