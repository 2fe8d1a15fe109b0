//! The outbox worker: once, again, held, taken over.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::Semaphore;

use super::super::tests::{Desk, accept, request};
use super::*;
use crate::delivery::scripted::{Fault, Scripted};
use crate::delivery::{
    self, HttpAuth, HttpForm, HttpSettings, MailReceiver, Rules, SmtpSettings, SmtpTls,
};
use crate::net::Policy;
use crate::store::{DeliveryState, LeadFilter, Store};

fn smtp(address: SocketAddr) -> delivery::Settings {
    delivery::Settings::Smtp(Box::new(SmtpSettings {
        host: "127.0.0.1".to_owned(),
        port: address.port(),
        tls: SmtpTls::DangerPlaintext,
        login: None,
        roots_pem: None,
        from: "leads@dealer.example".to_owned(),
        to: vec!["crm@intake.example".to_owned()],
        bounce: None,
        verp: false,
        step_timeout: Duration::from_secs(5),
    }))
}

fn desk_to(desk: &Desk, address: SocketAddr) -> Arc<Leads> {
    desk.leads(|settings| settings.targets[0].delivery = smtp(address))
}

async fn one_step(leads: &Leads) -> bool {
    step(leads, &leads.targets[0]).await.unwrap()
}

async fn state(store: &Store) -> (DeliveryState, u32, String) {
    let lead = store.leads(&LeadFilter::default()).await.unwrap().remove(0);
    let delivery = &lead.deliveries[0];
    (delivery.state, delivery.attempts, delivery.detail.clone())
}

fn mails(directory: &Path) -> Vec<String> {
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(entry.unwrap().path()).unwrap()
    };
    std::fs::read_dir(directory).unwrap().map(read).collect()
}

/// The Message-IDs of received mails.
fn ids(mails: &[String]) -> BTreeSet<&str> {
    mails
        .iter()
        .filter_map(|mail| mail.lines().find(|line| line.starts_with("Message-ID:")))
        .collect()
}

#[tokio::test]
async fn an_accepted_lead_goes_out_once() {
    let desk = Desk::new().await;
    let out = desk.directory.path().join("mails");
    let receiver = MailReceiver::start("127.0.0.1:0".parse().unwrap(), &out, 100_000)
        .await
        .unwrap();
    let leads = desk_to(&desk, receiver.address());
    let (stop, stopped) = watch::channel(false);
    let worker = tokio::spawn(run(Arc::clone(&leads), stopped));
    accept(&leads, &request("k")).await.unwrap();
    accept(&leads, &request("k")).await.unwrap();
    while state(&desk.store).await.0 != DeliveryState::Delivered {
        tokio::task::yield_now().await;
    }
    stop.send(true).unwrap();
    worker.await.unwrap();
    receiver.stop().await;
    let mails = mails(&out);
    assert_eq!(mails.len(), 1);
    assert!(mails[0].contains("Subject: New lead for Example Motors Salem"));
    assert!(mails[0].contains("<name part=\"full\">Robin Sample</name>"));
    assert!(mails[0].contains("<requestdate>2026-11-30T04:00:00-08:00</requestdate>"));
    assert_eq!(state(&desk.store).await.1, 1);
}

#[tokio::test]
async fn what_was_certainly_not_taken_is_tried_again_later() {
    let desk = Desk::new().await;
    let server = Scripted::start(Fault::Answer("RCPT", "450 greylisted")).await;
    let leads = desk_to(&desk, server.address);
    accept(&leads, &request("k")).await.unwrap();
    assert!(one_step(&leads).await);
    assert_eq!(
        state(&desk.store).await,
        (
            DeliveryState::Waiting,
            1,
            "RCPT: the relay answered 450".to_owned()
        )
    );
    assert!(!one_step(&leads).await, "not before its time");
    server.set(Fault::None);
    desk.clock.advance(SignedDuration::from_secs(38));
    assert!(one_step(&leads).await);
    assert_eq!(state(&desk.store).await.0, DeliveryState::Delivered);
    assert!(!one_step(&leads).await);
    assert_eq!(server.mails().len(), 1);
}

