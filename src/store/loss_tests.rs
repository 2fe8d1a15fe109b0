//! Redis loses what it was given: emptied, set back, restarted. What this process accepted and delivered is
//! still neither lost nor done twice.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::tests::{Place, RedisServer, acceptance, at, ending, state};
use super::*;

const ARGUMENTS: [&str; 4] = ["--appendonly", "yes", "--appendfsync", "always"];

/// A Redis and the folders of the processes that share it.
struct Site {
    place: Place,
}

impl Site {
    async fn new() -> Self {
        let place = Place::redis(&ARGUMENTS).await;
        Self { place }
    }

    fn folder(&self) -> &Path {
        self.place.directory.path()
    }

    /// A process of this name.
    async fn open(&self, name: &str) -> Store {
        let server = self.place.redis.as_ref().unwrap();
        let mut settings = server.settings.clone();
        let journal = self.folder().join(format!("journal-{name}"));
        let lock = fs::File::open(journal.join("0/lock"));
        // An earlier process of this name may be ending still.
        while lock.as_ref().is_ok_and(|lock| lock.try_lock().is_err()) {
            tokio::task::yield_now().await;
        }
        drop(lock);
        settings.journal = Some(journal);
        Store::open_redis(&settings).await.unwrap()
    }

    fn cli(&self, words: &[&str]) -> String {
        let said = Command::new("redis-cli")
            .arg("-s")
            .arg(self.folder().join("redis.sock"))
            .args(words)
            .output()
            .unwrap();
        String::from_utf8(said.stdout).unwrap()
    }

    fn data(&self) -> PathBuf {
        self.folder().join("appendonlydir")
    }

    /// A copy of what the server has on its disk now.
    fn copy(&self) -> PathBuf {
        let copy = self.folder().join("copy");
        fs::create_dir(&copy).unwrap();
        for entry in fs::read_dir(self.data()).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, copy.join(path.file_name().unwrap())).unwrap();
        }
        copy
    }

    /// Ends the server and starts one that knows no more than the copy, as a replica that lagged does.
    async fn set_back_to(&mut self, copy: &Path) {
        self.place.redis.take();
        fs::remove_dir_all(self.data()).unwrap();
        fs::rename(copy, self.data()).unwrap();
        self.restart().await;
    }

    async fn restart(&mut self) {
        self.place.redis.take();
        self.place.redis = Some(RedisServer::start(self.folder(), &ARGUMENTS).await);
    }
}

async fn deliver(store: &Store, lead_id: &str, last: DeliveryState) {
    let job = store
        .take_job("demo", "crm", at(1), at(600))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(job.lead_id, lead_id);
    assert!(store.mark_transmitting(&job, at(2)).await.unwrap());
    assert!(store.finish(&job, ending(last, None), at(3)).await.unwrap());
}

async fn accept(store: &Store, lead_id: &str) -> Result<Accepted, StoreError> {
    store.accept(acceptance(lead_id, lead_id), at(1)).await
}

