//! What a person may see and decide in the ledger.

use jiff::SignedDuration;

use super::super::tests::{Desk, accept, dealer, request, typed};
use super::super::{Imported, LeadError};
use super::*;
use crate::contract::Caller;
use crate::delivery::Content;
use crate::store::Job;
use crate::store::tests::Place;

fn ledger(desk: &Desk) -> Ledger {
    Ledger::new(
        Arc::clone(&desk.store),
        Arc::clone(&desk.keys),
        desk.clock.clone(),
    )
}

async fn job(desk: &Desk) -> Job {
    let now = desk.clock.now();
    let lease = now.checked_add(SignedDuration::from_mins(1)).unwrap();
    desk.store
        .take_job("demo", "crm", now, lease)
        .await
        .unwrap()
        .unwrap()
}

async fn end(desk: &Desk, job: &Job, state: DeliveryState) {
    let ending = Ending {
        state,
        due_at: None,
        detail: "a test".to_owned(),
    };
    assert!(
        desk.store
            .finish(job, ending, desk.clock.now())
            .await
            .unwrap()
    );
}

async fn only_lead(ledger: &Ledger) -> Summary {
    ledger.list(&LeadFilter::default()).await.unwrap().remove(0)
}

// AAP-507
#[tokio::test]
async fn a_list_shows_nothing_of_customers_and_a_dossier_everything() {
    let desk = Desk::new().await;
    accept(&desk.leads(|_| {}), &request("k")).await.unwrap();
    let ledger = ledger(&desk);
    let listed =
        serde_json::to_string(&ledger.list(&LeadFilter::default()).await.unwrap()).unwrap();
    assert!(listed.contains("\"state\":\"queued\""));
    for private in ["Robin", "robin@example.com", "Honda"] {
        assert!(!listed.contains(private), "{private}");
    }
    let lead_id = only_lead(&ledger).await.lead_id;
    let job = job(&desk).await;
    end(&desk, &job, DeliveryState::Delivered).await;
    let dossier = serde_json::to_value(ledger.show(&lead_id).await.unwrap()).unwrap();
    assert_eq!(dossier["record"]["request"], request("k").payload);
    assert_eq!(dossier["record"]["caller"]["kind"], "anonymous");
    assert_eq!(dossier["answer"]["data"]["lead_id"], lead_id.as_str());
    assert_eq!(dossier["history"][0]["state"], "delivered");
    assert!(matches!(
        ledger.show("lead_none").await,
        Err(LedgerError::NoLead(_))
    ));
    let profile = AdfProfile::named("standard").unwrap();
    let settings = Settings::new("demo", Vec::new());
    let rendered = ledger.render(&lead_id, &profile, &settings).await.unwrap();
    assert!(
        matches!(rendered.content, Content::Adf(document) if document.contains("Robin Sample"))
    );
}

#[tokio::test]
async fn only_a_person_sends_a_held_lead_again_and_says_so() {
    let desk = Desk::new().await;
    accept(&desk.leads(|_| {}), &request("k")).await.unwrap();
    let ledger = ledger(&desk);
    let lead_id = only_lead(&ledger).await.lead_id;
    let first = job(&desk).await;
    end(&desk, &first, DeliveryState::Held).await;
    let refused = ledger
        .decide(&lead_id, None, Decision::Retry)
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("crm held"), "{refused}");
    assert_eq!(
        ledger
            .decide(&lead_id, Some("crm"), Decision::SendAgain)
            .await
            .unwrap(),
        ["crm"]
    );
    let second = job(&desk).await;
    assert_eq!(second.attempt, 2);
    assert!(
        ledger.decide(&lead_id, None, Decision::Hold).await.is_err(),
        "it is being sent"
    );
    end(&desk, &second, DeliveryState::Refused).await;
    ledger
        .decide(&lead_id, None, Decision::Retry)
        .await
        .unwrap();
    ledger.decide(&lead_id, None, Decision::Hold).await.unwrap();
    ledger
        .decide(&lead_id, None, Decision::ResolveDelivered)
        .await
        .unwrap();
    assert!(
        ledger
            .decide(&lead_id, None, Decision::GiveUp)
            .await
            .is_err()
    );
    let history: Vec<_> = ledger
        .show(&lead_id)
        .await
        .unwrap()
        .history
        .iter()
        .map(|event| event.state)
        .collect();
    assert_eq!(
        history,
        ["held", "queued", "refused", "queued", "held", "delivered"]
    );
    assert!(
        ledger
            .decide(&lead_id, Some("other"), Decision::Retry)
            .await
            .is_err()
    );
}