// AAP-485 AAP-577
#[tokio::test]
async fn an_unknown_outcome_is_held_and_never_sent_again() {
    let desk = Desk::new().await;
    let server = Scripted::start(Fault::DropAfterText).await;
    let leads = desk_to(&desk, server.address);
    accept(&leads, &request("k")).await.unwrap();
    assert!(one_step(&leads).await);
    assert_eq!(state(&desk.store).await.0, DeliveryState::Held);
    server.set(Fault::None);
    desk.clock.advance(SignedDuration::from_hours(100));
    upkeep::recover(&leads).await;
    assert!(!one_step(&leads).await);
    assert_eq!(server.mails().len(), 1);
    assert_eq!(
        desk.store
            .tally("demo")
            .await
            .unwrap()
            .count(DeliveryState::Held),
        1
    );
}

#[tokio::test]
async fn a_refusal_and_too_many_failures_end_the_attempts() {
    let desk = Desk::new().await;
    let server = Scripted::start(Fault::Answer("RCPT", "550 no such user")).await;
    let leads = desk_to(&desk, server.address);
    accept(&leads, &request("k")).await.unwrap();
    assert!(one_step(&leads).await);
    assert_eq!(state(&desk.store).await.0, DeliveryState::Refused);
    let other = Desk::new().await;
    server.set(Fault::Answer("MAIL", "421 busy"));
    let leads = desk_to(&other, server.address);
    accept(&leads, &request("k")).await.unwrap();
    let mut attempts = 0;
    while state(&other.store).await.0 != DeliveryState::Refused {
        attempts += u32::from(one_step(&leads).await);
        other.clock.advance(SignedDuration::from_mins(75));
        assert!(attempts < 100);
    }
    assert!(attempts > 40, "{attempts}");
    assert!(state(&other.store).await.2.starts_with("given up: "));
}

/// The process dies with a job in its hands; another one starts on the same files.
async fn after_a_crash(desk: &Desk, server: &Scripted, transmitting: bool) -> Arc<Store> {
    let leads = desk_to(desk, server.address);
    accept(&leads, &request("k")).await.unwrap();
    let lease = desk
        .clock
        .now()
        .checked_add(SignedDuration::from_hours(1))
        .unwrap();
    let job = desk
        .store
        .take_job("demo", "crm", desk.clock.now(), lease)
        .await
        .unwrap()
        .unwrap();
    if transmitting {
        assert!(
            desk.store
                .mark_transmitting(&job, desk.clock.now())
                .await
                .unwrap()
        );
    }
    Arc::new(
        Store::open_embedded(&desk.directory.path().join("store.db"))
            .await
            .unwrap(),
    )
}

#[tokio::test]
async fn a_crash_before_the_transmission_delays_a_lead_and_no_more() {
    let desk = Desk::new().await;
    let server = Scripted::start(Fault::None).await;
    let store = after_a_crash(&desk, &server, false).await;
    let restarted = Desk { store, ..desk };
    let leads = desk_to(&restarted, server.address);
    upkeep::recover(&leads).await;
    assert!(one_step(&leads).await);
    assert!(!one_step(&leads).await);
    assert_eq!(server.mails().len(), 1);
    assert_eq!(state(&restarted.store).await.0, DeliveryState::Delivered);
}

// AAP-577
#[tokio::test]
async fn a_crash_during_the_transmission_holds_the_lead() {
    let desk = Desk::new().await;
    let server = Scripted::start(Fault::None).await;
    let store = after_a_crash(&desk, &server, true).await;
    let restarted = Desk { store, ..desk };
    let leads = desk_to(&restarted, server.address);
    upkeep::recover(&leads).await;
    assert!(!one_step(&leads).await);
    assert!(server.mails().is_empty());
    assert_eq!(state(&restarted.store).await.0, DeliveryState::Held);
}

