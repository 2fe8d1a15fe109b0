//! HTTP/2, asked by a client of its own: every surface says what it says over HTTP/1.1. What is said there, other
//! tests hold.

use std::net::SocketAddr;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode, Version, header};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::edge::{Edge, Plan};

/// A whole answer.
pub(crate) struct Said {
    pub(crate) status: StatusCode,
    headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Said {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Asks a host at this address over one version of HTTP, with prior knowledge.
pub(crate) fn ask(
    (address, host): (SocketAddr, &str),
    version: Version,
    method: &Method,
    (path, body): (&str, &str),
) -> Said {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let request = Request::builder()
            .method(method)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ORIGIN, "https://agent.example")
            .header("mcp-protocol-version", "2025-11-25")
            .header("access-control-request-method", "POST");
        let body = Full::<Bytes>::from(body.to_owned());
        let stream = TokioIo::new(TcpStream::connect(address).await.unwrap());
        let answer = if version == Version::HTTP_2 {
            let (mut sender, connection) = http2::handshake(TokioExecutor::new(), stream)
                .await
                .unwrap();
            tokio::spawn(connection);
            let request = request.uri(format!("http://{host}{path}")).body(body);
            sender.send_request(request.unwrap()).await.unwrap()
        } else {
            let (mut sender, connection) = http1::handshake(stream).await.unwrap();
            tokio::spawn(connection);
            let request = request.uri(path).header(header::HOST, host).body(body);
            sender.send_request(request.unwrap()).await.unwrap()
        };
        assert_eq!(answer.version(), version);
        let (head, body) = answer.into_parts();
        Said {
            status: head.status,
            headers: head.headers,
            body: body.collect().await.unwrap().to_bytes(),
        }
    })
}

pub(crate) const BOTH: [Version; 2] = [Version::HTTP_11, Version::HTTP_2];

fn both(edge: &Edge, method: &Method, asked: (&str, &str)) -> [Said; 2] {
    BOTH.map(|version| ask((edge.address, "127.0.0.1"), version, method, asked))
}

const PATHS: [&str; 10] = [
    "/.well-known/agent-card.json",
    "/.well-known/poppy.json",
    "/.well-known/api-catalog",
    "/poppy/openapi.json",
    "/llms.txt",
    "/livez",
    "/readyz",
    "/mcp",
    "/a2a",
    "/nothing/here",
];

// AAP-006 AAP-007
#[test]
fn heads_and_documents_are_the_same_over_both_versions() {
    let edge = Edge::with(Plan {
        pap: true,
        ..Plan::default()
    });
    for path in PATHS {
        let got = both(&edge, &Method::GET, (path, ""));
        let head = both(&edge, &Method::HEAD, (path, ""));
        let options = both(&edge, &Method::OPTIONS, (path, ""));
        for [old, new] in [&got, &head, &options] {
            assert_eq!(old.status, new.status, "{path}");
            assert_eq!(old.body, new.body, "{path}");
            for name in ["content-type", "content-length", "etag", "allow", "link"] {
                assert_eq!(old.header(name), new.header(name), "{path}: {name}");
            }
        }
        let [_, head] = head;
        assert!(head.body.is_empty(), "{path}");
        assert_eq!(head.status, got[1].status, "{path}");
        // RFC 9110 §9.3.2
        let length = got[1].body.len().to_string();
        assert_eq!(
            head.header("content-length"),
            Some(length.as_str()),
            "{path}"
        );
    }
}

// AAP-095
#[test]
fn a_search_is_whole_over_both_versions_however_often_it_is_asked() {
    let edge = Edge::with(Plan::default());
    let call = |arguments: Value| {
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
               "params": {"name": "aap_inventory_search", "arguments": arguments}})
        .to_string()
    };
    let search = call(json!({"type": "inventory.search.request", "pagination": {"limit": 100}}));
    let faulty = call(json!({"type": "inventory.search.request", "pagination": {"limit": 0}}));
    for _ in 0..3 {
        let [old, new] = both(&edge, &Method::POST, ("/mcp", &search));
        assert_eq!((old.status, &old.body), (new.status, &new.body));
        let answer: Value = serde_json::from_slice(&new.body).unwrap();
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap();
        let copy: Value = serde_json::from_str(text).unwrap();
        assert_eq!(copy, result["structuredContent"]);
        assert!(!copy["data"]["vehicles"].as_array().unwrap().is_empty());
        let [old, new] = both(&edge, &Method::POST, ("/mcp", &faulty));
        assert_eq!(old.status, new.status);
        let error: Value = serde_json::from_slice(&new.body).unwrap();
        assert_eq!(error["result"]["isError"], true);
    }
}
