//! The figures as a table of ratios. Must not measure.

use std::time::Duration;

use crate::drive::Figures;

/// How a start went.
pub(crate) struct Start {
    pub(crate) vehicles: usize,
    pub(crate) took: Duration,
    pub(crate) memory_mb: u64,
    pub(crate) most_mb: u64,
}

/// One server's figures for one question.
pub(crate) struct Side {
    per_second: f64,
    p50: Duration,
    p99: Duration,
    cpu_us: f64,
}

impl Side {
    pub(crate) fn new(figures: &Figures, cpu: Duration) -> Self {
        Self {
            per_second: figures.per_second(),
            p50: figures.quantile(0.5),
            p99: figures.quantile(0.99),
            cpu_us: cpu.as_secs_f64() * 1e6 / figures.answered.max(1) as f64,
        }
    }
}

/// One question's figures.
pub(crate) struct Line {
    pub(crate) name: &'static str,
    /// Bytes of an answer, head included.
    pub(crate) bytes: usize,
    pub(crate) product: Side,
    pub(crate) floor: Side,
}

pub(crate) fn starts(starts: &[Start]) -> String {
    let head = "| vehicles | start to ready | memory | at most |\n|--:|--:|--:|--:|\n";
    starts
        .iter()
        .fold(head.to_owned(), |text, start| text + &start_line(start))
}

pub(crate) fn start_line(start: &Start) -> String {
    format!(
        "| {} | {} ms | {} MB | {} MB |\n",
        start.vehicles,
        start.took.as_millis(),
        start.memory_mb,
        start.most_mb
    )
}

pub(crate) fn head() -> &'static str {
    "| question | answer | a second | floor | ratio | p50 | p99 | floor's p99 | p99 ratio | CPU a call | floor's |\n\
     |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
}

pub(crate) fn line(line: &Line) -> String {
    let (product, floor) = (&line.product, &line.floor);
    format!(
        "| {} | {:.1} KB | {:.0} | {:.0} | {:.2} | {:.2} ms | {:.2} ms | {:.2} ms | {:.2} | {:.0} µs | {:.0} µs |\n",
        line.name,
        line.bytes as f64 / 1024.0,
        product.per_second,
        floor.per_second,
        product.per_second / floor.per_second.max(1.0),
        ms(product.p50),
        ms(product.p99),
        ms(floor.p99),
        ms(product.p99) / ms(floor.p99).max(1e-6),
        product.cpu_us,
        floor.cpu_us,
    )
}

/// Other servers' answers to the same searches; `product` is this one's own.
pub(crate) fn peers_head() -> &'static str {
    "| server | answer | a second | Forecourt is | p50 | p99 | CPU a call |\n\
     |---|--:|--:|--:|--:|--:|--:|\n"
}

pub(crate) fn peer(name: &str, bytes: usize, side: &Side, product: &Side) -> String {
    format!(
        "| {name} | {:.1} KB | {:.0} | {:.1} × | {:.2} ms | {:.2} ms | {:.0} µs |\n",
        bytes as f64 / 1024.0,
        side.per_second,
        product.per_second / side.per_second.max(1e-6),
        ms(side.p50),
        ms(side.p99),
        side.cpu_us,
    )
}

/// Searches asked of the product and of a database.
pub(crate) fn database_head() -> &'static str {
    "| search | asked of | answer | a second | Forecourt is | p50 | p99 | CPU a call |\n\
     |---|---|--:|--:|--:|--:|--:|--:|\n"
}

pub(crate) fn database(
    search: &str,
    name: &str,
    bytes: usize,
    side: &Side,
    product: &Side,
) -> String {
    format!("| {search} {}", peer(name, bytes, side, product))
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
