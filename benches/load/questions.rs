//! What is asked, over which binding, as finished HTTP requests. Must not know who answers.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::dealer::FIRST;
use crate::drive::Requests;
use crate::lead;

/// One kind of question.
pub(crate) struct Question {
    pub(crate) name: &'static str,
    /// The bodies that are asked in turn, and where.
    path: &'static str,
    bodies: Vec<Value>,
    /// Whether each one is a new one: its texts `{n}` and `{mileage}` become numbers.
    pub(crate) renewed: bool,
}

impl Question {
    /// The requests to one server; a floor finds its answer by the number in its path.
    pub(crate) fn requests(&self, floor: bool) -> Requests {
        let made: Vec<(Arc<[u8]>, String)> = (0..)
            .zip(&self.bodies)
            .map(|(n, body)| {
                let path = if floor {
                    format!("/{n}")
                } else {
                    self.path.to_owned()
                };
                let body = body.to_string();
                (request(&path, &body).into(), format!("{path} {body}"))
            })
            .collect();
        let renewed = self.renewed;
        let started = std::process::id();
        Arc::new(move |n| {
            let at = usize::try_from(n).unwrap_or(0) % made.len();
            if !renewed {
                return Arc::clone(&made[at].0);
            }
            let (path, body) = made[at].1.split_once(' ').unwrap_or_default();
            let salt = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let body = body.replace("{n}", &format!("{started}-{salt}"));
            let mileage = mileage(salt).to_string();
            request(path, &body.replace("\"{mileage}\"", &mileage)).into()
        })
    }

    /// The one of its requests.
    pub(crate) fn only(&self, at: usize) -> Self {
        Self {
            bodies: vec![self.bodies[at].clone()],
            ..*self
        }
    }

    /// The same with one mileage always, where it would be another one each time.
    pub(crate) fn fixed(&self) -> Self {
        let fix = |body: &Value| {
            let text = body.to_string();
            let text = text.replace("\"{mileage}\"", &FIXED.to_string());
            serde_json::from_str(&text).expect("a body")
        };
        Self {
            bodies: self.bodies.iter().map(fix).collect(),
            renewed: false,
            ..*self
        }
    }

    /// How many different requests there are.
    pub(crate) fn len(&self) -> usize {
        self.bodies.len()
    }
}

static COUNT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

fn request(path: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n\
         A2A-Version: 1.0\r\nA2A-Extensions: https://autoagentprotocol.org/extensions/aap/v3.0\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn mcp(tool: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
           "params": {"name": tool, "arguments": arguments}})
}

fn a2a(media: &str, data: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {
        "messageId": "m-1", "role": "ROLE_USER", "parts": [{"data": data,
        "mediaType": format!("application/vnd.autoagent.{media}-request+json")}]}}})
}

/// Pages of twenty vehicles: few, some and many matches, and a place.
fn searches() -> Vec<Value> {
    [
        json!({"make": ["make 3"], "model": ["model 3-4"], "condition": ["used"], "price_max": 40_000}),
        json!({"make": ["make 3", "make 5"], "body": ["body 1", "body 2", "body 3"], "price_max": 40_000}),
        json!({"condition": ["used"], "price_min": 10_000, "price_max": 35_000, "mileage_max": 100_000}),
        json!({"near": {"latitude": 40.0, "longitude": -90.0, "radius_mi": 400},
               "condition": ["used"], "body": ["body 2"], "price_max": 40_000}),
    ]
    .into_iter()
    .map(|filters| json!({"type": "inventory.search.request", "filters": filters}))
    .collect()
}

/// The same with a mileage that is another one each time.
fn new_searches() -> Vec<Value> {
    let mut searches = searches();
    for search in &mut searches {
        search["filters"]["mileage_max"] = json!("{mileage}");
    }
    searches
}

/// The searches that any server over the same tables can answer: all but the one by place.
pub(crate) fn plain(renewed: bool) -> Question {
    let searches = if renewed { new_searches() } else { searches() };
    let plain = searches.iter().take(3);
    Question {
        name: "plain search",
        path: "/mcp",
        bodies: plain.map(|s| mcp("aap_inventory_search", s)).collect(),
        renewed,
    }
}

/// One of the mileages.
pub(crate) const FIXED: u64 = 123_457;

/// A mileage that hardly anybody asked for before; what it leaves is about the same.
pub(crate) fn mileage(salt: u64) -> u64 {
    100_000 + salt * 7 % 50_000
}

/// All questions, in the order of the table.
pub(crate) fn all() -> Vec<Question> {
    let question = |name, path, bodies| Question {
        name,
        path,
        bodies,
        renewed: false,
    };
    let facets = json!({"type": "inventory.facets.request", "filters": {"make": ["make 3"]}});
    let vehicle =
        json!({"type": "inventory.vehicle.request", "vehicle_id": format!("v{}", FIRST + 77)});
    let each = |tool: &str| searches().iter().map(|s| mcp(tool, s)).collect();
    vec![
        question("MCP search", "/mcp", each("aap_inventory_search")),
        Question {
            renewed: true,
            ..question(
                "MCP search, new each time",
                "/mcp",
                new_searches()
                    .iter()
                    .map(|search| mcp("aap_inventory_search", search))
                    .collect(),
            )
        },
        question(
            "MCP facets",
            "/mcp",
            vec![mcp("aap_inventory_facets", &facets)],
        ),
        question(
            "MCP vehicle",
            "/mcp",
            vec![mcp("aap_inventory_vehicle", &vehicle)],
        ),
        Question {
            renewed: true,
            ..question(
                "MCP lead",
                "/mcp",
                vec![mcp("aap_lead_submit", &lead::request("bench-{n}"))],
            )
        },
        question(
            "A2A search",
            "/a2a",
            searches()
                .iter()
                .map(|s| a2a("inventory-search", s))
                .collect(),
        ),
        question("A2A facets", "/a2a", vec![a2a("inventory-facets", &facets)]),
        question("A2A vehicle", "/a2a", vec![a2a("vehicle-detail", &vehicle)]),
        Question {
            renewed: true,
            ..question(
                "A2A lead",
                "/a2a",
                vec![a2a("lead-submit", &lead::request("bench-{n}"))],
            )
        },
    ]
}
