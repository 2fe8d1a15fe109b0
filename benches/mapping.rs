//! A mapping file beside the same mapping written by hand in Rust, over the same rows and in one run: what the
//! language costs. Then the way from rows to an index that answers. `cargo bench --bench mapping`.

#![expect(
    clippy::cast_precision_loss,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::too_many_lines,
    reason = "a bench may stop and prints what it measured"
)]

use std::collections::HashSet;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forecourt::clock::Clock;
use forecourt::contract::Capabilities;
use forecourt::contract::capabilities::{Scope, SearchOptions};
use forecourt::contract::{Contract, Skill};
use forecourt::inventory::{Frame, Inventory, Reader, Settings, Unit};
use forecourt::mapping::{Mapping, Outcome, Row, Tables};
use forecourt::profile::{Profile, Rooftop};
use forecourt::seal::KeyRing;
use serde_json::{Map, Value, json};

const PRESET: &str = include_str!("../mappings/homenet-csv/mapping.toml");
const WRITTEN: &str = "2026-11-29T06:00:00Z";
/// Turns of each side; they alternate, and the median counts.
const TURNS: usize = 7;

/// Numbers that look random and are the same in every run (Steele's splitmix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % end
    }

    fn one_of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        let at = self.below(list.len() as u64);
        list[usize::try_from(at).unwrap_or(0)]
    }
}

const MAKES: &[&str] = &["Honda", "Ford", "VW", "Toyota", "Chevy", "Kia", "Tesla"];
const FUELS: &[&str] = &[
    "Gasoline Fuel",
    "Gas/Electric Hybrid",
    "Electric Fuel System",
    "Diesel Fuel",
    "Hydrogen",
];
const BODIES: &[&str] = &["Sedan", "SUV", "Pickup", "Touring", "Travel Trailer"];
const OPTIONS: &[&str] = &[
    "Apple CarPlay",
    "Heated Front Seats",
    "Leather Seats",
    "Roof Rack",
    "Backup Camera",
    "Power Liftgate",
];
/// Columns of the file that no field reads; they cost memory all the same.
const UNREAD: &[&str] = &[
    "ModelNumber",
    "Doors",
    "EngineCylinders",
    "BookValue",
    "Invoice",
    "Style_Description",
    "Ext_Color_Generic",
    "Ext_Color_Code",
    "Int_Color_Generic",
    "Int_Upholstery",
    "Engine_Block_Type",
    "Transmission_Speed",
    "Wheelbase_Code",
    "Misc_Price2",
    "Misc_Price3",
    "Factory_Codes",
    "MarketClass",
    "PassengerCapacity",
];

/// One row of the file, with the dirt that such files have.
fn row(n: usize, numbers: &mut Numbers) -> Row {
    let used = numbers.below(3) > 0;
    let list = 9_000 + numbers.below(60_000);
    let (photos, options) = (1 + numbers.below(20), numbers.below(5));
    let photos: Vec<String> = (0..photos)
        .map(|at| format!("https://img.dealer.example/{n}/{at}.jpg"))
        .collect();
    let options: Vec<&str> = (0..options).map(|_| numbers.one_of(OPTIONS)).collect();
    let miles = match (used, numbers.below(30)) {
        (true, 0) => "N/A".to_owned(),
        (true, 1) => "0".to_owned(),
        (true, _) => numbers.below(150_000).to_string(),
        (false, _) => numbers.below(400).to_string(),
    };
    let price = match numbers.below(12) {
        0 => "Call".to_owned(),
        1 => "0".to_owned(),
        2 => format!("${},{:03}.00", list / 1000, list % 1000),
        _ => list.to_string(),
    };
    let cells = [
        ("DealerName", "Harbor Point Motors".to_owned()),
        ("Type", if used { "Used" } else { "New" }.to_owned()),
        ("Stock", format!("S{n:06} ")),
        ("VIN", format!("1hgcv1f3{:09}", n % 1_000_000_000)),
        ("Year", (2010 + numbers.below(16)).to_string()),
        ("Make", numbers.one_of(MAKES).to_owned()),
        ("Model", format!("Model {}", numbers.below(40))),
        ("Body", numbers.one_of(BODIES).to_owned()),
        ("Trim", format!("Trim {}", numbers.below(9))),
        ("ExteriorColor", "Lunar Rock   ".to_owned()),
        ("InteriorColor", "Ash".to_owned()),
        ("EngineDisplacement", format!("{}.5L", 1 + numbers.below(4))),
        ("Transmission", "Automatic".to_owned()),
        ("Miles", miles),
        ("SellingPrice", price),
        ("MSRP", (list + 2_000).to_string()),
        ("Certified", numbers.one_of(&["True", "False"]).to_owned()),
        (
            "DateInStock",
            format!("{}/{}/2026", 1 + numbers.below(11), 1 + numbers.below(28)),
        ),
        (
            "Description",
            "<p>One owner &amp; clean.</p> Call us!".to_owned(),
        ),
        ("Options", options.join(",")),
        ("Drivetrain", "AWD".to_owned()),
        ("Fuel_Type", numbers.one_of(FUELS).to_owned()),
        ("CityMPG", numbers.below(40).to_string()),
        ("HighwayMPG", numbers.below(45).to_string()),
        ("Internet_Price", list.to_string()),
        ("Misc_Price1", (list + 499).to_string()),
        ("ImageList", photos.join("|")),
    ];
    let read = cells.map(|(name, cell)| (name.to_owned(), Value::String(cell)));
    let unread = UNREAD
        .iter()
        .map(|name| ((*name).to_owned(), Value::String("0".to_owned())));
    Row {
        fields: read.into_iter().chain(unread).collect(),
        ..Row::default()
    }
}