// AAP-484
#[tokio::test(flavor = "multi_thread")]
async fn two_processes_on_one_store_send_each_lead_once() {
    let desk = Desk::new().await;
    let server = Scripted::start(Fault::None).await;
    let store = Store::open_embedded(&desk.directory.path().join("store.db"))
        .await
        .unwrap();
    let (stop, stopped) = watch::channel(false);
    let first = desk_to(&desk, server.address);
    let second = Desk {
        directory: tempfile::tempdir().unwrap(),
        store: Arc::new(store),
        keys: Arc::clone(&desk.keys),
        clock: desk.clock.clone(),
    };
    let second_leads = desk_to(&second, server.address);
    let workers =
        [&first, &second_leads].map(|leads| tokio::spawn(run(Arc::clone(leads), stopped.clone())));
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..120 {
        // A third are retries, and each key comes to both processes.
        let leads = Arc::clone(if number % 2 == 0 {
            &first
        } else {
            &second_leads
        });
        calls.spawn(async move {
            accept(&leads, &request(&format!("k{}", number % 80)))
                .await
                .unwrap()
        });
    }
    calls.join_all().await;
    loop {
        let tally = desk.store.tally("demo").await.unwrap();
        if tally.count(DeliveryState::Delivered) == 80 {
            break;
        }
        let unsent = [DeliveryState::Held, DeliveryState::Refused];
        assert!(
            unsent.iter().all(|state| tally.count(*state) == 0),
            "{tally:?}"
        );
        // A relay that was too busy to greet is tried again when the clock says so, and it stands still.
        let waiting = tally.count(DeliveryState::Waiting);
        if waiting + tally.count(DeliveryState::Delivered) == 80 {
            desk.clock.advance(SignedDuration::from_mins(1));
        }
        tokio::task::yield_now().await;
    }
    stop.send(true).unwrap();
    for worker in workers {
        worker.await.unwrap();
    }
    let mails = server.mails();
    assert_eq!(mails.len(), 80);
    assert_eq!(ids(&mails).len(), 80);
}

#[tokio::test]
async fn what_cannot_be_rendered_waits_for_its_remedy() {
    let desk = Desk::new().await;
    let server = Scripted::start(Fault::None).await;
    let leads = desk_to(&desk, server.address);
    accept(&leads, &request("k")).await.unwrap();
    let lost_key = Desk {
        keys: Arc::new(crate::seal::KeyRing::generate().unwrap()),
        directory: tempfile::tempdir().unwrap(),
        store: Arc::clone(&desk.store),
        clock: desk.clock.clone(),
    };
    let stranger = desk_to(&lost_key, server.address);
    assert!(one_step(&stranger).await);
    assert_eq!(state(&desk.store).await.0, DeliveryState::Waiting);
    desk.clock.advance(SignedDuration::from_mins(1));
    assert!(one_step(&leads).await);
    assert_eq!(server.mails().len(), 1);
}

#[tokio::test]
async fn old_leads_leave_the_ledger_once_they_are_delivered() {
    let desk = Desk::new().await;
    let server = Scripted::start(Fault::None).await;
    let leads = desk.leads(|settings| {
        settings.targets[0].delivery = smtp(server.address);
        settings.keep_ledger = Some(Duration::from_hours(30 * 24));
    });
    accept(&leads, &request("delivered")).await.unwrap();
    assert!(one_step(&leads).await);
    accept(&leads, &request("queued")).await.unwrap();
    desk.clock.advance(SignedDuration::from_hours(30 * 24));
    upkeep::tidy(&leads).await;
    assert_eq!(desk.count().await, 2);
    desk.clock.advance(SignedDuration::from_secs(1));
    upkeep::tidy(&leads).await;
    assert_eq!(desk.count().await, 1, "what is not delivered stays");
}

