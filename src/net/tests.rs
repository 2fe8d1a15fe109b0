//! Which addresses are dialled, and the bounds of what comes back.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use super::address::{Kind, kind};
use super::testing::{Script, Site, answer};
use super::*;

const PUBLIC: &str = "93.184.216.34:443";

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

/// A client of the strict policy whose `site.example` is `site`.
async fn client(script: Script) -> (Client, Site, Arc<FakeNetwork>) {
    client_with(script, |_| {}).await
}

async fn client_with(
    script: Script,
    change: impl FnOnce(&mut Policy),
) -> (Client, Site, Arc<FakeNetwork>) {
    let site = Site::start(&["site.example"], script).await;
    let network = Arc::new(FakeNetwork::new());
    network.name("site.example", vec![vec![address(PUBLIC)]]);
    network.route(address(PUBLIC), site.address);
    let mut policy = Policy {
        extra_ca_file: Some(site.ca_file.clone()),
        network: Network::Fake(Arc::clone(&network)),
        ..Policy::for_peers()
    };
    change(&mut policy);
    (Client::new(policy).unwrap(), site, network)
}

fn script(f: impl Fn(&str) -> Option<Vec<u8>> + Send + Sync + 'static) -> Script {
    Arc::new(f)
}

// AAP-233
#[test]
fn special_use_addresses_are_recognised() {
    let special = "0.0.0.0 0.255.255.255 169.254.169.254 192.0.0.8 192.0.2.1 192.88.99.1 198.18.0.1 \
        198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 \
        :: ::2 ::127.0.0.1 ::ffff:169.254.169.254 64:ff9b::7f00:1 64:ff9b::a00:1 64:ff9b::a9fe:a9fe \
        64:ff9b:1::1 100::1 100:0:0:1::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:2::1 \
        2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1:: 2002:5db8:d822::1 3fff::1 5f00::1 fe80::1 \
        fec0::1 ff02::1 4000::1";
    let site = "10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 \
        172.16.0.1 172.31.255.255 192.168.1.1 ::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 fc00::1 fdff::1";
    let public = "1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.0.0.1 128.0.0.1 \
        169.253.0.1 172.15.0.1 172.32.0.1 192.0.1.1 198.17.0.1 198.20.0.1 223.255.255.255 \
        2606:4700::1111 2a00:1450::1 ::ffff:1.1.1.1 64:ff9b::101:101 2001:200::1 2001:4860::1";
    for (list, expected) in [
        (special, Kind::Special),
        (site, Kind::Site),
        (public, Kind::Public),
    ] {
        for text in list.split_whitespace() {
            assert_eq!(kind(text.parse().unwrap()), expected, "{text}");
        }
    }
}

// AAP-233
#[test]
fn the_reach_of_this_machine_is_loopback_and_nothing_else_inward() {
    let permitted = |text: &str| super::address::permitted(Reach::Loopback, text.parse().unwrap());
    for open in [
        "127.0.0.1",
        "127.8.8.8",
        "::1",
        "1.1.1.1",
        "2606:4700::1111",
    ] {
        assert!(permitted(open), "{open}");
    }
    for shut in [
        "10.0.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "::",
        "fc00::1",
        "fe80::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
    ] {
        assert!(!permitted(shut), "{shut}");
    }
}

// AAP-233 AAP-558
#[tokio::test]
async fn literal_hosts_do_not_bypass_the_guard() {
    let (client, _, network) = client(script(|_| Some(answer(200, &[], "")))).await;
    for host in [
        "169.254.169.254",
        "127.0.0.1",
        "10.0.0.1",
        "100.64.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "[fd00:ec2::254]",
    ] {
        let error = client
            .send(Request::get(format!("https://{host}/c.json")))
            .await
            .unwrap_err();
        assert!(matches!(error, NetError::Address), "{host}: {error:?}");
        assert!(!error.may_have_arrived());
    }
    assert!(network.dialled().is_empty());
}

// AAP-233
#[tokio::test]
async fn spellings_of_loopback_that_the_resolver_knows_are_refused() {
    let strict = Client::new(Policy::for_peers()).unwrap();
    for host in ["2130706433", "0x7f.1", "127.1", "0177.0.0.1", "localhost"] {
        let error = strict
            .send(Request::get(format!("https://{host}/c.json")))
            .await
            .unwrap_err();
        let refused = matches!(
            error,
            NetError::Address | NetError::Resolve(_) | NetError::Url(_)
        );
        assert!(refused, "{host}: {error:?}");
    }
}

// AAP-233 AAP-558
#[tokio::test]
async fn one_private_record_among_public_ones_refuses_the_name() {
    let (client, site, network) = client(script(|_| Some(answer(200, &[], "")))).await;
    network.name(
        "mixed.example",
        vec![vec![address(PUBLIC), address("10.1.2.3:443")]],
    );
    let error = client
        .send(Request::get("https://mixed.example/"))
        .await
        .unwrap_err();
    assert!(matches!(error, NetError::Address));
    assert!(network.dialled().is_empty() && site.requests().is_empty());
}

