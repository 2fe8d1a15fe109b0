//! TLS as another implementation sees it: OpenSSL's own client.

use std::fs;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::process::Process;

/// A self-signed certificate for `name`, written beside its key.
fn certificate(folder: &Path, stem: &str, name: &str) {
    let key = rcgen::KeyPair::generate().unwrap();
    let parameters = rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap();
    let certificate = parameters.self_signed(&key).unwrap();
    fs::write(folder.join(format!("{stem}.pem")), certificate.pem()).unwrap();
    fs::write(folder.join(format!("{stem}.key")), key.serialize_pem()).unwrap();
}

/// What `openssl s_client` says, with `input` sent after the handshake.
fn openssl(address: SocketAddr, arguments: &[&str], input: &str) -> String {
    let mut client = Command::new("openssl")
        .args(["s_client", "-connect", &address.to_string(), "-ign_eof"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = client.stdin.take().unwrap();
    // A handshake that fails closes the pipe.
    drop(stdin.write_all(input.as_bytes()));
    drop(stdin);
    let output = client.wait_with_output().unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    said(&output.stdout) + &said(&output.stderr)
}

const GET: &str = "GET /llms.txt HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n";

fn start() -> Process {
    let tls = "[server.tls]\ncertificate_file = \"../one.pem\"\nkey_file = \"../one.key\"\n\
               [[server.tls.certificates]]\ncertificate_file = \"../two.pem\"\nkey_file = \"../two.key\"\n";
    Process::start_with(tls, &[], |folder| {
        certificate(folder, "one", "a.example");
        certificate(folder, "two", "b.example");
    })
}

fn subject_names(folder: &Path, stem: &str) -> String {
    let file = folder.join(format!("{stem}.pem"));
    let shown = Command::new("openssl")
        .args(["x509", "-noout", "-fingerprint", "-in"])
        .arg(file)
        .output()
        .unwrap();
    String::from_utf8(shown.stdout).unwrap().trim().to_owned()
}

/// The fingerprint of the certificate that the server shows.
fn shown(address: SocketAddr, name: &str) -> String {
    let said = openssl(address, &["-servername", name], GET);
    let begin = said
        .find("-----BEGIN CERTIFICATE-----")
        .unwrap_or_else(|| panic!("{said}"));
    let end = said.find("-----END CERTIFICATE-----").unwrap();
    let pem = format!("{}-----END CERTIFICATE-----\n", &said[begin..end]);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("shown.pem"), pem).unwrap();
    subject_names(folder.path(), "shown")
}

#[test]
fn both_versions_both_protocols_and_a_certificate_for_each_name() {
    let process = start();
    let address = process.address;
    for (version, name) in [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")] {
        let said = openssl(address, &[version, "-servername", "a.example"], GET);
        assert!(said.contains(name), "{said}");
        assert!(said.contains("HTTP/1.1 200"), "{said}");
        assert!(
            said.contains("strict-transport-security: max-age=31536000"),
            "{said}"
        );
    }
    for old in ["-tls1", "-tls1_1"] {
        let said = openssl(address, &[old, "-servername", "a.example"], GET);
        assert!(!said.contains("HTTP/1.1"), "{old}: {said}");
    }
    for (offered, chosen) in [("h2,http/1.1", "h2"), ("http/1.1", "http/1.1")] {
        let arguments = ["-alpn", offered, "-servername", "a.example"];
        let said = openssl(address, &arguments, if chosen == "h2" { "" } else { GET });
        assert!(said.contains(&format!("ALPN protocol: {chosen}")), "{said}");
    }
    for (stem, name) in [("one", "a.example"), ("two", "b.example")] {
        assert_eq!(
            shown(address, name),
            subject_names(&process.folder, stem),
            "{name}"
        );
    }
    let said = openssl(address, &["-servername", "stranger.example"], GET);
    assert!(!said.contains("BEGIN CERTIFICATE"), "{said}");
    let plain = crate::process::exchange(address, GET.as_bytes());
    assert_ne!(plain.status, 200, "plain HTTP is not spoken here");
}

#[test]
fn a_configuration_that_is_not_taken_changes_no_certificate_but_a_renewed_one() {
    let mut process = start();
    let server = process.folder.join("conf/00.toml");
    let before = shown(process.address, "a.example");
    certificate(&process.folder, "other", "a.example");
    let text = fs::read_to_string(&server).unwrap();
    assert!(text.contains("one.pem"));
    let other = text
        .replace("one.pem", "other.pem")
        .replace("one.key", "other.key");
    fs::write(&server, other).unwrap();
    // The store cannot change while it is served: the whole is refused, after it was read without findings.
    fs::write(
        process.folder.join("conf/store.toml"),
        "[store]\nfile = \"../elsewhere.db\"\n",
    )
    .unwrap();
    process.signal("-HUP");
    process.wait_until("it is refused", |process| {
        process.log().contains("configuration not taken")
    });
    assert_eq!(shown(process.address, "a.example"), before);
    certificate(&process.folder, "one", "a.example");
    let renewed = subject_names(&process.folder, "one");
    process.signal("-HUP");
    process.wait_until("the renewed certificate is shown", |process| {
        shown(process.address, "a.example") == renewed
    });
}

#[test]
fn a_renewed_certificate_is_shown_without_a_restart_and_a_broken_one_never() {
    let mut process = start();
    let before = shown(process.address, "a.example");
    certificate(&process.folder, "one", "a.example");
    let renewed = subject_names(&process.folder, "one");
    assert_ne!(before, renewed);
    process.wait_until("the new certificate is shown", |process| {
        shown(process.address, "a.example") == renewed
    });
    fs::write(process.folder.join("one.pem"), "broken").unwrap();
    process.signal("-HUP");
    process.wait_until("it is refused", |process| {
        process.log().contains("configuration not taken")
    });
    assert_eq!(shown(process.address, "a.example"), renewed);
}
