//! SMTP and directory delivery against a real receiver and a relay that fails in each way.

use std::path::Path;
use std::time::Duration;

use super::scripted::{Fault, Scripted};
use super::*;

fn settings(address: std::net::SocketAddr, tls: SmtpTls) -> SmtpSettings {
    SmtpSettings {
        host: "127.0.0.1".to_owned(),
        port: address.port(),
        tls,
        login: None,
        roots_pem: None,
        from: "Forecourt <leads@dealer.example>".to_owned(),
        to: vec!["crm@intake.example".to_owned()],
        bounce: None,
        verp: false,
        step_timeout: Duration::from_secs(5),
    }
}

fn target(settings: SmtpSettings) -> Target {
    Target::new(&Settings::Smtp(Box::new(settings))).unwrap()
}

fn parcel(document: &str) -> Parcel {
    Parcel {
        correlation: "lead_1.crm".to_owned(),
        subject: "New lead for Example Motors".to_owned(),
        content: Content::Adf(document.to_owned()),
        layout: MailLayout::Body,
        encoding: MailEncoding::Auto,
        reply_to: None,
        date: "2026-11-29T18:15:12Z".parse().unwrap(),
    }
}

async fn deliver(target: &Target, parcel: &Parcel) -> Outcome {
    match target.prepare(parcel).await {
        Ok(ready) => ready.transmit().await,
        Err(outcome) => outcome,
    }
}

