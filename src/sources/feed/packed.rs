//! What a file holds once it is unpacked: itself, the content of a gzip, or one member of a zip. How much
//! comes out is bounded by whoever reads. Must not know what the content means.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read, Seek as _};

use flate2::bufread::MultiGzDecoder;
use zip::ZipArchive;
use zip::result::ZipError;

use super::super::Fault;
use super::super::http::Failure;
use super::Settings;

/// Members that an archive may have.
const MAX_MEMBERS: usize = 10_000;

/// Hands the unpacked content to `then`.
pub(super) fn unpacked<T>(
    file: File,
    settings: &Settings,
    then: impl FnOnce(&mut (dyn Read + Send)) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let unreadable = |error: io::Error| (Fault::Unreachable, error.to_string());
    let length = file.metadata().map_err(unreadable)?.len();
    let mut file = BufReader::new(file);
    let start = file.fill_buf().map_err(unreadable)?;
    if start.starts_with(&[0x1f, 0x8b]) {
        return then(&mut MultiGzDecoder::new(file));
    }
    if !start.starts_with(b"PK\x03\x04") && !start.starts_with(b"PK\x05\x06") {
        if length > settings.max_bytes {
            let words = "the file has more bytes than max_bytes";
            return Err((Fault::Limit, words.to_owned()));
        }
        return then(&mut file);
    }
    file.rewind().map_err(unreadable)?;
    let mut archive = ZipArchive::new(file).map_err(|error| damaged(&error))?;
    let index = member(&mut archive, settings.member.as_deref())?;
    let mut content = archive.by_index(index).map_err(|error| damaged(&error))?;
    then(&mut content)
}

/// The member by its name, or the only one.
fn member<R: Read + io::Seek>(
    archive: &mut ZipArchive<R>,
    wanted: Option<&str>,
) -> Result<usize, Failure> {
    if archive.len() > MAX_MEMBERS {
        return Err((Fault::Limit, "the zip has too many members".to_owned()));
    }
    let files: Vec<(usize, String)> = (0..archive.len())
        .filter_map(|index| Some((index, archive.name_for_index(index)?.ok()?.into_owned())))
        .filter(|(_, name)| !name.ends_with('/') && !name.starts_with("__MACOSX/"))
        .collect();
    let named = |name: &str| wanted.is_none_or(|wanted| wanted == name);
    let mut found = files.iter().filter(|(_, name)| named(name));
    match (found.next(), found.next()) {
        (Some((index, _)), None) => Ok(*index),
        (Some(_), Some(_)) => {
            let words = "the zip has several members: name one in `member`";
            Err((Fault::Settings, words.to_owned()))
        }
        (None, _) => {
            let has: Vec<&str> = files
                .iter()
                .take(5)
                .map(|(_, name)| name.as_str())
                .collect();
            let words = match wanted {
                Some(name) => format!("the zip has no member `{name}`; it has: {}", has.join(", ")),
                None => "the zip has no member".to_owned(),
            };
            Err((Fault::Data, words))
        }
    }
}

fn damaged(error: &ZipError) -> Failure {
    let words = format!("the zip ends early or is damaged: {error}");
    (Fault::Data, words)
}
