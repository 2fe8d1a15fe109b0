//! Acceptance: replay, conflict, consent, concurrency.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use super::*;
use crate::contract::request::{ConsentGrant, LeadRequest, VehicleRequest};
use crate::contract::{Answer, Caller};
use crate::delivery;
use crate::profile::{Profile, Rooftop};
use crate::store::LeadFilter;

pub(super) fn now() -> Timestamp {
    "2026-11-30T12:00:00Z".parse().unwrap()
}

/// A request as a contract's validation makes it.
pub(super) fn request(key: &str) -> LeadRequest {
    let payload = json!({
        "type": "lead.submit.request",
        "customer": { "first_name": "Robin", "last_name": "Sample", "email": "robin@example.com" },
        "consent": {
            "granted_at": "2026-11-30T11:59:00Z", "allowed_channels": ["email"],
            "consent_text": "Yes, to Example Motors.", "scope": ["lead_submission"]
        },
        "vehicle_of_interest": { "year": 2021, "make": "Honda", "model": "Accord" },
        "source_agent": { "name": "example-buyer" },
        "idempotency_key": key
    });
    typed(payload)
}

pub(super) fn typed(payload: Value) -> LeadRequest {
    let consent = &payload["consent"];
    let time = |key: &str| consent[key].as_str().map(|text| text.parse().unwrap());
    let channels = consent["allowed_channels"].as_array().unwrap().iter();
    LeadRequest {
        idempotency_key: payload["idempotency_key"].as_str().unwrap().to_owned(),
        consent: ConsentGrant {
            granted_at: time("granted_at").unwrap(),
            expires_at: time("expires_at"),
            allowed_channels: channels
                .map(|channel| channel.as_str().unwrap().to_owned())
                .collect(),
        },
        dealer_id: None,
        vehicle: VehicleRequest::default(),
        payload,
    }
}

pub(super) fn dealer(id: Option<&str>) -> Arc<Profile> {
    let public = json!({
        "name": "Example Motors Salem",
        "phones": [{ "name": "Service", "value": "+15035550111" }, { "name": "Sales", "value": "+15035550100" }],
    });
    let Value::Object(public) = public else {
        unreachable!()
    };
    Arc::new(Profile {
        dealer_id: id.map(str::to_owned),
        name: "Example Motors".to_owned(),
        welcome_message: None,
        rooftops: vec![Rooftop {
            name: "Example Motors Salem".to_owned(),
            geo: None,
            timezone: Some("America/Los_Angeles".to_owned()),
            public,
        }],
    })
}

pub(super) fn settings(deliveries: &Path) -> Settings {
    let delivery = delivery::Settings::Directory {
        path: deliveries.to_owned(),
    };
    let profile = AdfProfile::named("standard").unwrap();
    Settings::new("demo", vec![TargetSettings::new("crm", delivery, profile)])
}

/// A desk with a fixed clock and everything in one temporary directory.
pub(super) struct Desk {
    pub(super) directory: tempfile::TempDir,
    pub(super) store: Arc<Store>,
    pub(super) keys: Arc<KeyRing>,
    pub(super) clock: Clock,
}

impl Desk {
    pub(super) async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open_embedded(&directory.path().join("store.db"))
            .await
            .unwrap();
        Self {
            directory,
            ..Self::on(store)
        }
    }

    /// The same on a store that lies elsewhere.
    pub(super) fn on(store: Store) -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            store: Arc::new(store),
            keys: Arc::new(KeyRing::generate().unwrap()),
            clock: Clock::fixed(now()),
        }
    }

    pub(super) fn leads(&self, change: impl FnOnce(&mut Settings)) -> Arc<Leads> {
        let mut settings = settings(&self.directory.path().join("out"));
        change(&mut settings);
        let (store, keys) = (Arc::clone(&self.store), Arc::clone(&self.keys));
        Arc::new(Leads::new(settings, store, keys, self.clock.clone()).unwrap())
    }

    pub(super) async fn count(&self) -> usize {
        self.store
            .leads(&LeadFilter::default())
            .await
            .unwrap()
            .len()
    }
}

pub(super) async fn accept(leads: &Leads, request: &LeadRequest) -> Result<Answer, LeadError> {
    let receiver = dealer(None);
    let caller = &Caller::Anonymous;
    leads
        .accept(Submission {
            request,
            caller,
            receiver: &receiver,
            listing: None,
        })
        .await
}

