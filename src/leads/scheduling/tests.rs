//! Appointments with a system that books: what it says is passed on, what it does not say is no booking.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::SignedDuration;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Notify;

use super::super::tests::{Desk, accept, request, typed};
use super::super::{LeadError, Leads, Settings};
use super::*;
use crate::contract::Answer;
use crate::contract::request::LeadRequest;
use crate::delivery::{HttpAuth, HttpForm, HttpSettings, Rules};
use crate::net::Policy;
use crate::store::{DeliveryState, Lead, LeadFilter, PERSON};

/// A system that answers every question with the same text, once it may; or never.
struct System {
    url: String,
    asked: Arc<AtomicUsize>,
    questions: Arc<std::sync::Mutex<Vec<String>>>,
    may: Arc<Notify>,
}

impl System {
    async fn start(answer: &'static str, at_once: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/book", listener.local_addr().unwrap());
        let system = Self {
            url,
            asked: Arc::default(),
            questions: Arc::default(),
            may: Arc::default(),
        };
        let (asked, may) = (Arc::clone(&system.asked), Arc::clone(&system.may));
        let questions = Arc::clone(&system.questions);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut bytes = vec![0; 16 * 1024];
                let mut length = 0;
                // the head and the body come in one or two pieces
                while !bytes[..length].ends_with(b"}") {
                    length += stream.read(&mut bytes[length..]).await.unwrap();
                }
                questions
                    .lock()
                    .unwrap()
                    .push(String::from_utf8_lossy(&bytes[..length]).into_owned());
                asked.fetch_add(1, Ordering::SeqCst);
                if !at_once {
                    may.notified().await;
                }
                let text = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{answer}",
                    answer.len()
                );
                stream.write_all(text.as_bytes()).await.ok();
            }
        });
        system
    }

    fn settings(&self, timeout: Duration) -> Scheduling {
        Scheduling {
            http: HttpSettings {
                url: self.url.clone(),
                policy: Policy {
                    allow_http: true,
                    timeout,
                    ..Policy::for_operator()
                },
                form: HttpForm::Plain {
                    content_type: "application/json".to_owned(),
                },
                auth: HttpAuth::None,
                headers: Vec::new(),
                signature: None,
                correlation_header: Some("Idempotency-Key".to_owned()),
                rules: Rules::default(),
                deduplicates: false,
            },
            request: Vec::new(),
            answer: SchedulingAnswer {
                outcome: "json.state".to_owned(),
                confirmed_at: Some("json.at".to_owned()),
                proposed_times: Some("json.others".to_owned()),
                reject_lead: Some("json.state == 'full'".to_owned()),
            },
            timeout,
        }
    }

    fn desk(&self, desk: &Desk, timeout: Duration) -> Arc<Leads> {
        desk.leads(|settings: &mut Settings| settings.scheduling = Some(self.settings(timeout)))
    }
}

const LONG: Duration = Duration::from_secs(10);

fn with_appointment(key: &str) -> LeadRequest {
    let mut payload = request(key).payload;
    payload["appointment"] =
        json!({ "appointment_type": "test_drive", "appointment_at": "2026-12-01T10:00:00-08:00" });
    typed(payload)
}

fn value(answer: &Answer) -> Value {
    serde_json::from_str(&answer.to_json()).unwrap()
}

async fn lead(desk: &Desk) -> Lead {
    desk.store
        .leads(&LeadFilter::default())
        .await
        .unwrap()
        .remove(0)
}

