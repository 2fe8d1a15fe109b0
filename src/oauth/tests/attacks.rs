//! Known attacks on issuers and resource servers, and what this company must hold to, each with the test
//! that shows it. The tests whose home is nowhere else stand below; [`every_line_has_its_test`] holds both
//! tables to the code.
//!
//! Attacks and real bugs of other implementations:
//!
//! | no. | attack | tests |
//! |---|---|---|
//! | 1 | a date of the wrong JSON type taken for absent | `oauth/tests/token.rs: every_defect_of_a_client_assertion_is_invalid_client`, `oauth/tests/token.rs: every_defect_of_a_session_assertion_is_invalid_grant` |
//! | 2 | `nbf` never looked at | `oauth/tests/token.rs: every_defect_of_a_client_assertion_is_invalid_client` |
//! | 3 | trust in a key that the header brings along | `oauth/tests/token.rs: every_defect_of_a_client_assertion_is_invalid_client` |
//! | 4 | `none`, HMAC with the public key, another algorithm than the key's | `oauth/tests/token.rs: every_defect_of_a_client_assertion_is_invalid_client`, `oauth/tests/token.rs: every_defect_of_a_proof_is_invalid_dpop_proof_and_fetches_nothing`, `oauth/tests/attacks.rs: a_public_key_is_no_secret_for_hmac` |
//! | 5 | unknown `crit` passed over | `oauth/tests/token.rs: every_defect_of_a_client_assertion_is_invalid_client`, `oauth/tests/token.rs: every_defect_of_a_proof_is_invalid_dpop_proof_and_fetches_nothing` |
//! | 6 | `iss` and `sub` compared by containment, or as lists | `oauth/tests/token.rs: every_defect_of_a_session_assertion_is_invalid_grant` |
//! | 7 | an audience beside the issuer, or like it | `oauth/tests/token.rs: every_defect_of_a_client_assertion_is_invalid_client`, `oauth/tests/token.rs: every_defect_of_a_session_assertion_is_invalid_grant` |
//! | 8 | a private key in a proof's header | `oauth/tests/token.rs: every_defect_of_a_proof_is_invalid_dpop_proof_and_fetches_nothing`, `oauth/tests/access.rs: every_defect_of_a_proof_is_challenged` |
//! | 9 | a point off the curve | `oauth/tests/token.rs: every_defect_of_a_proof_is_invalid_dpop_proof_and_fetches_nothing` |
//! | 10 | a signature of zeros | `oauth/tests/token.rs: every_defect_of_a_proof_is_invalid_dpop_proof_and_fetches_nothing`, `oauth/tests/token.rs: every_defect_of_a_client_assertion_is_invalid_client` |
//! | 11 | one key under two thumbprints | `oauth/tests/token.rs: every_defect_of_a_proof_is_invalid_dpop_proof_and_fetches_nothing` |
//! | 12 | the twin of an ECDSA signature as a new proof | `oauth/tests/token.rs: each_jti_works_once_whatever_the_rest_of_the_request` |
//! | 13 | another spelling of `htu` as a new proof | `oauth/tests/token.rs: each_jti_works_once_whatever_the_rest_of_the_request` |
//! | 14 | a proof dated ahead, forgotten too early | `oauth/tests/token.rs: a_proof_from_ahead_is_remembered_until_it_is_too_old`, `oauth/tests/access.rs: a_proof_works_once_and_a_refused_one_is_not_used_up` |
//! | 15 | one client burns another's `jti` | `oauth/tests/token.rs: one_clients_jti_is_not_anothers` |
//! | 16 | a refused request burns its `jti` | `oauth/tests/access.rs: a_proof_works_once_and_a_refused_one_is_not_used_up`, `oauth/tests/token.rs: refused_requests_burn_no_jti` |
//! | 17 | the same request many times at once | `oauth/tests/replay.rs: fifty_parallel_copies_of_a_request_get_one_token`, `oauth/tests/replay.rs: fifty_parallel_copies_of_a_call_pass_once` |
//! | 18 | the same proof at another replica, or after a restart | `oauth/tests/replay.rs: of_fifty_copies_at_two_processes_one_gets_a_token`, `oauth/tests/replay.rs: what_one_replica_has_seen_no_other_takes`, `oauth/tests/replay.rs: nothing_used_or_ended_comes_back_with_a_restart` |
//! | 19 | a bound token as Bearer | `oauth/tests/access.rs: anything_but_our_own_current_dpop_token_is_invalid`, `oauth/tests/mcp.rs: without_dpop_an_exchange_buys_a_bearer_token_for_the_mcp_endpoint_alone` |
//! | 20 | a stolen token with the thief's proof | `oauth/tests/access.rs: every_defect_of_a_proof_is_challenged` |
//! | 21 | two proofs, in two headers or in one | `oauth/tests/token.rs: every_defect_of_a_proof_is_invalid_dpop_proof_and_fetches_nothing`, `oauth/tests/access.rs: every_defect_of_a_proof_is_challenged` |
//! | 22 | duplicate member names | `oauth/tests/token.rs: every_defect_of_a_proof_is_invalid_dpop_proof_and_fetches_nothing`, `oauth/tests/token.rs: every_defect_of_a_session_assertion_is_invalid_grant` |
//! | 23 | `iat` at the end of its range, in a proof | `oauth/tests/token.rs: every_defect_of_a_proof_is_invalid_dpop_proof_and_fetches_nothing` |
//! | 24 | the same in an assertion, where a lifetime would wrap | `oauth/tests/token.rs: every_defect_of_a_session_assertion_is_invalid_grant`, `oauth/tests/vectors.rs: dates_of_any_number_are_judged_without_overflow` |
//! | 25 | `htu` from forwarded or forged headers | `bindings/pap/tests.rs: strangers_are_challenged_before_anything_is_read`, `bindings/pap/tests.rs: a_proxy_or_forger_says_nothing_of_the_url`, `../tests/it/pap.rs: a_foreign_host_gets_no_document_and_no_token` |
//! | 26 | the default port written out | `oauth/tests/token.rs: htu_may_be_spelt_differently_and_clocks_may_differ` |
//! | 27 | a slash at the end | `oauth/tests/token.rs: every_defect_of_a_proof_is_invalid_dpop_proof_and_fetches_nothing` |
//! | 28 | percent-encoding | `oauth/tests/vectors.rs: htu_is_normalised_as_rfc_3986_says_and_no_further`, `oauth/tests/token.rs: htu_may_be_spelt_differently_and_clocks_may_differ` |
//! | 29 | a query in `htu` | `oauth/tests/token.rs: htu_may_be_spelt_differently_and_clocks_may_differ` |
//! | 30 | clocks that differ | `oauth/tests/token.rs: htu_may_be_spelt_differently_and_clocks_may_differ`, `oauth/tests/token.rs: every_defect_of_a_proof_is_invalid_dpop_proof_and_fetches_nothing` |
//! | 31 | a client identity that leads inward | `oauth/tests/client.rs: client_ids_of_another_shape_or_place_cause_no_connection`, `oauth/tests/attacks.rs: no_name_of_a_special_range_is_dialled` |
//! | 32 | a name that is rebound between check and connection | `net/tests.rs: the_dialled_address_is_the_checked_one_when_the_name_is_rebound`, `oauth/tests/attacks.rs: an_identity_rebound_inward_is_refused` |
//! | 33 | other URLs in the metadata | `oauth/tests/client.rs: metadata_that_breaks_a_rule_is_no_identity` |
//! | 34 | errors that tell what a fetch met | `oauth/tests/client.rs: whatever_a_fetch_meets_the_answer_is_the_same` |
//! | 35 | floods of unknown keys and clients | `oauth/tests/client.rs: unknown_kids_cause_one_refetch_in_thirty_seconds`, `oauth/tests/client.rs: a_failed_fetch_is_remembered_and_never_cached_as_valid`, `oauth/tests/attacks.rs: a_flood_for_one_client_leaves_the_others_alone` |
//! | 36 | confusion of `kid`s | `oauth/tests/client.rs: keys_are_chosen_by_kid_and_algorithm_and_never_guessed` |
//! | 37 | an identity cached for ever | `oauth/tests/client.rs: a_new_key_is_found_and_an_old_one_dies_with_the_cache` |
//! | 38 | a token of another kind as assertion | `oauth/tests/token.rs: every_defect_of_a_session_assertion_is_invalid_grant` |
//! | 39 | a key that is not the algorithm's | `oauth/tests/token.rs: every_defect_of_a_proof_is_invalid_dpop_proof_and_fetches_nothing`, `oauth/tests/vectors.rs: private_and_symmetric_keys_are_told_from_unusable_ones` |
//! | 40 | an issuer from the Host header | `../tests/it/pap.rs: a_foreign_host_gets_no_document_and_no_token` |
//! | 41 | one dealer's token at another | `oauth/tests/access.rs: tokens_of_another_issuer_or_resource_are_invalid` |
//! | 42 | somebody else's public key in the header | `oauth/tests/token.rs: every_defect_of_a_proof_is_invalid_dpop_proof_and_fetches_nothing` |
//!
//! What a PAP 0.3 company accepts and answers (not here: sign-in, browser join, feedback and conversations,
//! which are neither offered nor advertised, and older drafts of PAP):
//!
//! | no. | item | tests |
//! |---|---|---|
//! | 101 | discovery: documents, versions, no removed members, caching, no redirect | `bindings/pap/tests.rs: discovery_documents_hold_to_the_contract`, `../tests/it/pap.rs: discovery_is_public_and_cacheable`, `../tests/it/pap.rs: what_the_documents_name_is_there_and_agrees`, `oauth/tests/token.rs: the_metadata_says_what_is_there` |
//! | 102 | other hosts and other spellings of a URL | `../tests/it/pap.rs: a_foreign_host_gets_no_document_and_no_token`, `bindings/pap/tests.rs: a_proof_for_one_skill_opens_no_other_and_no_other_spelling` |
//! | 103 | each dealer has an issuer of its own | `oauth/tests/attacks.rs: each_dealer_has_an_issuer_of_its_own` |
//! | 104 | the shape of a token request; grants; `resource` | `oauth/tests/token.rs: requests_of_another_shape_are_invalid`, `oauth/tests/token.rs: unknown_fields_are_ignored_session_id_too`, `oauth/tests/token.rs: other_grants_are_refused_by_name`, `oauth/tests/token.rs: the_resource_is_the_advertised_one_to_the_character`, `bindings/pap/tests.rs: the_issuers_endpoints_take_only_posted_forms`, `../tests/it/pap.rs: bodies_are_bounded_and_only_posted` |
//! | 105 | the token response | `oauth/tests/token.rs: a_guest_grant_answers_three_members_and_nothing_to_keep` |
//! | 106 | limits: 429 with Retry-After, forgeries cost nobody else anything | `oauth/tests/token.rs: networks_and_clients_are_limited_and_forgeries_cost_a_client_nothing`, `bindings/pap/tests.rs: limits_answer_429_with_retry_after_everywhere`, `oauth/tests/mcp.rs: the_mcp_endpoint_keeps_the_apis_rules_for_nonces_limits_and_urls`, `oauth/tests/attacks.rs: revocation_has_its_limit_and_its_errors` |
//! | 107 | client metadata and keys | `oauth/tests/client.rs: metadata_that_breaks_a_rule_is_no_identity`, `oauth/tests/client.rs: whatever_a_fetch_meets_the_answer_is_the_same`, `oauth/tests/client.rs: a_published_private_key_spoils_the_set`, `oauth/tests/client.rs: rs256_identities_of_2048_bits_are_accepted`, `oauth/tests/client.rs: registration_is_asked_before_anything_is_fetched`, `oauth/tests/client.rs: a_hundred_first_requests_make_one_fetch_of_each_document`, `oauth/tests/client.rs: cache_headers_count_between_a_minute_and_a_day`, `oauth/tests/client.rs: keys_outlive_a_failing_site_by_one_hour` |
//! | 108 | assertions: what is accepted, what is refused, one `jti` for both endpoints | `oauth/tests/token.rs: what_honest_agents_send_differently_is_accepted`, `oauth/tests/session.rs: an_assertion_used_at_one_endpoint_is_used_at_the_other` |
//! | 109 | nonces: offered, required, of two servers, burning nothing | `oauth/tests/token.rs: a_required_nonce_is_asked_for_and_burns_nothing`, `oauth/tests/token.rs: an_optional_nonce_is_offered_and_must_be_ours_when_used`, `oauth/tests/access.rs: the_api_has_nonces_of_its_own`, `bindings/pap/tests.rs: nonces_are_asked_for_and_renewed_in_answers` |
//! | 110 | Sessions: one owner, renewal, ends, races | `oauth/tests/session.rs: the_same_key_renews_and_another_key_is_another_session`, `oauth/tests/session.rs: a_session_does_not_change_its_client_user_or_agent`, `oauth/tests/session.rs: two_users_racing_for_a_new_key_do_not_both_get_it`, `oauth/tests/session.rs: an_ended_key_is_refused_until_it_is_forgotten`, `oauth/tests/session.rs: an_idle_session_is_forgotten` |
//! | 111 | calls: tokens, challenges, statuses, typed answers | `oauth/tests/access.rs: a_good_call_names_client_and_user`, `oauth/tests/access.rs: credentials_in_the_url_and_twice_are_invalid_requests`, `bindings/pap/tests.rs: a_call_answers_the_unchanged_typed_response`, `bindings/pap/tests.rs: skill_errors_are_plain_aap_errors_with_their_status` |
//! | 112 | blocked clients, ended Sessions, rotated keys, a store that is away | `oauth/tests/access.rs: a_client_that_was_blocked_is_refused_at_once`, `oauth/tests/attacks.rs: a_rotated_key_ring_logs_nobody_out`, `oauth/tests/attacks.rs: a_store_that_is_away_is_a_reason_to_try_again` |
//! | 113 | leads: replay after renewal, no consent from a Session, no identity from attribution | `bindings/pap/tests.rs: a_lead_is_replayed_after_renewal_and_expiry_but_not_for_another_user`, `bindings/pap/tests.rs: a_session_is_no_consent_and_attribution_is_no_identity` |
//! | 114 | nothing secret in logs | `bindings/pap/tests.rs: nothing_secret_reaches_the_log` |
//! | 115 | revocation | `oauth/tests/session.rs: revocation_answers_alike_for_foreign_and_unknown_tokens`, `oauth/tests/attacks.rs: revocation_has_its_limit_and_its_errors` |
//! | 116 | the native MCP endpoint, with and without DPoP | `oauth/tests/mcp.rs: the_metadata_of_the_mcp_endpoint_says_how_it_is_reached`, `oauth/tests/mcp.rs: with_dpop_a_normal_grant_opens_the_mcp_endpoint_and_nothing_else`, `oauth/tests/mcp.rs: an_exchange_is_refused_for_every_defect_by_its_own_code`, `oauth/tests/mcp.rs: a_bearer_token_stops_with_its_session_and_its_client`, `bindings/pap/tests/native_mcp.rs: credentials_that_do_not_hold_are_challenged_and_nothing_runs` |