fn value(answer: &Answer) -> Value {
    serde_json::from_str(&answer.to_json()).unwrap()
}

// AAP-464 AAP-453 AAP-468
#[tokio::test]
async fn an_accepted_lead_is_answered_as_received() {
    let desk = Desk::new().await;
    let leads = desk.leads(|_| {});
    let mut payload = request("k").payload;
    payload["appointment"] = json!({ "appointment_type": "test_drive" });
    let answer = value(&accept(&leads, &typed(payload)).await.unwrap());
    let data = answer["data"].as_object().unwrap();
    assert_eq!(answer["type"], "lead.submit.response");
    assert!(data["lead_id"].as_str().unwrap().starts_with("lead_"));
    assert_eq!(data["status"], "received");
    assert_eq!(data["appointment"]["status"], "requested");
    assert!(
        data["appointment"]["appointment_id"]
            .as_str()
            .unwrap()
            .starts_with("appt_")
    );
    assert_eq!(
        data["dealer"],
        json!({ "name": "Example Motors", "phone": "+15035550100" })
    );
    assert!(!data.contains_key("replayed"));
    assert_eq!(
        answer["message"],
        "Your inquiry was received. Example Motors will reply by e-mail."
    );
    let plain = value(&accept(&leads, &request("other")).await.unwrap());
    assert!(plain["data"].get("appointment").is_none());
}

// AAP-466 AAP-476 AAP-480
#[tokio::test]
async fn a_retry_gets_the_original_answer_marked_as_replayed() {
    let desk = Desk::new().await;
    let leads = desk.leads(|_| {});
    let request = request("k");
    let receiver = dealer(None);
    let caller = Caller::Anonymous;
    assert!(
        leads
            .replay(&request, &caller, &receiver)
            .await
            .unwrap()
            .is_none()
    );
    let original = accept(&leads, &request).await.unwrap().to_json();
    // A day later the grant would be refused, and the settings say other things.
    desk.clock.advance(SignedDuration::from_hours(24));
    let later = desk.leads(|settings| settings.answer_message = Some("Other words".to_owned()));
    let again = later
        .replay(&request, &caller, &receiver)
        .await
        .unwrap()
        .unwrap()
        .to_json();
    assert_eq!(again.replace(",\"replayed\":true", ""), original);
    assert_ne!(again, original);
    assert_eq!(desk.count().await, 1);
    // A claim that lost the race is answered the same.
    desk.clock.advance(SignedDuration::from_hours(-24));
    assert_eq!(accept(&later, &request).await.unwrap().to_json(), again);
    assert_eq!(desk.count().await, 1);
}

// AAP-478
#[tokio::test]
async fn a_key_with_other_content_is_a_conflict() {
    let desk = Desk::new().await;
    let leads = desk.leads(|_| {});
    accept(&leads, &request("k")).await.unwrap();
    let mut payload = request("k").payload;
    payload["message"] = "And one more thing".into();
    let changed = typed(payload);
    let refused = leads
        .replay(&changed, &Caller::Anonymous, &dealer(None))
        .await;
    assert!(matches!(refused, Err(LeadError::Conflict)));
    assert!(matches!(
        accept(&leads, &changed).await,
        Err(LeadError::Conflict)
    ));
    assert_eq!(desk.count().await, 1);
}

#[tokio::test]
async fn member_order_is_no_content() {
    let desk = Desk::new().await;
    let leads = desk.leads(|_| {});
    accept(&leads, &request("k")).await.unwrap();
    let Value::Object(members) = request("k").payload else {
        panic!()
    };
    let turned: Map<String, Value> = members.into_iter().rev().collect();
    let turned = typed(Value::Object(turned));
    let again = leads
        .replay(&turned, &Caller::Anonymous, &dealer(None))
        .await
        .unwrap();
    assert!(again.is_some());
}

