//! One dealer in this process, made once from a configuration as `serve` makes it, for the targets that need the
//! whole. Must not judge answers.

use std::fmt::Write as _;
use std::fs;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use forecourt::app::App;
use forecourt::bindings::{a2a, mcp};
use forecourt::clock::Clock;
use forecourt::config::{Config, Sources};
use forecourt::contract::Rope;
use forecourt::deployment::Deployment;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Response, Uri};
use serde_json::Value;

pub(super) const MAPPING: &str = r#"
name = "Fuzzed feed"
[source]
kind = "feed"
format = "csv"
[fields]
vehicle_id = "ID"
stock = "STOCK"
status = { value = "available" }
year = { from = "YEAR", steps = ["number"] }
make = "MAKE"
model = "MODEL"
condition = { value = "used" }
rooftop = { value = "Main Street" }
[updated_at]
provenance = "source_column"
from = "CHANGED"
steps = [{ datetime = { format = "%Y-%m-%d", zone = "America/Chicago" } }]
[price]
basis = "all_mandatory_included"
from = "PRICE"
steps = ["number", "whole_dollars"]
"#;

pub(super) const CONFIG: &str = r#"
[data]
directory = "data"
[deployments.d]
domain = "d.example"
skills = ["dealer.information", "inventory.facets", "inventory.search", "inventory.vehicle"]
[deployments.d.profile]
name = "Demo Toyota"
[[deployments.d.profile.rooftops]]
name = "Main Street"
timezone = "America/Chicago"
geo = { latitude = 41.9, longitude = -87.6 }
phones = [{ name = "sales", value = "+1-312-555-0100" }]
[deployments.d.inventory]
mapping = "mapping.toml"
source = { kind = "feed", path = "feed.csv" }
"#;

pub(super) struct Shop {
    runtime: tokio::runtime::Runtime,
    pub(super) deployment: Arc<Deployment>,
    mcp: mcp::Endpoint,
    a2a: a2a::Endpoint,
}

static SHOP: LazyLock<Mutex<Shop>> = LazyLock::new(|| Mutex::new(Shop::open()));

/// The one shop.
pub(super) fn shop() -> MutexGuard<'static, Shop> {
    SHOP.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

impl Shop {
    fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut feed = "ID,STOCK,YEAR,MAKE,MODEL,CHANGED,PRICE\n".to_owned();
        for (index, model) in ["Camry", "Corolla", "Tacoma", "Prius"]
            .iter()
            .cycle()
            .take(24)
            .enumerate()
        {
            let price = 20_000 + 250 * index;
            writeln!(
                feed,
                "car-{index},S{index},{},Toyota,{model},2026-10-01,{price}",
                2015 + index % 10
            )
            .unwrap();
        }
        for (name, text) in [
            ("mapping.toml", MAPPING),
            ("forecourt.toml", CONFIG),
            ("feed.csv", &feed),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let sources = Sources {
            files: vec![folder.path().join("forecourt.toml")],
            ..Sources::default()
        };
        let config = Config::load(&sources).unwrap_or_else(|findings| panic!("{findings}"));
        let runtime = runtime();
        let clock = Clock::fixed("2026-10-24T15:00:00Z".parse().unwrap());
        let app = runtime.block_on(App::build(&config, 8080, clock)).unwrap();
        let deployment = Arc::clone(&app.deployments[0]);
        Self {
            runtime,
            mcp: mcp::Endpoint::new(Arc::clone(&deployment)),
            a2a: a2a::Endpoint::new(Arc::clone(&deployment)),
            deployment,
        }
    }

    pub(super) fn mcp(&self, head: &Parts, body: &[u8]) -> Response<Bytes> {
        let answer = self.runtime.block_on(async {
            match self.mcp.admit(head).await {
                Ok(admission) => self.mcp.call(&admission, head, body).await,
                Err(answer) => answer,
            }
        });
        answer.map(Rope::into_bytes)
    }

    pub(super) fn a2a(&self, head: &Parts, body: &[u8]) -> Response<Bytes> {
        let answer = self.runtime.block_on(async {
            match self.a2a.admit(head).await {
                Ok(visitor) => self.a2a.call(&visitor, head, body).await,
                Err(answer) => answer,
            }
        });
        answer.map(Rope::into_bytes)
    }

    /// Checks a payload that some binding answered with against the contract.
    pub(super) fn check_payload(&self, payload: &Value) {
        let contract = &self.deployment.contract;
        let kind = payload["type"].as_str().unwrap_or_default();
        if kind == "aap.error" {
            assert_eq!(
                contract.check_document("error", payload),
                Ok(()),
                "{payload}"
            );
            return;
        }
        let skills = forecourt::contract::Skill::ALL;
        let skill = skills
            .into_iter()
            .find(|skill| kind == format!("{}.response", skill.id()));
        let skill = skill.unwrap_or_else(|| panic!("no answer of a skill: {payload}"));
        assert_eq!(contract.check_answer(skill, payload), Ok(()), "{payload}");
    }
}

/// A POST: header lines, an empty line, the body; where there is no empty line, all of it is the body. A line
/// that begins with `?` is the query.
pub(super) fn message<'a>(path: &str, bytes: &'a [u8]) -> (Parts, &'a [u8]) {
    let at = bytes.windows(2).position(|window| window == b"\n\n");
    let (lines, body) = match at {
        Some(at) => (&bytes[..at], &bytes[at + 2..]),
        None => (&b""[..], bytes),
    };
    let mut head = http::Request::post(path).body(()).unwrap().into_parts().0;
    for line in lines.split(|byte| *byte == b'\n') {
        if line.first() == Some(&b'?') {
            let target = [path.as_bytes(), line].concat();
            head.uri = Uri::try_from(target).unwrap_or(head.uri);
            continue;
        }
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let name = parts
            .next()
            .and_then(|name| HeaderName::try_from(name).ok());
        let value = parts
            .next()
            .and_then(|value| HeaderValue::try_from(value.trim_ascii()).ok());
        if let (Some(name), Some(value)) = (name, value) {
            head.headers.append(name, value);
        }
    }
    if !head.headers.contains_key(CONTENT_TYPE) {
        head.headers
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    (head, body)
}