#[tokio::test]
async fn what_needs_a_person_is_told_without_a_customers_value() {
    let desk = Desk::new().await;
    let out = desk.directory.path().join("alerts");
    let operator = MailReceiver::start("127.0.0.1:0".parse().unwrap(), &out, 100_000)
        .await
        .unwrap();
    let server = Scripted::start(Fault::DropAfterText).await;
    let leads = desk.leads(|settings| {
        settings.targets[0].delivery = smtp(server.address);
        settings.alerts = vec![crate::leads::AlertSettings {
            name: "ops".to_owned(),
            delivery: smtp(operator.address()),
        }];
    });
    accept(&leads, &request("k")).await.unwrap();
    let (stop, stopped) = watch::channel(false);
    let worker = tokio::spawn(run(Arc::clone(&leads), stopped));
    while state(&desk.store).await.0 != DeliveryState::Held {
        tokio::task::yield_now().await;
    }
    // what was collected so far goes out before the end
    stop.send(true).unwrap();
    worker.await.unwrap();
    operator.stop().await;
    let mails = mails(&out);
    assert_eq!(mails.len(), 1, "{mails:?}");
    let lead = desk
        .store
        .leads(&LeadFilter::default())
        .await
        .unwrap()
        .remove(0);
    assert!(
        mails[0].contains(&lead.lead_id) && mails[0].contains("held"),
        "{}",
        mails[0]
    );
    assert!(
        !mails[0].contains("Robin") && !mails[0].contains("robin"),
        "{}",
        mails[0]
    );
    let counts = leads.counters();
    assert_eq!((counts.accepted, counts.held, counts.alerts), (1, 1, 1));
}

#[tokio::test]
async fn a_target_that_fails_again_and_again_is_left_alone() {
    let desk = Desk::new().await;
    let server = Scripted::start(Fault::Answer("RCPT", "450 later")).await;
    let leads = desk_to(&desk, server.address);
    for number in 0..8 {
        accept(&leads, &request(&format!("k{number}")))
            .await
            .unwrap();
    }
    let mut tried = 0;
    while admitted(&leads, &leads.targets[0]).await.unwrap() {
        tried += 1;
    }
    assert_eq!(tried, 5);
    desk.clock.advance(SignedDuration::from_secs(31));
    assert!(
        admitted(&leads, &leads.targets[0]).await.unwrap(),
        "one probe"
    );
    assert!(!admitted(&leads, &leads.targets[0]).await.unwrap());
    server.set(Fault::None);
    desk.clock.advance(SignedDuration::from_secs(121));
    let mut delivered = 0;
    while admitted(&leads, &leads.targets[0]).await.unwrap() {
        delivered += 1;
    }
    assert_eq!(delivered, 8);
    assert_eq!(server.mails().len(), 8);
}

/// Lets the desk begin an attempt that `server` keeps waiting at RCPT.
async fn begin_attempt(
    server: &Scripted,
    leads: &Arc<Leads>,
) -> tokio::task::JoinHandle<Result<bool, StoreError>> {
    server.set(Fault::WaitsAt("RCPT"));
    let asked = |server: &Scripted| {
        let commands = server.commands();
        commands
            .iter()
            .filter(|one| one.starts_with("RCPT"))
            .count()
    };
    let before = asked(server);
    let leads = Arc::clone(leads);
    let attempt = tokio::spawn(async move { admitted(&leads, &leads.targets[0]).await });
    while asked(server) == before {
        tokio::task::yield_now().await;
    }
    attempt
}

#[tokio::test]
async fn a_probe_whose_job_is_lost_does_not_leave_the_target_alone_for_ever() {
    let desk = Desk::new().await;
    let server = Scripted::start(Fault::Answer("RCPT", "450 later")).await;
    let leads = desk_to(&desk, server.address);
    for number in 0..6 {
        accept(&leads, &request(&format!("k{number}")))
            .await
            .unwrap();
    }
    while admitted(&leads, &leads.targets[0]).await.unwrap() {}
    desk.clock.advance(SignedDuration::from_secs(31));
    let probe = begin_attempt(&server, &leads).await;
    // It takes so long that another process takes the job over.
    desk.clock.advance(SignedDuration::from_mins(11));
    let recovered = desk.store.recover(desk.clock.now()).await.unwrap();
    assert_eq!((recovered.queued, recovered.held), (1, 0));
    server.set(Fault::None);
    server.go_on();
    assert!(probe.await.unwrap().unwrap());
    assert!(server.mails().is_empty(), "the job was no longer ours");
    while admitted(&leads, &leads.targets[0]).await.unwrap() {}
    assert_eq!(server.mails().len(), 6);
}

