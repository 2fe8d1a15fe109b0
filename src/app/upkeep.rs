//! What the process does for its store now and then, whatever it serves: used claims, keys and Sessions that have
//! expired go. Must not judge what has expired: the store does.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::clock::Clock;
use crate::store::Store;

/// How often.
pub(super) const EVERY: Duration = Duration::from_mins(10);

/// Sweeps until `stop` says so.
pub(super) async fn run(
    store: Arc<Store>,
    clock: Clock,
    every: Duration,
    mut stop: watch::Receiver<bool>,
) {
    loop {
        tokio::select! {
            // An error means that whoever could say stop is gone: then it is time, too.
            _ = stop.wait_for(|stops| *stops) => return,
            () = tokio::time::sleep(every) => {}
        }
        if let Err(error) = store.sweep(clock.now()).await {
            tracing::warn!(%error, "store: what has expired is not cleared out");
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::*;
    use crate::store::Claim;

    #[tokio::test]
    async fn claims_go_when_they_have_expired_though_nobody_delivers_leads() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_embedded(&folder.path().join("s.db")).await;
        let store = Arc::new(store.unwrap());
        let begin: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
        let clock = Clock::fixed(begin);
        let claim = |key: &'static str, seconds| Claim {
            namespace: "assertion",
            key,
            expires_at: begin
                .checked_add(SignedDuration::from_secs(seconds))
                .unwrap(),
        };
        for claim in [claim("old", 60), claim("standing", 600)] {
            assert!(store.claim_all(&[claim], begin).await.unwrap());
        }
        let (stop, stopped) = watch::channel(false);
        let every = Duration::from_millis(1);
        let task = tokio::spawn(run(Arc::clone(&store), clock.clone(), every, stopped));
        // asked as of the beginning, whatever is in the store stands
        let is_kept = async |key| store.is_claimed("assertion", key, begin).await.unwrap();
        assert!(is_kept("old").await);
        clock.advance(SignedDuration::from_secs(60));
        while is_kept("old").await {
            tokio::task::yield_now().await;
        }
        assert!(is_kept("standing").await);
        stop.send_replace(true);
        task.await.unwrap();
    }
}
