//! Finds the file that a feed is now: on disk, the newest of a directory, or fetched from a server into a
//! file without a name. Must not look into it.

use std::fs::{self, Metadata};
use std::io::{self, Seek as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::super::Fault;
use super::super::http::{Failure, Got, Site, Version, Wanted, naming};
use super::super::mark::{Mark, Stamp};
use super::settings::Web;

/// An opened feed.
pub(super) struct Found {
    pub(super) file: fs::File,
    /// When it was written, if that is known.
    pub(super) written: Option<Timestamp>,
    pub(super) mark: Mark,
}

fn unreadable(at: &Path, error: &io::Error) -> Failure {
    (Fault::Unreachable, format!("{}: {error}", at.display()))
}

/// The file itself, or a directory's file that was written last; as it is now.
pub(super) fn newest(path: &Path, pattern: Option<&str>) -> Result<Stamp, Failure> {
    let data = fs::metadata(path).map_err(|e| unreadable(path, &e))?;
    if !data.is_dir() {
        return stamp(path.to_owned(), &data);
    }
    let mut best: Option<Stamp> = None;
    for entry in fs::read_dir(path).map_err(|e| unreadable(path, &e))? {
        let file = entry.map_err(|e| unreadable(path, &e))?.path();
        if !counts(&file, pattern) {
            continue;
        }
        // One that went since the directory was read is not there.
        let Ok(data) = fs::metadata(&file) else {
            continue;
        };
        if !data.is_file() {
            continue;
        }
        let found = stamp(file, &data)?;
        let later = |best: &Stamp| (found.written, &found.path) > (best.written, &best.path);
        if best.as_ref().is_none_or(later) {
            best = Some(found);
        }
    }
    best.ok_or_else(|| {
        let words = match pattern {
            Some(pattern) => format!("the directory holds no file like `{pattern}`"),
            None => "the directory holds no file".to_owned(),
        };
        (Fault::Unreachable, words)
    })
}

/// Whether a file of a directory counts: hidden ones are a transfer's unfinished ones.
fn counts(file: &Path, pattern: Option<&str>) -> bool {
    let Some(name) = file.file_name().map(|name| name.to_string_lossy()) else {
        return false;
    };
    !name.starts_with('.') && pattern.is_none_or(|pattern| matches(pattern, &name))
}

/// `*` stands for any text, `?` for one character.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || name.get(n) == Some(c) => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    p = at + 1;
                    n = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(p).all(|c| *c == '*')
}

fn stamp(path: PathBuf, data: &Metadata) -> Result<Stamp, Failure> {
    let modified = data.modified().map_err(|e| unreadable(&path, &e))?;
    let written = Timestamp::try_from(modified).map_err(|e| (Fault::Data, e.to_string()))?;
    Ok(Stamp {
        path,
        length: data.len(),
        written,
        changed: (data.ctime(), data.ctime_nsec()),
    })
}

/// Opens the newest file; nothing, when it is the one of `since`.
pub(super) fn open(
    path: &Path,
    pattern: Option<&str>,
    since: Option<&Stamp>,
) -> Result<Option<Found>, Failure> {
    let newest = newest(path, pattern)?;
    if since == Some(&newest) {
        return Ok(None);
    }
    let file = fs::File::open(&newest.path).map_err(|e| unreadable(&newest.path, &e))?;
    let data = file.metadata().map_err(|e| unreadable(&newest.path, &e))?;
    // What was opened counts, whatever was looked at.
    let stamp = stamp(newest.path, &data)?;
    Ok(Some(Found {
        file,
        written: Some(stamp.written),
        mark: Mark {
            file: Some(stamp),
            ..Mark::default()
        },
    }))
}

/// Whether the file is still as it was opened: a file that grows while it is read was half a file.
pub(super) fn check_unchanged(file: &fs::File, mark: &Mark) -> Result<(), Failure> {
    let Some(opened) = &mark.file else {
        return Ok(());
    };
    let data = file.metadata().map_err(|e| unreadable(&opened.path, &e))?;
    let now = stamp(opened.path.clone(), &data)?;
    // That another file takes its place is a change of this one, too, and no harm.
    if (now.length, now.written) == (opened.length, opened.written) {
        return Ok(());
    }
    let words = "the file was written to while it was read: let it be written under another name and renamed";
    Err((Fault::Data, words.to_owned()))
}

/// Fetches the file; nothing, when the server says that it is still the one of `since`.
pub(super) async fn fetch(
    web: &Web,
    site: &Site,
    since: Option<&Version>,
) -> Result<Option<Found>, Failure> {
    let no_room = |error: io::Error| {
        let words = format!("there is no place to store the file: {error}");
        (Fault::Settings, words)
    };
    let directory = web.spool.clone().filter(|folder| folder.is_dir());
    let directory = directory.unwrap_or_else(std::env::temp_dir);
    let mut file = tempfile::tempfile_in(directory).map_err(no_room)?;
    let mut sink = tokio::fs::File::from_std(file.try_clone().map_err(no_room)?);
    let wanted = Wanted {
        url: &web.url,
        body: None,
        accept: "*/*",
        since: since.filter(|version| version.is_known()),
    };
    let into = Some((&mut sink, web.max_download_bytes));
    let fetched = site.fetch(&wanted, into).await;
    let version = match fetched.map_err(|failure| naming("max_download_bytes", failure))? {
        Got::Same => return Ok(None),
        Got::Fresh(_, version) => version,
    };
    drop(sink);
    file.rewind().map_err(no_room)?;
    Ok(Some(Found {
        file,
        written: version.written(),
        mark: Mark {
            version,
            ..Mark::default()
        },
    }))
}
