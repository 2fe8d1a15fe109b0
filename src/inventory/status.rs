//! What an operator can see of an inventory. Must not hold what a listing says.

use super::frame::Rejected;
use super::snapshot::IndexBytes;

/// The state of one deployment's inventory.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// How many readings were published; 0 before the first.
    pub generation: u64,
    /// Seconds since the reading in use began, or one that found nothing changed.
    pub age_s: Option<i64>,
    /// Published listings.
    pub vehicles: usize,
    /// Units remembered as no longer offered.
    pub gone: usize,
    /// Units of the last reading that could not be published, by reason.
    pub rejected: Rejected,
    /// Fields of published listings that the last reading left out because their cells could not be read,
    /// by reason.
    pub dirty: Rejected,
    /// Listings that name a rooftop which no profile has: they match no `near`.
    pub unknown_rooftops: u64,
    /// How long the last published reading took, its mapping included, and then its indexing.
    pub read_ms: u64,
    pub build_ms: u64,
    pub index: Option<IndexBytes>,
    /// Readings that failed or were held since the last published one.
    pub failures: u64,
    /// Why the last one did; for operators, not for callers.
    pub last_failure: Option<String>,
    /// Readings since the last published one that found nothing changed.
    pub unchanged: u64,
    /// The size of a reading that is held because it lost too many units.
    pub held: Option<usize>,
}