// AAP-577
#[tokio::test]
async fn an_attempt_that_is_cut_off_is_unknown_only_when_the_mail_may_have_arrived() {
    for (fault, at_text) in [
        (Fault::WaitsAt("RCPT"), false),
        (Fault::SilentAfterText, true),
    ] {
        let desk = Desk::new().await;
        let server = Scripted::start(fault).await;
        let leads = desk_to(&desk, server.address);
        accept(&leads, &request("k")).await.unwrap();
        let (deployment, way, now) = ("demo", &leads.targets[0], desk.clock.now());
        let lease_until = now + SignedDuration::from_mins(10);
        let job = desk.store.take_job(deployment, "crm", now, lease_until);
        let job = job.await;
        let job = job.unwrap().unwrap();
        let time_is_up = async {
            let stands = |command: &String| command.starts_with("RCPT");
            while !(server.commands().iter().any(stands)
                && (!at_text || !server.mails().is_empty()))
            {
                tokio::task::yield_now().await;
            }
        };
        let outcome = bounded(&leads, way, &job, time_is_up).await.unwrap();
        let unknown = matches!(outcome, Some(Outcome::Unknown(_)));
        let again = matches!(outcome, Some(Outcome::Retry(_)));
        assert_eq!((unknown, again), (at_text, !at_text), "{outcome:?}");
    }
}

/// An endpoint that keeps what it gets, and answers each post with the next answer, and with the last one from
/// then on; not before it may.
struct Intake {
    url: String,
    bodies: Arc<Mutex<Vec<String>>>,
    under_way: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    may: Arc<Semaphore>,
}

impl Intake {
    async fn start(answers: &'static [&'static str], may: usize) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let intake = Self {
            url: format!("http://{}/", listener.local_addr().unwrap()),
            bodies: Arc::default(),
            under_way: Arc::default(),
            most: Arc::default(),
            may: Arc::new(Semaphore::new(may)),
        };
        let (bodies, may) = (Arc::clone(&intake.bodies), Arc::clone(&intake.may));
        let (under_way, most) = (Arc::clone(&intake.under_way), Arc::clone(&intake.most));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (bodies, may) = (Arc::clone(&bodies), Arc::clone(&may));
                let (under_way, most) = (Arc::clone(&under_way), Arc::clone(&most));
                tokio::spawn(async move {
                    let body = body(&mut stream).await;
                    let at = {
                        let mut bodies = bodies.lock().unwrap();
                        bodies.push(body);
                        bodies.len() - 1
                    };
                    let now = under_way.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(now, Ordering::SeqCst);
                    may.acquire().await.unwrap().forget();
                    under_way.fetch_sub(1, Ordering::SeqCst);
                    let answer = answers.get(at).or(answers.last()).unwrap();
                    stream.write_all(answer.as_bytes()).await.unwrap();
                });
            }
        });
        intake
    }

    fn delivery(&self, form: HttpForm) -> delivery::Settings {
        delivery::Settings::Http(Box::new(HttpSettings {
            url: self.url.clone(),
            policy: Policy {
                allow_http: true,
                ..Policy::for_operator()
            },
            form,
            auth: HttpAuth::None,
            headers: Vec::new(),
            signature: None,
            correlation_header: None,
            rules: Rules::default(),
            deduplicates: false,
        }))
    }

    fn plain(&self) -> delivery::Settings {
        self.delivery(HttpForm::Plain {
            content_type: "application/xml".to_owned(),
        })
    }

    fn bodies(&self) -> Vec<String> {
        self.bodies.lock().unwrap().clone()
    }

    async fn until_under_way(&self, count: usize) {
        while self.under_way.load(Ordering::SeqCst) != count {
            tokio::task::yield_now().await;
        }
    }
}