// AAP-233 AAP-558
#[tokio::test]
async fn the_dialled_address_is_the_checked_one_when_the_name_is_rebound() {
    let (client, _, network) = client(script(|_| Some(answer(200, &[], "ok")))).await;
    network.name(
        "site.example",
        vec![vec![address(PUBLIC)], vec![address("127.0.0.1:443")]],
    );
    let first = client
        .send(Request::get("https://site.example/"))
        .await
        .unwrap();
    assert_eq!(first.body, "ok");
    assert_eq!(network.asked().len(), 1);
    assert_eq!(network.dialled(), [address(PUBLIC)]);
    let second = client.send(Request::get("https://site.example/")).await;
    assert!(matches!(second, Err(NetError::Address)));
    assert_eq!(network.dialled(), [address(PUBLIC)]);
}

// AAP-232
#[tokio::test]
async fn schemes_ports_and_user_information_are_refused_before_any_look_up() {
    let (client, _, network) = client(script(|_| None)).await;
    for url in [
        "http://site.example/",
        "ftp://site.example/",
        "https://site.example:8443/",
        "https://site.example:65979/",
        "https://site.example:port/",
        "https://me:pw@site.example/",
        "https://@site.example/",
        "/c.json",
        "https:///c.json",
        "https://site.example\u{7f}/",
        "",
    ] {
        let error = client.send(Request::get(url)).await.unwrap_err();
        assert!(matches!(error, NetError::Url(_)), "{url}: {error:?}");
    }
    let long = format!("https://site.example/{}", "a".repeat(9000));
    assert!(matches!(
        client.send(Request::get(long)).await,
        Err(NetError::Url(_))
    ));
    assert!(network.asked().is_empty());
}

// AAP-233 AAP-559
#[tokio::test]
async fn redirects_are_answers_and_are_not_followed() {
    let redirect = script(|_| {
        Some(answer(
            302,
            &[("Location", "https://169.254.169.254/")],
            "moved",
        ))
    });
    let (client, site, network) = client(redirect).await;
    let response = client
        .send(Request::get("https://site.example/a?b=c#d"))
        .await
        .unwrap();
    assert_eq!(response.status, 302);
    assert_eq!(network.dialled().len(), 1);
    let [head] = <[String; 1]>::try_from(site.requests()).unwrap();
    assert!(head.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("host: site.example\r\n"), "{head}");
}

// AAP-234
#[tokio::test]
async fn larger_bodies_than_the_limit_are_refused_announced_or_not() {
    let (client, ..) = client_with(
        script(|path| {
            Some(match path {
                "/fits" => answer(200, &[], &"x".repeat(1000)),
                "/announced" => b"HTTP/1.1 200 x\r\nContent-Length: 99999999999\r\n\r\n".to_vec(),
                "/chunked" => {
                    let chunk = format!("200\r\n{}\r\n", "x".repeat(512));
                    format!(
                        "HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n{}0\r\n\r\n",
                        chunk.repeat(2)
                    )
                    .into_bytes()
                }
                _ => format!("HTTP/1.1 200 x\r\n\r\n{}", "x".repeat(1001)).into_bytes(),
            })
        }),
        |policy| policy.max_body_bytes = 1000,
    )
    .await;
    let get = async |path: &str| {
        client
            .send(Request::get(format!("https://site.example{path}")))
            .await
    };
    assert_eq!(get("/fits").await.unwrap().body.len(), 1000);
    for path in ["/announced", "/chunked", "/until-close"] {
        let error = get(path).await.unwrap_err();
        assert!(matches!(error, NetError::TooLarge(_)), "{path}: {error:?}");
        assert!(error.may_have_arrived());
    }
}

