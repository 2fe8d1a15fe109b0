//! The same page and the same exact total asked of a PostgreSQL and of the product over MCP: first that both
//! answer the same, then how fast, in turn, in one run. Must not measure where they differ.

mod server;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::Arguments;
use crate::drive::{self, Figures};
use crate::process::Process;
use crate::questions::{self, Question};
use crate::table::{self, Side};

use server::Server;
use wire::{Session, Statements};

/// What the plain searches ask, in their order.
const SEARCHES: [(&str, &str); 3] = [
    (
        "few",
        "make = 'make 3' AND model = 'model 3-4' AND condition = 'used' AND price <= 40000",
    ),
    (
        "some",
        "make IN ('make 3', 'make 5') AND body IN ('body 1', 'body 2', 'body 3') AND price <= 40000",
    ),
    (
        "many",
        "condition = 'used' AND price BETWEEN 10000 AND 35000 AND mileage <= 100000",
    ),
];

/// The table that is asked, and what its indexes are.
const TABLES: [(&str, &str); 2] = [
    ("vehicle", "PostgreSQL, an index a column"),
    ("tuned", "PostgreSQL, indexes made for these searches"),
];

/// One search, or all of them in turn.
struct Search {
    name: &'static str,
    question: Question,
    conditions: Vec<String>,
    value: Option<fn(u64) -> u64>,
}

impl Search {
    fn statements(&self, table: &str) -> Arc<Statements> {
        let statement = |condition: &String| {
            format!(
                "SELECT (SELECT count(*) FROM {table} WHERE {condition}) AS total, page.* FROM \
                 (SELECT * FROM {table} WHERE {condition} ORDER BY price, id LIMIT 20) page"
            )
        };
        Arc::new(Statements {
            texts: self.conditions.iter().map(statement).collect(),
            value: self.value,
        })
    }
}

/// Each search for itself, all in turn, and all in turn with another mileage each time.
fn searches() -> Vec<Search> {
    let plain = questions::plain(false);
    let conditions = || SEARCHES.map(|(_, condition)| condition.to_owned()).to_vec();
    let each = SEARCHES.iter().enumerate();
    let mut searches: Vec<Search> = each
        .map(|(at, (name, condition))| Search {
            name,
            question: plain.only(at),
            conditions: vec![(*condition).to_owned()],
            value: None,
        })
        .collect();
    searches.push(Search {
        name: "these three in turn",
        question: plain,
        conditions: conditions(),
        value: None,
    });
    let new = |condition: String| {
        let rest = condition.trim_end_matches(" AND mileage <= 100000");
        format!("{rest} AND mileage <= $1")
    };
    searches.push(Search {
        name: "new each time",
        question: questions::plain(true),
        conditions: conditions().into_iter().map(new).collect(),
        value: Some(questions::mileage),
    });
    searches
}

/// The table of figures.
pub(crate) fn beside(arguments: &Arguments, product: &Process) -> String {
    let runtime = drive::runtime();
    let server = runtime.block_on(Server::start(arguments.vehicles));
    let mut text = table::database_head().to_owned();
    print!("{text}");
    for search in searches() {
        let same = runtime.block_on(same_answers(&search, product, &server));
        let name = match same.totals.as_slice() {
            [total] => format!("{}: {total}", search.name),
            _ => search.name.to_owned(),
        };
        let sides = in_turn(arguments, &search, product, &server);
        let own = &sides[0];
        let names = ["Forecourt, MCP", TABLES[0].1, TABLES[1].1];
        let bytes = [same.own_bytes, same.their_bytes, same.their_bytes];
        for ((asked, side), bytes) in names.iter().zip(&sides).zip(bytes) {
            let line = table::database(&name, asked, bytes, side, own);
            print!("{line}");
            text.push_str(&line);
        }
    }
    text
}

/// What both answer.
#[derive(Default)]
struct Same {
    totals: Vec<String>,
    /// Of an answer, in the mean.
    own_bytes: usize,
    their_bytes: usize,
}

