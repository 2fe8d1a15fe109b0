//! Sealing, rotation, key files.

use super::*;

// AAP-423: what was sealed for one purpose and context opens for no other.
#[test]
fn opens_only_for_its_own_purpose_and_context() {
    let ring = KeyRing::generate().unwrap();
    let text = ring.seal("cursor", b"here", b"page 2").unwrap();
    assert_eq!(ring.open("cursor", b"here", &text).unwrap(), b"page 2");
    assert_eq!(ring.open("cursor", b"there", &text), None);
    assert_eq!(ring.open("token", b"here", &text), None);
    assert_eq!(
        KeyRing::generate().unwrap().open("cursor", b"here", &text),
        None
    );
}

// AAP-427: an altered text does not open, wherever it was altered.
#[test]
fn refuses_every_single_character_change() {
    let ring = KeyRing::generate().unwrap();
    let text = ring.seal("cursor", b"", b"x").unwrap();
    for at in 0..text.len() {
        let mut altered = text.clone().into_bytes();
        altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
        let altered = String::from_utf8(altered).unwrap();
        assert_eq!(ring.open("cursor", b"", &altered), None, "at {at}");
    }
    assert_eq!(ring.open("cursor", b"", ""), None);
    assert_eq!(ring.open("cursor", b"", "é"), None);
}

#[test]
fn a_rotated_ring_opens_the_old_and_seals_with_the_new() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    let old = KeyRing::read_or_create(&path).unwrap();
    let text = old.seal("cursor", b"", b"old").unwrap();
    let new = KeyRing::read(&path).unwrap().rotated().unwrap();
    assert_eq!(new.open("cursor", b"", &text).unwrap(), b"old");
    let text = new.seal("cursor", b"", b"new").unwrap();
    assert_eq!(old.open("cursor", b"", &text), None);
}

#[test]
fn a_made_key_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    KeyRing::read_or_create(&path).unwrap();
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn a_bad_key_file_says_which_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    fs::write(&path, "# nothing\n").unwrap();
    assert!(matches!(KeyRing::read(&path), Err(SealError::NoKey { .. })));
    fs::write(&path, "# one\nc2hvcnQ=\n").unwrap();
    assert!(matches!(
        KeyRing::read(&path),
        Err(SealError::BadKey { line: 2, .. })
    ));
}

#[test]
fn a_rotated_file_seals_with_its_new_key_and_opens_with_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    let old = KeyRing::generate().unwrap();
    old.write_new(&path).unwrap();
    assert!(
        old.write_new(&path).is_err(),
        "a key file is never overwritten"
    );
    let text = old.seal("cursor", b"", b"page 2").unwrap();
    KeyRing::read(&path)
        .unwrap()
        .rotated()
        .unwrap()
        .replace_file(&path)
        .unwrap();
    let new = KeyRing::read(&path).unwrap();
    assert_eq!(new.len(), 2);
    assert_eq!(new.open("cursor", b"", &text).unwrap(), b"page 2");
    assert_eq!(
        old.open("cursor", b"", &new.seal("cursor", b"", b"x").unwrap()),
        None
    );
}