fn files(directory: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_mail_arrives_as_plain_text_with_a_stable_message_id() {
    let directory = tempfile::tempdir().unwrap();
    let receiver = MailReceiver::start("127.0.0.1:0".parse().unwrap(), directory.path(), 100_000)
        .await
        .unwrap();
    let smtp = target(settings(receiver.address(), SmtpTls::DangerPlaintext));
    let document = "<?xml version=\"1.0\"?>\n.dots at line starts\n..survive\n<adf/>\n";
    for _ in 0..2 {
        let outcome = deliver(&smtp, &parcel(document)).await;
        assert!(matches!(outcome, Outcome::Delivered(_)), "{outcome:?}");
    }
    let names = files(directory.path());
    assert_eq!(names.len(), 2);
    for name in names {
        assert_eq!(Path::new(&name).extension().unwrap(), "eml");
        let mail = std::fs::read_to_string(directory.path().join(name)).unwrap();
        let (head, body) = mail.split_once("\r\n\r\n").unwrap();
        assert_eq!(body.replace("\r\n", "\n").trim_end(), document.trim_end());
        for line in [
            "Return-Path: <leads@dealer.example>",
            "Delivered-To: crm@intake.example",
            "Message-ID: <lead_1.crm@dealer.example>",
            "Subject: New lead for Example Motors",
            "Auto-Submitted: auto-generated",
            "Content-Type: text/plain; charset=us-ascii",
            "Content-Transfer-Encoding: 7bit",
            "Date: Sun, 29 Nov 2026 18:15:12 +0000",
        ] {
            assert!(
                head.lines().any(|other| other == line),
                "{line} is missing in\n{head}"
            );
        }
    }
    receiver.stop().await;
}

#[tokio::test]
async fn long_lines_are_broken_at_spaces_and_stay_7bit() {
    let server = Scripted::start(Fault::None).await;
    let smtp = target(settings(server.address, SmtpTls::DangerPlaintext));
    let words = "word ".repeat(700);
    assert!(matches!(
        deliver(&smtp, &parcel(&words)).await,
        Outcome::Delivered(_)
    ));
    let unbroken = "x".repeat(3000);
    assert!(matches!(
        deliver(&smtp, &parcel(&unbroken)).await,
        Outcome::Delivered(_)
    ));
    let mails = server.mails();
    for mail in &mails {
        assert!(mail.lines().all(|line| line.len() <= 998));
    }
    let (_, body) = mails[0].split_once("\r\n\r\n").unwrap();
    assert_eq!(
        body.split_whitespace()
            .filter(|word| *word == "word")
            .count(),
        700
    );
    assert!(mails[0].contains("Content-Transfer-Encoding: 7bit"));
    assert!(!mails[1].contains("Content-Transfer-Encoding: 7bit"));
}

#[tokio::test]
async fn header_texts_cannot_make_headers() {
    let server = Scripted::start(Fault::None).await;
    let smtp = target(settings(server.address, SmtpTls::DangerPlaintext));
    let mut evil = parcel("<adf/>");
    evil.subject = "Lead\r\nBcc: thief@example.com".to_owned();
    evil.reply_to = Some("a@example.com\r\nBcc: thief@example.com".to_owned());
    assert!(matches!(deliver(&smtp, &evil).await, Outcome::Delivered(_)));
    let mails = server.mails();
    assert!(
        !mails[0].lines().any(|line| line.starts_with("Bcc")),
        "{}",
        mails[0]
    );
}

// AAP-485 AAP-577
#[tokio::test]
async fn each_failure_has_its_class() {
    type Right = fn(&Outcome) -> bool;
    let retry: Right = |outcome| matches!(outcome, Outcome::Retry(_));
    let refused: Right = |outcome| matches!(outcome, Outcome::Refused(_));
    let unknown: Right = |outcome| matches!(outcome, Outcome::Unknown(_));
    let cases: [(Fault, Right); 11] = [
        (Fault::Answer("MAIL", "421 busy"), retry),
        (Fault::Answer("MAIL", "452 no room"), retry),
        (Fault::Answer("MAIL", "552 too large"), refused),
        (Fault::Answer("RCPT", "450 greylisted"), retry),
        (Fault::Answer("RCPT", "550 no such user"), refused),
        (Fault::Answer("DATA", "451 later"), retry),
        (Fault::Answer("DATA", "554 no"), refused),
        (Fault::AnswerText("452 full"), retry),
        (Fault::AnswerText("552 too large"), refused),
        (Fault::DropAfterText, unknown),
        (Fault::AnswerText("what?"), unknown),
    ];
    for (fault, right) in cases {
        let server = Scripted::start(fault).await;
        let smtp = target(settings(server.address, SmtpTls::DangerPlaintext));
        let outcome = deliver(&smtp, &parcel("<adf/>")).await;
        assert!(right(&outcome), "{fault:?} gave {outcome:?}");
    }
}

// AAP-485
#[tokio::test]
async fn silence_after_the_text_is_unknown() {
    let server = Scripted::start(Fault::SilentAfterText).await;
    let mut impatient = settings(server.address, SmtpTls::DangerPlaintext);
    impatient.step_timeout = Duration::from_millis(300);
    let outcome = deliver(&target(impatient), &parcel("<adf/>")).await;
    assert!(matches!(outcome, Outcome::Unknown(_)), "{outcome:?}");
}

/// MAIL as the server heard it.
fn mail_command(server: &Scripted) -> Option<String> {
    let mut commands = server.commands().into_iter();
    commands.find(|command| command.starts_with("MAIL"))
}

#[tokio::test]
async fn a_mail_that_the_relay_will_not_take_is_refused_before_it_is_sent() {
    let server = Scripted::start(Fault::Announces("250-relay\r\n250 SIZE 4000")).await;
    let smtp = target(settings(server.address, SmtpTls::DangerPlaintext));
    let outcome = deliver(&smtp, &parcel(&"x ".repeat(2000))).await;
    let Outcome::Refused(detail) = outcome else {
        panic!("{outcome:?}")
    };
    assert!(detail.contains("the relay takes 4000 (SIZE)"), "{detail}");
    assert_eq!(mail_command(&server), None);
    assert!(server.mails().is_empty());
    let small = deliver(&smtp, &parcel("<adf/>")).await;
    assert!(matches!(small, Outcome::Delivered(_)), "{small:?}");
    // the terminating dot and its line end are not counted (RFC 1870 section 4)
    let octets = server.mails()[0].len() - ".\r\n".len();
    let mail = mail_command(&server).unwrap();
    assert!(mail.ends_with(&format!(" SIZE={octets}")), "{mail}");
}

#[tokio::test]
async fn a_relay_without_sizes_is_told_none() {
    for fault in [Fault::Announces("250 relay"), Fault::OneHello] {
        let server = Scripted::start(fault).await;
        let smtp = target(settings(server.address, SmtpTls::DangerPlaintext));
        let outcome = deliver(&smtp, &parcel("<adf/>")).await;
        assert!(matches!(outcome, Outcome::Delivered(_)), "{outcome:?}");
        let mail = mail_command(&server).unwrap();
        assert_eq!(mail, "MAIL FROM:<leads@dealer.example>");
    }
}

#[tokio::test]
async fn text_beyond_ascii_travels_as_the_profile_says() {
    let document = format!("<adf>Grüße, 日本 {}</adf>\n", "word ".repeat(40));
    let cases = [
        (MailEncoding::Auto, true, "quoted-printable", None),
        (MailEncoding::EightBit, true, "8bit", Some(" BODY=8BITMIME")),
        (MailEncoding::EightBit, false, "quoted-printable", None),
        (
            MailEncoding::QuotedPrintable,
            true,
            "quoted-printable",
            None,
        ),
        (MailEncoding::Base64, true, "base64", None),
    ];
    for (encoding, eight_bit, expected, body) in cases {
        let lines = if eight_bit {
            "250-relay\r\n250 8BITMIME"
        } else {
            "250 relay"
        };
        let server = Scripted::start(Fault::Announces(lines)).await;
        let smtp = target(settings(server.address, SmtpTls::DangerPlaintext));
        let mut parcel = parcel(&document);
        parcel.encoding = encoding;
        let outcome = deliver(&smtp, &parcel).await;
        assert!(matches!(outcome, Outcome::Delivered(_)), "{outcome:?}");
        let mails = server.mails();
        let header = format!("Content-Transfer-Encoding: {expected}\r\n");
        assert!(mails[0].contains(&header), "{encoding:?}: {}", mails[0]);
        assert_eq!(mails[0].contains("Grüße"), expected == "8bit");
        let mail = mail_command(&server).unwrap();
        assert_eq!(mail.contains("BODY="), body.is_some(), "{mail}");
        assert!(mail.ends_with(body.unwrap_or(">")), "{mail}");
    }
    // what is ASCII needs no encoding, unless one is asked for
    let server = Scripted::start(Fault::Announces("250-relay\r\n250 8BITMIME")).await;
    let smtp = target(settings(server.address, SmtpTls::DangerPlaintext));
    let mut plain = parcel("<adf/>\n");
    plain.encoding = MailEncoding::EightBit;
    deliver(&smtp, &plain).await;
    assert!(server.mails()[0].contains("Content-Transfer-Encoding: 7bit"));
}

#[tokio::test]
async fn an_absent_relay_is_tried_again() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let outcome = deliver(
        &target(settings(address, SmtpTls::DangerPlaintext)),
        &parcel("<adf/>"),
    )
    .await;
    assert!(matches!(outcome, Outcome::Retry(_)), "{outcome:?}");
}