use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use serde_json::{Value, json};

use crate::oauth::{NonceMode, Settings};
use crate::seal::KeyRing;
use crate::store::tests::Place;

use super::rig::*;

#[test]
fn every_line_has_its_test() {
    let own = include_str!("attacks.rs");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut numbers = Vec::new();
    for line in own.lines() {
        let Some(row) = line.strip_prefix("//! | ") else {
            continue;
        };
        let Ok(number) = row.split(' ').next().unwrap().parse::<u32>() else {
            continue;
        };
        numbers.push(number);
        let named = row.split('`').filter_map(|part| part.split_once(".rs: "));
        let mut tests = 0;
        for (file, test) in named {
            let text = std::fs::read_to_string(sources.join(format!("{file}.rs"))).unwrap();
            let head = format!("fn {test}(");
            assert!(
                text.contains(&head),
                "{number}: no test {test} in {file}.rs"
            );
            tests += 1;
        }
        assert!(tests > 0, "{number} has no test");
    }
    let expected: Vec<u32> = (1..=42).chain(101..=116).collect();
    assert_eq!(numbers, expected);
}

// AAP-228 AAP-258
#[tokio::test]
async fn a_public_key_is_no_secret_for_hmac() {
    let rig = Rig::new().await;
    let hmac = |jwt: &mut Jwt, secret: &[u8]| {
        jwt.header["alg"] = json!("HS256");
        let (header, claims) = (jwt.header.to_string(), jwt.claims.to_string());
        let message = format!("{}.{}", B64.encode(header), B64.encode(claims));
        let key = aws_lc_rs::hmac::Key::new(aws_lc_rs::hmac::HMAC_SHA256, secret);
        let tag = aws_lc_rs::hmac::sign(&key, message.as_bytes());
        jwt.raw = Some(format!("{message}.{}", B64.encode(tag)));
    };
    let public = jwk(&key(1)).to_string();
    let point = key(1).verifying_key().to_sec1_point(false);
    for secret in [public.as_bytes(), point.as_bytes()] {
        let reply = rig.try_with(|r| hmac(&mut r.client, secret)).await;
        refused("client assertion", &reply, 401, "invalid_client");
        let reply = rig.try_with(|r| hmac(&mut r.session, secret)).await;
        refused("session assertion", &reply, 400, "invalid_grant");
        let reply = rig.try_with(|r| hmac(&mut r.proof, secret)).await;
        refused("proof", &reply, 400, "invalid_dpop_proof");
    }
}

