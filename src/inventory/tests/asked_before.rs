//! What was asked for before comes from memory: it says what the first answer said, whoever asks and however the
//! question is written, and it ends with its reading. Must not look into that memory.

use serde_json::{Value, json};

use super::fixture::{World, car, facets, runtime, search};
use crate::contract::Answer;
use crate::inventory::{Inventory, Page};

fn stock(price: i64, ids: &[&str]) -> Vec<Value> {
    let listed = |id: &&str| {
        let price = json!({"amount": price, "currency": "USD"});
        car(id, json!({"make": "Kia", "price": price}))
    };
    ids.iter().map(listed).collect()
}

fn vehicles(page: &Page) -> Value {
    let mut answer = Answer::new();
    answer.push("[");
    page.vehicles.write(&mut answer);
    answer.push("]");
    serde_json::from_str(&answer.to_json()).unwrap()
}

/// Three times: found, written for the second, and read.
fn asked(inventory: &Inventory, filters: &[Value]) -> (u64, Value, Value) {
    let answers: Vec<_> = filters
        .iter()
        .map(|filters| {
            let page = search(inventory, json!({"filters": filters}));
            let counted = facets(inventory, filters.clone());
            (page.total, vehicles(&page), counted)
        })
        .collect();
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    answers[0].clone()
}

// AAP-361 AAP-362 AAP-380
#[test]
fn the_same_meaning_has_the_same_answer_until_the_next_reading() {
    let world = World::new(stock(20_000, &["a", "b", "c"]));
    let runtime = runtime();
    let inventory = runtime.block_on(world.start());
    let kias = ["Kia", "kia", "KIA"].map(|make| json!({"make": [make]}));
    let (total, shown, counted) = asked(&inventory, &kias);
    assert_eq!(total, 3);
    assert_eq!(shown[0]["price"]["amount"], 20_000);
    assert_eq!(counted["makes"], json!([{"value": "Kia", "count": 3}]));

    world.set(stock(21_000, &["a", "c"]));
    runtime.block_on(inventory.refresh()).unwrap();
    let (total, shown, counted) = asked(&inventory, &kias);
    assert_eq!(
        total, 2,
        "what was sold is on no page that was asked for before"
    );
    let prices: Vec<&Value> = shown
        .as_array()
        .unwrap()
        .iter()
        .map(|v| &v["price"]["amount"])
        .collect();
    assert_eq!(prices, [21_000, 21_000], "nor is an old price");
    assert_eq!(counted["makes"], json!([{"value": "Kia", "count": 2}]));
}

// AAP-363
#[test]
fn facets_of_other_filters_are_others() {
    let mut listings = stock(20_000, &["a", "b"]);
    listings.push(car("c", json!({"make": "Audi"})));
    let inventory = runtime().block_on(World::new(listings).start());
    for _ in 0..3 {
        for (filters, makes) in [
            (
                json!({"make": ["Kia"]}),
                json!([{"value": "Kia", "count": 2}]),
            ),
            (
                json!({"make": ["Audi"]}),
                json!([{"value": "Audi", "count": 1}]),
            ),
            (json!({"price_max": 1}), json!([])),
        ] {
            assert_eq!(facets(&inventory, filters)["makes"], makes);
        }
        let all = json!([{"value": "Kia", "count": 2}, {"value": "Audi", "count": 1}]);
        assert_eq!(facets(&inventory, json!({}))["makes"], all);
    }
}