/// The preset's mapping as a programmer would write it for this one file.
mod by_hand {
    use super::{HashSet, Map, Row, Value, WRITTEN, json};

    fn cell<'a>(row: &'a Row, name: &str) -> &'a str {
        row.fields
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .trim()
    }

    fn number(text: &str) -> Option<f64> {
        let bare = text.trim_start_matches('$').replace(',', "");
        bare.trim().parse().ok()
    }

    #[expect(clippy::cast_possible_truncation, reason = "the fraction is zero")]
    fn whole(text: &str) -> Option<i64> {
        number(text)
            .filter(|number| number.fract() == 0.0)
            .map(|number| number as i64)
    }

    fn dollars(text: &str) -> Option<i64> {
        whole(text).filter(|amount| *amount > 1)
    }

    fn date(text: &str) -> Option<String> {
        let mut parts = text.split('/').map(|part| part.parse::<i8>().ok());
        let (month, day) = (parts.next()??, parts.next()??);
        let year: i16 = text.rsplit('/').next()?.parse().ok()?;
        let date = jiff::civil::Date::new(year, month, day).ok()?;
        Some(date.to_string())
    }

    fn make(text: &str) -> &str {
        match text {
            "VW" => "Volkswagen",
            "Chevy" => "Chevrolet",
            "Mercedes" => "Mercedes-Benz",
            other => other,
        }
    }

    fn fuel(text: &str) -> &str {
        match text {
            "Gasoline Fuel" => "gasoline",
            "Gas/Electric Hybrid" => "hybrid",
            "Plug-In Gas/Electric Hybrid" => "plug-in hybrid",
            "Electric Fuel System" => "electric",
            "Diesel Fuel" => "diesel",
            other => other,
        }
    }

    fn kind(text: &str) -> &str {
        match text {
            "Touring" | "Naked" | "Sport" | "Cruiser" => "motorcycle",
            "Travel Trailer" | "Motorhome" => "rv",
            _ => "car",
        }
    }

    fn without_tags(html: &str) -> String {
        let mut bare = String::with_capacity(html.len());
        let mut inside = false;
        for c in html.chars() {
            match c {
                '<' => {
                    inside = true;
                    bare.push(' ');
                }
                '>' if inside => inside = false,
                _ if !inside => bare.push(c),
                _ => {}
            }
        }
        let bare = bare.replace("&amp;", "&");
        bare.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn evidence(label: &str) -> Option<&'static str> {
        Some(match label {
            "Apple CarPlay" => "apple_carplay",
            "Heated Front Seats" => "heated_front_seats",
            "Leather Seats" => "leather_seats",
            "Backup Camera" => "backup_camera",
            "Power Liftgate" => "power_liftgate",
            _ => return None,
        })
    }

    fn features(out: &mut Map<String, Value>, options: &str) -> Vec<Value> {
        let (mut labels, mut told) = (Vec::new(), Vec::new());
        let mut seen = HashSet::new();
        let parts = options.split(',').map(str::trim);
        for label in parts.filter(|label| !label.is_empty()) {
            if !seen.insert(label) {
                continue;
            }
            labels.push(Value::from(label));
            if let Some(code) = evidence(label) {
                told.push(json!({ "code": code, "label": label, "status": "present",
                                  "source": "inventory feed", "text": label }));
            }
        }
        if !labels.is_empty() {
            out.insert("features".to_owned(), Value::Array(labels));
        }
        told
    }

    /// One row to one listing.
    pub(super) fn listing(row: &Row) -> Map<String, Value> {
        let mut out = Map::new();
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                out.insert(name.to_owned(), value);
            }
        };
        let text = |name: &str| Some(cell(row, name)).filter(|text| !text.is_empty());
        let (stock, vin) = (cell(row, "Stock"), cell(row, "VIN").to_uppercase());
        put(
            "vehicle_id",
            Some(format!("{}.{vin}", stock.to_uppercase()).into()),
        );
        put("vin", Some(vin.into()));
        put("stock", Some(stock.into()));
        put("status", Some("available".into()));
        put("vehicle_type", Some(kind(cell(row, "Body")).into()));
        let new = cell(row, "Type") == "New";
        let condition = match (new, cell(row, "Certified")) {
            (true, _) => "new",
            (false, "True") => "cpo",
            (false, _) => "used",
        };
        put("condition", Some(condition.into()));
        put("year", whole(cell(row, "Year")).map(Value::from));
        put("make", text("Make").map(|text| make(text).into()));
        for (name, column) in [
            ("model", "Model"),
            ("trim", "Trim"),
            ("body", "Body"),
            ("exterior_color", "ExteriorColor"),
            ("interior_color", "InteriorColor"),
        ] {
            put(name, text(column).map(Value::from));
        }
        let miles = whole(cell(row, "Miles")).filter(|miles| *miles != 999_999);
        put(
            "mileage",
            miles.filter(|miles| new || *miles != 0).map(Value::from),
        );
        put("fuel", text("Fuel_Type").map(|text| fuel(text).into()));
        let litres = number(cell(row, "EngineDisplacement").trim_end_matches('L'));
        #[expect(clippy::cast_possible_truncation, reason = "an engine is small")]
        put(
            "displacement_cc",
            litres.map(|litres| ((litres * 1000.0).round() as i64).into()),
        );
        put("transmission", text("Transmission").map(Value::from));
        put("driveline", text("Drivetrain").map(Value::from));
        for (name, column) in [("city_mpg", "CityMPG"), ("highway_mpg", "HighwayMPG")] {
            put(
                name,
                whole(cell(row, column))
                    .filter(|n| *n != 0)
                    .map(Value::from),
            );
        }
        put("msrp", dollars(cell(row, "MSRP")).map(Value::from));
        put(
            "list_price",
            dollars(cell(row, "SellingPrice")).map(Value::from),
        );
        put("rooftop", text("DealerName").map(Value::from));
        put(
            "inventory_date",
            date(cell(row, "DateInStock")).map(Value::from),
        );
        let told = features(&mut out, cell(row, "Options"));
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                out.insert(name.to_owned(), value);
            }
        };
        let mut seen = HashSet::new();
        let photos: Vec<Value> = cell(row, "ImageList")
            .split('|')
            .filter(|url| url.starts_with("https://") && url.parse::<http::Uri>().is_ok())
            .filter(|url| seen.insert(*url))
            .take(40)
            .map(Value::from)
            .collect();
        put("photos", Some(photos.into()));
        put(
            "description",
            Some(without_tags(cell(row, "Description")).into()),
        );
        put("price", dollars(cell(row, "Misc_Price1")).map(Value::from));
        put(
            "feature_evidence",
            Some(told).filter(|told| !told.is_empty()).map(Value::from),
        );
        put("updated_at", Some(WRITTEN.into()));
        out
    }
}