async fn body(stream: &mut tokio::net::TcpStream) -> String {
    let mut text = Vec::new();
    loop {
        let seen = String::from_utf8_lossy(&text).into_owned();
        if let Some((head, body)) = seen.split_once("\r\n\r\n") {
            let length = head.to_lowercase();
            let (_, length) = length.split_once("content-length: ").unwrap();
            let length: usize = length.lines().next().unwrap().parse().unwrap();
            if body.len() >= length {
                return body.to_owned();
            }
        }
        assert_ne!(stream.read_buf(&mut text).await.unwrap(), 0);
    }
}

const TAKEN: &str = "HTTP/1.1 200 x\r\ncontent-length: 0\r\n\r\n";

#[tokio::test]
async fn a_receiver_gets_no_more_at_once_than_it_may() {
    const LEADS: usize = 6;
    let desk = Desk::new().await;
    let intake = Intake::start(&[TAKEN], 0).await;
    let leads = desk.leads(|settings| {
        settings.targets[0].delivery = intake.plain();
        settings.targets[0].concurrency = 2;
    });
    for number in 0..LEADS {
        accept(&leads, &request(&number.to_string())).await.unwrap();
    }
    let (stop, stopped) = watch::channel(false);
    let worker = tokio::spawn(run(Arc::clone(&leads), stopped));
    for left in (1..=LEADS).rev() {
        intake.until_under_way(left.min(2)).await;
        intake.may.add_permits(1);
        let done = u64::try_from(LEADS - left + 1).unwrap();
        while desk
            .store
            .tally("demo")
            .await
            .unwrap()
            .count(DeliveryState::Delivered)
            < done
        {
            tokio::task::yield_now().await;
        }
    }
    stop.send(true).unwrap();
    worker.await.unwrap();
    assert_eq!(intake.most.load(Ordering::SeqCst), 2);
    assert_eq!(intake.bodies().len(), LEADS);
}

#[tokio::test]
async fn a_stop_waits_for_what_was_handed_over() {
    let desk = Desk::new().await;
    let intake = Intake::start(&[TAKEN], 0).await;
    let leads = desk.leads(|settings| settings.targets[0].delivery = intake.plain());
    accept(&leads, &request("k")).await.unwrap();
    let (stop, stopped) = watch::channel(false);
    let worker = tokio::spawn(run(Arc::clone(&leads), stopped));
    intake.until_under_way(1).await;
    stop.send(true).unwrap();
    intake.may.add_permits(1);
    worker.await.unwrap();
    assert_eq!(state(&desk.store).await.0, DeliveryState::Delivered);
    assert_eq!(intake.bodies().len(), 1);
}

#[tokio::test]
async fn a_webhook_is_told_without_a_customers_value() {
    let desk = Desk::new().await;
    let hook = Intake::start(&[TAKEN], 10).await;
    let server = Scripted::start(Fault::Answer("RCPT", "550 no such user")).await;
    let leads = desk.leads(|settings| {
        settings.targets[0].delivery = smtp(server.address);
        settings.alerts = vec![crate::leads::AlertSettings {
            name: "ops".to_owned(),
            delivery: hook.delivery(HttpForm::Json {
                member: "text".to_owned(),
                others: serde_json::Map::new(),
            }),
        }];
    });
    accept(&leads, &request("k")).await.unwrap();
    let (stop, stopped) = watch::channel(false);
    let worker = tokio::spawn(run(Arc::clone(&leads), stopped));
    while state(&desk.store).await.0 != DeliveryState::Refused {
        tokio::task::yield_now().await;
    }
    stop.send(true).unwrap();
    worker.await.unwrap();
    let bodies = hook.bodies();
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    let told: serde_json::Value = serde_json::from_str(&bodies[0]).unwrap();
    let text = told["text"].as_str().unwrap();
    let lead = desk
        .store
        .leads(&LeadFilter::default())
        .await
        .unwrap()
        .remove(0);
    assert!(
        text.contains(&lead.lead_id) && text.contains("refused"),
        "{text}"
    );
    for private in ["robin", "Robin", "Sample", "Honda", "Accord"] {
        assert!(!text.contains(private), "{text}");
    }
    assert_eq!(leads.counters().alerts, 1);
}