/// The connection may need a moment after its server came back.
async fn accept_soon(store: &Store, lead_id: &str) -> Accepted {
    for _ in 0..200 {
        if let Ok(accepted) = accept(store, lead_id).await {
            return accepted;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    accept(store, lead_id).await.unwrap()
}

async fn held_detail(store: &Store, lead_id: &str) -> String {
    let filter = LeadFilter {
        lead_id: Some(lead_id.to_owned()),
        ..LeadFilter::default()
    };
    store.leads(&filter).await.unwrap()[0].deliveries[0]
        .detail
        .clone()
}

// AAP-473 AAP-484 AAP-577
#[tokio::test]
async fn an_emptied_redis_is_filled_again_before_anything_new_is_accepted() {
    let site = Site::new().await;
    let store = site.open("a").await;
    store.recover(at(0)).await.unwrap();
    accept(&store, "lead_1").await.unwrap();
    deliver(&store, "lead_1", DeliveryState::Delivered).await;
    accept(&store, "lead_2").await.unwrap();
    site.cli(&["FLUSHALL"]);
    // a retry of either is no new lead
    for lead in ["lead_1", "lead_2"] {
        let retried = acceptance(lead, "lead_again");
        let again = store.accept(retried, at(10)).await.unwrap();
        let Accepted::Existing(entry) = again else {
            panic!("{lead} was accepted twice");
        };
        assert_eq!(entry.lead_id, lead);
        assert_eq!(entry.answer.unwrap(), format!("answer of {lead}"));
    }
    assert_eq!(state(&store, "lead_1").await, DeliveryState::Delivered);
    assert_eq!(state(&store, "lead_2").await, DeliveryState::Held);
    assert!(held_detail(&store, "lead_2").await.contains("lost"));
    assert!(
        store
            .take_job("demo", "crm", at(20), at(600))
            .await
            .unwrap()
            .is_none()
    );
    accept(&store, "lead_3").await.unwrap();
    let leads = store.leads(&LeadFilter::default()).await.unwrap();
    assert_eq!(leads.len(), 3);
}

// AAP-577
#[tokio::test]
async fn a_redis_that_was_set_back_sends_nothing_again_that_was_sent() {
    let mut site = Site::new().await;
    let store = site.open("a").await;
    store.recover(at(0)).await.unwrap();
    for lead in ["delivered", "begun", "open"] {
        accept(&store, lead).await.unwrap();
    }
    let copy = site.copy();
    // the queue gives them out in no order of ours
    for _ in 0..3 {
        let job = store
            .take_job("demo", "crm", at(1), at(600))
            .await
            .unwrap()
            .unwrap();
        match job.lead_id.as_str() {
            "delivered" => {
                assert!(store.mark_transmitting(&job, at(2)).await.unwrap());
                let end = ending(DeliveryState::Delivered, None);
                assert!(store.finish(&job, end, at(3)).await.unwrap());
            }
            "begun" => assert!(store.mark_transmitting(&job, at(2)).await.unwrap()),
            _ => {
                assert!(store.mark_transmitting(&job, at(2)).await.unwrap());
                let later = ending(DeliveryState::Waiting, Some(at(5)));
                assert!(store.finish(&job, later, at(3)).await.unwrap());
            }
        }
    }
    accept(&store, "late").await.unwrap();
    site.set_back_to(&copy).await;
    accept_soon(&store, "new").await;
    assert_eq!(state(&store, "delivered").await, DeliveryState::Delivered);
    assert_eq!(state(&store, "begun").await, DeliveryState::Held);
    assert_eq!(state(&store, "open").await, DeliveryState::Queued);
    assert_eq!(state(&store, "late").await, DeliveryState::Held);
    let mut due = Vec::new();
    while let Some(job) = store.take_job("demo", "crm", at(1), at(600)).await.unwrap() {
        due.push(job.lead_id);
    }
    due.sort();
    assert_eq!(due, ["new", "open"]);
}

// AAP-484
#[tokio::test]
async fn nobody_accepts_until_every_process_has_restored_or_a_person_confirms() {
    let site = Site::new().await;
    let (first, second) = (site.open("a").await, site.open("b").await);
    accept_soon(&second, "lead_of_b").await;
    accept_soon(&first, "lead_of_a").await;
    second.close().await;
    drop(second);
    site.cli(&["FLUSHALL"]);
    let refused = accept(&first, "lead_new").await.unwrap_err();
    assert!(refused.to_string().contains("may have lost"), "{refused}");
    let unasked = first.key("lead_of_b", at(5)).await.unwrap_err();
    assert!(
        matches!(unasked, StoreError::Unavailable { .. }),
        "{unasked}"
    );
    assert!(
        first
            .take_job("demo", "crm", at(5), at(600))
            .await
            .unwrap()
            .is_none()
    );
    // what was restored is known already
    assert!(first.key("lead_of_a", at(5)).await.unwrap().is_some());
    assert_eq!(first.confirm(false).await.unwrap().unwrap().len(), 1);
    let second = site.open("b").await;
    accept_soon(&first, "lead_new").await;
    assert!(second.key("lead_of_b", at(5)).await.unwrap().is_some());
    assert_eq!(first.confirm(false).await.unwrap(), None);
    // the second is gone for good: a person goes on without it
    drop(second);
    site.cli(&["FLUSHALL"]);
    accept(&first, "lead_next").await.unwrap_err();
    assert_eq!(first.confirm(true).await.unwrap().unwrap().len(), 1);
    accept(&first, "lead_next").await.unwrap();
}

#[tokio::test]
async fn a_restarted_process_tells_what_it_could_not_tell_before() {
    let mut site = Site::new().await;
    let store = site.open("a").await;
    store.recover(at(0)).await.unwrap();
    accept(&store, "lead_1").await.unwrap();
    let job = store
        .take_job("demo", "crm", at(1), at(5))
        .await
        .unwrap()
        .unwrap();
    assert!(store.mark_transmitting(&job, at(2)).await.unwrap());
    site.place.redis.take();
    let end = ending(DeliveryState::Delivered, None);
    for _ in 0..3 {
        store.finish(&job, end.clone(), at(3)).await.unwrap_err();
    }
    let journal = fs::read_to_string(site.folder().join("journal-a/0/log")).unwrap();
    let noted = journal.lines().filter(|line| line.contains("ended"));
    assert_eq!(noted.count(), 1, "however often Redis has to be told");
    drop(store);
    site.restart().await;
    let store = site.open("a").await;
    assert_eq!(state(&store, "lead_1").await, DeliveryState::Delivered);
}

// AAP-577
#[tokio::test]
async fn who_takes_over_the_journal_takes_over_the_jobs_at_once() {
    let site = Site::new().await;
    let store = site.open("a").await;
    store.recover(at(0)).await.unwrap();
    for lead in ["lead_1", "lead_2"] {
        accept(&store, lead).await.unwrap();
    }
    let job = store
        .take_job("demo", "crm", at(1), at(600))
        .await
        .unwrap()
        .unwrap();
    assert!(store.mark_transmitting(&job, at(2)).await.unwrap());
    store.take_job("demo", "crm", at(1), at(600)).await.unwrap();
    // not closed: it died
    drop(store);
    let store = site.open("a").await;
    // the journal knows of the one that it had begun to send
    assert_eq!(state(&store, &job.lead_id).await, DeliveryState::Held);
    let found = store.recover(at(3)).await.unwrap();
    assert_eq!(found, Recovered { queued: 1, held: 0 });
}

#[tokio::test]
async fn what_was_erased_does_not_come_back() {
    let site = Site::new().await;
    let store = site.open("a").await;
    accept(&store, "lead_1").await.unwrap();
    store.remove(&["lead_1".to_owned()]).await.unwrap();
    // another replication id, nothing lost
    site.cli(&["SET", "{test}:gate", "another"]);
    accept(&store, "lead_2").await.unwrap();
    let leads = store.leads(&LeadFilter::default()).await.unwrap();
    assert_eq!(leads.len(), 1);
}
