//! The inventory engine beside a naive scan of the same vehicles, in one run: what indexing is worth.
//! `cargo bench --bench search`.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::wildcard_enum_match_arm,
    reason = "a bench may stop and prints what it measured"
)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use forecourt::clock::Clock;
use forecourt::contract::Capabilities;
use forecourt::contract::capabilities::Scope;
use forecourt::contract::request::{Filters, SearchRequest, Sort, SortField, SortOrder};
use forecourt::inventory::{Frame, Inventory, Reader, Settings, Unit};
use forecourt::profile::{Profile, Rooftop};
use forecourt::seal::KeyRing;
use serde_json::{Map, Value, json};

#[path = "stock/mod.rs"]
mod stock;

use stock::{FEATURES, Numbers, PER_DEALER, Row, row};

fn listing(n: usize, row: &Row) -> Map<String, Value> {
    let evidence: Vec<Value> = row
        .features
        .iter()
        .map(|code| {
            json!({"code": code, "label": code, "status": "present",
                   "source": "inventory", "text": code})
        })
        .collect();
    let mut listing = json!({
        "vehicle_id": format!("v{n:08}"), "dealer_id": format!("d{}", n / PER_DEALER),
        "rooftop": "main", "status": "available", "updated_at": "2026-11-01T00:00:00Z",
        "vin": row.vin.to_uppercase(), "stock": row.stock.to_uppercase(),
        "make": row.make, "model": row.model, "trim": row.trim, "condition": row.condition,
        "body": row.body, "fuel": row.fuel, "driveline": row.driveline,
        "exterior_color": row.color, "year": row.year, "mileage": row.mileage,
        "feature_evidence": evidence,
        "photos": [format!("https://cars.example.com/photos/{n}/1.jpg")],
    });
    if let Some(price) = row.price {
        listing["price"] = price.into();
    }
    match listing {
        Value::Object(listing) => listing,
        _ => Map::new(),
    }
}

struct Query {
    name: &'static str,
    filters: Filters,
}

fn queries() -> Vec<Query> {
    let all = [
        (
            "narrow",
            json!({"make": ["make 3"], "model": ["model 3-4"], "body": ["body 2"],
                          "condition": ["used"], "price_max": 30_000}),
        ),
        (
            "middle",
            json!({"make": ["make 3", "make 5"], "body": ["body 1", "body 2", "body 3"],
                          "price_max": 40_000}),
        ),
        (
            "broad",
            json!({"condition": ["used"], "price_min": 10_000, "price_max": 35_000,
                         "mileage_max": 100_000}),
        ),
        (
            "geo",
            json!({"near": {"latitude": 40.0, "longitude": -90.0, "radius_mi": 93.2},
                       "condition": ["used"], "body": ["body 2"], "fuel": ["fuel 1"],
                       "price_max": 40_000}),
        ),
        ("keyword", json!({"query": "model 3-4 7919"})),
        (
            "features",
            json!({"features_all": ["feature_1", "feature_4"], "make": ["make 3"]}),
        ),
        ("everything", json!({})),
    ];
    all.into_iter()
        .map(|(name, filters)| Query {
            name,
            filters: serde_json::from_value(filters).unwrap_or_default(),
        })
        .collect()
}

/// The plain answer: one pass with short circuits, then the twenty cheapest.
fn naive(rows: &[Row], filters: &Filters) -> (usize, Vec<usize>) {
    let one_of = |wanted: &Option<Vec<String>>, has: &str| {
        wanted
            .as_ref()
            .is_none_or(|wanted| wanted.iter().any(|one| one == has))
    };
    let query = filters.query.as_deref().unwrap_or_default();
    let tokens: Vec<&str> = query.split_whitespace().collect();
    let mut found: Vec<(i64, usize)> = Vec::new();
    for (n, row) in rows.iter().enumerate() {
        let price = row.price.unwrap_or(i64::MAX);
        let hit = one_of(&filters.make, &row.make)
            && one_of(&filters.model, &row.model)
            && one_of(&filters.body, &row.body)
            && one_of(&filters.fuel, &row.fuel)
            && one_of(&filters.driveline, &row.driveline)
            && one_of(&filters.exterior_color, &row.color)
            && one_of(&filters.condition, row.condition)
            && filters
                .price_min
                .is_none_or(|min| row.price.is_some_and(|p| p >= min))
            && filters
                .price_max
                .is_none_or(|max| row.price.is_some_and(|p| p <= max))
            && filters.year_min.is_none_or(|min| row.year >= min)
            && filters.mileage_max.is_none_or(|max| row.mileage <= max)
            && filters
                .features_all
                .iter()
                .flatten()
                .all(|code| row.features.contains(code))
            && tokens.iter().all(|token| {
                [&row.make, &row.model, &row.trim, &row.vin, &row.stock]
                    .into_iter()
                    .any(|text| text.contains(token))
            })
            && filters.near.is_none_or(|near| {
                miles(row.place, (near.latitude, near.longitude)) <= near.radius_mi
            });
        if hit {
            found.push((price, n));
        }
    }
    let total = found.len();
    if total > 20 {
        found.select_nth_unstable(20);
        found.truncate(20);
    }
    found.sort_unstable();
    (total, found.into_iter().map(|(_, n)| n).collect())
}