#[tokio::test]
async fn requests_are_counted_by_their_ends_saved_ones_too() {
    let (client, ..) = client(script(|_| Some(answer(200, &[], "body")))).await;
    let get = || Request::get("https://site.example/");
    client.send(get()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    let mut file = tokio::fs::File::create(&kept).await.unwrap();
    client.save(get(), &mut file, 4).await.unwrap();
    assert_eq!(std::fs::read(&kept).unwrap(), b"body");
    client.save(get(), &mut file, 3).await.unwrap_err();
    client.send(Request::get("http:")).await.unwrap_err();
    let counted = client.tally().into_iter().filter(|(_, count)| *count > 0);
    let counted: Vec<_> = counted.collect();
    assert_eq!(counted, [("answered", 2), ("refused", 1), ("too_large", 1)]);
}

// AAP-234
#[tokio::test]
async fn heads_are_bounded() {
    let (client, ..) = client(script(|path| {
        Some(match path {
            "/many" => format!("HTTP/1.1 200 x\r\n{}\r\n", "a: b\r\n".repeat(200)).into_bytes(),
            _ => format!("HTTP/1.1 200 x\r\na: {}\r\n\r\n", "b".repeat(300_000)).into_bytes(),
        })
    }))
    .await;
    for path in ["/many", "/large"] {
        let error = client
            .send(Request::get(format!("https://site.example{path}")))
            .await
            .unwrap_err();
        assert!(matches!(error, NetError::Lost(_)), "{path}: {error:?}");
    }
}

// AAP-234
#[tokio::test]
async fn silence_ends_with_the_time_out_and_counts_as_sent() {
    let (client, ..) = client_with(script(|_| None), |policy| {
        policy.timeout = Duration::from_millis(300);
    })
    .await;
    let error = client
        .send(Request::get("https://site.example/"))
        .await
        .unwrap_err();
    assert!(matches!(error, NetError::Timeout), "{error:?}");
    assert!(error.may_have_arrived());
}

#[tokio::test]
async fn a_broken_answer_counts_as_sent_and_an_unreachable_peer_does_not() {
    let (client, _, network) = client(script(|_| Some(b"HTTP/1.1 200".to_vec()))).await;
    let broken = client
        .send(Request::get("https://site.example/"))
        .await
        .unwrap_err();
    assert!(matches!(broken, NetError::Lost(_)) && broken.may_have_arrived());
    network.name("dead.example", vec![vec![address("93.184.216.99:443")]]);
    let dead = client
        .send(Request::get("https://dead.example/"))
        .await
        .unwrap_err();
    assert!(matches!(dead, NetError::Connect(_)) && !dead.may_have_arrived());
    let unknown = client
        .send(Request::get("https://unknown.example/"))
        .await
        .unwrap_err();
    assert!(matches!(unknown, NetError::Resolve(_)) && !unknown.may_have_arrived());
}

// AAP-234
#[tokio::test]
async fn certificates_are_checked_for_authority_and_name() {
    let (_, site, network) = client(script(|_| Some(answer(200, &[], "")))).await;
    let stranger = Client::new(Policy {
        network: Network::Fake(Arc::clone(&network)),
        ..Policy::for_peers()
    });
    let error = stranger
        .unwrap()
        .send(Request::get("https://site.example/"))
        .await
        .unwrap_err();
    assert!(matches!(error, NetError::Tls(_)) && !error.may_have_arrived());
    network.name("other.example", vec![vec![address(PUBLIC)]]);
    let trusting = Client::new(Policy {
        extra_ca_file: Some(site.ca_file.clone()),
        network: Network::Fake(network),
        ..Policy::for_peers()
    });
    let error = trusting
        .unwrap()
        .send(Request::get("https://other.example/"))
        .await
        .unwrap_err();
    assert!(matches!(error, NetError::Tls(_)), "{error:?}");
    assert!(site.requests().is_empty());
}

#[tokio::test]
async fn operators_may_name_their_own_site_but_not_the_cloud_metadata_address() {
    let policy = Policy {
        allow_http: true,
        connect_timeout: Duration::from_secs(2),
        ..Policy::for_operator()
    };
    let client = Client::new(policy).unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let closed = client
        .send(Request::get(format!("http://{address}/")))
        .await;
    assert!(matches!(closed, Err(NetError::Connect(_))), "{closed:?}");
    let metadata = client
        .send(Request::get("http://169.254.169.254/latest"))
        .await;
    assert!(matches!(metadata, Err(NetError::Address)));
}

#[tokio::test]
async fn a_client_cannot_overrule_framing_and_host() {
    let (client, site, _) = client(script(|_| Some(answer(200, &[], "")))).await;
    let mut request = Request::get("https://site.example/");
    request.method = Method::POST;
    request.body = Bytes::from_static(b"1234");
    let headers = &mut request.headers;
    headers.insert("host", "evil.example".parse().unwrap());
    headers.insert("content-length", "9".parse().unwrap());
    headers.insert("transfer-encoding", "chunked".parse().unwrap());
    headers.insert("authorization", "Basic c2VjcmV0".parse().unwrap());
    let shown = format!("{request:?}");
    assert!(!shown.contains("c2VjcmV0") && !shown.contains("site.example"));
    client.send(request).await.unwrap();
    let [head] = <[String; 1]>::try_from(site.requests()).unwrap();
    assert!(head.contains("host: site.example\r\n"), "{head}");
    assert!(head.contains("content-length: 4\r\n"), "{head}");
    assert!(
        !head.contains("chunked") && !head.contains("evil"),
        "{head}"
    );
}

#[test]
fn missing_or_empty_certificate_files_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let empty = directory.path().join("empty.pem");
    std::fs::write(&empty, "").unwrap();
    for file in [empty, directory.path().join("missing.pem")] {
        let policy = Policy {
            extra_ca_file: Some(file.clone()),
            ..Policy::for_peers()
        };
        let error = Client::new(policy).unwrap_err();
        assert!(error.to_string().contains(&*file.to_string_lossy()));
    }
}
