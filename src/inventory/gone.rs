//! Units that were offered and are not any more, so that asking for one answers "no longer offered" and
//! not "never heard of it", also after a restart (AAP-443). Holds identifiers only, for ninety days.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use super::snapshot::Snapshot;
use crate::contract::request::VehicleRequest;

const FILE: &str = "offered-units.jsonl";
const REMEMBERED_S: i64 = 90 * 24 * 60 * 60;
/// A unit that a source goes on calling sold is noted anew after this long, not with every reading.
const RENEWED_S: i64 = 24 * 60 * 60;
/// The newest so many are remembered.
const MOST_UNITS: usize = 1_000_000;
/// A longer line in the file is not one of ours.
const MOST_LINE_BYTES: u64 = 16 * 1024;

/// What a unit is called. In dealer scope there is no seller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identifiers {
    pub dealer_id: Option<String>,
    pub vehicle_id: Option<String>,
    pub vin: Option<String>,
    pub stock: Option<String>,
}

impl Identifiers {
    /// The seller and the stable id, as for [`super::Listing`].
    fn identity(&self) -> Option<(Option<&str>, &str)> {
        let id = self.vehicle_id.as_deref().or(self.vin.as_deref());
        Some((self.dealer_id.as_deref(), id.or(self.stock.as_deref())?))
    }
}

/// The units that are gone, and those that were live when this was made.
#[derive(Debug, Default)]
pub(super) struct Gone {
    /// With the second since 1970 when it was noted.
    units: Vec<(i64, Identifiers)>,
    by_vin: HashMap<String, Vec<usize>>,
    by_stock: HashMap<String, Vec<usize>>,
    by_vehicle_id: HashMap<String, Vec<usize>>,
    live: Vec<Identifiers>,
}

impl Gone {
    fn new(mut units: Vec<(i64, Identifiers)>, live: Vec<Identifiers>) -> Self {
        units.sort();
        let surplus = units.len().saturating_sub(MOST_UNITS);
        units.drain(..surplus);
        let mut gone = Self {
            live,
            ..Self::default()
        };
        for (at, (_, unit)) in units.iter().enumerate() {
            let keys = [
                (&mut gone.by_vin, &unit.vin),
                (&mut gone.by_stock, &unit.stock),
                (&mut gone.by_vehicle_id, &unit.vehicle_id),
            ];
            for (map, key) in keys {
                if let Some(key) = key {
                    map.entry(key.clone()).or_default().push(at);
                }
            }
        }
        gone.units = units;
        gone
    }

    /// What is gone after one more reading: what the source hides, and what it showed before and lost.
    pub(super) fn after(&self, snapshot: &Snapshot, hidden: Vec<Identifiers>, now_s: i64) -> Self {
        let live: Vec<Identifiers> = snapshot.identifiers().collect();
        let shown: HashSet<_> = live.iter().filter_map(Identifiers::identity).collect();
        let is_shown = |unit: &Identifiers| unit.identity().is_none_or(|id| shown.contains(&id));
        let mut noted: HashMap<Identifiers, i64> = HashMap::new();
        for (at, unit) in &self.units {
            if now_s - at < REMEMBERED_S && !is_shown(unit) {
                noted.insert(unit.clone(), *at);
            }
        }
        for unit in hidden.into_iter().filter(|unit| !is_shown(unit)) {
            let at = noted.entry(unit).or_insert(now_s);
            if now_s - *at >= RENEWED_S {
                *at = now_s;
            }
        }
        for unit in self.live.iter().filter(|unit| !is_shown(unit)) {
            noted.entry(unit.clone()).or_insert(now_s);
        }
        let units = noted.into_iter().map(|(unit, at)| (at, unit)).collect();
        Self::new(units, live)
    }

    /// Whether a gone unit has all of the given identifiers.
    pub(super) fn holds(&self, request: &VehicleRequest) -> bool {
        let asked = [
            (&self.by_vin, request.vin.as_deref()),
            (&self.by_stock, request.stock.as_deref()),
            (&self.by_vehicle_id, request.vehicle_id.as_deref()),
        ];
        let mut sets = asked
            .into_iter()
            .filter_map(|(map, key)| Some(map.get(key?).map(Vec::as_slice).unwrap_or_default()));
        let Some(first) = sets.next() else {
            return false;
        };
        let rest: Vec<&[usize]> = sets.collect();
        first
            .iter()
            .any(|unit| rest.iter().all(|set| set.contains(unit)))
    }

    /// Reads what was remembered in `directory`; nothing, when nothing was.
    pub(super) fn read(directory: &Path) -> io::Result<Self> {
        let file = match fs::File::open(path(directory)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(error),
        };
        let (mut units, mut live) = (Vec::new(), Vec::new());
        let mut reader = BufReader::new(file);
        let mut text = String::new();
        loop {
            text.clear();
            let mut limited = io::Read::take(&mut reader, MOST_LINE_BYTES);
            if limited.read_line(&mut text)? == 0 {
                return Ok(Self::new(units, live));
            }
            let (at, dealer_id, vehicle_id, vin, stock) = serde_json::from_str(&text)?;
            let unit = Identifiers {
                dealer_id,
                vehicle_id,
                vin,
                stock,
            };
            match at {
                Some(at) => units.push((at, unit)),
                None => live.push(unit),
            }
        }
    }

    /// Writes it all, in one piece or not at all.
    pub(super) fn write(&self, directory: &Path) -> io::Result<()> {
        fs::create_dir_all(directory)?;
        let target = path(directory);
        let fresh = target.with_extension("new");
        let mut file = BufWriter::new(fs::File::create(&fresh)?);
        let gone = self.units.iter().map(|(at, unit)| (Some(*at), unit));
        for (at, unit) in gone.chain(self.live.iter().map(|unit| (None, unit))) {
            let line = (
                at,
                &unit.dealer_id,
                &unit.vehicle_id,
                &unit.vin,
                &unit.stock,
            );
            serde_json::to_writer(&mut file, &line)?;
            file.write_all(b"\n")?;
        }
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        fs::rename(&fresh, &target)?;
        fs::File::open(directory)?.sync_all()
    }

    /// Whether both remember the same.
    pub(super) fn same_as(&self, other: &Self) -> bool {
        self.units == other.units && self.live == other.live
    }

    /// How many units are remembered as gone.
    pub(super) fn len(&self) -> usize {
        self.units.len()
    }
}

fn path(directory: &Path) -> PathBuf {
    directory.join(FILE)
}
