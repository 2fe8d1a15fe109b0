//! What an operator asks of a running process about one inventory: a small file in the inventory's folder,
//! taken away as it is read. Must not do what it says.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const FILE: &str = "refresh";
/// What the file says when the next reading shall be published as it is.
const ACCEPT: &str = "accept";

/// Asks whoever keeps the inventory of `directory` to read now; and to `accept` what comes.
pub(super) fn give(directory: &Path, accept: bool) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let fresh = path(directory).with_extension("new");
    fs::write(&fresh, if accept { ACCEPT } else { "" })?;
    fs::rename(fresh, path(directory))
}

/// Takes the order away: whether it accepts.
pub(super) fn take(directory: &Path) -> Option<bool> {
    let file = path(directory);
    let length = fs::metadata(&file).ok()?.len();
    let accept =
        length == ACCEPT.len() as u64 && fs::read_to_string(&file).is_ok_and(|text| text == ACCEPT);
    // One that cannot be taken away would be obeyed for ever.
    fs::remove_file(&file).ok()?;
    Some(accept)
}

fn path(directory: &Path) -> PathBuf {
    directory.join(FILE)
}