// AAP-473 AAP-474 AAP-479 AAP-587
#[test]
fn keys_are_apart_by_deployment_dealer_and_verified_caller() {
    let pap = |client: &str, user: &str| Caller::Pap {
        client_id: client.to_owned(),
        user_id: user.to_owned(),
    };
    let oauth = Caller::OAuth {
        issuer: "https://i.example".to_owned(),
        subject: "s".to_owned(),
    };
    let scopes = [
        ("demo", "", Caller::Anonymous, "k"),
        ("demo", "", Caller::Anonymous, "k2"),
        ("demo", "d1", Caller::Anonymous, "k"),
        ("other", "", Caller::Anonymous, "k"),
        ("demo", "", pap("c", "u"), "k"),
        ("demo", "", pap("c", "u2"), "k"),
        ("demo", "", pap("c:u", ""), "k"),
        ("demo", "", oauth, "k"),
        ("dem", "o", Caller::Anonymous, "k"),
    ];
    let keys: BTreeSet<String> = scopes
        .iter()
        .map(|(deployment, dealer, caller, key)| key::scoped_key(deployment, dealer, caller, key))
        .collect();
    assert_eq!(keys.len(), scopes.len());
    assert_eq!(
        key::scoped_key("demo", "", &pap("c", "u"), "k"),
        key::scoped_key("demo", "", &pap("c", "u"), "k"),
        "the same after a session renewal"
    );
    assert!(keys.iter().all(|key| key.len() == 64));
}

// AAP-473
#[tokio::test]
async fn a_key_is_remembered_for_its_retention() {
    let desk = Desk::new().await;
    let leads = desk.leads(|settings| settings.retention = MIN_RETENTION);
    assert_eq!(leads.retention(), MIN_RETENTION);
    accept(&leads, &request("k")).await.unwrap();
    let replay = || async {
        leads
            .replay(&request("k"), &Caller::Anonymous, &dealer(None))
            .await
            .unwrap()
            .is_some()
    };
    desk.clock.advance(SignedDuration::from_secs(24 * 3600 - 1));
    assert!(replay().await);
    desk.clock.advance(SignedDuration::from_secs(1));
    assert!(!replay().await);
}

// AAP-484 AAP-482
#[tokio::test(flavor = "multi_thread")]
async fn of_512_identical_leads_one_is_accepted_and_the_rest_replayed() {
    let desk = Desk::new().await;
    let leads = desk.leads(|_| {});
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..512 {
        let leads = Arc::clone(&leads);
        calls.spawn(async move { accept(&leads, &request("k")).await.unwrap().to_json() });
    }
    let answers: BTreeSet<String> = calls.join_all().await.into_iter().collect();
    assert_eq!(answers.len(), 2, "{answers:?}");
    let stripped: BTreeSet<String> = answers
        .iter()
        .map(|answer| answer.replace(",\"replayed\":true", ""))
        .collect();
    assert_eq!(stripped.len(), 1);
    assert_eq!(desk.count().await, 1);
}

fn consent_of(change: impl FnOnce(&mut Value)) -> LeadRequest {
    let mut payload = request("k").payload;
    change(&mut payload["consent"]);
    typed(payload)
}

fn pointers(result: Result<(), LeadError>) -> Vec<String> {
    match result {
        Ok(()) => Vec::new(),
        Err(LeadError::InvalidConsent(problems)) => problems
            .into_iter()
            .map(|problem| problem.instance_location)
            .collect(),
        Err(other) => panic!("{other}"),
    }
}

// AAP-458
#[tokio::test]
async fn a_grant_must_hold_now() {
    let desk = Desk::new().await;
    let leads = desk.leads(|_| {});
    let granted =
        |time: &'static str| consent_of(move |consent| consent["granted_at"] = time.into());
    assert!(
        pointers(leads.check_consent(&granted("2026-11-30T12:01:00Z"))).is_empty(),
        "within tolerance"
    );
    assert_eq!(
        pointers(leads.check_consent(&granted("2026-11-30T12:01:01Z"))),
        ["/consent/granted_at"]
    );
    let expires =
        |time: &'static str| consent_of(move |consent| consent["expires_at"] = time.into());
    assert!(pointers(leads.check_consent(&expires("2026-11-30T12:00:01Z"))).is_empty());
    assert_eq!(
        pointers(leads.check_consent(&expires("2026-11-30T12:00:00Z"))),
        ["/consent/expires_at"]
    );
    let strict = desk.leads(|settings| settings.granted_at_tolerance = Duration::ZERO);
    assert_eq!(
        pointers(strict.check_consent(&granted("2026-11-30T12:00:01Z"))),
        ["/consent/granted_at"]
    );
    let refused = accept(&leads, &expires("2026-11-30T12:00:00Z")).await;
    assert!(matches!(refused, Err(LeadError::InvalidConsent(_))));
    assert_eq!(
        desk.count().await,
        0,
        "nothing is claimed by a refused lead"
    );
}

