//! Invented vehicles for benches: the same in every run. Must not know what is measured on them.

/// Vehicles of one dealer.
pub(crate) const PER_DEALER: usize = 150;
pub(crate) const FEATURES: usize = 40;

/// Numbers that look random and are the same in every run (Steele's splitmix64).
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap_or(0)
    }
}

/// One vehicle as a plain row, texts already in lowercase: all that the naive scan needs.
pub(crate) struct Row {
    pub(crate) make: String,
    pub(crate) model: String,
    pub(crate) trim: String,
    pub(crate) condition: &'static str,
    pub(crate) body: String,
    pub(crate) fuel: String,
    pub(crate) driveline: String,
    pub(crate) color: String,
    pub(crate) vin: String,
    pub(crate) stock: String,
    pub(crate) year: i64,
    pub(crate) price: Option<i64>,
    pub(crate) mileage: i64,
    pub(crate) features: Vec<String>,
    pub(crate) place: (f64, f64),
}

pub(crate) fn row(n: usize, numbers: &mut Numbers) -> Row {
    let make = numbers.below(30) * numbers.below(2) + numbers.below(12);
    let model = numbers.below(14);
    let dealer = n / PER_DEALER;
    let mut place = Numbers(dealer as u64);
    let (latitude, longitude) = (place.below(24_000), place.below(57_000));
    let features: Vec<usize> = (0..FEATURES)
        .filter(|f| numbers.below(f + 2) == 0)
        .collect();
    Row {
        make: format!("make {make}"),
        model: format!("model {make}-{model}"),
        trim: format!("trim {}", numbers.below(9)),
        condition: ["new", "used", "used", "cpo"][numbers.below(4)],
        body: format!("body {}", numbers.below(8)),
        fuel: format!("fuel {}", numbers.below(5)),
        driveline: format!("drive {}", numbers.below(4)),
        color: format!("color {}", numbers.below(12)),
        features: features.iter().map(|f| format!("feature_{f}")).collect(),
        vin: format!("1hg{:014}", (n * 7_919) % 100_000_000),
        stock: format!("s{n}"),
        year: 2010 + i64::try_from(numbers.below(16)).unwrap_or(0),
        price: (numbers.below(20) > 0)
            .then(|| 5_000 + i64::try_from(numbers.below(60_000)).unwrap_or(0)),
        mileage: i64::try_from(numbers.below(150_000)).unwrap_or(0),
        place: (
            25.0 + f64::from(u32::try_from(latitude).unwrap_or(0)) / 1000.0,
            -124.0 + f64::from(u32::try_from(longitude).unwrap_or(0)) / 1000.0,
        ),
    }
}