// AAP-467 AAP-468 AAP-470 AAP-471 AAP-476
#[tokio::test]
async fn what_the_system_says_is_the_answer_and_is_replayed() {
    let cases = [
        (
            r#"{"state":"confirmed","at":"2026-12-01T10:00:00-08:00"}"#,
            json!({ "status": "confirmed", "confirmed_at": "2026-12-01T10:00:00-08:00" }),
        ),
        (
            r#"{"state":"proposed","others":["2026-12-02T10:00:00-08:00"]}"#,
            json!({ "status": "proposed", "proposed_times": ["2026-12-02T10:00:00-08:00"] }),
        ),
        (r#"{"state":"rejected"}"#, json!({ "status": "rejected" })),
        (r#"{"state":"requested"}"#, json!({ "status": "requested" })),
    ];
    for (said, expected) in cases {
        let desk = Desk::new().await;
        let system = System::start(said, true).await;
        let leads = system.desk(&desk, LONG);
        let request = with_appointment("k");
        let mut first = value(&accept(&leads, &request).await.unwrap());
        let mut outcome = first["data"]["appointment"].clone();
        outcome.as_object_mut().unwrap().remove("appointment_id");
        assert_eq!(outcome, expected, "{said}");
        assert_eq!(first["data"]["status"], "received");
        let again = value(&accept(&leads, &request).await.unwrap());
        first["data"]["replayed"] = true.into();
        assert_eq!(again, first);
        assert_eq!(system.asked.load(Ordering::SeqCst), 1);
        let names: Vec<_> = lead(&desk)
            .await
            .deliveries
            .into_iter()
            .map(|one| one.target)
            .collect();
        assert_eq!(names, ["crm"]);
        let question = system.questions.lock().unwrap()[0].clone();
        assert!(question.contains("idempotency-key: "), "{question}");
        assert!(
            question.contains("\"appointment_type\":\"test_drive\""),
            "{question}"
        );
    }
}

// AAP-464 AAP-469 AAP-477
#[tokio::test]
async fn a_declined_inquiry_is_rejected_with_its_appointment_and_delivered_nowhere() {
    let desk = Desk::new().await;
    let system = System::start(r#"{"state":"full"}"#, true).await;
    let leads = system.desk(&desk, LONG);
    let answer = value(&accept(&leads, &with_appointment("k")).await.unwrap());
    assert_eq!(answer["data"]["status"], "rejected");
    assert_eq!(answer["data"]["appointment"]["status"], "rejected");
    assert!(lead(&desk).await.deliveries.is_empty());
    let again = value(&accept(&leads, &with_appointment("k")).await.unwrap());
    assert_eq!(again["data"]["status"], "rejected");
    assert_eq!(again["data"]["replayed"], true);
    assert_eq!(again["message"], answer["message"]);
}

// AAP-471 AAP-477 AAP-478
#[tokio::test]
async fn an_inquiry_for_which_there_is_no_time_is_refused_and_stays_so() {
    let desk = Desk::new().await;
    let system = System::start(r#"{"state":"unavailable"}"#, true).await;
    let leads = system.desk(&desk, LONG);
    for _ in 0..2 {
        let refused = accept(&leads, &with_appointment("k")).await;
        assert!(matches!(refused, Err(LeadError::NoTime)), "{refused:?}");
    }
    assert_eq!(system.asked.load(Ordering::SeqCst), 1, "asked once only");
    let lead = lead(&desk).await;
    assert!(lead.deliveries.is_empty(), "{lead:?}");
    let counts = leads.counters();
    assert_eq!((counts.accepted, counts.rejected), (0, 1));
    let mut other = with_appointment("k").payload;
    other["appointment"]["appointment_at"] = json!("2026-12-02T10:00:00-08:00");
    let conflict = accept(&leads, &typed(other)).await;
    assert!(matches!(conflict, Err(LeadError::Conflict)), "{conflict:?}");
}

// AAP-468 AAP-483
#[tokio::test]
async fn what_is_not_clearly_a_booking_is_requested_and_put_before_a_person() {
    for said in [
        r#"{"state":"confirmed"}"#,
        r#"{"state":"confirmed","at":"tomorrow"}"#,
        r#"{"state":"proposed","others":[]}"#,
        r#"{"state":"booked"}"#,
        "{}",
        "<html>}",
    ] {
        let desk = Desk::new().await;
        let system = System::start(said, true).await;
        let leads = system.desk(&desk, LONG);
        let answer = value(&accept(&leads, &with_appointment("k")).await.unwrap());
        assert_eq!(
            answer["data"]["appointment"]["status"], "requested",
            "{said}"
        );
        let deliveries = lead(&desk).await.deliveries;
        let person = deliveries.iter().find(|one| one.target == PERSON).unwrap();
        assert_eq!(person.state, DeliveryState::Held, "{said}");
        assert_eq!(deliveries.len(), 2);
    }
}

#[tokio::test]
async fn a_system_that_does_not_answer_in_time_is_not_asked_again() {
    let desk = Desk::new().await;
    let system = System::start("{}", false).await;
    let leads = system.desk(&desk, Duration::from_millis(200));
    let answer = value(&accept(&leads, &with_appointment("k")).await.unwrap());
    assert_eq!(answer["data"]["appointment"]["status"], "requested");
    let again = value(&accept(&leads, &with_appointment("k")).await.unwrap());
    assert_eq!(again["data"]["lead_id"], answer["data"]["lead_id"]);
    assert_eq!(system.asked.load(Ordering::SeqCst), 1);
    assert!(
        lead(&desk)
            .await
            .deliveries
            .iter()
            .any(|one| one.target == PERSON)
    );
}

// AAP-482 AAP-484
#[tokio::test]
async fn retries_wait_while_the_system_is_asked() {
    let desk = Desk::new().await;
    let system = System::start(
        r#"{"state":"confirmed","at":"2026-12-01T18:00:00Z"}"#,
        false,
    )
    .await;
    let leads = system.desk(&desk, LONG);
    let ask = || {
        let leads = Arc::clone(&leads);
        tokio::spawn(async move {
            accept(&leads, &with_appointment("k"))
                .await
                .map(|a| value(&a))
        })
    };
    let first = ask();
    while system.asked.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    let second = ask();
    assert!(
        desk.store
            .leads(&LeadFilter::default())
            .await
            .unwrap()
            .is_empty()
    );
    system.may.notify_one();
    let (first, second) = (
        first.await.unwrap().unwrap(),
        second.await.unwrap().unwrap(),
    );
    assert_eq!(first["data"]["appointment"], second["data"]["appointment"]);
    assert_eq!(second["data"]["replayed"], true);
    assert_eq!(system.asked.load(Ordering::SeqCst), 1);
}

// AAP-468 AAP-484
#[tokio::test]
async fn a_process_that_died_over_the_question_leaves_a_requested_appointment_for_a_person() {
    let desk = Desk::new().await;
    let system = System::start("{}", false).await;
    let leads = system.desk(&desk, LONG);
    let dying = tokio::spawn({
        let leads = Arc::clone(&leads);
        async move {
            accept(&leads, &with_appointment("k"))
                .await
                .map(|a| value(&a))
        }
    });
    while system.asked.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    dying.abort();
    assert!(dying.await.is_err());
    leads.finish_overdue().await.unwrap();
    assert_eq!(desk.count().await, 0, "it may still be answered");
    desk.clock.advance(SignedDuration::from_secs(20));
    let again = value(&accept(&leads, &with_appointment("k")).await.unwrap());
    assert_eq!(again["data"]["appointment"]["status"], "requested");
    assert_eq!(again["data"]["replayed"], true);
    assert_eq!(system.asked.load(Ordering::SeqCst), 1);
    let lead = lead(&desk).await;
    let states: Vec<_> = lead
        .deliveries
        .iter()
        .map(|one| (one.target.as_str(), one.state))
        .collect();
    assert_eq!(
        states,
        [
            ("crm", DeliveryState::Queued),
            (PERSON, DeliveryState::Held)
        ]
    );
}

#[tokio::test]
async fn a_lead_without_an_appointment_asks_nobody() {
    let desk = Desk::new().await;
    let system = System::start("{}", true).await;
    let leads = system.desk(&desk, LONG);
    accept(&leads, &request("k")).await.unwrap();
    assert_eq!(system.asked.load(Ordering::SeqCst), 0);
}

#[test]
fn an_expression_that_cannot_be_read_is_found_at_the_start() {
    let settings = Scheduling {
        http: HttpSettings {
            url: "https://book.example/".to_owned(),
            policy: Policy::for_operator(),
            form: HttpForm::Plain {
                content_type: "application/json".to_owned(),
            },
            auth: HttpAuth::None,
            headers: Vec::new(),
            signature: None,
            correlation_header: None,
            rules: Rules::default(),
            deduplicates: false,
        },
        request: vec![("slot".to_owned(), "lead.".to_owned())],
        answer: SchedulingAnswer {
            outcome: "json.state".to_owned(),
            confirmed_at: None,
            proposed_times: None,
            reject_lead: None,
        },
        timeout: LONG,
    };
    let error = check(&settings).unwrap_err().to_string();
    assert!(error.contains("lead."), "{error}");
}
