//! HTTP delivery against receivers that behave in each documented way.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::super::{MailEncoding, MailLayout, Settings, Target};
use super::*;
use crate::net::Policy;

/// A receiver that answers every post with the same bytes, or with silence, and keeps what it got.
struct Receiver {
    url: String,
    got: Arc<Mutex<Vec<String>>>,
}

impl Receiver {
    async fn start(answer: Option<String>) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/leads?a=1", listener.local_addr().unwrap());
        let got = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&got);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (answer, got) = (answer.clone(), Arc::clone(&kept));
                tokio::spawn(async move {
                    let request = read_request(&mut stream).await;
                    got.lock().unwrap().push(request);
                    match answer {
                        Some(answer) => stream.write_all(answer.as_bytes()).await.unwrap(),
                        None => std::future::pending().await,
                    }
                });
            }
        });
        Self { url, got }
    }

    fn got(&self) -> Vec<String> {
        self.got.lock().unwrap().clone()
    }
}

async fn read_request(stream: &mut tokio::net::TcpStream) -> String {
    let mut text = Vec::new();
    loop {
        let mut bytes = [0; 1024];
        let read = stream.read(&mut bytes).await.unwrap();
        text.extend_from_slice(&bytes[..read]);
        let seen = String::from_utf8_lossy(&text).into_owned();
        if let Some((head, body)) = seen.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| {
                    line.to_lowercase()
                        .strip_prefix("content-length: ")?
                        .parse::<usize>()
                        .ok()
                })
                .unwrap_or(0);
            if body.len() >= length {
                return seen;
            }
        }
        assert_ne!(read, 0, "the request is incomplete: {seen}");
    }
}

fn http_answer(status: u16, kind: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} x\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nLocation: /elsewhere\r\n\r\n{body}"
    )
}

fn settings(url: &str) -> HttpSettings {
    HttpSettings {
        url: url.to_owned(),
        policy: Policy {
            allow_http: true,
            timeout: Duration::from_millis(800),
            ..Policy::for_operator()
        },
        form: HttpForm::Plain {
            content_type: "application/xml".to_owned(),
        },
        auth: HttpAuth::None,
        headers: Vec::new(),
        signature: None,
        correlation_header: None,
        rules: Rules::default(),
        deduplicates: false,
    }
}

fn parcel() -> Parcel {
    Parcel {
        correlation: "lead_1.crm".to_owned(),
        subject: String::new(),
        content: Content::Adf("<adf/>".to_owned()),
        layout: MailLayout::Body,
        encoding: MailEncoding::Auto,
        reply_to: None,
        date: "2026-11-29T18:15:12Z".parse().unwrap(),
    }
}

async fn deliver(settings: HttpSettings, parcel: &Parcel) -> Outcome {
    let target = Target::new(&Settings::Http(Box::new(settings))).unwrap();
    let ready = target.prepare(parcel).await.unwrap();
    ready.transmit().await
}

/// The first letter of each outcome: Delivered, Refused, Try again, Held.
fn letter(outcome: &Outcome) -> char {
    match outcome {
        Outcome::Delivered(_) => 'D',
        Outcome::Refused(_) => 'R',
        Outcome::Retry(_) | Outcome::Later(..) => 'T',
        Outcome::Unknown(_) => 'H',
    }
}

fn rules(delivered: &str, retry: &str, refused: &str) -> Rules {
    let rule = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Rules {
        delivered: rule(delivered),
        retry: rule(retry),
        refused: rule(refused),
    }
}

/// Delivers to receivers that answer so, and compares the classes; an empty answer is silence.
async fn read(rules: Rules, cases: &[(String, char)]) {
    for (answer, expected) in cases {
        let receiver = Receiver::start((!answer.is_empty()).then(|| answer.clone())).await;
        let mut settings = settings(&receiver.url);
        settings.rules = rules.clone();
        let outcome = deliver(settings, &parcel()).await;
        assert_eq!(letter(&outcome), *expected, "{answer:?} gave {outcome:?}");
        assert_eq!(receiver.got().len(), 1, "redirects are not followed");
    }
}

const JSON: &str = "application/json; charset=utf-8";

fn json_answer(status: u16, body: &str) -> String {
    http_answer(status, JSON, body)
}

fn text_answer(status: u16, body: &str) -> String {
    http_answer(status, "text/plain", body)
}

fn page() -> String {
    http_answer(200, "text/html", "<html>login</html>")
}

