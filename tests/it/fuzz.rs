//! The fuzzer's targets over its corpus, the specification's examples, and small damage to each.

use std::fs;
use std::path::Path;

use forecourt::contract;

#[path = "../fuzz/targets.rs"]
mod targets;

/// Every file of the folders.
fn seeds() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut seeds = Vec::new();
    for folder in ["fuzz/corpus/request", "data/fixtures"] {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            seeds.push(fs::read(entry.unwrap().path()).unwrap());
        }
    }
    seeds
}

// AAP-097 AAP-502
#[test]
fn the_corpus_breaks_no_promise() {
    let seeds = seeds();
    assert!(seeds.len() > 50, "{}", seeds.len());
    for seed in &seeds {
        targets::request(seed);
    }
}

// AAP-097 AAP-502: cut short, with one byte changed, and with one text put in the place of another.
#[test]
fn damaged_requests_break_no_promise() {
    for seed in seeds().iter().filter(|seed| seed.len() < 3_000) {
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