// AAP-459 AAP-462
#[tokio::test]
async fn a_grant_without_a_channel_the_dealer_can_keep_to_is_refused() {
    let desk = Desk::new().await;
    let leads = desk.leads(|settings| settings.honoured_channels = vec!["phone".to_owned()]);
    let channels =
        |channels: Value| consent_of(move |consent| consent["allowed_channels"] = channels);
    assert_eq!(
        pointers(leads.check_consent(&channels(json!(["email"])))),
        ["/consent/allowed_channels"]
    );
    let both = channels(json!(["email", "phone"]));
    assert!(pointers(leads.check_consent(&both)).is_empty());
    let answer = value(&accept(&leads, &both).await.unwrap());
    assert_eq!(
        answer["message"],
        "Your inquiry was received. Example Motors will reply by phone."
    );
}

// AAP-561 AAP-498 AAP-574
#[tokio::test]
async fn the_ledger_keeps_request_grant_caller_and_receiver() {
    let desk = Desk::new().await;
    let leads = desk.leads(|_| {});
    let request = request("k");
    let caller = Caller::Pap {
        client_id: "https://agent.example/client".to_owned(),
        user_id: "u1".to_owned(),
    };
    let listing = json!({ "year": 2021, "rooftop": "Example Motors Salem" });
    let receiver = dealer(Some("d1"));
    let submission = Submission {
        request: &request,
        caller: &caller,
        receiver: &receiver,
        listing: Some(listing.clone()),
    };
    let answer = leads.accept(submission).await.unwrap().to_json();
    let lead = desk
        .store
        .leads(&LeadFilter::default())
        .await
        .unwrap()
        .remove(0);
    assert_eq!(
        (lead.dealer.as_str(), lead.deployment.as_str()),
        ("d1", "demo")
    );
    assert_eq!(lead.answer, answer);
    let kept = Record::from_text(&lead.record, &lead.lead_id, &desk.keys).unwrap();
    assert_eq!(kept.request, request.payload);
    assert_eq!(kept.caller, RecordedCaller::from(&caller));
    assert_eq!(kept.listing, Some(listing));
    assert_eq!(kept.receiver.rooftop, "Example Motors Salem");
    assert_eq!(kept.receiver.phone.as_deref(), Some("+15035550100"));
}

#[tokio::test]
async fn a_sealed_ledger_shows_nothing_and_opens_only_in_its_place() {
    let desk = Desk::new().await;
    let leads = desk.leads(|_| {});
    accept(&leads, &request("k")).await.unwrap();
    desk.store.close().await;
    for file in std::fs::read_dir(desk.directory.path()).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            let found = bytes
                .windows(17)
                .any(|window| window == b"robin@example.com");
            assert!(!found, "{}", path.display());
        }
    }
    let record = Record {
        request: request("k").payload,
        caller: RecordedCaller::Anonymous,
        receiver: Receiver::default(),
        listing: None,
        booking: None,
    };
    let sealed = record.to_text("lead_1", Some(&desk.keys)).unwrap();
    assert!(Record::from_text(&sealed, "lead_1", &desk.keys).is_ok());
    assert!(matches!(
        Record::from_text(&sealed, "lead_2", &desk.keys),
        Err(RecordError::Sealed)
    ));
    let strangers = KeyRing::generate().unwrap();
    assert!(matches!(
        Record::from_text(&sealed, "lead_1", &strangers),
        Err(RecordError::Sealed)
    ));
    let plain = record.to_text("lead_1", None).unwrap();
    assert!(Record::from_text(&plain, "lead_1", &strangers).is_ok());
}

#[tokio::test]
async fn a_store_that_is_gone_accepts_nothing() {
    let desk = Desk::new().await;
    let leads = desk.leads(|_| {});
    desk.store.close().await;
    assert!(matches!(
        accept(&leads, &request("k")).await,
        Err(LeadError::Store(_))
    ));
}

