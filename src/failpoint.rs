//! Where tests end the process the hard way. Without the feature `fail-points`, which no release has, nothing of
//! it is in the program. Must not decide anything.

#[cfg(feature = "fail-points")]
use std::io::Write as _;

/// Stops here for ever when a test asks for this place by the variable `FAIL_POINT`, after it added a dot to
/// the file that `FAIL_POINT_FILE` names. The test then kills the process.
#[cfg(feature = "fail-points")]
#[expect(
    clippy::disallowed_methods,
    reason = "no configuration: it is not in the program that is shipped"
)]
pub(crate) fn reached(place: &str) {
    if std::env::var("FAIL_POINT").as_deref() != Ok(place) {
        return;
    }
    if let Ok(file) = std::env::var("FAIL_POINT_FILE") {
        let file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(file);
        drop(file.and_then(|mut file| file.write_all(b".")));
    }
    // Whatever else this thread would have run goes on elsewhere.
    tokio::task::block_in_place(|| {
        loop {
            std::thread::park();
        }
    });
}

/// Nothing.
#[cfg(not(feature = "fail-points"))]
pub(crate) fn reached(_place: &str) {}