#[tokio::test]
async fn a_purge_takes_out_what_it_should_and_keeps_recognising_retries() {
    let desk = Desk::new().await;
    let leads = desk.leads(|_| {});
    accept(&leads, &request("delivered")).await.unwrap();
    let job = job(&desk).await;
    end(&desk, &job, DeliveryState::Delivered).await;
    accept(&leads, &request("open")).await.unwrap();
    let mut other = request("other").payload;
    other["customer"]["email"] = "kim@example.com".into();
    other["customer"]["phone"] = "+15035550142".into();
    accept(&leads, &typed(other)).await.unwrap();
    let ledger = ledger(&desk);
    assert!(matches!(
        ledger.purge(&Purge::default(), true).await,
        Err(LedgerError::Unbounded)
    ));
    let robin = Purge {
        customer: Some("ROBIN@example.com".to_owned()),
        ..Purge::default()
    };
    let found = Purged {
        leads: 1,
        undelivered: 1,
        unreadable: 0,
    };
    assert_eq!(ledger.purge(&robin, true).await.unwrap(), found);
    assert_eq!(desk.count().await, 3, "a dry run takes nothing");
    assert_eq!(ledger.purge(&robin, false).await.unwrap(), found);
    assert_eq!(desk.count().await, 2);
    let again = leads
        .replay(&request("delivered"), &Caller::Anonymous, &dealer(None))
        .await
        .unwrap();
    assert!(again.is_some());
    let kim = Purge {
        customer: Some("+1 (503) 555-0142".to_owned()),
        undelivered_too: true,
        ..Purge::default()
    };
    assert_eq!(ledger.purge(&kim, false).await.unwrap().leads, 1);
    let left = ledger.list(&LeadFilter::default()).await.unwrap();
    let one = Purge {
        lead_id: Some(left[0].lead_id.clone()),
        ..Purge::default()
    };
    let kept = ledger.purge(&one, false).await.unwrap();
    assert_eq!(
        (kept.leads, kept.undelivered),
        (0, 1),
        "named or not, it is still to go out"
    );
    desk.clock.advance(SignedDuration::from_hours(1));
    let old = Purge {
        before: Some(desk.clock.now()),
        undelivered_too: true,
        ..Purge::default()
    };
    assert_eq!(ledger.purge(&old, false).await.unwrap().leads, 1);
    assert_eq!(desk.count().await, 0);
}

#[tokio::test]
async fn a_customer_is_found_by_the_number_as_people_say_it_and_nonsense_is_no_customer() {
    let desk = Desk::new().await;
    let leads = desk.leads(|_| {});
    let mut kim = request("k").payload;
    kim["customer"]["phone"] = "+15035550142".into();
    accept(&leads, &typed(kim)).await.unwrap();
    let ledger = ledger(&desk);
    let find = async |customer: &str| {
        let purge = Purge {
            customer: Some(customer.to_owned()),
            undelivered_too: true,
            ..Purge::default()
        };
        ledger.purge(&purge, true).await.map(|found| found.leads)
    };
    for said in ["+15035550142", "1-503-555-0142", "(503) 555-0142"] {
        assert_eq!(find(said).await.unwrap(), 1, "{said}");
    }
    for other in ["+445035550142", "503-555-0143", "+5035550142"] {
        assert_eq!(find(other).await.unwrap(), 0, "{other}");
    }
    for nonsense in ["", "Kim", "555-014"] {
        let refused = find(nonsense).await;
        assert!(
            matches!(refused, Err(LedgerError::NoCustomer)),
            "{nonsense}"
        );
    }
    let nobody = Purge {
        lead_id: Some("lead_nobody".to_owned()),
        ..Purge::default()
    };
    let refused = ledger.purge(&nobody, true).await;
    assert!(matches!(refused, Err(LedgerError::NoLead(_))));
}