// AAP-577
#[tokio::test]
async fn a_success_is_what_the_receivers_rule_says() {
    let parsed = rules(
        "status == 200 and json.success and json.parseOk",
        "status == 500",
        "",
    );
    let cases = [
        (json_answer(200, r#"{"success":true,"parseOk":true}"#), 'D'),
        (json_answer(200, r#"{"success":true,"parseOk":false}"#), 'H'),
        (text_answer(400, "Empty request body"), 'R'),
        (json_answer(401, "{}"), 'R'),
        (json_answer(500, r#"{"error":"x"}"#), 'T'),
    ];
    read(parsed, &cases).await;
    let each = rules(
        "status == 201 and (json | selectattr('Success') | list | length) == (json | length)",
        "",
        "status == 201",
    );
    let cases = [
        (json_answer(201, r#"[{"Success":true,"Id":"1"}]"#), 'D'),
        (
            json_answer(201, r#"[{"Success":true},{"Success":false}]"#),
            'R',
        ),
        (json_answer(500, "[]"), 'H'),
    ];
    read(each, &cases).await;
    let code = rules(
        "status == 200 and json.ResponseCode == 0",
        "",
        "json.ResponseCode",
    );
    let cases = [
        (json_answer(200, r#"{"ResponseCode":0}"#), 'D'),
        (json_answer(200, r#"{"ResponseCode":5}"#), 'R'),
        (page(), 'H'),
    ];
    read(code, &cases).await;
}

/// An answer of the sample file as bytes; nothing for silence.
fn answer_of(response: &Value) -> String {
    let Some(status) = response["status"].as_u64() else {
        assert_eq!(response["timeout_after_body"], true);
        return String::new();
    };
    let (kind, body) = match &response["body"] {
        Value::Null => ("text/plain", String::new()),
        Value::String(text) => ("text/plain", text.clone()),
        Value::Array(_) | Value::Object(_) | Value::Bool(_) | Value::Number(_) => {
            (JSON, response["body"].to_string())
        }
    };
    let given = |name: &str| response["headers"][name].as_str();
    let kind = given("content-type").unwrap_or(kind);
    let wait =
        given("retry-after").map_or(String::new(), |wait| format!("Retry-After: {wait}\r\n"));
    http_answer(u16::try_from(status).unwrap(), kind, &body).replacen(
        "\r\n\r\n",
        &format!("\r\n{wait}\r\n"),
        1,
    )
}

// AAP-577: the settings of docs/leads.md for each kind of receiver that is known.
#[tokio::test]
async fn every_known_kind_of_receiver_is_read_as_it_means() {
    let samples = include_str!("../../../tests/data/adf/http-receivers.json");
    let samples: Value = serde_json::from_str(samples).unwrap();
    let each =
        "status == 201 and (json | selectattr('Success') | list | length) == (json | length)";
    let plain = "status in [200, 202] and not (body is startingwith('ERROR')) and media_type != 'text/html'";
    let known = [
        (
            "xml-token-hmac",
            rules(
                "status == 200 and json.success and json.parseOk",
                "status == 500",
                "",
            ),
            "DHRRT",
        ),
        ("json-wrapped-adf", Rules::default(), "DR"),
        ("per-lead-status", rules(each, "", "status == 201"), "RRRH"),
        ("basic-adf", Rules::default(), "D"),
        ("client-supplied-id", Rules::default(), "D"),
        (
            "code-in-body",
            rules(
                "status == 200 and json.ResponseCode == 0",
                "",
                "json.ResponseCode",
            ),
            "DR",
        ),
        // delivered by `kind = "directory"`
        ("sftp-drop", Rules::default(), ""),
        (
            "text-errors",
            rules(plain, "", "body is startingwith('ERROR')"),
            "RHRDRTHH",
        ),
    ];
    let receivers = samples["receivers"].as_array().unwrap();
    assert_eq!(receivers.len(), known.len());
    for (receiver, (name, rules, letters)) in receivers.iter().zip(known) {
        assert_eq!(receiver["name"], name);
        let answers = receiver["responses"]
            .as_array()
            .unwrap()
            .iter()
            .map(answer_of);
        let cases: Vec<(String, char)> = answers.zip(letters.chars()).collect();
        assert_eq!(
            cases.len(),
            receiver["responses"].as_array().unwrap().len(),
            "{name}"
        );
        assert_eq!(cases.len(), letters.len(), "{name}");
        read(rules, &cases).await;
    }
}

// AAP-577
#[tokio::test]
async fn what_no_rule_knows_is_read_with_suspicion() {
    let cases = [
        (text_answer(200, ""), 'D'),
        (text_answer(200, "OK"), 'D'),
        (page(), 'H'),
        (text_answer(302, ""), 'R'),
        (text_answer(429, ""), 'T'),
        (text_answer(503, ""), 'H'),
        (String::new(), 'H'),
        ("nonsense".to_owned(), 'H'),
    ];
    read(Rules::default(), &cases).await;
    let text = rules(
        "status in [200, 202] and not (body is startingwith('ERROR')) and media_type != 'text/html'",
        "status == 503",
        "",
    );
    let cases = [
        (text_answer(200, "ERROR: vehicle year required"), 'H'),
        (page(), 'H'),
        (text_answer(202, ""), 'D'),
        (text_answer(409, "duplicate"), 'R'),
        (text_answer(503, ""), 'T'),
        (String::new(), 'H'),
    ];
    read(text, &cases).await;
    read(
        rules("status == 409", "", ""),
        &[(text_answer(409, "duplicate"), 'D')],
    )
    .await;
}

/// What an answer with these headers makes of a lead.
async fn asked(status: u16, headers: &str) -> Outcome {
    let answer = format!("HTTP/1.1 {status} x\r\n{headers}Content-Length: 0\r\n\r\n");
    let receiver = Receiver::start(Some(answer)).await;
    let mut settings = settings(&receiver.url);
    settings.rules = rules("", "status == 503", "");
    deliver(settings, &parcel()).await
}

#[tokio::test]
async fn a_busy_receiver_says_when_to_come_back() {
    let day = Duration::from_hours(24);
    let on = "Date: Mon, 30 Nov 2026 12:00:00 GMT\r\n";
    let date = "Retry-After: Mon, 30 Nov 2026 12:02:00 GMT\r\n";
    let cases = [
        (
            429,
            "Retry-After: 30\r\n".to_owned(),
            Some(Duration::from_secs(30)),
        ),
        (
            503,
            "Retry-After: 120\r\n".to_owned(),
            Some(Duration::from_mins(2)),
        ),
        (429, format!("{on}{date}"), Some(Duration::from_mins(2))),
        // without a date of its own, against the time of the attempt
        (
            429,
            "Retry-After: Sun, 29 Nov 2026 18:16:12 GMT\r\n".to_owned(),
            Some(Duration::from_mins(1)),
        ),
        (
            503,
            format!("Retry-After: {}\r\n", "9".repeat(40)),
            Some(day),
        ),
        (429, "Retry-After: 86401\r\n".to_owned(), Some(day)),
        (
            429,
            "Retry-After: Sun, 29 Nov 2026 18:00:00 GMT\r\n".to_owned(),
            None,
        ),
        (429, "Retry-After: 0\r\n".to_owned(), None),
        (429, "Retry-After: -5\r\n".to_owned(), None),
        (429, "Retry-After: soon\r\n".to_owned(), None),
        (429, String::new(), None),
    ];
    for (status, headers, wait) in cases {
        let outcome = asked(status, &headers).await;
        match wait {
            Some(wait) => assert!(
                matches!(&outcome, Outcome::Later(_, asked) if *asked == wait),
                "{status} {headers:?} gave {outcome:?}"
            ),
            None => assert!(
                matches!(outcome, Outcome::Retry(_)),
                "{status} {headers:?} gave {outcome:?}"
            ),
        }
    }
    // The header says when to come back, not that nothing was taken.
    let refused = asked(400, "Retry-After: 30\r\n").await;
    assert!(matches!(refused, Outcome::Refused(_)), "{refused:?}");
    let receiver = Receiver::start(Some(
        "HTTP/1.1 503 x\r\nRetry-After: 30\r\nContent-Length: 0\r\n\r\n".to_owned(),
    ))
    .await;
    let unsettled = deliver(settings(&receiver.url), &parcel()).await;
    assert!(matches!(unsettled, Outcome::Unknown(_)), "{unsettled:?}");
}

#[tokio::test]
async fn an_endpoint_that_is_not_there_is_tried_again() {
    let outcome = deliver(settings("http://127.0.0.1:9/"), &parcel()).await;
    assert_eq!(letter(&outcome), 'T', "{outcome:?}");
    let mut no_plain_http = settings("http://127.0.0.1:9/");
    no_plain_http.policy.allow_http = false;
    let outcome = deliver(no_plain_http, &parcel()).await;
    assert_eq!(letter(&outcome), 'R', "{outcome:?}");
}

#[tokio::test]
async fn a_receiver_that_deduplicates_is_asked_again() {
    let receiver = Receiver::start(None).await;
    let mut settings = settings(&receiver.url);
    settings.deduplicates = true;
    settings.correlation_header = Some("Idempotency-Key".to_owned());
    assert_eq!(letter(&deliver(settings, &parcel()).await), 'T');
    let got = receiver.got().remove(0);
    assert!(got.contains("idempotency-key: lead_1.crm\r\n"), "{got}");
}

#[tokio::test]
async fn requests_look_as_the_receiver_wants() {
    let receiver = Receiver::start(Some(text_answer(200, ""))).await;
    let mut signed = settings(&receiver.url);
    signed.auth = HttpAuth::Query {
        name: "token".to_owned(),
        value: "a&b c".to_owned(),
    };
    signed.signature = Some(("X-Adf-Signature".to_owned(), "key".to_owned()));
    deliver(signed, &parcel()).await;
    let mut wrapped = settings(&receiver.url);
    wrapped.auth = HttpAuth::Basic {
        user: "u".to_owned(),
        password: "p".to_owned(),
    };
    let Value::Object(others) = json!({ "kind": "adf" }) else {
        panic!()
    };
    wrapped.form = HttpForm::Json {
        member: "data".to_owned(),
        others,
    };
    deliver(wrapped, &parcel()).await;
    let mut words = settings(&receiver.url);
    words.auth = HttpAuth::Bearer("t".to_owned());
    words.headers = vec![("X-Store".to_owned(), "7".to_owned())];
    let plain = Parcel {
        content: Content::Text("words".to_owned()),
        ..parcel()
    };
    deliver(words, &plain).await;
    let got = receiver.got();
    assert!(
        got[0].starts_with("POST /leads?a=1&token=a%26b%20c HTTP/1.1\r\n"),
        "{}",
        got[0]
    );
    assert!(got[0].contains("content-type: application/xml\r\n"));
    // printf '<adf/>' | openssl dgst -sha256 -hmac key
    let signature = "59ff141cfa8f821877c2582b29adee14e4075d9c0f07ca3fb613b359eef9132d";
    assert!(
        got[0].contains(&format!("x-adf-signature: {signature}\r\n")),
        "{}",
        got[0]
    );
    assert!(got[0].ends_with("\r\n\r\n<adf/>"));
    assert!(got[1].contains("authorization: Basic dTpw\r\n"));
    assert!(got[1].contains("content-type: application/json\r\n"));
    assert!(
        got[1].ends_with("{\"kind\":\"adf\",\"data\":\"<adf/>\"}"),
        "{}",
        got[1]
    );
    assert!(got[2].contains("authorization: Bearer t\r\n") && got[2].contains("x-store: 7\r\n"));
    assert!(got[2].contains("content-type: text/plain; charset=utf-8\r\n"));
}

#[test]
fn settings_are_tried_before_anything_is_sent() {
    type Spoil = fn(&mut HttpSettings);
    let tries: [(&str, Spoil); 6] = [
        ("relative", |settings| settings.url = "/leads".to_owned()),
        ("scheme", |settings| {
            settings.url = "ftp://crm.example/".to_owned();
        }),
        ("header", |settings| {
            settings.headers = vec![("a b".to_owned(), String::new())];
        }),
        ("value", |settings| {
            settings.auth = HttpAuth::Bearer("a\r\nb".to_owned());
        }),
        ("rule", |settings| {
            settings.rules.delivered = Some("body.startswith('x')".to_owned());
        }),
        ("signature", |settings| {
            settings.signature = Some((String::new(), String::new()));
        }),
    ];
    for (what, change) in tries {
        let mut settings = settings("https://crm.example/");
        change(&mut settings);
        let made = Target::new(&Settings::Http(Box::new(settings)));
        let refused = matches!(
            made,
            Err(DeliveryError::Http(_) | DeliveryError::Rule { .. })
        );
        assert!(refused, "{what}");
    }
    let mut secret = settings("https://crm.example/?key=hidden");
    secret.auth = HttpAuth::Bearer("hidden".to_owned());
    let shown = format!(
        "{secret:?} {:?}",
        Target::new(&Settings::Http(Box::new(secret.clone())))
    );
    assert!(!shown.contains("hidden"), "{shown}");
}