/// One address of each range that is not public, and of each way to write one inside another.
const SPECIAL: &[&str] = &[
    "0.0.0.0",
    "10.0.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.7",
    "203.0.113.9",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "[::]",
    "[::1]",
    "[::127.0.0.1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:10.0.0.1]",
    "[::ffff:169.254.169.254]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b::a00:1]",
    "[64:ff9b:1::1]",
    "[100::1]",
    "[2001::1]",
    "[2001:db8::1]",
    "[2002:7f00:1::]",
    "[2002:a00:1::]",
    "[3fff::1]",
    "[5f00::1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
];

// AAP-233
#[tokio::test]
async fn no_name_of_a_special_range_is_dialled() {
    let rig = Rig::with(|s| s.token_requests_per_minute_and_network = 10_000).await;
    let public = "93.184.216.34:443".parse().unwrap();
    for (index, text) in SPECIAL.iter().enumerate() {
        let address = format!("{text}:443").parse().unwrap();
        let alone = format!("alone-{index}.example");
        let mixed = format!("mixed-{index}.example");
        rig.network.name(&alone, vec![vec![address]]);
        // one good address beside it does not make the name good
        rig.network.name(&mixed, vec![vec![public, address]]);
        for host in [alone, mixed, (*text).to_owned()] {
            let client_id = format!("https://{host}/client.json");
            let reply = rig.try_with(|r| r.of_client(&client_id)).await;
            refused(&client_id, &reply, 401, "invalid_client");
        }
    }
    assert!(
        rig.network.dialled().is_empty(),
        "{:?}",
        rig.network.dialled()
    );
}

