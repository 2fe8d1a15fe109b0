//! Databases over TLS: with the authority that is named and under the name that is in the certificate, or not at
//! all.

use std::path::PathBuf;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use sqlx::mysql::{MySqlConnectOptions, MySqlSslMode};
use sqlx::{ConnectOptions as _, Connection as _};

use super::servers::{Server, Tls, patiently};
use crate::mapping::Mapping;
use crate::sources::{Fault, Settings, Source, SourceError, sql};

const TABLE: &str = "CREATE TABLE v (id VARCHAR(9)); INSERT INTO v VALUES ('1');";

/// An authority's certificate in a file, and what a server called `localhost` shows.
fn certificates(directory: &tempfile::TempDir) -> (PathBuf, Tls) {
    let mut ca = CertificateParams::new(Vec::new()).unwrap();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca = CertifiedIssuer::self_signed(ca, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let leaf = leaf.signed_by(&key, &ca).unwrap();
    let file = directory.path().join("ca.pem");
    std::fs::write(&file, ca.pem()).unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let tls = Tls {
        port: free.local_addr().unwrap().port(),
        certificate: leaf.pem(),
        key: key.serialize_pem(),
    };
    (file, tls)
}

async fn read(url: &str, ca_file: Option<PathBuf>) -> Result<u64, SourceError> {
    let text = "name = 'v'\n[source]\nkind = 'sql'\nquery = 'SELECT id FROM v'\nkey = 'id'\n[fields]\n\
        vehicle_id = 'id'\nstatus = { value = 'available' }\n[updated_at]\nprovenance = 'as_of'\n";
    let mapping = Mapping::parse(text).unwrap();
    let mut settings = sql::Settings::new(url);
    settings.ca_file = ca_file;
    let source = Source::open(Settings::Sql(settings), mapping.plan()).await?;
    source.read(|_, _| {}).await.map(|read| read.rows)
}

async fn check(url: &str, own: PathBuf) {
    assert_eq!(read(url, Some(own.clone())).await.unwrap(), 1);
    let elsewhere = tempfile::tempdir().unwrap();
    let (foreign, _) = certificates(&elsewhere);
    let strangers = read(url, Some(foreign)).await.unwrap_err();
    let misnamed = url.replace("localhost", "127.0.0.1");
    let misnamed = read(&misnamed, Some(own)).await.unwrap_err();
    for error in [strangers, misnamed] {
        assert_eq!(error.step, "connect", "{error}");
        assert!(
            matches!(error.fault, Fault::Settings | Fault::Unreachable),
            "{error}"
        );
        assert!(error.words.contains("certificate"), "{error}");
    }
}

#[tokio::test]
async fn postgres_is_spoken_to_under_its_own_authority_only() {
    let directory = tempfile::tempdir().unwrap();
    let (own, tls) = certificates(&directory);
    let server = Server::postgres_at(Some(&tls));
    let url = format!("postgres://dms@localhost:{}/postgres", tls.port);
    let options: sqlx::postgres::PgConnectOptions = url.parse().unwrap();
    let mut session = patiently(|| options.connect()).await;
    sqlx::raw_sql(TABLE).execute(&mut session).await.unwrap();
    session.close().await.unwrap();
    check(&url, own).await;
    drop(server);
}

#[tokio::test]
async fn mariadb_is_spoken_to_under_its_own_authority_only() {
    let directory = tempfile::tempdir().unwrap();
    let (own, tls) = certificates(&directory);
    let server = Server::mariadb_at(Some(&tls));
    let local = server.mariadb_url().replace("/dms?", "/?");
    let options: MySqlConnectOptions = local.parse().unwrap();
    // Over the socket, in clear: who prepares the tables is not what is tested.
    let options = options.ssl_mode(MySqlSslMode::Disabled);
    let mut session = patiently(|| options.connect()).await;
    let account = "CREATE DATABASE dms; USE dms; CREATE USER reader@'%' IDENTIFIED BY 'r', reader@localhost IDENTIFIED BY 'r';\
        GRANT SELECT ON dms.* TO reader@'%', reader@localhost;";
    for text in [account, TABLE] {
        sqlx::raw_sql(text).execute(&mut session).await.unwrap();
    }
    session.close().await.unwrap();
    check(&format!("mysql://reader:r@localhost:{}/dms", tls.port), own).await;
}
