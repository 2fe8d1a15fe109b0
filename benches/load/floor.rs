//! The floor: a bare hyper server that returns stored answers, which is all that HTTP itself costs. Must not
//! think.

use std::convert::Infallible;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, server::conn::http1};
use hyper_util::rt::TokioIo;

/// Serves the answers in `folder`, the one that the path names by its number; prints the address.
pub(crate) fn run(folder: &Path) {
    let answers: Arc<Vec<Response<Bytes>>> = Arc::new(read(folder));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a port");
        println!("{}", listener.local_addr().expect("its address"));
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                continue;
            };
            let _ = stream.set_nodelay(true);
            let answers = Arc::clone(&answers);
            tokio::spawn(async move {
                let service = service_fn(move |request| answer(Arc::clone(&answers), request));
                http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await
            });
        }
    });
}

async fn answer(
    answers: Arc<Vec<Response<Bytes>>>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let number = request
        .uri()
        .path()
        .trim_start_matches('/')
        .parse()
        .unwrap_or(0);
    let _ = request.into_body().collect().await;
    let stored = answers.get::<usize>(number).cloned().unwrap_or_default();
    Ok(stored.map(Full::new))
}

/// One file an answer: status line, headers, an empty line, the body, as they came over the wire.
fn read(folder: &Path) -> Vec<Response<Bytes>> {
    let mut answers = Vec::new();
    while let Ok(answer) = fs::read(folder.join(answers.len().to_string())) {
        let split = memchr::memmem::find(&answer, b"\r\n\r\n").expect("an answer");
        let head = String::from_utf8_lossy(&answer[..split]).into_owned();
        let mut response = Response::builder();
        for line in head.lines().skip(1) {
            let (name, value) = line.split_once(": ").expect("a header");
            if !matches!(name, "date" | "content-length") {
                response = response.header(name, value);
            }
        }
        let body = Bytes::copy_from_slice(&answer[split + 4..]);
        answers.push(response.body(body).expect("a response"));
    }
    answers
}