fn mapped(mapping: &Mapping, row: &Row, tables: &Tables) -> Map<String, Value> {
    match mapping.apply(row, tables) {
        Outcome::Published(listing, _) => listing,
        Outcome::Hidden { reason, .. } | Outcome::Rejected { reason, .. } => {
            std::iter::once(("reason".to_owned(), reason.into())).collect()
        }
    }
}

/// Resident bytes of this process.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: usize = text
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse().ok())
        .unwrap_or(0);
    pages * 4096
}

/// Seconds of processor time this process has used, over all its threads.
fn processor() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = text.rsplit(')').next().unwrap_or_default();
    let ticks = after.split_whitespace().skip(11).take(2);
    ticks
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum::<f64>()
        / 100.0
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// What the listings of `rows` take while all are held, each.
fn held_bytes(rows: &[Row], listing: impl Fn(&Row) -> Map<String, Value>) -> usize {
    let before = resident();
    let held: Vec<_> = rows.iter().map(listing).collect();
    resident().saturating_sub(before) / black_box(held).len().max(1)
}

fn compare(rows: &[Row], mapping: &Mapping, tables: &Tables) {
    for row in rows {
        assert_eq!(mapped(mapping, row, tables), by_hand::listing(row));
    }
    let (mut by_file, mut by_hand_times) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let began = Instant::now();
        for row in rows {
            black_box(mapping.apply(black_box(row), tables));
        }
        by_file.push(began.elapsed());
        let began = Instant::now();
        for row in rows {
            black_box(by_hand::listing(black_box(row)));
        }
        by_hand_times.push(began.elapsed());
    }
    let (by_file, by_hand_time) = (median(by_file), median(by_hand_times));
    let by_file_bytes = held_bytes(rows, |row| mapped(mapping, row, tables));
    let by_hand_bytes = held_bytes(rows, by_hand::listing);
    let rate = |time: Duration| rows.len() as f64 / time.as_secs_f64();
    println!(
        "{} rows: mapping file {:.0} rows/s, by hand {:.0} rows/s, ratio {:.2}; \
         a mapped vehicle {by_file_bytes} bytes, by hand {by_hand_bytes} bytes",
        rows.len(),
        rate(by_file),
        rate(by_hand_time),
        by_file.as_secs_f64() / by_hand_time.as_secs_f64(),
    );
}

