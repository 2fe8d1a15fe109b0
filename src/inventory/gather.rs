//! What a builder gathered in order of arrival, as columns in order of the rows. Must not decide which listings
//! become rows.

use super::columns::{Columns, SORT_NUMBERS};
use super::features::Features;
use super::fields::{Group, Number};
use super::history::History;
use super::places::{Places, PointBits};
use super::rank::Ranked;
use super::terms::TermsBuilder;

/// The facts of all arrivals.
pub(super) struct Gathered {
    pub(super) terms: [TermsBuilder; Group::COUNT],
    pub(super) numbers: [Vec<Option<i64>>; Number::COUNT],
    pub(super) places: Vec<Option<PointBits>>,
    /// In order of the rows already.
    pub(super) stocks: Vec<Option<Box<str>>>,
}

impl Gathered {
    /// The columns of the rows that `arrivals` name. What units were ordered by before gets ranks too.
    pub(super) fn columns(
        self,
        arrivals: &[u32],
        history: &History,
        features: &Features,
    ) -> Columns {
        let past = || history.all().iter().map(|past| &past.keys);
        let mut groups = Group::ALL.into_iter();
        let terms = self.terms.map(|terms| match groups.next() {
            Some(Group::Make) => terms.finish(arrivals, past().filter_map(|k| k.make.clone())),
            Some(Group::Model) => terms.finish(arrivals, past().filter_map(|k| k.model.clone())),
            _ => terms.finish(arrivals, std::iter::empty()),
        });
        let numbers = Number::ALL.map(|number| {
            let column = self.numbers.get(number as usize).map(Vec::as_slice);
            let rows = in_rows(column.unwrap_or_default(), arrivals);
            let at = SORT_NUMBERS.iter().position(|n| *n == number);
            let extra = past().filter_map(|keys| *keys.numbers.get(at?)?);
            Ranked::build(&rows, extra)
        });
        let stock = Ranked::build(&self.stocks, past().filter_map(|keys| keys.stock.clone()));
        let past_places = past().filter_map(|keys| keys.place);
        let places = Places::build(&in_rows(&self.places, arrivals), past_places);
        Columns::new(arrivals.len(), terms, numbers, stock, places, features)
    }
}

fn in_rows<T: Copy>(column: &[Option<T>], arrivals: &[u32]) -> Vec<Option<T>> {
    let value = |arrival: &u32| column.get(*arrival as usize).copied().flatten();
    arrivals.iter().map(value).collect()
}