/// Moves all leads from one desk to the other, which then answers every retry as the first did. `held`: how many
/// were being sent.
async fn moves(from: &Desk, to: &Desk, held: u64) {
    let mut lines = Vec::new();
    let (here, all) = (ledger(from), LeadFilter::default());
    let count = here.export(&all, |line| {
        lines.push(line);
        Ok(())
    });
    assert_eq!(count.await.unwrap(), 3);
    let there = ledger(to);
    let import = || import(&there, &lines);
    let imported = Imported {
        leads: 3,
        known: 0,
        held,
    };
    assert_eq!(import().await.unwrap(), imported);
    let repeated = Imported {
        leads: 0,
        known: 3,
        held: 0,
    };
    assert_eq!(import().await.unwrap(), repeated);
    answers_alike(from, to).await;
    let tally = to.store.tally("demo").await.unwrap();
    for state in [
        DeliveryState::Delivered,
        DeliveryState::Held,
        DeliveryState::Queued,
    ] {
        assert_eq!(tally.count(state), 1, "{}", state.id());
    }
    let stored = to.store.leads(&LeadFilter::default()).await.unwrap();
    assert!(stored.iter().all(|lead| !lead.record.contains("robin")));
}

/// Takes in all lines; what that did altogether.
async fn import(there: &Ledger, lines: &[String]) -> Result<Imported, LedgerError> {
    let mut total = Imported::default();
    for (at, line) in lines.iter().enumerate() {
        total += there.import_line(at + 1, line, true).await?;
    }
    Ok(total)
}

/// Every retry gets the same from both, and so does what is no retry.
async fn answers_alike(from: &Desk, to: &Desk) {
    let (old, moved) = (from.leads(|_| {}), to.leads(|_| {}));
    for key in ["delivered", "sending", "queued"] {
        let (caller, dealer, request) = (Caller::Anonymous, dealer(None), request(key));
        let before = old.replay(&request, &caller, &dealer).await;
        let after = moved.replay(&request, &caller, &dealer).await;
        let (before, after) = (before.unwrap().unwrap(), after.unwrap().unwrap());
        assert_eq!(after.to_json(), before.to_json());
    }
    let mut changed = request("queued").payload;
    changed["message"] = "More".into();
    let conflict = moved
        .replay(&typed(changed), &Caller::Anonymous, &dealer(None))
        .await;
    assert!(matches!(conflict, Err(LeadError::Conflict)));
}

// AAP-587
#[tokio::test]
async fn leads_move_to_another_store_with_their_keys_and_states() {
    let from = Desk::new().await;
    let leads = from.leads(|_| {});
    for key in ["delivered", "sending", "queued"] {
        accept(&leads, &request(key)).await.unwrap();
    }
    let delivered = job(&from).await;
    end(&from, &delivered, DeliveryState::Delivered).await;
    job(&from).await;
    // to Redis, and from there into another file
    let redis = Place::redis(&["--appendonly", "yes"]).await;
    let (middle, to) = (Desk::on(redis.open().await), Desk::new().await);
    let mut here = from;
    let mut held = 1;
    for there in [middle, to] {
        moves(&here, &there, held).await;
        (here, held) = (there, 0);
    }
    let there = ledger(&here);
    assert_eq!(
        there.show(&delivered.lead_id).await.unwrap().history.len(),
        1
    );
    let lines = ["", "{\"lead_id\":\"robin@example.com\"}"].map(str::to_owned);
    let broken = import(&there, &lines).await.unwrap_err();
    assert!(matches!(broken, LedgerError::Import { line: 2, .. }));
    assert!(!broken.to_string().contains("robin"));
}