fn miles(a: (f64, f64), b: (f64, f64)) -> f64 {
    let (lat_a, lat_b) = (a.0.to_radians(), b.0.to_radians());
    let x = ((lat_b - lat_a) / 2.0).sin().powi(2);
    let y = ((b.1 - a.1).to_radians() / 2.0).sin().powi(2);
    2.0 * 3958.7613 * (x + lat_a.cos() * lat_b.cos() * y).sqrt().asin()
}

fn profiles(rows: &[Row]) -> Vec<Arc<Profile>> {
    let dealers = rows.chunks(PER_DEALER).enumerate();
    dealers
        .map(|(n, rows)| {
            Arc::new(Profile {
                dealer_id: Some(format!("d{n}")),
                name: "Example Motors".into(),
                welcome_message: None,
                rooftops: vec![Rooftop {
                    name: "main".into(),
                    geo: rows.first().map(|row| row.place),
                    timezone: None,
                    public: Map::new(),
                }],
            })
        })
        .collect()
}

fn engine(rows: &Arc<Vec<Row>>) -> Arc<Inventory> {
    let capabilities = Capabilities {
        scope: Scope::Aggregate,
        filters: Vec::new(),
        sort_fields: Vec::new(),
        default_sort: Sort {
            field: SortField::Price,
            order: SortOrder::Asc,
        },
        default_limit: 20,
        max_limit: 100,
        offset: false,
    };
    let source = Arc::clone(rows);
    let reader = Reader::new(move |sink| {
        let rows = Arc::clone(&source);
        async move {
            for (n, row) in rows.iter().enumerate() {
                let unit = Unit::Listing(listing(n, row));
                sink.send(unit).await.map_err(|error| error.to_string())?;
            }
            Ok(())
        }
    });
    let features = (0..FEATURES).map(|f| (format!("feature_{f}"), format!("Feature {f}")));
    let frame = Frame::new(Scope::Aggregate, &profiles(rows), features.collect());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let keys = Arc::new(KeyRing::generate().expect("a key"));
    let mut settings = Settings::new("bench", capabilities);
    // The search itself is measured, not its memory.
    settings.keeps_pages = false;
    let inventory = Inventory::with_reader(
        settings,
        reader,
        frame,
        Arc::new(|_: &Value| Ok(())),
        keys,
        Clock::system(),
    );
    runtime.block_on(inventory).expect("an inventory")
}

fn report(inventory: &Inventory, vehicles: usize) {
    let status = inventory.status();
    let index = status.index.expect("an index");
    let each = |bytes: usize| bytes / vehicles.max(1);
    println!(
        "{vehicles} vehicles: read {} ms, index {} ms; bytes a vehicle: columns {}, orders {}, \
         look-up {}, keywords {}",
        status.read_ms,
        status.build_ms,
        each(index.columns),
        each(index.orders),
        each(index.look_up),
        each(index.keywords)
    );
}

fn bench(criterion: &mut Criterion) {
    for vehicles in [10_000, 100_000, 1_000_000] {
        let mut numbers = Numbers(1);
        let rows: Vec<Row> = (0..vehicles).map(|n| row(n, &mut numbers)).collect();
        let rows = Arc::new(rows);
        let started = Instant::now();
        let inventory = engine(&rows);
        println!("whole start: {} ms", started.elapsed().as_millis());
        report(&inventory, vehicles);
        let mut group = criterion.benchmark_group(format!("{vehicles}"));
        group.warm_up_time(Duration::from_millis(200));
        group.measurement_time(Duration::from_millis(800));
        group.sample_size(20);
        for Query { name, filters } in queries() {
            let request = SearchRequest {
                filters: Some(filters.clone().into()),
                ..SearchRequest::default()
            };
            let page = inventory.search(&request, "anonymous").expect("a page");
            let (total, first) = naive(&rows, &filters);
            assert_eq!(
                (page.total, page.vehicles.found().len()),
                (total as u64, first.len())
            );
            if name != "everything" {
                let prices = |n: &usize| rows[*n].price;
                let got: Vec<_> = page
                    .vehicles
                    .found()
                    .iter()
                    .map(|f| f.listing.to_value()["price"].as_i64())
                    .collect();
                assert_eq!(got, first.iter().map(prices).collect::<Vec<_>>());
            }
            group.bench_function(
                BenchmarkId::new("engine", format!("{name} ({total})")),
                |b| {
                    b.iter(|| inventory.search(black_box(&request), "anonymous"));
                },
            );
            group.bench_function(BenchmarkId::new("naive", name), |b| {
                b.iter(|| naive(black_box(&rows), black_box(&filters)));
            });
            group.bench_function(BenchmarkId::new("facets", name), |b| {
                b.iter(|| inventory.facets(black_box(request.filters.as_ref())));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
