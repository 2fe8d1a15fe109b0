//! The whole product under load beside the floor, a bare hyper server that returns the same bytes: in one
//! run, by the same client, in turn. `cargo bench --bench load -- --help` says what can be set.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::let_underscore_must_use,
    reason = "a bench may stop, and prints what it measured"
)]

mod dealer;
mod drive;
mod floor;
#[path = "../stock/lead.rs"]
mod lead;
mod postgres;
mod process;
mod questions;
#[path = "../stock/mod.rs"]
mod stock;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Parser as _;

use process::Process;
use questions::Question;
use table::{Line, Start};

/// Measures the product under load beside a bare server.
#[derive(Debug, clap::Parser)]
struct Arguments {
    /// Vehicles of the dealer
    #[arg(long, default_value_t = 100_000)]
    vehicles: usize,
    /// Keep-alive connections
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// Seconds of one round against one server
    #[arg(long, default_value_t = 2)]
    seconds: u64,
    /// Rounds, each against one server and then the other
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Only the questions whose names contain this
    #[arg(long, default_value = "")]
    only: String,
    /// Another server to ask the same searches, as NAME=COMMAND with `{port}` and `{database}` in it
    #[arg(long = "peer", value_name = "NAME=COMMAND")]
    peers: Vec<String>,
    /// Ask a private `PostgreSQL` the same searches, and nothing else of anybody
    #[arg(long)]
    postgres: bool,
    /// Write the table there too, as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Given by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some("floor") {
        let folder = std::env::args_os().nth(2).expect("a folder");
        return floor::run(Path::new(&folder));
    }
    let arguments = Arguments::parse();
    let folder = tempfile::tempdir().expect("a folder");
    if arguments.postgres {
        let product = start(&folder.path().join("large"), arguments.vehicles);
        return keep(&arguments, &postgres::beside(&arguments, &product));
    }
    let small = start(&folder.path().join("small"), 10_000);
    let mut text = table::starts(&[measure_start(10_000, &small)]);
    drop(small);
    let product = start(&folder.path().join("large"), arguments.vehicles);
    text.push_str(&table::start_line(&measure_start(
        arguments.vehicles,
        &product,
    )));
    print!("{text}");
    let mut lines = table::head().to_owned();
    print!("\n{lines}");
    for question in questions::all() {
        if question.name.contains(&arguments.only) {
            let answers = folder.path().join(question.name);
            let line = table::line(&compare(&arguments, &question, &product, &answers));
            print!("{line}");
            lines.push_str(&line);
        }
    }
    let database = folder.path().join("large/dealer.sqlite");
    let peers = beside_peers(&arguments, &product, &database);
    print!("\n{peers}");
    let (now, most) = product.memory_mb();
    println!("\nmemory after the load: {now} MB, at most {most} MB");
    keep(&arguments, &format!("{text}\n{lines}\n{peers}"));
}

fn keep(arguments: &Arguments, text: &str) {
    if let Some(path) = &arguments.markdown {
        fs::write(path, text).expect("a file");
    }
}

fn start(folder: &Path, vehicles: usize) -> Process {
    let port = process::free_port();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let config = runtime.block_on(dealer::make(folder, vehicles, port));
    Process::forecourt(&config, port)
}

fn measure_start(vehicles: usize, process: &Process) -> Start {
    let (memory_mb, most_mb) = process.memory_mb();
    Start {
        vehicles,
        took: process.start,
        memory_mb,
        most_mb,
    }
}

/// The same searches asked of this product and of every other server, one after another.
fn beside_peers(arguments: &Arguments, product: &Process, database: &Path) -> String {
    if arguments.peers.is_empty() {
        return String::new();
    }
    let mut text = table::peers_head().to_owned();
    let question = questions::plain(false);
    let (bytes, own) = ask(arguments, &question, product);
    text.push_str(&table::peer("Forecourt", bytes, &own, &own));
    for peer in &arguments.peers {
        let (name, command) = peer.split_once('=').expect("NAME=COMMAND");
        let server = Process::other(command, database);
        let (bytes, side) = ask(arguments, &question, &server);
        text.push_str(&table::peer(name, bytes, &side, &own));
    }
    text
}

fn ask(arguments: &Arguments, question: &Question, server: &Process) -> (usize, table::Side) {
    let requests = question.requests(false);
    let answers =
        (0..question.len() as u64).map(|n| drive::once(server.address, &requests(n)).len());
    let bytes = answers.sum::<usize>() / question.len();
    let before = server.cpu();
    let time = Duration::from_secs(arguments.seconds);
    let figures = drive::drive(server.address, &requests, arguments.connections, time);
    (
        bytes,
        table::Side::new(&figures, server.cpu().saturating_sub(before)),
    )
}

/// Both servers in turn.
fn compare(arguments: &Arguments, question: &Question, product: &Process, folder: &Path) -> Line {
    fs::create_dir_all(folder).expect("a folder");
    let (asked, floors) = (question.requests(false), question.requests(true));
    let mut bytes = 0;
    for n in 0..question.len() {
        let answer = drive::once(product.address, &asked(n as u64));
        bytes += answer.len();
        fs::write(folder.join(n.to_string()), answer).expect("a file");
    }
    let floor = Process::floor(folder);
    let time = Duration::from_secs(arguments.seconds);
    let warm = Duration::from_millis(300);
    let mut sums = Vec::new();
    for (server, requests) in [(product, &asked), (&floor, &floors)] {
        drop(drive::drive(
            server.address,
            requests,
            arguments.connections,
            warm,
        ));
        sums.push((None, Duration::ZERO));
    }
    for _ in 0..arguments.rounds {
        for (at, (server, requests)) in [(product, &asked), (&floor, &floors)]
            .into_iter()
            .enumerate()
        {
            let before = server.cpu();
            let figures = drive::drive(server.address, requests, arguments.connections, time);
            let (sum, cpu) = &mut sums[at];
            *cpu += server.cpu().saturating_sub(before);
            *sum = Some(match sum.take() {
                None => figures,
                Some(earlier) => drive::Figures::and(earlier, figures),
            });
        }
    }
    let mut sides = sums
        .into_iter()
        .map(|(sum, cpu)| table::Side::new(&sum.expect("a round"), cpu));
    Line {
        name: question.name,
        bytes: bytes / question.len(),
        product: sides.next().expect("the product"),
        floor: sides.next().expect("the floor"),
    }
}