/// Holds that both answer with the same total and the same vehicles in the same order.
async fn same_answers(search: &Search, product: &Process, server: &Server) -> Same {
    let count = search.conditions.len();
    let mut same = Same::default();
    // Where each question is a new one, both must be asked the same new one.
    let question = search.question.fixed();
    let requests = question.requests(false);
    let value: Option<fn(u64) -> u64> = search.value.map(|_| (|_| questions::FIXED) as _);
    for (table, _) in TABLES {
        let statements = Arc::new(Statements {
            value,
            texts: search.statements(table).texts.clone(),
        });
        let mut session = Session::open(server.address, &statements)
            .await
            .expect("a session");
        same.totals.clear();
        for n in 0..count as u64 {
            let answer = drive::ask_once(product.address, &requests(n)).await;
            let rows = session.rows(n).await.expect("rows");
            let (total, ids) = page(&answer);
            assert_eq!(rows.len(), 20, "{}: a whole page", search.name);
            let told = rows
                .iter()
                .map(|row| (row[0].clone(), format!("v{}", row[1])));
            let (totals, told): (Vec<_>, Vec<_>) = told.unzip();
            assert!(
                totals.iter().all(|told| *told == total),
                "{}: {total}",
                search.name
            );
            assert_eq!(told, ids, "{}: the same page", search.name);
            same.totals.push(total);
            let asked = count * TABLES.len();
            same.own_bytes += answer.len() / asked;
            same.their_bytes += session.bytes(n).await.expect("rows") / asked;
        }
    }
    same
}

/// Total and ids of an answer over MCP.
fn page(answer: &[u8]) -> (String, Vec<String>) {
    let head = memchr::memmem::find(answer, b"\r\n\r\n").expect("an answer");
    let body: Value = serde_json::from_slice(&answer[head + 4..]).expect("JSON");
    let data = &body["result"]["structuredContent"]["data"];
    let vehicles = data["vehicles"].as_array().expect("vehicles");
    let ids = vehicles
        .iter()
        .map(|vehicle| vehicle["vehicle_id"].as_str());
    let ids = ids.map(|id| id.unwrap_or_default().to_owned());
    (data["total"].to_string(), ids.collect())
}

/// The product and both tables, in turn, as often as there are rounds.
fn in_turn(
    arguments: &Arguments,
    search: &Search,
    product: &Process,
    server: &Server,
) -> [Side; 3] {
    let requests = search.question.requests(false);
    let statements = TABLES.map(|(table, _)| search.statements(table));
    let (time, connections) = (
        Duration::from_secs(arguments.seconds),
        arguments.connections,
    );
    let warm = Duration::from_millis(300);
    drop(drive::drive(product.address, &requests, connections, warm));
    let mut sums: [Option<(Figures, Duration)>; 3] = [None, None, None];
    for _ in 0..arguments.rounds {
        let before = product.cpu();
        let figures = drive::drive(product.address, &requests, connections, time);
        let cpu = product.cpu().saturating_sub(before);
        let runs = statements.iter().map(|s| ask(server, s, connections, time));
        let runs = std::iter::once((figures, cpu)).chain(runs);
        for (sum, (figures, cpu)) in sums.iter_mut().zip(runs) {
            *sum = Some(match sum.take() {
                None => (figures, cpu),
                Some((earlier, more)) => (earlier.and(figures), more + cpu),
            });
        }
    }
    sums.map(|sum| {
        let (figures, cpu) = sum.expect("a round");
        Side::new(&figures, cpu)
    })
}

/// What so many sessions get out of it, and its processor time while they ask.
fn ask(
    server: &Server,
    statements: &Arc<Statements>,
    connections: usize,
    time: Duration,
) -> (Figures, Duration) {
    drive::runtime().block_on(async {
        let mut sessions = Vec::new();
        for _ in 0..connections {
            let session = Session::open(server.address, statements).await;
            sessions.push(session.expect("a session"));
        }
        let before = server.cpu();
        let (figures, sessions) = drive::keep_busy(sessions, time).await;
        let cpu = server.cpu().saturating_sub(before);
        drop(sessions);
        (figures, cpu)
    })
}