// AAP-233
#[tokio::test]
async fn an_identity_rebound_inward_is_refused() {
    let rig = Rig::new().await;
    let public = "93.184.216.34:443".parse().unwrap();
    let inward = "127.0.0.1:443".parse().unwrap();
    // public for the metadata, inward for the JWKS that it names
    rig.network
        .name("buyer-agent.example", vec![vec![public], vec![inward]]);
    let reply = rig.send(&rig.request()).await;
    refused("rebound", &reply, 401, "invalid_client");
    assert_eq!(rig.network.dialled(), [public]);
    assert_eq!(rig.fetches("/jwks.json"), 0);
}

// AAP-234 AAP-292
#[tokio::test]
async fn a_flood_for_one_client_leaves_the_others_alone() {
    let rig = Rig::with(|s| s.token_requests_per_minute_and_network = 10_000).await;
    for published in [json!([]), Value::Null] {
        // no keys at all, and then a set that cannot be had
        if published.is_null() {
            rig.publish_raw("/jwks.json", 503, "application/json", "{}");
        } else {
            rig.publish_keys(&published);
        }
        let before = rig.fetches("/jwks.json");
        for n in 0..500 {
            let kid = json!(format!("random-{n}"));
            let reply = rig.try_with(|r| r.client.header["kid"] = kid).await;
            refused("unknown", &reply, 401, "invalid_client");
        }
        assert!(rig.fetches("/jwks.json") - before <= 1, "{published}");
        rig.wait(31);
    }
    rig.publish("/client.json", &metadata(OTHER_CLIENT));
    rig.publish_keys(&json!([with(&jwk(&key(1)), "kid", json!("k1"))]));
    let other = rig.try_with(|r| r.of_client(OTHER_CLIENT)).await;
    assert_eq!(other.status, 200, "{:?}", other.body);
}

