//! Members whose columns hold codes or words of the source's own: what each means, as a table of the mapping or an
//! expression. Must not choose columns.

use super::alias::folded;
use super::column::Column;
use super::members::Members;
use super::words::{self, Meaning, YES};
use super::write::{self, Becomes};

impl Members<'_> {
    /// A field whose codes are words of AAP, each known or asked for.
    pub(super) fn vocabulary(
        &mut self,
        member: &'static str,
        known: fn(&str) -> Option<Meaning>,
        miss: &str,
    ) -> Option<String> {
        let column = self.get(if member == "condition" {
            "newness"
        } else {
            member
        })?;
        let mut open = Vec::new();
        let mut entries = Vec::new();
        for (code, text) in self.texts(member, column) {
            entries.push(match known(&folded(&text)) {
                Some(Meaning::Is(word)) => (code, Becomes::Text(word.to_owned())),
                Some(Meaning::Hide(reason)) => (code, Becomes::Hide(reason.to_owned())),
                None => {
                    open.push(code.clone());
                    (code, Becomes::Text("?".to_owned()))
                }
            });
        }
        if !open.is_empty() {
            self.questions.push(format!(
                "tables.{member}: what do these codes mean: {}?",
                open.join(", ")
            ));
        }
        self.tables.insert(member, entries);
        let step = format!("{{ table = {{ of = \"{member}\", miss = \"{miss}\" }} }}");
        Some(write::field(&column.place, &[step], false))
    }

    /// A text field: the system's own list for its codes, or known other spellings, or the cell as it is.
    pub(super) fn text(
        &mut self,
        member: &'static str,
        known: fn(&str) -> Option<&'static str>,
    ) -> Option<String> {
        let column = self.get(member)?;
        let listed = self.list(member, column).is_some();
        let mut changed = false;
        let entries: Vec<(String, Becomes)> = self
            .texts(member, column)
            .into_iter()
            .filter_map(|(code, text)| {
                let word = known(&folded(&text)).map_or(text, str::to_owned);
                changed |= word != code;
                (listed || word != code).then_some((code, Becomes::Text(word)))
            })
            .collect();
        if !changed {
            return Some(write::field(&column.place, &[], false));
        }
        self.tables.insert(member, entries);
        let steps = [
            "\"trim\"".to_owned(),
            format!("{{ table = {{ of = \"{member}\", miss = \"pass\" }} }}"),
        ];
        Some(write::field(&column.place, &steps, false))
    }

    /// The vehicle's type: its own column, or the body styles that are no cars.
    pub(super) fn vehicle_type(&mut self) -> Option<String> {
        if let Some(column) = self.get("vehicle_type") {
            let entries: Vec<(String, Becomes)> = self
                .texts("vehicle_type", column)
                .into_iter()
                .filter_map(|(code, text)| {
                    let word = words::vehicle_type(&folded(&text))?;
                    Some((code, Becomes::Text(word.to_owned())))
                })
                .collect();
            if entries
                .iter()
                .all(|(code, word)| matches!(word, Becomes::Text(word) if word == code))
            {
                return Some(write::field(&column.place, &[], false));
            }
            self.tables.insert("vehicle_type", entries);
            return Some(write::field(
                &column.place,
                &["{ table = \"vehicle_type\" }".to_owned()],
                false,
            ));
        }
        let column = self.get("body")?;
        let entries: Vec<(String, Becomes)> = self
            .texts("body", column)
            .into_iter()
            .filter_map(|(code, text)| {
                let word = words::not_a_car(&folded(&text))?;
                Some((code, Becomes::Text(word.to_owned())))
            })
            .collect();
        if entries.is_empty() {
            return Some("{ value = \"car\" }".to_owned());
        }
        self.tables.insert("vehicle_type", entries);
        let steps = [
            "\"trim\"".to_owned(),
            "{ table = { of = \"vehicle_type\", miss = \"omit\" } }".to_owned(),
            "{ default = \"car\" }".to_owned(),
        ];
        Some(write::field(&column.place, &steps, false))
    }

    /// Whether a row is a new vehicle, as an expression.
    pub(super) fn is_new(&self) -> Option<String> {
        let column = self.get("newness")?;
        let new = meaning(column, "new");
        (!new.is_empty()).then(|| {
            Some(format!(
                "text({}) in {}",
                column.in_expression()?,
                write::words(&new)
            ))
        })?
    }

    /// The condition: one column with all of them, or new/used with a flag for certified ones.
    pub(super) fn condition(&mut self) -> Option<String> {
        let column = self.get("newness")?;
        let (Some(flag), Some(newness)) = (self.get("certified"), column.in_expression()) else {
            return self.vocabulary("condition", words::condition, "warn");
        };
        let flag_at = flag.in_expression()?;
        let yes: Vec<String> = flag
            .values
            .iter()
            .filter(|value| YES.contains(&folded(value).as_str()))
            .cloned()
            .collect();
        let (new, used) = (meaning(column, "new"), meaning(column, "used"));
        if yes.is_empty() || new.len() + used.len() < column.values.len() {
            return self.vocabulary("condition", words::condition, "warn");
        }
        let expr = format!(
            "'new' if text({newness}) in {} else ('cpo' if text({flag_at}) in {} else ('used' if text({newness}) in {} else none))",
            write::words(&new),
            write::words(&yes),
            write::words(&used)
        );
        Some(format!("{{ expr = {} }}", write::quoted(&expr)))
    }

    /// The fuel; a powertrain word decides before the fuel word where both are there.
    pub(super) fn fuel(&mut self) -> Option<String> {
        let column = self.get("fuel")?;
        let other = self
            .get("fuel_too")
            .filter(|other| other.place != column.place);
        let burns = |value: &str| folded(value) == "combustion";
        let combustion = column.values.iter().find(|value| burns(value));
        let (Some(other), Some(word)) = (other, combustion) else {
            return self.text("fuel", words::fuel);
        };
        let (powertrain, fuel) = (column.in_expression()?, other.in_expression()?);
        let values = column.values.iter().chain(&other.values);
        let entries = values
            .filter_map(|value| {
                Some((
                    value.clone(),
                    Becomes::Text(words::fuel(&folded(value))?.to_owned()),
                ))
            })
            .collect();
        self.tables.insert("fuel", entries);
        let expr = format!("{powertrain} if {powertrain} != '{word}' else {fuel} | default(none)");
        Some(format!(
            "{{ expr = {}, steps = [{{ table = {{ of = \"fuel\", miss = \"warn\" }} }}] }}",
            write::quoted(&expr)
        ))
    }
}

/// The values of a column that mean this condition.
fn meaning(column: &Column, wanted: &'static str) -> Vec<String> {
    let means = |value: &&String| words::condition(&folded(value)) == Some(Meaning::Is(wanted));
    column.values.iter().filter(means).cloned().collect()
}