#[tokio::test]
async fn without_starttls_nothing_is_sent() {
    let server = Scripted::start(Fault::None).await;
    let smtp = target(settings(server.address, SmtpTls::Starttls));
    let outcome = deliver(&smtp, &parcel("<adf/>")).await;
    assert!(
        matches!(&outcome, Outcome::Retry(detail) if detail.contains("STARTTLS")),
        "{outcome:?}"
    );
    assert!(server.mails().is_empty());
}

/// A certificate for `localhost`: what a server shows, and its PEM.
fn certified() -> (rustls::ServerConfig, Vec<u8>) {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned(), "localhost".to_owned()])
        .unwrap();
    let key = rustls_pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = std::sync::Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    (tls, made.cert.pem().into_bytes())
}

#[tokio::test]
async fn tls_checks_the_certificate() {
    for kind in [SmtpTls::Starttls, SmtpTls::Implicit] {
        let (tls, pem) = certified();
        let server = Scripted::start_tls(tls, kind == SmtpTls::Implicit).await;
        let strangers = target(settings(server.address, kind));
        let outcome = deliver(&strangers, &parcel("<adf/>")).await;
        assert!(matches!(outcome, Outcome::Retry(_)), "{outcome:?}");
        assert!(server.mails().is_empty());
        let mut trusting = settings(server.address, kind);
        trusting.host = "localhost".to_owned();
        trusting.roots_pem = Some(pem);
        let outcome = deliver(&target(trusting), &parcel("<adf/>")).await;
        assert!(matches!(outcome, Outcome::Delivered(_)), "{outcome:?}");
        assert_eq!(server.mails().len(), 1);
    }
}

#[tokio::test]
async fn a_login_is_shown_and_its_refusal_told_without_it() {
    let login = Some(("leads".to_owned(), "open sesame".to_owned()));
    let server = Scripted::start(Fault::Announces("250-relay\r\n250 AUTH PLAIN LOGIN")).await;
    let mut known = settings(server.address, SmtpTls::DangerPlaintext);
    known.login.clone_from(&login);
    let outcome = deliver(&target(known), &parcel("<adf/>")).await;
    assert!(matches!(outcome, Outcome::Delivered(_)), "{outcome:?}");
    // printf '\0leads\0open sesame' | base64
    let auth = "AUTH PLAIN AGxlYWRzAG9wZW4gc2VzYW1l".to_owned();
    let commands = server.commands();
    let at = |command: &str| commands.iter().position(|one| one.starts_with(command));
    assert!(commands.contains(&auth), "{commands:?}");
    assert!(at("AUTH") < at("MAIL"), "{commands:?}");
    // a relay that knows no login gets no mail without one
    let server = Scripted::start(Fault::None).await;
    let mut unknown = settings(server.address, SmtpTls::DangerPlaintext);
    unknown.login = login;
    let outcome = deliver(&target(unknown), &parcel("<adf/>")).await;
    assert!(
        !matches!(outcome, Outcome::Delivered(_) | Outcome::Unknown(_)),
        "{outcome:?}"
    );
    assert!(!format!("{outcome:?}").contains("sesame"));
    assert!(server.mails().is_empty());
}

