//! Units that are gone: the roll against a plain map of them, over several readings and a restart.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use crate::contract::request::VehicleRequest;
use crate::inventory::Identifiers;
use crate::inventory::gone::{Gone, Roll};

const DAY_S: i64 = 24 * 60 * 60;

/// What one reading brings: what it shows, what it hides, and how much later it is.
type Reading = (Vec<Identifiers>, Vec<Identifiers>, i64);

fn name(first: char) -> impl Strategy<Value = Option<String>> {
    let some = (0..3_u8).prop_map(move |n| Some(format!("{first}{n}é")));
    prop_oneof![1 => Just(None), 3 => some]
}

fn unit() -> impl Strategy<Value = Identifiers> {
    (name('d'), name('i'), name('v'), name('s')).prop_map(|(dealer_id, vehicle_id, vin, stock)| {
        Identifiers {
            dealer_id,
            vehicle_id,
            vin,
            stock,
        }
    })
}

fn reading() -> impl Strategy<Value = Reading> {
    let units = || prop::collection::vec(unit(), 0..6);
    let later = prop_oneof![Just(60), Just(DAY_S), Just(89 * DAY_S)];
    (units(), units(), later)
}

type Identity = (Option<String>, String);

fn identity(unit: &Identifiers) -> Option<Identity> {
    let id = unit.vehicle_id.as_ref().or(unit.vin.as_ref());
    let id = id.or(unit.stock.as_ref())?;
    Some((unit.dealer_id.clone(), id.clone()))
}

/// The same rules, said plainly.
#[derive(Default)]
struct Plain {
    gone: BTreeMap<Identifiers, i64>,
    live: Vec<Identifiers>,
}

impl Plain {
    fn after(&mut self, shown: &[Identifiers], hidden: &[Identifiers], now_s: i64) {
        let ids: BTreeSet<Identity> = shown.iter().filter_map(identity).collect();
        let left = |unit: &Identifiers| identity(unit).is_some_and(|id| !ids.contains(&id));
        self.gone
            .retain(|unit, at| now_s - *at < 90 * DAY_S && left(unit));
        for unit in hidden.iter().filter(|unit| left(unit)) {
            let at = self.gone.entry(unit.clone()).or_insert(now_s);
            if now_s - *at >= DAY_S {
                *at = now_s;
            }
        }
        for unit in self.live.iter().filter(|unit| left(unit)) {
            self.gone.entry(unit.clone()).or_insert(now_s);
        }
        self.live = shown.to_vec();
    }

    fn holds(&self, request: &VehicleRequest) -> bool {
        let has =
            |wanted: &Option<String>, name: &Option<String>| wanted.is_none() || wanted == name;
        let asked = [&request.vin, &request.stock, &request.vehicle_id];
        asked.iter().any(|name| name.is_some())
            && self.gone.keys().any(|unit| {
                has(&request.vin, &unit.vin)
                    && has(&request.stock, &unit.stock)
                    && has(&request.vehicle_id, &unit.vehicle_id)
            })
    }
}

fn rolled(units: &[Identifiers]) -> Roll {
    let mut roll = Roll::default();
    for unit in units {
        roll.enter(unit);
    }
    roll
}

proptest! {
    // AAP-443
    #[test]
    fn what_is_gone_is_what_a_plain_map_says(
        readings in prop::collection::vec(reading(), 1..6),
        asked in prop::collection::vec(unit(), 8),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let (mut gone, mut plain) = (Gone::default(), Plain::default());
        let mut now_s = 1_000_000;
        for (shown, hidden, later) in readings {
            now_s += later;
            gone = gone.after(shown.iter().cloned(), &rolled(&hidden), now_s);
            plain.after(&shown, &hidden, now_s);
            prop_assert_eq!(gone.len(), plain.gone.len());
            for unit in &asked {
                let request = VehicleRequest {
                    vehicle_id: unit.vehicle_id.clone(),
                    vin: unit.vin.clone(),
                    stock: unit.stock.clone(),
                };
                prop_assert_eq!(gone.holds(&request), plain.holds(&request), "{:?}", unit);
            }
            gone.write(directory.path()).unwrap();
            let again = Gone::read(directory.path()).unwrap();
            prop_assert!(again.same_as(&gone), "as before the restart");
            gone = again;
        }
    }
}

#[test]
fn a_name_that_nobody_asks_by_cannot_spoil_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let hidden = |vin: String| Identifiers {
        vehicle_id: Some("a".into()),
        vin: Some(vin),
        ..Identifiers::default()
    };
    // Every byte of it needs six in JSON.
    let long = hidden("\u{1}".repeat(1024));
    let longer = hidden("x".repeat(1025));
    let gone = Gone::default().after(std::iter::empty(), &rolled(&[long, longer]), 1);
    assert_eq!(gone.len(), 1);
    gone.write(directory.path()).unwrap();
    assert!(Gone::read(directory.path()).unwrap().same_as(&gone));
}

#[test]
fn the_newest_are_remembered_and_a_million_is_little() {
    let unit = |n: u32| Identifiers {
        stock: Some(format!("S{n}")),
        ..Identifiers::default()
    };
    let mut hidden = Roll::default();
    for n in 0..1_000_000 {
        hidden.enter(&unit(n));
    }
    let gone = Gone::default().after(std::iter::empty(), &hidden, 1);
    let later = rolled(&[unit(1_000_000)]);
    let gone = gone.after(std::iter::empty(), &later, 2);
    assert_eq!(gone.len(), 1_000_000);
    let holds = |n: u32| {
        gone.holds(&VehicleRequest {
            stock: unit(n).stock,
            ..VehicleRequest::default()
        })
    };
    assert!(holds(1_000_000), "the newest");
    let known = (0..1_000_000).filter(|n| holds(*n)).count();
    assert_eq!(known, 999_999, "one of the older ones gave way");
}
