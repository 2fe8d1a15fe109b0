//! Feature evidence: what the source recorded of this very vehicle, by a dictionary of texts. A trim name,
//! a model's usual equipment or a VIN decoder's default is none (AAP-374, AAP-398). Must not guess.

use serde_json::{Map, Value, json};

use super::apply::{End, Work};
use super::evaluate::Found;
use super::model::{FeatureOrigin, Features};

/// The longest excerpt that goes into evidence.
const MAX_EXCERPT: usize = 160;

/// Option texts, compared without case, blanks and punctuation.
pub(super) fn normal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text
        .split(|c: char| !c.is_alphanumeric() && c != '.' && c != '+')
        .filter(|word| !word.is_empty())
    {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().flat_map(char::to_lowercase));
    }
    out
}

/// Fills `features` (readable) and `feature_evidence`.
pub(super) fn fill(work: &mut Work<'_>, rules: &Features) -> Result<(), End> {
    let mut labels: Vec<String> = Vec::new();
    let mut evidence: Vec<Value> = Vec::new();
    let mut told = vec![false; rules.vocabulary.len()];
    for (text, item) in texts(work, rules)? {
        if let Some(condition) = &rules.skip {
            // A row that cannot be judged is no evidence.
            if work
                .scope(Some(&item))
                .holds(condition, None)
                .unwrap_or(true)
            {
                continue;
            }
        }
        let status = match &rules.status {
            None => "present".to_owned(),
            Some(field) => match work.find(field, Some(&item)) {
                Found::Value(Value::String(status)) => status,
                Found::Value(_) | Found::Nothing | Found::Dirty(_) | Found::Hide(_) => continue,
            },
        };
        let entry = rules.matches.get(&normal(&text)).copied();
        let known = entry.and_then(|index| Some((index, rules.vocabulary.get(index)?)));
        if status == "present" {
            match known {
                Some((_, (_, label))) => labels.push(label.clone()),
                None if rules.list_unmatched => labels.push(text.clone()),
                None => {}
            }
        }
        let Some((index, (code, label))) = known else {
            continue;
        };
        if told.get(index).copied().unwrap_or(true) {
            continue;
        }
        let Found::Value(Value::String(source)) = work.find(&rules.source, Some(&item)) else {
            continue;
        };
        if let Some(flag) = told.get_mut(index) {
            *flag = true;
        }
        let excerpt: String = text.chars().take(MAX_EXCERPT).collect();
        evidence.push(json!({
            "code": code, "label": label, "status": status, "source": source, "text": excerpt,
        }));
    }
    let mut seen = std::collections::HashSet::new();
    labels.retain(|label| seen.insert(label.clone()));
    if !labels.is_empty() {
        work.out.insert("features".to_owned(), labels.into());
    }
    if !evidence.is_empty() {
        work.out
            .insert("feature_evidence".to_owned(), Value::Array(evidence));
    }
    Ok(())
}

/// An option text with the row it stands in.
type Recorded = (String, Map<String, Value>);

/// The option texts of a vehicle.
fn texts(work: &mut Work<'_>, rules: &Features) -> Result<Vec<Recorded>, End> {
    match &rules.origin {
        FeatureOrigin::List(field) => match work.find(field, None) {
            Found::Value(Value::Array(list)) => Ok(list
                .into_iter()
                .filter_map(|element| Some((element.as_str()?.trim().to_owned(), Map::new())))
                .collect()),
            Found::Value(_) | Found::Nothing => Ok(Vec::new()),
            Found::Dirty(warning) => {
                work.warnings.push(warning);
                Ok(Vec::new())
            }
            Found::Hide(reason) => Err(End::Hide(reason)),
        },
        FeatureOrigin::Rows { rows, text } => {
            let row = work.row;
            let mut found = Vec::new();
            for item in row.rows(rows) {
                if let Found::Value(Value::String(text)) = work.find(text, Some(item)) {
                    found.push((text, item.clone()));
                }
            }
            Ok(found)
        }
    }
}
