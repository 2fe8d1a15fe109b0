//! Units that were offered and are not any more, so that asking for one answers "no longer offered" and
//! not "never heard of it", also after a restart (AAP-443). Holds identifiers only, for ninety days.

mod roll;

use std::fs;
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use crate::contract::request::VehicleRequest;
pub(super) use roll::Roll;
use roll::{Index, Names, STOCK, VEHICLE_ID, VIN, hash};

const FILE: &str = "offered-units.jsonl";
const REMEMBERED_S: i64 = 90 * 24 * 60 * 60;
/// A unit that a source goes on calling sold is noted anew after this long, not with every reading.
const RENEWED_S: i64 = 24 * 60 * 60;
/// The newest so many are remembered.
const MOST_UNITS: usize = 1_000_000;
/// A longer line in the file is not one of ours.
const MOST_LINE_BYTES: u64 = 32 * 1024;

/// Where the units of a reading come from: what was known, and what the source hides.
const KNOWN: u8 = 0;
const HIDDEN: u8 = 1;

/// What a unit is called. In dealer scope there is no seller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identifiers {
    pub dealer_id: Option<String>,
    pub vehicle_id: Option<String>,
    pub vin: Option<String>,
    pub stock: Option<String>,
}

/// The units that are gone, and those that were live when this was made.
#[derive(Debug, Default)]
pub(super) struct Gone {
    units: Roll,
    by_vin: Index,
    by_stock: Index,
    by_vehicle_id: Index,
    live: Roll,
}

impl Gone {
    fn new(units: Roll, live: Roll) -> Self {
        let units = units.newest(MOST_UNITS);
        let index = |which: usize| {
            let named = units.iter();
            Index::new(named.filter_map(|(at, _, names)| Some((names.get(which)?, at))))
        };
        Self {
            by_vin: index(VIN),
            by_stock: index(STOCK),
            by_vehicle_id: index(VEHICLE_ID),
            units,
            live,
        }
    }

    /// What is gone after one more reading: what the source hides, and what it showed before and lost.
    pub(super) fn after(
        &self,
        shown: impl Iterator<Item = Identifiers>,
        hidden: &Roll,
        now_s: i64,
    ) -> Self {
        let mut live = Roll::default();
        for unit in shown {
            live.enter(&unit);
        }
        // Known ones first, for they know since when.
        let rolls = [&self.units, hidden, &self.live];
        let mut units = Roll::default();
        let mut alike = Vec::new();
        let found = departed(rolls, &live, now_s);
        for group in found.chunk_by(|one, other| one.0 == other.0) {
            alike.clear();
            for (_, origin, at) in group {
                let unit = rolls.get(usize::from(*origin)).and_then(|r| r.get(*at));
                if let Some((noted_s, names)) = unit {
                    note(&mut alike, names, *origin, noted_s, now_s);
                }
            }
            for (names, noted_s) in &alike {
                units.push(*names, *noted_s);
            }
        }
        Self::new(units, live)
    }

    /// How many units were live when this was made.
    pub(super) fn live_len(&self) -> usize {
        self.live.len()
    }

    /// Whether a gone unit has all of the given identifiers.
    pub(super) fn holds(&self, request: &VehicleRequest) -> bool {
        let asked = Names([
            None,
            request.vehicle_id.as_deref(),
            request.vin.as_deref(),
            request.stock.as_deref(),
        ]);
        let indexes = [
            (VEHICLE_ID, &self.by_vehicle_id),
            (VIN, &self.by_vin),
            (STOCK, &self.by_stock),
        ];
        let fewest = indexes
            .into_iter()
            .filter_map(|(which, index)| Some(index.places(&asked.get(which)?)))
            .min_by_key(|places| places.len());
        fewest.is_some_and(|places| {
            places.iter().any(|(_, at)| {
                let unit = self.units.get(*at);
                unit.is_some_and(|(_, names)| names.are_those_of(&asked))
            })
        })
    }

    /// Reads what was remembered in `directory`; nothing, when nothing was.
    pub(super) fn read(directory: &Path) -> io::Result<Self> {
        let file = match fs::File::open(path(directory)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(error),
        };
        let (mut units, mut live) = (Roll::default(), Roll::default());
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
                Some(noted_s) => units.push(Names::of(&unit), noted_s),
                None => live.enter(&unit),
            }
        }
    }

    /// Writes it all, in one piece or not at all.
    pub(super) fn write(&self, directory: &Path) -> io::Result<()> {
        fs::create_dir_all(directory)?;
        let target = path(directory);
        let fresh = target.with_extension("new");
        let mut file = BufWriter::new(fs::File::create(&fresh)?);
        let gone = self
            .units
            .iter()
            .map(|(_, noted_s, names)| (Some(noted_s), names));
        let live = self.live.iter().map(|(_, _, names)| (None, names));
        for (at, Names([dealer_id, vehicle_id, vin, stock])) in gone.chain(live) {
            serde_json::to_writer(&mut file, &(at, dealer_id, vehicle_id, vin, stock))?;
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

/// The units of `rolls` that are not shown and not yet forgotten, equal ones beside each other and in the
/// order of the rolls: hash, roll, place.
fn departed(rolls: [&Roll; 3], live: &Roll, now_s: i64) -> Vec<(u32, u8, u32)> {
    let shown = live
        .iter()
        .filter_map(|(at, _, names)| Some((names.identity()?, at)));
    let shown = Index::new(shown);
    let is_shown = |id: (Option<&str>, &str)| {
        shown.places(&id).iter().any(|(_, at)| {
            live.get(*at)
                .is_some_and(|(_, names)| names.identity() == Some(id))
        })
    };
    let mut found = Vec::new();
    for (origin, roll) in (0_u8..).zip(rolls) {
        for (at, noted_s, names) in roll.iter() {
            let forgotten = origin == KNOWN && now_s - noted_s >= REMEMBERED_S;
            if !forgotten && names.identity().is_some_and(|id| !is_shown(id)) {
                found.push((hash(&names), origin, at));
            }
        }
    }
    found.sort_unstable();
    found
}

/// Enters a unit among those of one hash, or learns more of one that is there.
fn note<'a>(
    alike: &mut Vec<(Names<'a>, i64)>,
    names: Names<'a>,
    origin: u8,
    noted_s: i64,
    now_s: i64,
) {
    let Some((_, at)) = alike.iter_mut().find(|(known, _)| *known == names) else {
        let since = if origin == KNOWN { noted_s } else { now_s };
        alike.push((names, since));
        return;
    };
    if origin == HIDDEN && now_s - *at >= RENEWED_S {
        *at = now_s;
    }
}

fn path(directory: &Path) -> PathBuf {
    directory.join(FILE)
}
