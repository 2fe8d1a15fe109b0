//! The sets of rows that the term and feature filters of a request name, and what all of them leave. Must not
//! test a row by itself.

use std::borrow::Cow;

use roaring::{MultiOps as _, RoaringBitmap};

use super::InventoryError;
use super::fields::{Group, bool_term};
use super::snapshot::Snapshot;
use crate::contract::Problem;
use crate::contract::request::Filters;

/// One set per term filter: OR inside (AAP-377).
pub(super) fn of_terms<'s>(
    snapshot: &'s Snapshot,
    filters: &Filters,
) -> Vec<Cow<'s, RoaringBitmap>> {
    let fast_charge = filters.dc_fast_charge;
    let fast_charge = fast_charge.map(|value| vec![bool_term(value).to_owned()]);
    let asked = [
        (Group::Make, &filters.make),
        (Group::Model, &filters.model),
        (Group::Trim, &filters.trim),
        (Group::Condition, &filters.condition),
        (Group::VehicleType, &filters.vehicle_type),
        (Group::Status, &filters.status),
        (Group::Body, &filters.body),
        (Group::Transmission, &filters.transmission),
        (Group::Fuel, &filters.fuel),
        (Group::Driveline, &filters.driveline),
        (Group::ChargePort, &filters.charge_port),
        (Group::DcFastCharge, &fast_charge),
        (Group::ExteriorColor, &filters.exterior_color),
        (Group::InteriorColor, &filters.interior_color),
        (Group::Rooftop, &filters.rooftops),
    ];
    let mut sets = Vec::new();
    for (group, values) in asked {
        if let Some(values) = values {
            let terms = snapshot.columns().terms(group);
            let rows = values.iter().filter_map(|value| terms.rows_of(value));
            sets.push(union(rows.collect()));
        }
    }
    sets
}

/// The sets of the feature filters, or every unknown code at once (AAP-375, AAP-395).
pub(super) fn of_features<'s>(
    snapshot: &'s Snapshot,
    filters: &Filters,
    sets: &mut Vec<Cow<'s, RoaringBitmap>>,
) -> Result<(), InventoryError> {
    let mut problems = Vec::new();
    let mut rows_of = |name: &str, codes: &Option<Vec<String>>| -> Vec<&'s RoaringBitmap> {
        let mut found = Vec::new();
        for (at, code) in codes.iter().flatten().enumerate() {
            match snapshot.features().rows_of(code) {
                Some(rows) => found.push(rows),
                None => problems.push(Problem::new(
                    format!("/filters/{name}/{at}"),
                    "capability",
                    "This feature code is not in the deployment's vocabulary. \
                     Use a code that inventory.facets lists under features.",
                )),
            }
        }
        found
    };
    let all = rows_of("features_all", &filters.features_all);
    let any = rows_of("features_any", &filters.features_any);
    if !problems.is_empty() {
        return Err(InventoryError::UnknownFeature(problems));
    }
    sets.extend(all.into_iter().map(Cow::Borrowed));
    if filters.features_any.is_some() {
        sets.push(union(any));
    }
    Ok(())
}

fn union(rows: Vec<&RoaringBitmap>) -> Cow<'_, RoaringBitmap> {
    match rows.as_slice() {
        [one] => Cow::Borrowed(one),
        _ => Cow::Owned(rows.union()),
    }
}

/// All sets together, the smallest first; `None` when there is none.
pub(super) fn intersection(
    mut sets: Vec<Cow<'_, RoaringBitmap>>,
) -> Option<Cow<'_, RoaringBitmap>> {
    sets.sort_by_key(|set| set.len());
    let mut sets = sets.into_iter();
    let first = sets.next()?;
    Some(sets.fold(first, |left, right| match left {
        Cow::Borrowed(left) => Cow::Owned(left & right.as_ref()),
        Cow::Owned(left) => Cow::Owned(left & right.as_ref()),
    }))
}
