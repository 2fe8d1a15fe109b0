//! What a file is: its format, its encoding, and where its vehicles lie. Must not look at what columns mean.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde_json::Value;
use toml::Value as Toml;

use super::super::{Exit, Failure};
use super::Found;

/// As much of a file is looked at to find its format.
const MAX_LOOK: u64 = 64 << 20;

pub(super) fn look(path: &Path, items: Option<&str>) -> Result<Found, Failure> {
    let failed =
        |error: std::io::Error| Failure::new(Exit::Usage, format!("{}: {error}", path.display()));
    let bytes = start_of(path).map_err(failed)?;
    if path
        .extension()
        .is_some_and(|kind| kind.eq_ignore_ascii_case("dbf"))
    {
        let source =
            "[source]\nkind = \"feed\"\nformat = \"dbf\"\nas_of = \"file_time\"\n".to_owned();
        return Ok(Found {
            probe: source.clone(),
            text: source,
            ..Found::default()
        });
    }
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let (format, items) = match text.chars().next() {
        Some('<') => ("xml", items.map(str::to_owned).or_else(|| element(text))),
        Some('[') => ("json", None),
        Some('{') => match serde_json::from_str(text) {
            Ok(whole) => (
                "json",
                items.map(str::to_owned).or_else(|| longest_list(&whole)),
            ),
            Err(_) => ("json_lines", None),
        },
        _ => ("csv", None),
    };
    let mut source = format!("[source]\nkind = \"feed\"\nformat = \"{format}\"\n");
    if let Some(items) = items {
        source.extend([format!("items = {}\n", Toml::from(items))]);
    }
    if std::str::from_utf8(&bytes).is_err_and(|error| error.error_len().is_some()) {
        source.push_str("encoding = \"windows-1252\"\n");
    }
    source.push_str("as_of = \"file_time\"\n");
    Ok(Found {
        probe: source.clone(),
        text: source,
        ..Found::default()
    })
}

/// The beginning of a file, or of a folder's first one; unpacked.
fn start_of(path: &Path) -> std::io::Result<Vec<u8>> {
    let path = if path.is_dir() {
        first_of(path)?
    } else {
        path.to_owned()
    };
    let mut head = [0; 2];
    let length = File::open(&path)?.read(&mut head)?;
    let whole = BufReader::new(File::open(&path)?);
    let mut bytes = Vec::new();
    if length == 2 && head == [0x1f, 0x8b] {
        flate2::read::MultiGzDecoder::new(whole)
            .take(MAX_LOOK)
            .read_to_end(&mut bytes)?;
    } else {
        whole.take(MAX_LOOK).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn first_of(folder: &Path) -> std::io::Result<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files
        .into_iter()
        .next()
        .ok_or_else(|| std::io::Error::other("the folder holds no file"))
}

/// The path of the longest list of objects.
fn longest_list(whole: &Value) -> Option<String> {
    fn walk(at: &str, value: &Value, depth: usize, best: &mut Option<(usize, String)>) {
        let Some(members) = value.as_object().filter(|_| depth < 3) else {
            return;
        };
        for (name, value) in members {
            let path = if at.is_empty() {
                name.clone()
            } else {
                format!("{at}.{name}")
            };
            let length = value.as_array().map_or(0, |list| {
                list.iter().filter(|element| element.is_object()).count()
            });
            if length > best.as_ref().map_or(0, |(length, _)| *length) {
                *best = Some((length, path.clone()));
            }
            walk(&path, value, depth + 1, best);
        }
    }
    let mut best = None;
    walk("", whole, 0, &mut best);
    best.map(|(_, path)| path)
}

/// The element that repeats most directly below the root, or below its only child.
fn element(text: &str) -> Option<String> {
    use quick_xml::events::Event;
    let mut reader = quick_xml::Reader::from_str(text);
    let mut counts: BTreeMap<(usize, String), usize> = BTreeMap::new();
    let mut depth = 0_usize;
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) => {
                *counts
                    .entry((depth, tag.name().as_ref().to_owned()))
                    .or_default() += 1;
                depth += 1;
            }
            Ok(Event::Empty(tag)) => {
                *counts
                    .entry((depth, tag.name().as_ref().to_owned()))
                    .or_default() += 1;
            }
            Ok(Event::End(_)) => depth = depth.saturating_sub(1),
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    for level in 1..=3 {
        let at_level = counts.iter().filter(|((depth, _), _)| *depth == level);
        let most = at_level.max_by_key(|(_, count)| **count);
        if let Some(((_, name), count)) = most
            && *count > 1
        {
            return Some(name.clone());
        }
    }
    None
}
