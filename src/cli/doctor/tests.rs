//! What a person may write for a site, and what the doctor may fetch for it.

use super::*;

#[test]
fn a_site_is_a_host_name_or_its_https_address() {
    for (text, expected) in [
        ("dealer.example", "https://dealer.example"),
        ("Dealer.Example", "https://dealer.example"),
        ("https://dealer.example/", "https://dealer.example"),
        ("https://dealer.example:8443", "https://dealer.example:8443"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
    ] {
        assert_eq!(base(text).as_deref(), Ok(expected), "{text}");
    }
    for text in [
        "",
        "https://",
        "ftp://dealer.example",
        "https://me:secret@dealer.example",
        "https://dealer.example/mcp",
        "https://dealer.example/?x=1",
    ] {
        assert!(base(text).is_err(), "{text}");
    }
}

#[test]
fn a_public_site_leads_to_public_addresses_only() {
    let public = policy("https://dealer.example");
    assert_eq!((public.reach, public.allow_http), (Reach::Public, false));
    let here = policy("http://127.0.0.1:8080");
    assert_eq!((here.reach, here.allow_http), (Reach::Site, true));
}

#[tokio::test]
async fn plain_http_elsewhere_is_a_finding_and_nothing_is_fetched() {
    let client = Client::new(policy("http://dealer.example")).unwrap();
    let report = examine("http://dealer.example", &client, &Contract::v3_0().unwrap()).await;
    let [check] = report.checks.as_slice() else {
        panic!("{report:?}");
    };
    assert_eq!(
        (check.id.as_str(), check.verdict),
        ("https", Verdict::Fault)
    );
}