#[tokio::test]
async fn a_bounce_address_names_its_delivery() {
    let directory = tempfile::tempdir().unwrap();
    let receiver = MailReceiver::start("127.0.0.1:0".parse().unwrap(), directory.path(), 100_000)
        .await
        .unwrap();
    let mut verp = settings(receiver.address(), SmtpTls::DangerPlaintext);
    verp.bounce = Some("bounce@dealer.example".to_owned());
    verp.verp = true;
    assert!(matches!(
        deliver(&target(verp), &parcel("<adf/>")).await,
        Outcome::Delivered(_)
    ));
    let name = &files(directory.path())[0];
    let mail = std::fs::read_to_string(directory.path().join(name)).unwrap();
    assert!(
        mail.starts_with("Return-Path: <bounce+lead_1.crm@dealer.example>"),
        "{mail}"
    );
}

#[tokio::test]
async fn layouts_carry_the_document_where_the_profile_wants_it() {
    let server = Scripted::start(Fault::None).await;
    let smtp = target(settings(server.address, SmtpTls::DangerPlaintext));
    for layout in [MailLayout::Attachment, MailLayout::Both] {
        let mut parcel = parcel("<adf/>");
        parcel.layout = layout;
        assert!(matches!(
            deliver(&smtp, &parcel).await,
            Outcome::Delivered(_)
        ));
    }
    let mails = server.mails();
    assert!(
        mails
            .iter()
            .all(|mail| mail.contains("filename=\"lead.xml\""))
    );
    let counts = mails.iter().map(|mail| mail.matches("<adf/>").count());
    assert_eq!(counts.collect::<Vec<_>>(), [1, 2]);
}

#[tokio::test]
async fn a_directory_holds_one_whole_file_per_lead() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("leads");
    let target = Target::new(&Settings::Directory { path: path.clone() }).unwrap();
    for document in ["<adf>1</adf>", "<adf>2</adf>"] {
        let ready = target.prepare(&parcel(document)).await.unwrap();
        assert!(ready.repeats_safely());
        assert!(matches!(ready.transmit().await, Outcome::Delivered(_)));
    }
    assert_eq!(files(&path), ["lead_1_crm.xml"]);
    let content = std::fs::read_to_string(path.join("lead_1_crm.xml")).unwrap();
    assert_eq!(content, "<adf>2</adf>");
    let mut odd = parcel("");
    odd.correlation = "../../etc/passwd".to_owned();
    odd.content = Content::Text("words".to_owned());
    assert!(matches!(
        deliver(&target, &odd).await,
        Outcome::Delivered(_)
    ));
    assert_eq!(files(&path), ["______etc_passwd.txt", "lead_1_crm.xml"]);
}

#[tokio::test]
async fn the_receiver_bounds_what_it_takes() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let directory = tempfile::tempdir().unwrap();
    let receiver = MailReceiver::start("127.0.0.1:0".parse().unwrap(), directory.path(), 64)
        .await
        .unwrap();
    let mut stream = tokio::net::TcpStream::connect(receiver.address())
        .await
        .unwrap();
    let text = "x".repeat(80);
    let script = format!(
        "RCPT TO:<a@example.com>\r\nMAIL nonsense\r\nEHLO me\r\nMAIL FROM:<> SIZE=65\r\nMAIL FROM:<>\r\nDATA\r\n\
         RCPT TO:<a@example.com>\r\nDATA\r\n{text}\r\n.\r\nNOOP\r\nMAIL FROM:<b@example.com>\r\nRSET\r\n\
         RCPT TO:<a@example.com>\r\nFOO\r\nQUIT\r\n"
    );
    stream.write_all(script.as_bytes()).await.unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).await.unwrap();
    let codes: Vec<&str> = answers
        .lines()
        .map(|line| line.split(['-', ' ']).next().unwrap())
        .collect();
    assert_eq!(
        codes,
        [
            "220", "503", "501", "250", "250", "250", "552", "250", "503", "250", "354", "552",
            "250", "250", "250", "503", "500", "221"
        ]
    );
    assert!(files(directory.path()).is_empty());
    receiver.stop().await;
    let outside = MailReceiver::start("0.0.0.0:0".parse().unwrap(), directory.path(), 64).await;
    assert!(outside.is_err(), "only loopback");
}

#[test]
fn addresses_are_checked_before_anything_is_sent() {
    for bad in [
        "",
        "nobody",
        "käufer@example.com",
        "a@example.com\r\nRCPT TO:<b@example.com>",
    ] {
        let mut settings = settings("127.0.0.1:25".parse().unwrap(), SmtpTls::DangerPlaintext);
        settings.to = vec![bad.to_owned()];
        let refused = Target::new(&Settings::Smtp(Box::new(settings)));
        assert!(matches!(refused, Err(DeliveryError::Address(_))), "{bad}");
    }
}