// AAP-035 AAP-211 AAP-214
#[test]
fn each_dealer_has_an_issuer_of_its_own() {
    let first = Settings::new("https://one.example/poppy", "one.example");
    let second = Settings::new("https://two.example/poppy", "two.example");
    for (own, other) in [(&first, "two.example"), (&second, "one.example")] {
        let document = own.metadata().to_string();
        assert!(!document.contains(other), "{document}");
    }
    let mut aliases = first.clone();
    aliases.domains.push("www.one.example".to_owned());
    let expected = json!(["https://one.example", "https://www.one.example"]);
    assert_eq!(aliases.metadata()["protected_resources"], expected);
    assert_eq!(aliases.metadata()["issuer"], first.metadata()["issuer"]);
}

// AAP-282 AAP-283 AAP-292
#[tokio::test]
async fn revocation_has_its_limit_and_its_errors() {
    let rig = Rig::with(|s| s.token_requests_per_minute_and_network = 5).await;
    let token = rig.access_token().await;
    let revoke = async |change: fn(&mut Request), with_proof: bool| {
        let mut request = rig.request();
        request.without("assertion");
        request.without("grant_type");
        request.set("token", &token);
        change(&mut request);
        let (mut headers, body) = request.message();
        if !with_proof {
            headers.remove("dpop");
        }
        let reply = rig
            .issuer
            .revoke(&headers, request.query, body.as_bytes(), peer())
            .await;
        reply.unwrap_or_else(|refusal| refusal.at_issuer())
    };
    let audience = revoke(
        |r| {
            r.client
                .claim("aud", "https://demo-toyota.example.com/poppy/oauth/revoke");
        },
        false,
    );
    refused(
        "its own URL as audience",
        &audience.await,
        401,
        "invalid_client",
    );
    let missing = revoke(|r| r.without("token"), false).await;
    refused("no token", &missing, 400, "invalid_request");
    let in_url = revoke(|r| r.query = Some("token=x"), false).await;
    refused("in the URL", &in_url, 400, "invalid_request");
    // no proof belongs here, and one that is sent is no error; nor is a hint
    let hinted = revoke(|r| r.add("token_type_hint", "whatever"), true).await;
    assert_eq!(hinted.status, 200, "{:?}", hinted.body);
    let gone = rig.call(&token, &rig.call_proof(&token)).await.unwrap_err();
    assert_eq!(gone.at_api().body["error"], "invalid_token");
    let unknown = revoke(|r| r.set("token", "x"), false).await;
    assert_eq!(unknown.status, 200);
    let mut limited = revoke(|_| {}, false).await;
    if limited.status == 200 {
        limited = revoke(|_| {}, false).await;
    }
    refused("limit", &limited, 429, "rate_limited");
    assert!(limited.headers.contains_key("retry-after"));
}

