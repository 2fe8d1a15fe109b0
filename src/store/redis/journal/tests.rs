//! The journal survives what processes and disks do.

use super::*;
use crate::store::rows::{DeliveryState, NewDelivery};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_900_000_000 + seconds).unwrap()
}

fn accepted(lead_id: &str) -> Entry {
    Entry::Accepted(Box::new(Acceptance {
        key: format!("key of {lead_id}"),
        key_expires_at: at(86_400),
        fingerprint: "content".to_owned(),
        lead_id: lead_id.to_owned(),
        deployment: "demo".to_owned(),
        dealer: String::new(),
        accepted_at: at(0),
        record: "{}".to_owned(),
        answer: "answer".to_owned(),
        deliveries: vec![NewDelivery {
            target: "crm".to_owned(),
            due_at: at(0),
        }],
    }))
}

fn ended(lead_id: &str, state: DeliveryState) -> Entry {
    Entry::Ended {
        lead_id: lead_id.to_owned(),
        target: "crm".to_owned(),
        attempt: 1,
        state: state.id().to_owned(),
        detail: String::new(),
        at: at(5),
    }
}

fn begun(lead_id: &str) -> Entry {
    Entry::Begun {
        lead_id: lead_id.to_owned(),
        target: "crm".to_owned(),
        attempt: 1,
    }
}

#[tokio::test]
async fn what_was_appended_is_there_after_a_crash_even_a_torn_line_spoils_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    let id = journal.id.clone();
    journal
        .append(&[accepted("lead_1"), begun("lead_1")])
        .await
        .unwrap();
    journal
        .append(&[accepted("lead_2"), Entry::Void("lead_2".to_owned())])
        .await
        .unwrap();
    let path = folder.path().join("0/log");
    let slot = folder.path().join("0");
    let text = fs::read_to_string(&path).unwrap();
    drop(journal);
    // the thread lets go of its lock a moment after its last order
    let journal = loop {
        let journal = Journal::open(folder.path()).unwrap();
        if journal.id == id {
            break journal;
        }
        drop(journal);
        std::thread::yield_now();
    };
    drop(journal);
    fs::write(&path, format!("{text}{{\"accepted\":{{\"key\":\"ab")).unwrap();
    let mut log = Log::open(&slot, private(&folder.path().join("lock")).unwrap()).unwrap();
    log.write("{\"void\":\"lead_3\"}\n").unwrap();
    let recall = log.recall().unwrap();
    assert_eq!(recall.accepted.keys().collect::<Vec<_>>(), ["lead_1"]);
    let attempted = recall.attempts.values().next().unwrap();
    assert_eq!(attempted.lasting().unwrap().0, DeliveryState::Held);
}

#[tokio::test]
async fn two_processes_never_share_a_journal() {
    let folder = tempfile::tempdir().unwrap();
    let first = Journal::open(folder.path()).unwrap();
    let second = Journal::open(folder.path()).unwrap();
    assert_ne!(first.id, second.id);
    assert_ne!(first.folder, second.folder);
}

#[tokio::test]
async fn compaction_keeps_what_still_matters_and_nothing_that_was_erased() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    let members = BTreeSet::from(["a".to_owned(), "b".to_owned()]);
    let entries = [
        Entry::Members(members.clone()),
        accepted("done"),
        begun("done"),
        ended("done", DeliveryState::Delivered),
        accepted("open"),
        begun("open"),
        accepted("erased"),
        ended("erased", DeliveryState::Delivered),
        ended("of another process", DeliveryState::Delivered),
        Entry::Erased("erased".to_owned()),
    ];
    journal.append(&entries).await.unwrap();
    journal.compact(at(10)).await.unwrap();
    let recall = journal.recall().await.unwrap();
    assert_eq!(recall.members, members);
    assert_eq!(recall.accepted.keys().collect::<Vec<_>>(), ["done", "open"]);
    assert_eq!(recall.attempts.len(), 3);
    // a day later the key is gone: what was delivered goes, too, what is open stays
    journal.compact(at(90_000)).await.unwrap();
    let recall = journal.recall().await.unwrap();
    assert_eq!(recall.accepted.keys().collect::<Vec<_>>(), ["open"]);
    assert_eq!(recall.attempts.len(), 2);
    journal.append(&[accepted("later")]).await.unwrap();
    assert_eq!(journal.recall().await.unwrap().accepted.len(), 2);
    let text = fs::read_to_string(folder.path().join("0/log")).unwrap();
    assert!(!text.contains("erased"), "{text}");
}

#[tokio::test]
async fn an_attempt_that_certainly_failed_leaves_nothing_to_hold() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    journal
        .append(&[begun("lead_1"), ended("lead_1", DeliveryState::Waiting)])
        .await
        .unwrap();
    let recall = journal.recall().await.unwrap();
    assert_eq!(recall.attempts.values().next().unwrap().lasting(), None);
}

#[test]
fn a_disk_that_is_full_leaves_whole_lines_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let lock = || private(&folder.path().join("lock")).unwrap();
    let mut log = Log::open(folder.path(), lock()).unwrap();
    log.write("{\"void\":\"lead_1\"}\n").unwrap();
    // /dev/full refuses every write as a full disk does
    log.file = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/full")
        .unwrap();
    log.write("{\"void\":\"lead_2\"}\n").unwrap_err();
    let mut log = Log::open(folder.path(), lock()).unwrap();
    log.write("{\"void\":\"lead_3\"}\n").unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text, "{\"void\":\"lead_1\"}\n{\"void\":\"lead_3\"}\n");
}

#[test]
fn a_tidied_journal_is_written_on_under_its_name_whatever_the_disk_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let lock = private(&folder.path().join("lock")).unwrap();
    let mut log = Log::open(folder.path(), lock).unwrap();
    let line = |entry: &Entry| serde_json::to_string(entry).unwrap() + "\n";
    log.write(&line(&accepted("lead_1"))).unwrap();
    // a device that cannot be flushed stands for a folder that cannot
    let able = std::mem::replace(&mut log.folder, File::open("/dev/full").unwrap());
    log.compact(at(10)).unwrap_err();
    log.write(&line(&accepted("lead_2"))).unwrap_err();
    log.folder = able;
    log.write(&line(&accepted("lead_3"))).unwrap();
    let found = Recall::of(&fs::read_to_string(&path).unwrap());
    let leads: Vec<_> = found.accepted.keys().map(String::as_str).collect();
    assert_eq!(leads, ["lead_1", "lead_3"]);
}