#[test]
fn settings_are_checked_all_at_once() {
    let mut settings = settings(Path::new("/nowhere"));
    assert_eq!(check(&settings), []);
    settings.retention = Duration::from_mins(1);
    settings.honoured_channels = vec!["fax".to_owned()];
    settings.targets[0].concurrency = 0;
    settings.targets[0].vehicleless = Vehicleless::Target("elsewhere".to_owned());
    settings.targets[0].profile = AdfProfile::named("lead-network").unwrap();
    settings.provider_ids = vec![("GM".to_owned(), " ".to_owned())];
    settings.vendor.ids = vec![("BAC".to_owned(), "1".to_owned()); 9];
    settings.targets.push(TargetSettings {
        name: "a b".to_owned(),
        ..settings.targets[0].clone()
    });
    let keys: Vec<String> = check(&settings)
        .into_iter()
        .map(|finding| finding.key)
        .collect();
    for key in [
        "retention_days",
        "honoured_channels",
        "deliveries.crm.concurrency",
        "deliveries.crm.vehicleless",
        "deliveries.crm.adf_profile",
        "deliveries.a b.name",
        "provider_ids",
        "vendor.ids",
    ] {
        assert!(keys.iter().any(|other| other == key), "{key} in {keys:?}");
    }
    settings.targets.clear();
    assert!(
        check(&settings)
            .iter()
            .any(|finding| finding.key == "deliveries")
    );
}

#[test]
fn a_rooftop_that_cannot_be_reached_is_found_early() {
    let settings = settings(Path::new("/nowhere"));
    let mut profile = (*dealer(None)).clone();
    assert_eq!(check_receiver(&settings, &profile), []);
    profile.rooftops[0].public.remove("phones");
    assert_eq!(check_receiver(&settings, &profile).len(), 1);
    let ours = Settings {
        vendor: Vendor {
            phone: Some("+15035550100".to_owned()),
            ..Vendor::default()
        },
        ..settings
    };
    assert_eq!(check_receiver(&ours, &profile), []);
}

#[test]
fn a_route_names_a_rooftop_that_is_known_or_is_still_to_be_read() {
    let mut settings = settings(Path::new("/nowhere"));
    let dealer = dealer(None);
    settings.targets[0].route.rooftops = vec!["Example Motors Salem".to_owned()];
    assert_eq!(check_rooftops(&settings, &[&dealer]), []);
    settings.targets[0].route.rooftops = vec!["Portland".to_owned()];
    assert_eq!(check_rooftops(&settings, &[&dealer]).len(), 1);
    let unread = Profile {
        rooftops: Vec::new(),
        ..Profile::clone(&dealer)
    };
    assert_eq!(check_rooftops(&settings, &[&dealer, &unread]), []);
}

fn routed(settings: &Settings, change: impl FnOnce(&mut Value), rooftop: &str) -> Vec<String> {
    let mut payload = request("k").payload;
    change(&mut payload);
    let record = Record {
        request: payload,
        caller: RecordedCaller::Anonymous,
        receiver: Receiver {
            rooftop: rooftop.to_owned(),
            ..Receiver::default()
        },
        listing: None,
        booking: None,
    };
    route::targets(&record, settings)
        .into_iter()
        .map(str::to_owned)
        .collect()
}

// AAP-456
#[test]
fn routes_pick_one_way_and_its_copies() {
    let mut settings = settings(Path::new("/nowhere"));
    let plain = settings.targets[0].clone();
    let named = |name: &str, route: Route| TargetSettings {
        name: name.to_owned(),
        route,
        ..plain.clone()
    };
    let subjects = |subjects: &[&str]| Route {
        subjects: subjects.iter().map(|&subject| subject.to_owned()).collect(),
        ..Route::default()
    };
    let copy = Route {
        copy: true,
        rooftops: vec!["Salem".to_owned()],
        ..Route::default()
    };
    settings.targets = vec![
        named("new", subjects(&["new"])),
        named("service", subjects(&["service"])),
        named("rest", Route::default()),
        named("copy", copy),
    ];
    let condition = |condition: &'static str| {
        move |payload: &mut Value| payload["vehicle_of_interest"]["condition"] = condition.into()
    };
    assert_eq!(routed(&settings, condition("new"), "Portland"), ["new"]);
    assert_eq!(routed(&settings, condition("cpo"), "Portland"), ["rest"]);
    assert_eq!(
        routed(&settings, condition("new"), "Salem"),
        ["new", "copy"]
    );
    let service =
        |payload: &mut Value| payload["appointment"] = json!({ "appointment_type": "service" });
    assert_eq!(routed(&settings, service, "Portland"), ["service"]);
    settings.targets.truncate(1);
    assert_eq!(
        routed(&settings, condition("used"), "Portland"),
        ["new"],
        "no lead is without a way out"
    );
    settings.targets[0].vehicleless = Vehicleless::Target("rest".to_owned());
    let no_vehicle = |payload: &mut Value| payload["vehicle_of_interest"] = json!({});
    assert_eq!(routed(&settings, no_vehicle, "Portland"), ["rest"]);
}