#[tokio::test]
async fn a_receiver_that_asks_for_time_gets_it_for_every_lead() {
    const BUSY: &str = "HTTP/1.1 429 x\r\nretry-after: 600\r\ncontent-length: 0\r\n\r\n";
    const LONG: &str = "HTTP/1.1 429 x\r\nretry-after: 999999\r\ncontent-length: 0\r\n\r\n";
    let desk = Desk::new().await;
    let intake = Intake::start(&[BUSY, LONG, TAKEN], 10).await;
    let leads = desk.leads(|settings| settings.targets[0].delivery = intake.plain());
    for key in ["k1", "k2"] {
        accept(&leads, &request(key)).await.unwrap();
    }
    let way = &leads.targets[0];
    let turn = || admitted(&leads, way);
    assert!(turn().await.unwrap());
    assert!(!turn().await.unwrap(), "the other lead waits, too");
    desk.clock.advance(SignedDuration::from_secs(599));
    assert!(!turn().await.unwrap());
    desk.clock.advance(SignedDuration::from_secs(1));
    assert!(turn().await.unwrap());
    // longer than this operator waits: an hour, `retry_longest_s`
    desk.clock.advance(SignedDuration::from_secs(3599));
    assert!(!turn().await.unwrap());
    desk.clock.advance(SignedDuration::from_secs(1));
    assert!(turn().await.unwrap() && turn().await.unwrap());
    assert!(!turn().await.unwrap());
    assert_eq!(intake.bodies().len(), 4);
    let tally = desk.store.tally("demo").await.unwrap();
    assert_eq!(tally.count(DeliveryState::Delivered), 2);
}

// AAP-577
#[tokio::test]
async fn a_stop_parks_what_was_not_handed_over_yet() {
    let desk = Desk::new().await;
    // takes the connection and never greets
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let leads = desk_to(&desk, listener.local_addr().unwrap());
    accept(&leads, &request("k")).await.unwrap();
    let (stop, stopped) = watch::channel(false);
    let worker = tokio::spawn(run(Arc::clone(&leads), stopped));
    let _silent = listener.accept().await.unwrap();
    stop.send(true).unwrap();
    worker.await.unwrap();
    let (state, _, detail) = state(&desk.store).await;
    assert_eq!(state, DeliveryState::Waiting);
    assert!(detail.contains("stopping"), "{detail}");
}

// AAP-578
#[tokio::test]
async fn each_delivery_has_a_name_of_its_own_that_stays_the_same() {
    let desk = Desk::new().await;
    let server = Scripted::start(Fault::AnswerText("451 later")).await;
    let leads = desk.leads(|settings| {
        settings.targets[0].delivery = smtp(server.address);
        let mut copy = settings.targets[0].clone();
        "archive".clone_into(&mut copy.name);
        copy.route.copy = true;
        settings.targets.push(copy);
    });
    accept(&leads, &request("k")).await.unwrap();
    for _ in 0..2 {
        for way in &leads.targets {
            assert!(step(&leads, way).await.unwrap());
        }
        desk.clock.advance(SignedDuration::from_secs(100));
    }
    let mails = server.mails();
    assert_eq!(mails.len(), 4);
    let ids = ids(&mails);
    assert_eq!(ids.len(), 2, "{ids:?}");
    let lead = desk
        .store
        .leads(&LeadFilter::default())
        .await
        .unwrap()
        .remove(0);
    let shown = format!("Message-ID: <{}@", lead.lead_id);
    assert!(!ids.iter().any(|id| id.starts_with(&shown)), "{ids:?}");
}