#[tokio::test]
async fn a_rotated_key_ring_logs_nobody_out() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys");
    let first = Arc::new(KeyRing::read_or_create(&file).unwrap());
    let mut rig = Rig::with(|s| s.nonces = NonceMode::Optional).await;
    let settings = rig.issuer.settings().clone();
    rig.keys = first;
    let issuer = rig.open(settings).await;
    rig.issuer = Arc::new(issuer);
    let token = rig.access_token().await;
    let nonce = rig.call(&token, &rig.call_proof(&token)).await;
    let nonce = nonce.unwrap().next_nonce.unwrap();
    let rotated = Arc::new(KeyRing::read(&file).unwrap().rotated().unwrap());
    let settings = rig.issuer.settings().clone();
    rig.keys = rotated;
    let issuer = rig.open(settings).await;
    let mut proof = rig.call_proof(&token);
    proof.claim("nonce", nonce);
    let headers = call_headers(&format!("DPoP {token}"), &proof.text());
    let access = issuer.authenticate("POST", SKILL, None, &headers).await;
    assert_eq!(access.unwrap().user_id, USER);
    // a ring without the old key opens nothing any more
    let other = Arc::new(KeyRing::generate().unwrap());
    let settings = rig.issuer.settings().clone();
    rig.keys = other;
    let issuer = rig.open(settings).await;
    let headers = call_headers(&format!("DPoP {token}"), &rig.call_proof(&token).text());
    let access = issuer.authenticate("POST", SKILL, None, &headers).await;
    assert_eq!(access.unwrap_err().at_api().body["error"], "invalid_token");
}

// AAP-298
#[tokio::test]
async fn a_store_that_is_away_is_a_reason_to_try_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = embedded(&folder.path().join("s.db")).await;
    let rig = Rig::with_store(Arc::clone(&file), |_| {}).await;
    let token = rig.access_token().await;
    file.close().await;
    let mut away = vec![rig.send(&rig.request()).await, rig.revoke(&token).await];
    // what a call asks lies in memory here
    assert!(rig.call(&token, &rig.call_proof(&token)).await.is_ok());

    let redis = Place::redis(&["--appendonly", "yes"]).await;
    let rig = Rig::with_store(Arc::new(redis.open().await), |_| {}).await;
    let token = rig.access_token().await;
    drop(redis);
    away.push(rig.send(&rig.request()).await);
    let call = rig.call(&token, &rig.call_proof(&token)).await;
    away.push(call.unwrap_err().at_api());
    away.push(rig.revoke(&token).await);
    for reply in away {
        assert_eq!(reply.body["error"], "temporarily_unavailable");
        assert_eq!(reply.status, 503, "{:?}", reply.body);
        assert_eq!(reply.headers["retry-after"], "5");
        assert_eq!(reply.body.len(), 1, "and tells nothing more");
        assert!(!reply.headers.contains_key("www-authenticate"));
    }
}