fn index(rows: Vec<Row>, mapping: Mapping) {
    let profile = Profile {
        dealer_id: None,
        name: "Harbor Point Motors".to_owned(),
        welcome_message: None,
        rooftops: vec![Rooftop {
            name: "Harbor Point Motors".to_owned(),
            geo: Some((45.5, -122.7)),
            timezone: None,
            public: Map::new(),
        }],
    };
    let count = rows.len();
    let frame = Frame::new(
        Scope::Dealer,
        &[Arc::new(profile)],
        mapping.features().to_vec(),
    );
    let supplied = mapping.supplied_fields();
    let options = SearchOptions::new(Scope::Dealer, &Skill::ALL);
    let capabilities = Capabilities::compile(&supplied, true, &options).expect("capabilities");
    let (rows, mapping) = (Arc::new(rows), Arc::new(mapping));
    let reader = Reader::new(move |sink| {
        let (rows, mapping) = (Arc::clone(&rows), Arc::clone(&mapping));
        async move {
            let tables = Tables::new().with_as_of(WRITTEN.parse().expect("a time"));
            let listings = rows
                .iter()
                .map(|row| Outcome::Published(mapped(&mapping, row, &tables), Vec::new()))
                .collect();
            for listing in mapping.resolve_duplicates(listings).kept {
                let unit = Unit::Listing(listing);
                sink.send(unit).await.map_err(|error| error.to_string())?;
            }
            Ok(())
        }
    });
    let contract = Contract::v3_0().expect("the contract");
    let (wall, used, before) = (Instant::now(), processor(), resident());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let inventory = runtime
        .block_on(Inventory::with_reader(
            Settings::new("bench", capabilities),
            reader,
            frame,
            Arc::new(move |listing: &Value| contract.check_listing(listing)),
            Arc::new(KeyRing::generate().expect("a key")),
            Clock::system(),
        ))
        .expect("an inventory");
    let bytes = resident().saturating_sub(before) / count;
    println!(
        "{count} rows mapped, checked and indexed: {:.1} s, {:.1} s of processor time; {bytes} bytes a vehicle",
        wall.elapsed().as_secs_f64(),
        processor() - used,
    );
    black_box(inventory);
}

fn main() {
    let mapping = Mapping::parse(PRESET).expect("the preset");
    let tables = Tables::new().with_as_of(WRITTEN.parse().expect("a time"));
    for count in [10_000, 100_000] {
        let mut numbers = Numbers(1);
        let rows: Vec<Row> = (0..count).map(|n| row(n, &mut numbers)).collect();
        compare(&rows, &mapping, &tables);
        index(rows, mapping.clone());
    }
}
