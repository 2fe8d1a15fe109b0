//! The fuzzer's targets over their corpora, the specification's examples, and small damage to each.

use std::fs;
use std::path::Path;

#[expect(unreachable_pub, reason = "the fuzzers' crate calls them from outside")]
#[path = "../fuzz/targets/mod.rs"]
mod targets;

/// Bytes that readers stumble over.
const ODD: [u8; 6] = [b'"', b'{', b'9', b'\n', 0, 0xff];

/// Every file of the folders below `tests`.
fn seeds(folders: &[&str]) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut files = Vec::new();
    for folder in folders {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            files.push(entry.unwrap().path());
        }
    }
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

/// Each seed as it is, cut short, and with one byte changed; `most` damaged copies of each at most.
fn replay(target: fn(&[u8]), seeds: &[Vec<u8>], most: usize) {
    assert!(seeds.len() > 2, "{} seeds", seeds.len());
    for seed in seeds {
        target(seed);
        let step = (2 * seed.len() / most).max(1);
        for (turn, at) in (0..seed.len()).step_by(step).enumerate() {
            target(&seed[..at]);
            let mut damaged = seed.clone();
            damaged[at] = ODD[turn % ODD.len()];
            target(&damaged);
        }
    }
}

// AAP-097 AAP-502
#[test]
fn the_corpus_breaks_no_promise() {
    let seeds = seeds(&["fuzz/corpus/request", "data/fixtures"]);
    assert!(seeds.len() > 50, "{}", seeds.len());
    for seed in &seeds {
        targets::request(seed);
    }
}

// AAP-097 AAP-502: cut short, with one byte changed, and with one text put in the place of another.
#[test]
fn damaged_requests_break_no_promise() {
    let seeds = seeds(&["fuzz/corpus/request", "data/fixtures"]);
    for seed in seeds.iter().filter(|seed| seed.len() < 3_000) {
        for at in (0..seed.len()).step_by(23) {
            targets::request(&seed[..at]);
            for byte in [b'"', b'{', b'9', 0xff] {
                let mut damaged = seed.clone();
                damaged[at] = byte;
                targets::request(&damaged);
            }
        }
    }
}

// AAP-097 AAP-502
#[test]
fn mcp_messages_break_no_promise() {
    replay(targets::mcp, &seeds(&["fuzz/corpus/mcp"]), 60);
}

// AAP-502
#[test]
fn a2a_messages_break_no_promise() {
    replay(targets::a2a, &seeds(&["fuzz/corpus/a2a"]), 60);
}

#[test]
fn requests_to_the_issuer_break_no_promise() {
    replay(targets::pap, &seeds(&["fuzz/corpus/pap"]), 100);
}

// AAP-423 AAP-427
#[test]
fn cursors_break_no_promise() {
    replay(targets::cursor, &seeds(&["fuzz/corpus/cursor"]), 100);
}

#[test]
fn mapping_files_break_no_promise() {
    replay(targets::mapping, &seeds(&["fuzz/corpus/mapping"]), 30);
}

#[test]
fn rows_break_no_promise() {
    replay(targets::rows, &seeds(&["fuzz/corpus/rows"]), 60);
}

#[test]
fn feed_files_break_no_promise() {
    replay(targets::feed, &seeds(&["fuzz/corpus/feed"]), 60);
}

// AAP-576
#[test]
fn leads_and_profiles_break_no_promise() {
    replay(targets::adf, &seeds(&["fuzz/corpus/adf"]), 100);
}

#[test]
fn configurations_break_no_promise() {
    replay(targets::config, &seeds(&["fuzz/corpus/config"]), 30);
}
